//! Whose kernels are asked, and who cannot be on this machine.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_harness::kernels::Maker;
use assay_harness::record::NotRun;
use assay_kernels::Kernels;
use assay_providers::child::{Host, RemoteKernels};
use assay_providers::ggml::kernels;
use gguf_spec::kernel::KernelSet;

use super::Args;
use crate::exit::Failure;

/// The word that makes a child of a process, one that serves the kernels of a library. Hidden.
pub const NAME: &str = "__kernels";

/// Serves the kernels of a library to the process that started this one.
#[must_use]
pub fn serve(arguments: &[OsString]) -> ExitCode {
    assay_providers::child::serve(arguments)
}

/// A set of kernels that can be asked.
pub(super) struct Set {
    /// Its name; no other set of the run has it.
    pub(super) name: String,
    /// The file name of its library; `None` if it is our own.
    file: Option<String>,
    /// Makes one for a thread.
    pub(super) maker: Box<Maker<'static>>,
}

/// The sets that the arguments name, and what of them does not run here.
pub(super) fn open(args: &Args) -> Result<(Vec<Set>, Vec<NotRun>), Failure> {
    let (mut sets, mut not_run) = (Vec::new(), Vec::new());
    let limit = Duration::from_secs(args.call_seconds);
    for whose in &args.provider {
        match whose.as_str() {
            "scalar" => sets.push(own()),
            "ggml" => ggml(args, limit, &mut sets, &mut not_run)?,
            path => sets.push(remote(PathBuf::from(path), limit)?),
        }
    }
    if (args.ggml_dir.is_some() || !args.build.is_empty()) && !args.provider.iter().any(|whose| whose == "ggml") {
        return Err(Failure::Usage("--ggml-dir and --build go with --provider ggml".to_owned()));
    }
    if sets.is_empty() {
        let why: Vec<_> = not_run.iter().map(|left| format!("{}: {}", left.what, left.why)).collect();
        return Err(Failure::Unreadable(format!("no set of kernels runs here\n{}", why.join("\n"))));
    }
    tell_apart(&mut sets);
    Ok((sets, not_run))
}

/// Makes names different: answers are told apart by them. Sets that share one get the names of their files, and
/// numbers if those are the same too.
fn tell_apart(sets: &mut [Set]) {
    let given: Vec<String> = sets.iter().map(|set| set.name.clone()).collect();
    let shared = |name: &String| given.iter().filter(|other| *other == name).count() > 1;
    let mut taken: HashSet<String> = given.iter().filter(|name| !shared(name)).cloned().collect();
    for (set, name) in sets.iter_mut().zip(&given).filter(|(_, name)| shared(name)) {
        let numbered = (1..).map(|number: usize| match (&set.file, number) {
            (Some(file), 1) => format!("{name} ({file})"),
            (Some(file), _) => format!("{name} ({file}, {number})"),
            (None, 1) => name.clone(),
            (None, _) => format!("{name} ({number})"),
        });
        let free = numbered.into_iter().find(|name| !taken.contains(name));
        set.name = free.unwrap_or_else(|| name.clone());
        taken.insert(set.name.clone());
    }
}

/// Our own kernels, in this process.
fn own() -> Set {
    let make = || -> Result<Box<dyn KernelSet>, String> { Ok(Box::new(Kernels::scalar())) };
    Set { name: Kernels::scalar().name().to_owned(), file: None, maker: Box::new(make) }
}

/// The kernels of a library, in a process for each thread.
fn remote(library: PathBuf, limit: Duration) -> Result<Set, Failure> {
    let first = start(&library, limit).map_err(Failure::Unreadable)?;
    let name = first.name().to_owned();
    let file = library.file_name().map(|file| file.to_string_lossy().into_owned());
    // The one that has told its name is asked, too.
    let first = Mutex::new(Some(first));
    let make = move || -> Result<Box<dyn KernelSet>, String> {
        let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(Box::new(first.map_or_else(|| start(&library, limit), Ok)?))
    };
    Ok(Set { name, file, maker: Box::new(make) })
}

fn start(library: &Path, limit: Duration) -> Result<RemoteKernels, String> {
    let host = Host::current(NAME).map_err(|error| format!("the path of this program is unknown: {error}"))?;
    RemoteKernels::start(host, library, limit).map_err(|error| error.to_string())
}

/// ggml's base library and its builds. One that is not named, and that this processor does not run, is left out.
fn ggml(args: &Args, limit: Duration, sets: &mut Vec<Set>, not_run: &mut Vec<NotRun>) -> Result<(), Failure> {
    let Some(directory) = &args.ggml_dir else {
        return Err(Failure::Usage("--provider ggml needs --ggml-dir, the folder of ggml's libraries".to_owned()));
    };
    if !args.build.is_empty() {
        for build in &args.build {
            let file = kernels::file(directory, build);
            if !file.is_file() {
                return Err(no_build(directory, build));
            }
            sets.push(remote(file, limit)?);
        }
        return Ok(());
    }
    if !kernels::file(directory, kernels::BASE).is_file() {
        return Err(no_build(directory, kernels::BASE));
    }
    sets.push(remote(kernels::file(directory, kernels::BASE), limit)?);
    for build in kernels::builds(directory).map_err(|error| Failure::Unreadable(error.to_string()))? {
        match remote(kernels::file(directory, &build), limit) {
            Ok(set) => sets.push(set),
            Err(why) => {
                let file = kernels::file(directory, &build);
                // What it is about is said already, so that builds left out for one reason have one text.
                let why = why.to_string().replace(&format!("{}: ", file.display()), "");
                not_run.push(NotRun { what: format!("ggml/{build}"), why });
            }
        }
    }
    Ok(())
}

/// A build that is not in the folder, and those that are.
fn no_build(directory: &Path, build: &str) -> Failure {
    let base = kernels::file(directory, kernels::BASE).is_file().then(|| kernels::BASE.to_owned());
    let there = match kernels::builds(directory) {
        Ok(builds) => base.into_iter().chain(builds).collect::<Vec<_>>(),
        Err(error) => return Failure::Unreadable(error.to_string()),
    };
    let there = if there.is_empty() { "no build of ggml".to_owned() } else { there.join(", ") };
    Failure::Unreadable(format!("{}: no such file; the folder has {there}", kernels::file(directory, build).display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_one_name_are_told_apart() {
        let set = |(name, file): (&str, Option<&str>)| Set { name: name.into(), file: file.map(Into::into), ..own() };
        let mut sets = [
            ("mine", Some("a.so")),
            ("mine", Some("b.so")),
            ("mine", Some("a.so")),
            ("scalar", None),
            ("mine (b.so)", Some("c.so")),
            ("scalar", None),
        ]
        .map(set);
        tell_apart(&mut sets);
        let names = sets.each_ref().map(|set| set.name.as_str());
        let expected = ["mine (a.so)", "mine (b.so, 2)", "mine (a.so, 2)", "scalar", "mine (b.so)", "scalar (2)"];
        assert_eq!(names, expected);
    }
}
