//! What a file is in a line: version, sizes, types.

use std::collections::BTreeMap;

use gguf_spec::binary::Decoded;
use gguf_spec::profile::KeyLookup;
use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::TensorType;
use gguf_spec::valid::layout::DataLayout;
use serde_json::{Value as Json, json};

use crate::text::{count, grouped, hundredths};

/// The facts of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The version of the format.
    pub version: u32,
    /// The byte order.
    pub byte_order: ByteOrder,
    /// The alignment in force, in bytes; `None` if the pairs were not looked at.
    pub alignment: Option<u64>,
    /// Pairs that were read.
    pub pairs: u64,
    /// Pairs that the header declares.
    pub declared_pairs: u64,
    /// Tensor infos that were read.
    pub tensors: u64,
    /// Tensors that the header declares.
    pub declared_tensors: u64,
    /// Weights in all tensors; `None` if that is no reasonable number.
    pub elements: Option<u128>,
    /// Bytes of all tensors without padding; `None` if that is no reasonable number, or a type has no layout.
    pub tensor_bytes: Option<u128>,
    /// How many tensors have each type, the most frequent first.
    pub types: Vec<(String, u64)>,
}

impl Facts {
    /// The facts of a decoded file; `None` if not even its header could be read.
    #[must_use]
    pub fn of(decoded: &Decoded<'_>) -> Option<Self> {
        let tree = decoded.tree.as_ref()?;
        let layout = DataLayout::of(tree, &decoded.places, KeyLookup::Exact);
        Some(Self {
            version: tree.version,
            byte_order: tree.byte_order,
            alignment: Some(layout.alignment),
            pairs: tree.metadata.len() as u64,
            declared_pairs: tree.kv_count,
            tensors: tree.tensors.len() as u64,
            declared_tensors: tree.tensor_count,
            elements: tree.tensors.iter().try_fold(0u128, |sum, tensor| sum.checked_add(elements(&tensor.dims)?)),
            tensor_bytes: layout.tensors.iter().try_fold(0u128, |sum, tensor| sum.checked_add(tensor.size?)),
            types: types(tree.tensors.iter().map(|tensor| tensor.type_id)),
        })
    }

    /// The facts of a file that the fast reader has read, or of its start alone.
    #[must_use]
    pub fn of_file(file: &assay_reader::File<'_>, start_only: bool) -> Self {
        let whole = !start_only;
        Self {
            version: file.version(),
            byte_order: match file.byte_order() {
                assay_reader::ByteOrder::Little => ByteOrder::Little,
                assay_reader::ByteOrder::Big => ByteOrder::Big,
            },
            alignment: whole.then(|| file.alignment()),
            pairs: file.metadata().len() as u64,
            declared_pairs: file.kv_count(),
            tensors: file.tensors().len() as u64,
            declared_tensors: file.tensor_count(),
            elements: if whole {
                file.tensors().try_fold(0u128, |sum, tensor| sum.checked_add(elements(tensor.dims())?))
            } else {
                None
            },
            tensor_bytes: whole.then(|| file.tensors().map(|tensor| u128::from(tensor.size())).sum()),
            types: types(file.tensors().map(|tensor| tensor.type_id())),
        }
    }

    /// The facts of a file of which the start alone was read: what the header itself says, and nothing
    /// of pairs and tensors.
    #[must_use]
    pub fn of_start(decoded: &Decoded<'_>) -> Option<Self> {
        let tree = decoded.tree.as_ref()?;
        Some(Self {
            version: tree.version,
            byte_order: tree.byte_order,
            alignment: None,
            pairs: 0,
            declared_pairs: tree.kv_count,
            tensors: 0,
            declared_tensors: tree.tensor_count,
            elements: None,
            tensor_bytes: None,
            types: Vec::new(),
        })
    }

    /// Bits that a weight takes on average, with two decimals.
    #[must_use]
    pub fn bits_per_weight(&self) -> Option<String> {
        hundredths(self.tensor_bytes?.checked_mul(8)?, self.elements.filter(|&n| n > 0)?)
    }

    /// The line about a file; `size` tells its size in words.
    #[must_use]
    pub fn line(&self, size: &str) -> String {
        let of = |read: u64, declared: u64, noun: &str| {
            if self.alignment.is_none() {
                format!("{} declared", count(declared, noun))
            } else if read == declared {
                count(read, noun)
            } else {
                format!("{} of {}", grouped(read), count(declared, noun))
            }
        };
        let mut line = format!(
            "GGUF version {}, {}-endian, {}, {}, {size}",
            self.version,
            self.byte_order.name(),
            of(self.pairs, self.declared_pairs, "pair"),
            of(self.tensors, self.declared_tensors, "tensor"),
        );
        if let Some(bits) = self.bits_per_weight() {
            line.push_str(&format!(", {bits} bits per weight"));
        }
        if !self.types.is_empty() {
            line.push_str(&format!(" ({})", self.type_counts()));
        }
        line
    }

    /// `210 Q4_1, 61 F32, 1 Q8_0`; of many types the most frequent.
    fn type_counts(&self) -> String {
        const MOST: usize = 8;
        let mut parts: Vec<_> =
            self.types.iter().take(MOST).map(|(name, n)| format!("{} {name}", grouped(n))).collect();
        if self.types.len() > MOST {
            let rest: u64 = self.types[MOST..].iter().map(|(_, n)| n).sum();
            parts.push(format!("{} of other types", grouped(rest)));
        }
        parts.join(", ")
    }

    /// The facts for a script; numbers that a damaged file can make large are strings.
    #[must_use]
    pub fn to_json(&self) -> Json {
        json!({
            "version": self.version,
            "byte_order": self.byte_order.name(),
            "alignment": self.alignment,
            "pairs": self.pairs,
            "declared_pairs": self.declared_pairs.to_string(),
            "tensors": self.tensors,
            "declared_tensors": self.declared_tensors.to_string(),
            "elements": self.elements.map(|n| n.to_string()),
            "tensor_bytes": self.tensor_bytes.map(|n| n.to_string()),
            "bits_per_weight": self.bits_per_weight(),
            "types": self.types.iter().map(|(name, n)| json!({"type": name, "tensors": n})).collect::<Vec<_>>(),
        })
    }
}

/// How many tensors have each type, the most frequent first, else in the order of their numbers.
fn types(ids: impl Iterator<Item = u32>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for id in ids {
        *counts.entry(id).or_default() += 1;
    }
    let mut types: Vec<_> = counts.into_iter().map(|(id, count)| (type_name(id), count)).collect();
    types.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    types
}

fn elements(dims: &[u64]) -> Option<u128> {
    dims.iter().try_fold(1u128, |product, &dim| product.checked_mul(u128::from(dim)))
}

/// The name of a tensor type, or its number if it has none.
#[must_use]
pub fn type_name(id: u32) -> String {
    TensorType::from_id(id).map_or_else(|| format!("type {id}"), |ty| ty.name.to_owned())
}
