//! ggml's library beside the readers of this workspace: asked through a fork server, when
//! `ASSAY_GGML_DIR` names its folder.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_harness::probe::Reply;
use assay_harness::server::{Seen, Server, serve};
use assay_oracles::ggml::agrees;
use assay_providers::ggml::Mode;
use gguf_spec::judge::Judgement;
use gguf_spec::profile::{Outcome, Profile};
use tempfile::TempDir;

/// Names the folder of the library.
const LIBRARY: &str = "ASSAY_GGML_DIR";
/// Names the folder to a program that is to be the server.
const SERVER: &str = "ASSAY_FUZZ_GGML_SERVER";

/// Becomes the server, if that is what this process was started for. Comes first in every program, while
/// it has one thread.
pub fn serve_if_asked() {
    if let Some(directory) = std::env::var_os(SERVER) {
        let code = match serve(Path::new(&directory)) {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("{error}");
                3
            }
        };
        std::process::exit(code);
    }
}

struct Ggml {
    server: Server,
    program: PathBuf,
    directory: OsString,
    folder: TempDir,
}

thread_local! {
    static GGML: RefCell<Option<Result<Ggml, String>>> = const { RefCell::new(None) };
    static PROGRAM: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// The program that is started as the server, instead of this one: for tests, which do not call
/// [`serve_if_asked`] first.
pub fn use_program(program: PathBuf) {
    PROGRAM.set(Some(program));
}

impl Ggml {
    fn new() -> Result<Self, String> {
        let directory = std::env::var_os(LIBRARY)
            .ok_or_else(|| format!("built with `ggml`, and {LIBRARY} does not name the folder of its library"))?;
        let program = match PROGRAM.take() {
            Some(program) => program,
            None => std::env::current_exe().map_err(|error| error.to_string())?,
        };
        Ok(Self { server: start(&program, &directory)?, program, directory, folder: crate::folder()? })
    }

    fn holds(&mut self, bytes: &[u8], judgement: &Judgement) -> Result<(), String> {
        let path = self.folder.path().join("file.gguf");
        std::fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        for (mode, profile) in [(Mode::Header, Profile::GgmlHeader), (Mode::Data, Profile::GgmlData)] {
            let seen = match self.server.ask(mode, &path) {
                Ok(seen) => seen,
                // Once more with a new one: whatever ended the server, the same file ends it again.
                Err(_) => {
                    self.server = start(&self.program, &self.directory)?;
                    self.server.ask(mode, &path).map_err(|error| format!("{profile}: {error}"))?
                }
            };
            match seen {
                Seen::Reply(Reply::Accept { document, .. }) => {
                    agrees(judgement, profile, Outcome::Accept, Some(&document))?;
                }
                Seen::Reply(Reply::Refuse { .. }) => agrees(judgement, profile, Outcome::Refuse, None)?,
                Seen::Ended { aborted: true, .. } => agrees(judgement, profile, Outcome::Abort, None)?,
                Seen::Ended { how, .. } => return Err(format!("{profile}: the library: {how}")),
                Seen::Reply(other) => return Err(format!("{profile}: {other:?}")),
            }
        }
        Ok(())
    }
}

fn start(program: &Path, directory: &OsString) -> Result<Server, String> {
    let mut command = Command::new(program);
    command.env(SERVER, directory);
    Server::start(command).map_err(|error| format!("{}: {error}", program.display()))
}

/// ggml does with a file what its two profiles say.
///
/// # Errors
///
/// What it does otherwise, or why it could not be asked.
pub fn as_its_profiles(bytes: &[u8], judgement: &Judgement) -> Result<(), String> {
    GGML.with_borrow_mut(|ggml| match ggml.get_or_insert_with(Ggml::new) {
        Ok(ggml) => ggml.holds(bytes, judgement),
        Err(reason) => Err(reason.clone()),
    })
}
