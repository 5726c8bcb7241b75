//! A judgement takes memory in proportion to the bytes of the file, and to nothing that it declares; the
//! fast reader much less of it.

#[path = "support/counting_allocator.rs"]
mod counting_allocator;
#[path = "support/seed.rs"]
mod seed;

use std::path::Path;
use std::sync::Mutex;

use assay_oracles::{Holds, budget, hostile, reader};
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

/// Judges a file, and reads it under every policy.
fn judged_and_read(name: &str, bytes: &[u8], judged: &Dearest, read: &Dearest) -> Holds {
    within_budget(name, bytes, judged)?;
    for (policy_name, policy) in reader::policies() {
        let (file, heap) = measured(|| assay_reader::read(bytes, policy));
        let (most_peak, most_total) = (reader::heap(bytes.len()), reader::allocated(bytes.len()));
        let Heap { peak, total } = heap;
        let line = || {
            let len = bytes.len();
            format!("{name}, {policy_name}, {len} bytes: {peak} held of {most_peak}, {total} allocated of {most_total}")
        };
        #[expect(clippy::cast_precision_loss, reason = "only for a line to be read")]
        read.note((peak as f64 / most_peak as f64).max(total as f64 / most_total as f64), line);
        if peak > most_peak || total > most_total {
            return Err(line());
        }
        drop(file);
    }
    Ok(())
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
    let (dearest, dearest_read) = <(Dearest, Dearest)>::default();
    for entry in &entries {
        check(judged_and_read(&entry.vector.id, &entry.bytes, &dearest, &dearest_read));
    }
    dearest.print("vectors");
    dearest_read.print("vectors, read");
}

/// A hundred thousand files take some seconds: so many are wanted because the dearest are rare.
#[test]
fn generated_files() {
    let (dearest, dearest_read) = <(Dearest, Dearest)>::default();
    check(seed::each_case(100_000, |case| {
        judged_and_read(&case.kind.to_string(), &case.bytes, &dearest, &dearest_read)
    }));
    dearest.print("generated files");
    dearest_read.print("generated files, read");
}

#[test]
fn files_that_declare_more_than_is_there() {
    let (dearest, dearest_read) = <(Dearest, Dearest)>::default();
    for (name, bytes) in hostile::declared() {
        check(judged_and_read(&name, &bytes, &dearest, &dearest_read));
    }
    for version in [1, 3] {
        for depth in [31, 32, 33, 4000, 60_000] {
            let name = format!("{depth} arrays in one another, version {version}");
            check(judged_and_read(&name, &hostile::nested(version, depth), &dearest, &dearest_read));
        }
    }
    dearest.print("files that declare more than is there");
    dearest_read.print("files that declare more than is there, read");
}

#[test]
fn files_made_to_be_expensive() {
    let (dearest, dearest_read) = <(Dearest, Dearest)>::default();
    for family in hostile::FAMILIES {
        for size in [1 << 10, 1 << 14, 1 << 20] {
            check(judged_and_read(family.name, &family.file(size), &dearest, &dearest_read));
        }
    }
    dearest.print("files made to be expensive");
    dearest_read.print("files made to be expensive, read");
}
