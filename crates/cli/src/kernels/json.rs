//! What was found, for a script; docs/cli.md describes it.

use assay_harness::kernels::record::{Footer, Header, Result as ResultLine};
use assay_report::kernels::sides::positions;
use assay_report::kernels::{Cells, not_asked};
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
    let sides = positions(results).into_iter().map(
        |position| json!({"type": position.ty, "blocks": position.blocks, "sets": position.sets, "who": position.who}),
    );
    let not_asked = not_asked(results)
        .into_iter()
        .map(|(reason, left)| json!({"reason": reason, "times": left.times, "questions": left.questions}));
    let wrong = results.iter().filter(|result| result.is_wrong());
    json!({
        "assay": header.assay, "exit": exit.code(), "seed": header.seed, "questions": header.questions,
        "sets": header.sets, "not_run": header.not_run, "machine": header.machine, "features": header.features,
        "tallies": footer.tallies, "checked": footer.checked, "seconds": footer.seconds,
        "complete": footer.complete, "table": table.collect::<Vec<_>>(),
        "sides": sides.collect::<Vec<_>>(), "not_asked": not_asked.collect::<Vec<_>>(), "failures": wrong.collect::<Vec<_>>(),
    })
}
