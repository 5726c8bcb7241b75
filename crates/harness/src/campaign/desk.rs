//! The directory of the files that readers are asked about: in memory, if the system has a place for that.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process;

use super::CampaignError;

/// What the names of these directories begin with; the number of the process and something drawn follow.
const PREFIX: &str = "assay-fuzz-";

/// A new one, which is gone when it is dropped.
pub(super) fn desk() -> Result<tempfile::TempDir, CampaignError> {
    let memory = Path::new("/dev/shm");
    clear(memory, Path::new("/proc"));
    let prefix = format!("{PREFIX}{}-", process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    builder
        .tempdir_in(memory)
        .or_else(|_| builder.tempdir())
        .map_err(|source| CampaignError::File { path: std::env::temp_dir(), source })
}

/// Removes what campaigns left that were killed: memory does not come back by itself.
fn clear(memory: &Path, processes: &Path) {
    // Without this nobody can be said to be gone.
    if !processes.join("self").exists() {
        return;
    }
    let owner = |name: &OsStr| name.to_str()?.strip_prefix(PREFIX)?.split_once('-')?.0.parse::<u32>().ok();
    for entry in fs::read_dir(memory).into_iter().flatten().flatten() {
        if owner(&entry.file_name()).is_some_and(|id| !processes.join(id.to_string()).exists()) {
            // That of another user stays: it is theirs to remove.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_left_goes_and_nothing_else() {
        let room = tempfile::tempdir().expect("a directory");
        let (memory, processes) = (room.path().join("shm"), room.path().join("proc"));
        let ours = ["assay-fuzz-12-aBc", "assay-fuzz-13-aBc", "assay-fuzz-x-aBc", "assay-fuzz-13", "other-13-aBc"];
        for name in ours {
            fs::create_dir_all(memory.join(name).join("files")).expect("a directory");
            fs::write(memory.join(name).join("7.gguf"), "GGUF").expect("a file");
        }
        let left = || ours.into_iter().filter(|name| memory.join(name).exists()).collect::<Vec<_>>();
        clear(&memory, &processes);
        assert_eq!(left(), ours, "it is not known who lives");
        for name in ["self", "12"] {
            fs::create_dir_all(processes.join(name)).expect("a directory");
        }
        clear(&memory, &processes);
        assert_eq!(left(), ["assay-fuzz-12-aBc", "assay-fuzz-x-aBc", "assay-fuzz-13", "other-13-aBc"]);
    }

    #[test]
    fn a_directory_tells_whose_it_is() {
        let desk = desk().expect("a directory");
        let name = desk.path().file_name().and_then(OsStr::to_str).expect("a name");
        assert!(name.starts_with(&format!("{PREFIX}{}-", process::id())), "{name}");
    }
}
