//! ggml's kernels, each build that this processor runs: whether they are called as they have to be, and do what
//! their contracts say on inputs whose products are exact, where the order of additions means nothing.
//!
//! Runs where `ASSAY_GGML_DIR` names the directory of ggml's libraries; elsewhere the tests are ignored, and a
//! line says so. The libraries run in child processes: the program starts itself again.

mod checks;
mod inputs;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use assay_providers::ggml::kernels;
use libtest_mimic::{Arguments, Failed, Trial};

const CHILD: &str = "__kernels";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let [_, word, directory, build] = arguments.as_slice()
        && word == CHILD
    {
        return child(Path::new(directory), &build.to_string_lossy());
    }
    let Some(directory) = std::env::var_os("ASSAY_GGML_DIR").map(PathBuf::from) else {
        println!("not run: ASSAY_GGML_DIR does not name the directory of ggml's libraries");
        let trial = Trial::test("kernels", || Err("not run: ASSAY_GGML_DIR is not set".into())).with_ignored_flag(true);
        return libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code();
    };
    let mut builds = kernels::builds(&directory).unwrap_or_default();
    builds.push(kernels::BASE.to_owned());
    let expected = builds.len() > 1;
    let mut trials: Vec<Trial> = builds
        .into_iter()
        .map(|build| {
            let (name, directory) = (format!("kernels::{build}"), directory.clone());
            // What this processor does not run is shown as ignored.
            let ignored = matches!(kernels::runs(&directory, &build), Ok(false));
            Trial::test(name, move || run(&directory, &build)).with_ignored_flag(ignored)
        })
        .collect();
    trials.push(Trial::test("kernels::there_are_builds", move || {
        if expected { Ok(()) } else { Err("the directory holds no build of ggml's kernels".into()) }
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The checks of a build in a process of its own.
fn run(directory: &Path, build: &str) -> Result<(), Failed> {
    if !kernels::runs(directory, build)? {
        return Err("this processor does not run the build".into());
    }
    let this = std::env::current_exe()?;
    let output =
        Command::new(this).arg(CHILD).args([directory.as_os_str(), build.as_ref()]).stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    let failures: Vec<&str> = said.lines().filter(|line| line.starts_with("FAILED ")).collect();
    if output.status.success() && failures.is_empty() {
        return Ok(());
    }
    let complaints = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}\n{}\n{complaints}", output.status, failures.join("\n")).into())
}

fn child(directory: &Path, build: &str) -> ExitCode {
    let mut set = match kernels::open(directory, build) {
        Ok(set) => set,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{}", set.name());
    let mut report = checks::Report::default();
    if build == kernels::BASE {
        checks::base(set.as_mut(), &mut report);
    } else {
        match kernels::open(directory, kernels::BASE) {
            Ok(mut base) => checks::build(set.as_mut(), base.as_mut(), &mut report),
            Err(error) => report.fail(error.to_string()),
        }
    }
    report.finish()
}
