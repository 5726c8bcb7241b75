//! Kernels behind the C interface, in a child: a right provider is right, and each bad one is told apart by what it
//! does.
//!
//! The program starts itself again as the child. The providers are C: `examples/provider`, and the programs of
//! `tests/bad`, compiled here with `cc` (or what `CC` names). Without a compiler these tests are ignored, and a line
//! says so.

mod bad;
mod compiler;
mod header;
mod optional;
mod orphan;
mod right;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use assay_providers::child::{self, Host, RemoteKernels, StartError};
use compiler::Compiler;
use libtest_mimic::{Arguments, Failed, Trial};

/// A test that needs a compiler.
type Test = Box<dyn FnOnce(&Compiler) -> Result<(), Failed> + Send>;

/// The word that makes a child of this program.
const CHILD: &str = "__kernels";

/// The word that makes one that serves kernels of this program.
const OWN: &str = "__own";

/// What a call may take: far more than any of these.
const LIMIT: Duration = Duration::from_secs(60);

/// What a call may take that never ends; enough for the others on a busy machine.
const SHORT: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == CHILD) {
        return child::serve(&arguments[1..]);
    }
    if arguments.first().is_some_and(|first| first == OWN) {
        return optional::serve();
    }
    if let [word, library] = &arguments[..]
        && word == orphan::PARENT
    {
        return orphan::parent(std::path::Path::new(library));
    }
    let compiler = Compiler::find().map(Arc::new);
    if let Err(reason) = &compiler {
        println!("not run: tests of providers in C: {reason}");
    }
    let mut trials = vec![
        Trial::test("the_header_has_the_numbers_of_the_tables", header::numbers),
        Trial::test("a_library_that_is_not_there_is_told", bad::missing).with_ignored_flag(!cfg!(unix)),
        Trial::test("a_library_that_is_none_is_told", bad::no_library).with_ignored_flag(!cfg!(unix)),
        Trial::test("kernels_of_this_program_are_served_too", optional::own_kernels).with_ignored_flag(!cfg!(unix)),
    ];
    let mut with_cc = |name: String, test: Test| {
        let compiler = compiler.clone();
        let ignored = compiler.is_err() || !cfg!(unix);
        trials.push(Trial::test(name, move || test(&*compiler?)).with_ignored_flag(ignored));
    };
    for (name, test) in right::TESTS {
        with_cc(name.to_owned(), Box::new(test));
    }
    with_cc("experts_and_rows_cross_the_interface".to_owned(), Box::new(optional::experts_and_rows));
    if cfg!(target_os = "linux") {
        with_cc("a_child_ends_with_its_parent_whatever_it_blocks".to_owned(), Box::new(orphan::ends));
    }
    let tested = |case: &bad::Case| cfg!(target_os = "linux") || case.file != bad::NEEDS_LINUX;
    for case in bad::CASES.into_iter().filter(tested) {
        with_cc(format!("{}_is_told", case.file), Box::new(move |compiler| case.check(compiler)));
    }
    with_cc("every_bad_provider_is_tested".to_owned(), Box::new(|_| bad::all_are_tested()));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Starts a child for a library.
fn start(library: &std::path::Path, limit: Duration) -> Result<RemoteKernels, StartError> {
    RemoteKernels::start(Host::current(CHILD).expect("the path of this program"), library, limit)
}
