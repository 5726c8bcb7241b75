//! What the children that load ggml have seen, one for each vector and mode.

use std::path::Path;

use assay_providers::complaint::last_lines;
use assay_providers::ggml::Mode;

use super::{Observed, Options};
use crate::child::{describe, limits};
use crate::probe::{Question, Reply};
use crate::sandbox::{Ended, Ending};

/// The signal of `abort` on every Unix.
const ABORT: i32 = 6;

/// The code of a process that a debug assertion or `abort` of Windows has ended.
const WINDOWS_ABORT: [i32; 2] = [3, 0xC000_0409_u32.cast_signed()];

/// What the library does with a file.
pub(super) fn read(options: &Options<'_>, mode: Mode, question: Question, file: &Path) -> Observed {
    let arguments = match question {
        Question::Outcome => &["--mode", mode.name(), "--outcome-only"][..],
        Question::Document => &["--mode", mode.name()],
    };
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    match options.probe.start(options.ggml, arguments, &[file], &limits(size)) {
        Ok(ended) => observed(&ended, question),
        Err(error) => Observed::Other(format!("{}: cannot be started: {error}", options.probe.program.display())),
    }
}

fn observed(ended: &Ended, question: Question) -> Observed {
    let complaint = || last_lines(&ended.stderr.text());
    match (ended.ending, Reply::parse(&ended.stdout.text())) {
        (Ending::Exited(0), Ok(Some(Reply::Accept { document, .. }))) => Observed::Accept(Some(document)),
        (Ending::Exited(0), Ok(Some(Reply::Opened))) if question == Question::Outcome => Observed::Accept(None),
        (Ending::Exited(0), Ok(Some(Reply::Refuse { message }))) => Observed::Refuse(message),
        (Ending::Exited(_), Ok(Some(Reply::Error { message }))) => Observed::Other(format!("error: {message}")),
        // Without a line, it was the reading that aborted.
        (Ending::Signalled(ABORT), Ok(None)) => Observed::Abort(complaint()),
        (Ending::Exited(code), Ok(None)) if cfg!(windows) && WINDOWS_ABORT.contains(&code) => {
            Observed::Abort(complaint())
        }
        (Ending::Exited(0), Err(reason)) => Observed::Other(format!("unreadable reply: {reason}")),
        (ending, reply) => {
            let read = matches!(reply, Ok(Some(Reply::Opened)));
            let how = if read { format!("accept, then {}", describe(ending)) } else { describe(ending) };
            match complaint() {
                text if text.is_empty() => Observed::Other(how),
                text => Observed::Other(format!("{how}: {text}")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{Captured, Clock};
    use std::time::Duration;

    fn seen(ending: Ending, stdout: &str) -> Observed {
        let captured = |text: &str| Captured { bytes: text.as_bytes().to_vec(), dropped: 0 };
        let ended = Ended { ending, stdout: captured(stdout), stderr: captured("said\n"), wall: Duration::ZERO };
        observed(&ended, Question::Document)
    }

    #[test]
    fn only_an_abort_of_the_reading_is_an_abort() {
        assert_eq!(seen(Ending::Signalled(ABORT), ""), Observed::Abort("said".to_owned()));
        assert_eq!(
            seen(Ending::Signalled(ABORT), "{\"outcome\":\"opened\"}\n"),
            Observed::Other("accept, then signal 6: said".to_owned())
        );
        assert_eq!(seen(Ending::Signalled(11), ""), Observed::Other("signal 11: said".to_owned()));
    }

    #[test]
    fn the_outcome_alone_is_an_answer_where_no_more_was_asked() {
        let opened = || Ended {
            ending: Ending::Exited(0),
            stdout: Captured { bytes: b"{\"outcome\":\"opened\"}\n".to_vec(), dropped: 0 },
            stderr: Captured::default(),
            wall: Duration::ZERO,
        };
        assert_eq!(observed(&opened(), Question::Outcome), Observed::Accept(None));
        assert_eq!(observed(&opened(), Question::Document), Observed::Other("accept, then exit code 0".to_owned()));
    }

    #[test]
    fn a_reply_counts_only_from_a_child_that_ended_well() {
        let refuse = r#"{"outcome":"refuse","message":"no"}"#;
        assert_eq!(seen(Ending::Exited(0), refuse), Observed::Refuse("no".to_owned()));
        assert_eq!(seen(Ending::Exited(101), refuse), Observed::Other("exit code 101: said".to_owned()));
        assert_eq!(seen(Ending::Signalled(11), refuse), Observed::Other("signal 11: said".to_owned()));
        let error = r#"{"outcome":"error","message":"no library"}"#;
        assert_eq!(seen(Ending::Exited(3), error), Observed::Other("error: no library".to_owned()));
        assert_eq!(seen(Ending::Exited(0), ""), Observed::Other("exit code 0: said".to_owned()));
        assert_eq!(seen(Ending::TimedOut(Clock::Wall), ""), Observed::Other("out of time: said".to_owned()));
    }
}
