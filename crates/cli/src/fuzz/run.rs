//! A campaign from its first file to its summary.

use std::cell::Cell;
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
    let (start, rules) = (Instant::now(), catalogue().len());
    let told = Cell::new(None::<Instant>);
    let ran = campaign.run(&Watch {
        stop: Arc::new(|| stopped.load(Ordering::Relaxed) > 0),
        told: &|how| {
            if told.get().is_none_or(|told| told.elapsed() >= TICK) {
                told.set(Some(Instant::now()));
                bar.tell(&line(how, start.elapsed(), rules));
            }
        },
        hex: &annotated,
    });
    drop(bar);
    ran.map_err(failure)?;

    let exit = exit(&campaign);
    if args.json {
        write_json(ui.out(), &json::summary(&campaign, &args.out, exit))?;
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

/// The line about a campaign under way.
fn line(how: &How, time: Duration, rules: usize) -> String {
    let (answers, accepted) = how.answers;
    let seconds = time.as_secs().max(1);
    let share = (100 * accepted).checked_div(answers).unwrap_or(0);
    let waiting = if how.waiting == 0 { String::new() } else { format!(" ({} to be confirmed)", how.waiting) };
    format!(
        "{} files, {}/s, {share} % accepted, {}/{rules} rules, {}{waiting}, {} s",
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
