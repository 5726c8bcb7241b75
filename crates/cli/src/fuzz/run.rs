//! A campaign from its first file to its summary.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anstream::AutoStream;
use assay_corpus::store::{Entry, load};
use assay_harness::campaign::{Bounds, Campaign, CampaignError, Progress as How, Watch};
use gguf_spec::binary::decode;
use gguf_spec::judge::judge;
use gguf_spec::rules::{Checks, catalogue};

use super::{Args, json, readers, text};
use crate::dump::{Dump, write_hex};
use crate::exit::{Exit, Failure};
use crate::text::{count, grouped};
use crate::ui::{DIM, Progress, Ui, write_json};

/// How long a campaign is unless its time or its files are bounded.
const DEFAULT_SECONDS: f64 = 60.0;

/// How often the line about the campaign changes.
const TICK: Duration = Duration::from_millis(200);

/// How often a line is added where none can change: in a log.
const NOTE: Duration = Duration::from_secs(30);

pub(super) fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    if args.count == Some(0) {
        return Err(Failure::Usage("--count 0 asks about no file at all".to_owned()));
    }
    let seconds = args.seconds.or(if args.count.is_some() { None } else { Some(DEFAULT_SECONDS) });
    let bounds = Bounds {
        count: args.count,
        time: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        disk: args.max_disk,
        tries: usize::try_from(args.tries).unwrap_or(usize::MAX),
    };
    let most = usize::try_from(args.max_size).unwrap_or(usize::MAX).max(1);
    let vectors = vectors(args)?;
    let readers = readers(args)?;
    let campaign = if args.resume {
        Campaign::resume(&args.out, readers, &vectors, bounds)
    } else {
        let seed = args.seed.unwrap_or_else(drawn);
        Campaign::begin(&args.out, readers, &vectors, seed, most, bounds)
    };
    let mut campaign = campaign.map_err(failure)?;
    if !args.json {
        text::head(&campaign, &vectors, ui.out())?;
        // It is read while the campaign runs.
        ui.finish()?;
    }

    let stopped = stop_on_signals();
    let bar = Progress::open("asks about the first files", ui.progress());
    let (start, rules, watched) = (Instant::now(), catalogue().len(), ui.progress());
    let beat = Beat { every: if watched { TICK } else { NOTE }, last: Cell::new(start) };
    let listener = RefCell::new(&mut *ui);
    let ran = campaign.run(&Watch {
        stop: Arc::new(|| stopped.load(Ordering::Relaxed) > 0),
        told: &|how| {
            if beat.due(Instant::now()) {
                let line = line(how, start.elapsed(), rules);
                if watched { bar.tell(&line) } else { listener.borrow_mut().note(&line) }
            }
        },
        hex: &annotated,
    });
    drop(bar);
    // What was found is told, whatever could not be written.
    let failed = ran.err().map(failure);
    let exit = failed.as_ref().map_or_else(|| exit(&campaign), Failure::exit);
    if args.json {
        write_json(ui.out(), &json::summary(&campaign, &args.out, exit, failed.as_ref()))?;
    } else {
        if stopped.load(Ordering::Relaxed) > 0 {
            writeln!(ui.out(), "{DIM}stopped: --resume goes on{DIM:#}\n")?;
        }
        text::summary(&campaign, &args.out, ui.out())?;
    }
    for reader in campaign.readers() {
        if let Some(why) = reader.aside() {
            ui.complain(&format!("{}: put aside: {why}", reader.name()));
        }
    }
    if let Some(failure) = failed {
        let what = "that is where the campaign ended; --resume goes on from what was written before";
        ui.complain(&format!("{failure}: {what}"));
    }
    Ok(exit)
}

/// A seed that nobody chose, short enough to be typed.
fn drawn() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

/// How a campaign ends. One whose readers were all put aside did not come to its end.
fn exit(campaign: &Campaign) -> Exit {
    let asked = campaign.tallies().iter().any(|tally| tally.files > 0);
    let left = campaign.readers().iter().any(|reader| reader.aside().is_none());
    // Failures that did not come again, or that were too many to be told apart, are failures all the same.
    let loose = campaign
        .readers()
        .iter()
        .any(|reader| campaign.unstable_of(reader.name()) + campaign.left_out_of(reader.name()) > 0);
    if !asked || !left {
        Exit::Unreadable
    } else if campaign.groups().is_empty() && campaign.progress().waiting == 0 && !loose {
        Exit::Fine
    } else {
        Exit::Findings
    }
}

/// The vectors of the corpus; none, if there is no corpus and none was named.
fn vectors(args: &Args) -> Result<Vec<Entry>, Failure> {
    match &args.corpus {
        Some(corpus) => Ok(load(corpus)?),
        None if Path::new("corpus").join("vectors").is_dir() => Ok(load(Path::new("corpus"))?),
        None => Ok(Vec::new()),
    }
}

pub(super) fn failure(error: CampaignError) -> Failure {
    match error {
        CampaignError::Usage(why) => Failure::Usage(why),
        error @ (CampaignError::File { .. } | CampaignError::Form { .. }) => Failure::Unreadable(error.to_string()),
    }
}

/// How often somebody asked this program to end: the first time it ends in order, the second time at once.
fn stop_on_signals() -> &'static AtomicUsize {
    static STOPPED: AtomicUsize = AtomicUsize::new(0);
    static SET: OnceLock<bool> = OnceLock::new();
    SET.get_or_init(|| {
        let handler = || {
            if STOPPED.fetch_add(1, Ordering::Relaxed) > 0 {
                // As a shell reports an interrupt.
                process::exit(130);
            }
        };
        // Without a handler an interrupt ends the program at once, and the state is that of seconds ago.
        ctrlc::set_handler(handler).is_ok()
    });
    &STOPPED
}

/// When it is time to tell something again.
struct Beat {
    every: Duration,
    last: Cell<Instant>,
}

impl Beat {
    fn due(&self, now: Instant) -> bool {
        let due = now.duration_since(self.last.get()) >= self.every;
        if due {
            self.last.set(now);
        }
        due
    }
}

/// The line about a campaign under way.
fn line(how: &How, time: Duration, rules: usize) -> String {
    let (answers, accepted) = how.answers;
    let seconds = time.as_secs().max(1);
    let share = (100 * accepted).checked_div(answers).unwrap_or(0);
    let waiting = if how.waiting == 0 { String::new() } else { format!(" ({} to be confirmed)", how.waiting) };
    let settling = how.settling.as_ref().map_or_else(String::new, |signature| {
        format!("; makes small: {} {}: {}", signature.verdict, signature.adapter, signature.subject())
    });
    format!(
        "{} files, {}/s, {share} % accepted, {}/{rules} rules, {}{waiting}, {} s{settling}",
        grouped(how.files),
        grouped(how.files / seconds),
        how.rules,
        count(how.groups, "group"),
        time.as_secs()
    )
}

/// The bytes of a file with the fields they belong to, as `assay dump --hex` shows them.
fn annotated(bytes: &[u8]) -> String {
    let judgement = judge(bytes, &Checks::all());
    let decoded = decode(bytes);
    let mut out = AutoStream::never(Vec::new());
    let dump = Dump { decoded: &decoded, input: &bytes, findings: &judgement.findings, full: false };
    match write_hex(&mut out, &dump) {
        Ok(()) => String::from_utf8_lossy(&out.into_inner()).into_owned(),
        Err(error) => format!("{error}\n"),
    }
}

#[cfg(test)]
mod tests {
    use assay_harness::campaign::Signature;

    use super::*;

    #[test]
    fn a_line_is_due_once_in_a_while() {
        let start = Instant::now();
        let beat = Beat { every: NOTE, last: Cell::new(start) };
        let due: Vec<u64> = (0..100).filter(|&s| beat.due(start + Duration::from_secs(s))).collect();
        assert_eq!(due, [30, 60, 90]);
    }

    #[test]
    fn the_line_tells_what_is_made_small() {
        let signature = |rules: &[&str], detail: &str| Signature {
            adapter: "mine".to_owned(),
            verdict: "wrong-value".to_owned(),
            rules: rules.iter().map(|&rule| rule.to_owned()).collect(),
            detail: detail.to_owned(),
        };
        let mut how = How { files: 5000, answers: (5000, 2500), rules: 9, groups: 1, waiting: 2, settling: None };
        let told = |how: &How| line(how, Duration::from_secs(10), 119);
        assert_eq!(told(&how), "5,000 files, 500/s, 50 % accepted, 9/119 rules, 1 group (2 to be confirmed), 10 s");
        how.settling = Some(signature(&[], "tensors[].name"));
        assert!(told(&how).ends_with(", 10 s; makes small: wrong-value mine: tensors[].name"), "{}", told(&how));
        how.settling = Some(signature(&["align.zero", "magic.bytes"], ""));
        assert!(told(&how).ends_with(": align.zero, magic.bytes"), "{}", told(&how));
    }
}
