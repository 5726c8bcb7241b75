//! What was found, for a script; docs/cli.md describes it.

use assay_harness::kernels::record::{Footer, Header, Result as ResultLine};
use assay_report::kernels::Cells;
use serde_json::{Value as Json, json};

use crate::exit::Exit;

pub(super) fn summary(header: &Header, results: &[ResultLine], footer: &Footer, exit: Exit) -> Json {
    let cells = Cells::of(results);
    let table = cells.all().map(|((set, ty, operation), cell)| {
        json!({
            "set": set, "type": ty, "operation": operation, "pass": cell.passed, "wrong": cell.wrong,
            "no-room": cell.no_room, "not-run": cell.not_run, "exact": cell.exact, "lossless": cell.lossless,
            "ordinary": cell.ordinary, "contracts": cell.contracts,
        })
    });
    let wrong = results.iter().filter(|result| result.is_wrong());
    json!({
        "assay": header.assay, "exit": exit.code(), "seed": header.seed, "questions": header.questions,
        "sets": header.sets, "not_run": header.not_run, "machine": header.machine, "features": header.features,
        "tallies": footer.tallies, "checked": footer.checked, "seconds": footer.seconds,
        "complete": footer.complete, "table": table.collect::<Vec<_>>(), "failures": wrong.collect::<Vec<_>>(),
    })
}
