//! ggml's kernels, each build that this processor runs: whether they are called as they have to be, and do what
//! their contracts say on inputs whose products are exact, where the order of additions means nothing.
//!
//! Runs where `ASSAY_GGML_DIR` names the directory of ggml's libraries; elsewhere these tests are ignored, and a
//! line says so. The libraries run in child processes, on guarded memory: the program starts itself again.

mod checks;
mod inputs;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use assay_providers::c_abi::LoadError;
use assay_providers::child::{Host, RemoteKernels, StartError, serve};
use assay_providers::ggml::kernels;
use libtest_mimic::{Arguments, Failed, Trial};

const CHILD: &str = "__kernels";
/// For a call, on a machine that has much else to do.
const LIMIT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let [_, word, rest @ ..] = arguments.as_slice()
        && word == CHILD
    {
        return serve(rest);
    }
    let arguments = Arguments::from_args();
    let refused = Trial::test("kernels::what_is_no_library_is_refused", no_library);
    let Some(directory) = std::env::var_os("ASSAY_GGML_DIR").map(PathBuf::from) else {
        println!("not run: ASSAY_GGML_DIR does not name the directory of ggml's libraries");
        let trial = Trial::test("kernels", || Err("not run: ASSAY_GGML_DIR is not set".into())).with_ignored_flag(true);
        return libtest_mimic::run(&arguments, vec![trial, refused]).exit_code();
    };
    let mut builds = kernels::builds(&directory).unwrap_or_default();
    let some = builds.iter().any(|build| matches!(kernels::runs(&directory, build), Ok(true)));
    builds.push(kernels::BASE.to_owned());
    let mut trials: Vec<Trial> = builds
        .into_iter()
        .map(|build| {
            let (name, directory) = (format!("kernels::{build}"), directory.clone());
            // What this processor does not run is shown as ignored.
            let ignored = matches!(kernels::runs(&directory, &build), Ok(false));
            Trial::test(name, move || run(&directory, &build)).with_ignored_flag(ignored)
        })
        .collect();
    trials.push(refused);
    trials.push(Trial::test("kernels::some_build_runs", move || {
        if some { Ok(()) } else { Err("the directory holds no build of ggml's kernels that runs here".into()) }
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A file with the name of ggml's library, and nothing in it.
fn no_library() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    for build in [kernels::BASE, "x64"] {
        std::fs::write(kernels::file(directory.path(), build), "")?;
    }
    for build in [kernels::BASE, "x64"] {
        match RemoteKernels::start(Host::current(CHILD)?, &kernels::file(directory.path(), build), LIMIT) {
            Err(StartError::Unusable(LoadError::Ggml { reason })) if reason.contains("a library of ggml") => {}
            Err(error) => return Err(format!("refused, but for another reason: {error}").into()),
            Ok(_) => return Err("an empty file was taken for a library".into()),
        }
    }
    if kernels::builds(directory.path())? != ["x64"] {
        return Err("the build is not listed".into());
    }
    Ok(())
}

fn start(directory: &Path, build: &str) -> Result<RemoteKernels, Failed> {
    Ok(RemoteKernels::start(Host::current(CHILD)?, &kernels::file(directory, build), LIMIT)?)
}

fn run(directory: &Path, build: &str) -> Result<(), Failed> {
    let mut set = start(directory, build)?;
    let mut report = checks::Report::new(build);
    if build == kernels::BASE {
        checks::base(&mut set, &mut report);
    } else {
        checks::build(&mut set, &mut start(directory, kernels::BASE)?, &mut report);
    }
    report.finish()
}
