//! A judgement takes memory in proportion to the bytes of the file, and to nothing that it declares.

#[path = "support/counting_allocator.rs"]
mod counting_allocator;
#[path = "support/seed.rs"]
mod seed;

use std::path::Path;
use std::sync::Mutex;

use assay_oracles::{Holds, budget, hostile};
use counting_allocator::{Heap, measured};
use gguf_spec::judge::judge;
use gguf_spec::rules::Checks;

/// The dearest of some files, to be printed: how near the budget the truth is.
#[derive(Default)]
struct Dearest(Mutex<Option<(f64, String)>>);

impl Dearest {
    fn note(&self, share: f64, line: impl FnOnce() -> String) {
        let Ok(mut dearest) = self.0.lock() else { return };
        if dearest.as_ref().is_none_or(|(most, _)| share > *most) {
            *dearest = Some((share, line()));
        }
    }

    fn print(&self, of: &str) {
        if let Some((_, line)) = self.0.lock().ok().and_then(|dearest| dearest.clone()) {
            println!("{of}: dearest {line}");
        }
    }
}

/// Judges a file and holds what it took against the budget.
fn within_budget(name: &str, bytes: &[u8], dearest: &Dearest) -> Holds {
    let (_, heap) = measured(|| judge(bytes, &Checks::all()));
    let Heap { peak, total } = heap;
    let (most_peak, most_total) = (budget::heap(bytes.len()), budget::allocated(bytes.len()));
    let line =
        || format!("{name}, {} bytes: {peak} held of {most_peak}, {total} allocated of {most_total}", bytes.len());
    #[expect(clippy::cast_precision_loss, reason = "only for a line to be read")]
    dearest.note((peak as f64 / most_peak as f64).max(total as f64 / most_total as f64), line);
    if peak <= most_peak && total <= most_total { Ok(()) } else { Err(line()) }
}

fn check(holds: Holds) {
    if let Err(reason) = holds {
        panic!("{reason}");
    }
}

#[test]
fn vectors() {
    let corpus = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus"));
    let entries = assay_corpus::store::load(corpus).unwrap_or_else(|e| panic!("{e}"));
    let dearest = Dearest::default();
    for entry in &entries {
        check(within_budget(&entry.vector.id, &entry.bytes, &dearest));
    }
    dearest.print("vectors");
}

/// A hundred thousand files take some seconds: so many are wanted because the dearest are rare.
#[test]
fn generated_files() {
    let dearest = Dearest::default();
    check(seed::each_case(100_000, |case| within_budget(&case.kind.to_string(), &case.bytes, &dearest)));
    dearest.print("generated files");
}

#[test]
fn files_that_declare_more_than_is_there() {
    let dearest = Dearest::default();
    for (name, bytes) in hostile::declared() {
        check(within_budget(&name, &bytes, &dearest));
    }
    for version in [1, 3] {
        for depth in [31, 32, 33, 4000, 60_000] {
            let name = format!("{depth} arrays in one another, version {version}");
            check(within_budget(&name, &hostile::nested(version, depth), &dearest));
        }
    }
    dearest.print("files that declare more than is there");
}

#[test]
fn files_made_to_be_expensive() {
    let dearest = Dearest::default();
    for family in hostile::FAMILIES {
        for size in [1 << 10, 1 << 14, 1 << 20] {
            check(within_budget(family.name, &family.file(size), &dearest));
        }
    }
    dearest.print("files made to be expensive");
}
