//! The C compiler.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::Failed;
use tempfile::TempDir;

/// A compiler that is there, and a place for what it makes.
pub(crate) struct Compiler {
    program: String,
    output: TempDir,
    made: AtomicUsize,
}

/// A folder of this package.
pub(crate) fn package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

impl Compiler {
    pub(crate) fn find() -> Result<Self, String> {
        let program = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let runs = Command::new(&program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        match runs {
            Ok(status) if status.success() => {
                let output = TempDir::new().map_err(|error| format!("no temporary directory: {error}"))?;
                Ok(Self { program, output, made: AtomicUsize::new(0) })
            }
            _ => Err(format!("there is no C compiler {program:?}; install one, or name it in CC")),
        }
    }

    /// Makes a shared library of a C file.
    pub(crate) fn library(&self, source: &Path) -> Result<PathBuf, Failed> {
        let name = source.file_stem().ok_or("a file without a name")?;
        // A folder for each: tests that want the same library run side by side.
        let folder = self.output.path().join(self.made.fetch_add(1, Ordering::Relaxed).to_string());
        std::fs::create_dir(&folder)?;
        let library = folder.join(name).with_extension("so");
        let made = Command::new(&self.program)
            .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-null-dereference"])
            .args(["-shared", "-fPIC", "-I"])
            .arg(package("include"))
            .arg("-o")
            .args([&library, source])
            .output()?;
        if made.status.success() {
            Ok(library)
        } else {
            Err(format!("{} is not compiled: {}", source.display(), String::from_utf8_lossy(&made.stderr)).into())
        }
    }
}
