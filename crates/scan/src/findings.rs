//! What was seen, as findings of the rules that a scan judges by.

use gguf_spec::field::{Field, Finding};
use gguf_spec::limits::MAX_FINDINGS_PER_RULE;
use gguf_spec::rules::scan::{data, layout};
use gguf_spec::types::TensorType;

use crate::arrangement::{Arrangement, Tensor};
use crate::kernel::Tally;
use crate::scan::{Noticed, Scan, Subject};

impl Arrangement {
    /// The findings about how the tensors lie in a file of `len` bytes, of each rule the first ones.
    #[must_use]
    pub fn findings(&self, len: u64) -> Vec<Finding> {
        let overlaps = self.overlaps.iter().take(MAX_FINDINGS_PER_RULE).map(|overlap| Finding {
            rule: &layout::OVERLAP,
            span: overlap.range.clone(),
            field: Field::Data(overlap.tensor),
            expected: "bytes of its own".to_owned(),
            actual: format!("{} shared with data[{}]", bytes(overlap.range.end - overlap.range.start), overlap.other),
        });
        // Bytes that are not in the file are missing, which is another finding.
        let gaps = self.gaps.iter().filter(|gap| gap.end <= len).take(MAX_FINDINGS_PER_RULE).map(|gap| Finding {
            rule: &layout::GAP,
            span: gap.clone(),
            field: Field::Gap,
            expected: "the next tensor".to_owned(),
            actual: bytes(gap.end - gap.start),
        });
        let mut list: Vec<_> = overlaps.chain(gaps).collect();
        list.sort_by(Finding::order);
        list
    }
}

impl Scan {
    /// The findings, in order.
    #[must_use]
    pub fn findings(&self, subject: Subject<'_>) -> Vec<Finding> {
        let of = |noticed: &Noticed| {
            let tensor = (*subject.tensors.get(noticed.tensor)?)?;
            finding(noticed, tensor, TensorType::from_id(tensor.type_id)?)
        };
        let mut list: Vec<Finding> = Vec::new();
        for rule in [&data::VALUE_FINITE, &data::SCALE_FINITE] {
            let found = self.noticed.iter().filter_map(of).filter(|finding| finding.rule == rule);
            list.extend(found.take(MAX_FINDINGS_PER_RULE));
        }
        list.extend(self.shrunk.map(|(tensor, at)| shrunk(subject.len, at, Field::Data(tensor))));
        list.sort_by(Finding::order);
        list
    }
}

/// The finding about a file of `len` bytes that ended at byte `at` when it was read, in this field.
#[must_use]
pub fn shrunk(len: u64, at: u64, field: Field) -> Finding {
    Finding {
        rule: &data::SHRUNK,
        span: at..len.max(at),
        field,
        expected: format!("a file of {}, as when it was opened", bytes(len)),
        actual: format!("its end at byte {at}"),
    }
}

fn finding(noticed: &Noticed, tensor: Tensor, ty: &TensorType) -> Option<Finding> {
    let first = noticed.tally.first?;
    let start = tensor.start + first.offset;
    let (rule, expected, place) = if ty.quantized {
        let element = first.block * ty.block;
        let elements = format!("elements {element}..{}", element + ty.block);
        (
            &data::SCALE_FINITE,
            "finite scales",
            format!("the first is {} of block {} ({elements})", first.name, first.block),
        )
    } else {
        (&data::VALUE_FINITE, "finite values", format!("the first is element {}", first.block))
    };
    let Tally { nan, infinite, .. } = noticed.tally;
    let (counts, what) = match (nan, infinite) {
        (nan, 0) => (format!("{nan} NaN"), String::new()),
        (0, infinite) => (format!("{infinite} infinite"), String::new()),
        (nan, infinite) => (format!("{nan} NaN and {infinite} infinite"), format!(", {}", first.what.name())),
    };
    Some(Finding {
        rule,
        span: start..start + first.size,
        field: Field::Data(noticed.tensor),
        expected: expected.to_owned(),
        actual: format!("{counts} of {}; {place}{what}", noticed.looked_at),
    })
}

fn bytes(n: u64) -> String {
    if n == 1 { "1 byte".to_owned() } else { format!("{n} bytes") }
}
