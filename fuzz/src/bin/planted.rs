//! Plants faults in the fast reader, one at a time, and hunts for each with the fuzz targets.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};

use assay_corpus::store::{Entry, load};
use assay_fuzz::ended::{Way, ended};
use assay_fuzz::planted::{Fault, Table};
use assay_fuzz::{Target, seeds, targets};
use clap::Parser;

const EXAMPLES: &str = "\
Examples:
  cargo run --release -p assay-fuzz --bin planted                       all of them, some twenty minutes
  cargo run --release -p assay-fuzz --bin planted -- --sample 5 --turn 12   five, other ones each turn
  cargo run --release -p assay-fuzz --bin planted -- --only bool-taken-as-is --markdown table.md

Needs a nightly compiler and `cargo install cargo-fuzz`. Exit codes: 0 each was found, 1 one was not,
3 something could not be done.";

/// Plant faults in the fast reader, and hunt for each.
#[derive(Debug, Parser)]
#[command(name = "planted", after_help = EXAMPLES)]
struct Args {
    /// The top of the checkout.
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,

    /// Where the faulty readers are built.
    #[arg(long, value_name = "DIR", default_value = "target/planted")]
    work: PathBuf,

    /// Only this fault; may be given more than once.
    #[arg(long, value_name = "ID")]
    only: Vec<String>,

    /// Only so many faults, evenly spread over the table.
    #[arg(long, value_name = "N")]
    sample: Option<usize>,

    /// Which of the samples: another number starts elsewhere in the table.
    #[arg(long, value_name = "N", default_value_t = 0)]
    turn: usize,

    /// How long a target may hunt for one fault.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    seconds: u64,

    /// The seed of libFuzzer.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u32,

    /// Write the table of what was found, and when, to this file.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// List the faults instead.
    #[arg(long)]
    list: bool,
}

/// Those that hunt, in their order: the second where the first finds nothing.
const HUNTERS: [&str; 2] = ["mutate", "differential"];

/// What came of one hunt.
struct Hunt {
    target: &'static str,
    time: Duration,
    /// How many files it took; `None` if that was not said.
    files: Option<u64>,
    /// What it was seen as, and what did not hold; `None` if everything did.
    found: Option<(Way, String)>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missed) => {
            eprintln!("{missed} planted faults were not found");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(3)
        }
    }
}

fn run(args: &Args) -> Result<usize, String> {
    let table = Table::load(&args.root)?;
    let chosen = chosen(args, &table.fault)?;
    if args.list {
        for fault in chosen {
            println!("{:<44} {:<6} {}", fault.id, fault.row, fault.says);
        }
        return Ok(0);
    }
    let entries = load(&args.root.join("corpus")).map_err(|error| error.to_string())?;
    let work = std::path::absolute(&args.work).map_err(|error| error.to_string())?;
    // A folder of its own: cargo does not tell the crates of a copied workspace from those of the workspace itself,
    // and would take a reader with a fault for the one without, there or here.
    let target_dir = work.join("target");
    let shop = Shop { source: work.join("source"), work, target_dir, host: host()?, seed: args.seed };
    copy_source(&args.root, &shop.source)?;
    shop.control(args.seconds, &entries)?;
    let mut missed = 0;
    let mut lines = Vec::new();
    for (i, fault) in chosen.iter().enumerate() {
        eprint!("{:>3}/{} {:<44} ", i + 1, chosen.len(), fault.id);
        let hunts = shop.hunt(args, fault, &entries)?;
        let last = hunts.last().ok_or("no target hunts")?;
        match &last.found {
            Some((way, found)) => {
                let time = last.time.as_secs_f64();
                eprintln!("{time:>6.1} s  {}  {way}: {}", last.target, short(found));
            }
            None => {
                missed += 1;
                eprintln!("not found");
            }
        }
        lines.push((*fault, hunts));
    }
    if let Some(path) = &args.markdown {
        fs::write(path, markdown(args, table.fault.len(), &lines))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    println!("{} of {} planted faults found", chosen.len() - missed, chosen.len());
    Ok(missed)
}

fn chosen<'t>(args: &Args, faults: &'t [Fault]) -> Result<Vec<&'t Fault>, String> {
    if let Some(id) = args.only.iter().find(|id| !faults.iter().any(|fault| fault.id == **id)) {
        return Err(format!("--only {id}: there is no such fault; --list shows all"));
    }
    let wanted = faults.iter().filter(|fault| args.only.is_empty() || args.only.contains(&fault.id));
    let wanted: Vec<_> = wanted.collect();
    Ok(match args.sample {
        Some(n) if n < wanted.len() => {
            let step = wanted.len() / n.max(1);
            (0..n).map(|i| wanted[(i * step + args.turn) % wanted.len()]).collect()
        }
        _ => wanted,
    })
}

/// Copies what is needed to build the targets; what is there already and the same keeps its time, so that
/// little is built again.
fn copy_source(root: &Path, to: &Path) -> Result<(), String> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--", "Cargo.toml", "Cargo.lock", "spec", "crates", "fuzz"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git: {error}"))?;
    if !listed.status.success() || listed.stdout.is_empty() {
        return Err(format!("{}: not a checkout that git knows", root.display()));
    }
    for name in listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = std::str::from_utf8(name).map_err(|error| error.to_string())?;
        put(&to.join(name), &read(&root.join(name))?)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file unless it is the same already.
fn put(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let why = |error: std::io::Error| format!("{}: {error}", path.display());
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(why)?;
    }
    fs::write(path, bytes).map_err(why)
}

/// How long the reader without a fault is hunted, at most.
const CONTROL_SECONDS: u64 = 20;

/// Where faulty readers are made.
struct Shop {
    /// Holds everything below, and what libFuzzer writes.
    work: PathBuf,
    /// The copy of the source.
    source: PathBuf,
    /// What cargo builds into.
    target_dir: PathBuf,
    /// What it builds for: the name of a folder in there.
    host: String,
    /// The seed of libFuzzer.
    seed: u32,
}

fn hunters() -> impl Iterator<Item = &'static Target> {
    targets::ALL.iter().filter(|target| HUNTERS.contains(&target.name))
}

impl Shop {
    /// Hunts the reader as it is: what is found in it would be found in every faulty one, too.
    fn control(&self, seconds: u64, entries: &[Entry]) -> Result<(), String> {
        for target in hunters() {
            self.build(target.name)?;
            let folder = self.seeds("control", target, entries, &[])?;
            let hunt = self.go(seconds.min(CONTROL_SECONDS), target.name, &folder)?;
            if let Some((_, found)) = hunt.found {
                return Err(format!("{} finds something without any fault: {found}", target.name));
            }
        }
        eprintln!("without a fault nothing is found");
        Ok(())
    }

    /// Builds a reader with the fault and lets the targets loose on it.
    fn hunt(&self, args: &Args, fault: &Fault, entries: &[Entry]) -> Result<Vec<Hunt>, String> {
        let edited = fault.edited(&args.root)?;
        for (name, text) in &edited {
            put(&self.source.join(name), text.as_bytes())?;
        }
        let hunts = self.hunt_built(args.seconds, fault, entries);
        for name in edited.keys() {
            put(&self.source.join(name), &read(&args.root.join(name))?)?;
        }
        hunts.map_err(|error| format!("{}: {error}", fault.id))
    }

    fn hunt_built(&self, seconds: u64, fault: &Fault, entries: &[Entry]) -> Result<Vec<Hunt>, String> {
        let mut hunts: Vec<Hunt> = Vec::new();
        for target in hunters() {
            if hunts.last().is_some_and(|hunt| hunt.found.is_some()) {
                break;
            }
            self.build(target.name)?;
            let folder = self.seeds(&fault.id, target, entries, &fault.rules)?;
            self.pass(target.name, &folder)?;
            hunts.push(self.go(seconds, target.name, &folder)?);
        }
        Ok(hunts)
    }

    /// Writes the seeds of a hunt, but for the vectors of these rules.
    fn seeds(&self, hunt: &str, target: &Target, entries: &[Entry], without: &[String]) -> Result<PathBuf, String> {
        let folder = self.work.join("seeds").join(hunt).join(target.name);
        let why = |error: std::io::Error| format!("{}: {error}", folder.display());
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(why)?;
        }
        seeds::write(target, entries, without, &folder).map_err(why)?;
        Ok(folder)
    }

    fn build(&self, target: &str) -> Result<(), String> {
        let log = self.work.join("build.log");
        let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let status = Command::new("cargo")
            .args(["+nightly", "fuzz", "build", "--sanitizer", "none", "--no-trace-compares"])
            .args(["--no-default-features", "--target", &self.host, target])
            .current_dir(&self.source)
            .env("CARGO_TARGET_DIR", &self.target_dir)
            // A rustflags variable of the caller would take the place of those of cargo-fuzz.
            .env_remove("RUSTFLAGS")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .status()
            .map_err(|error| format!("cargo fuzz: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("the faulty reader does not build: see {}", log.display())) }
    }

    /// Takes those seeds away that show the fault as they are: it has to be found by making another file.
    fn pass(&self, target: &str, folder: &Path) -> Result<(), String> {
        loop {
            let output = self.start(target, folder, "-runs=0")?;
            if output.status.success() {
                return Ok(());
            }
            let said = String::from_utf8_lossy(&output.stderr);
            ended(&said)?;
            let written = said.lines().find_map(|line| line.split_once("Test unit written to ").map(|(_, path)| path));
            let shown = read(Path::new(written.ok_or("libFuzzer wrote no file")?.trim()))?;
            let files = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            let paths = files.filter_map(Result::ok).map(|file| file.path());
            let same: Vec<_> = paths.filter(|path| fs::read(path).is_ok_and(|bytes| bytes == shown)).collect();
            for path in &same {
                fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
            }
            if same.is_empty() {
                // libFuzzer's own first input, which is no seed.
                return Ok(());
            }
        }
    }

    /// Runs a target from its seeds, and waits for its end.
    fn start(&self, target: &str, seeds: &Path, how_long: &str) -> Result<Output, String> {
        // Another target's folder may hold an older one.
        let program = self.target_dir.join(&self.host).join("release").join(target);
        let artifacts = self.work.join("artifacts");
        fs::create_dir_all(&artifacts).map_err(|error| format!("{}: {error}", artifacts.display()))?;
        Command::new(&program)
            .arg(how_long)
            .arg(format!("-seed={}", self.seed))
            .args(["-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"])
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(seeds)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{}: {error}", program.display()))
    }

    fn go(&self, seconds: u64, target: &'static str, seeds: &Path) -> Result<Hunt, String> {
        let begun = Instant::now();
        let output = self.start(target, seeds, &format!("-max_total_time={seconds}"))?;
        let time = begun.elapsed();
        let said = String::from_utf8_lossy(&output.stderr);
        let executed = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        let found = if output.status.success() { None } else { Some(ended(&said)?) };
        Ok(Hunt { target, time, files: executed.and_then(|n| n.trim().parse().ok()), found })
    }
}

/// The target of compilers that builds for this machine, by the name that it gives itself.
fn host() -> Result<String, String> {
    let output = Command::new("rustc")
        .args(["+nightly", "--print", "host-tuple"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("rustc: {error}"))?;
    let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !name.is_empty() {
        return Ok(name);
    }
    Err(format!("rustc +nightly: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

fn short(text: &str) -> String {
    const MOST: usize = 110;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn markdown(args: &Args, all: usize, lines: &[(&Fault, Vec<Hunt>)]) -> String {
    let found = lines.iter().filter(|(_, hunts)| hunts.last().is_some_and(|hunt| hunt.found.is_some())).count();
    let mut by_target: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_way: BTreeMap<Way, usize> = BTreeMap::new();
    let mut times: Vec<f64> = Vec::new();
    for hunt in lines.iter().filter_map(|(_, hunts)| hunts.last()).filter(|hunt| hunt.found.is_some()) {
        *by_target.entry(hunt.target).or_default() += 1;
        if let Some((way, _)) = hunt.found {
            *by_way.entry(way).or_default() += 1;
        }
        times.push(hunt.time.as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let middle = times.get(times.len() / 2).copied().unwrap_or(0.0);
    let longest = times.last().copied().unwrap_or(0.0);
    let targets: Vec<String> = by_target.iter().map(|(target, n)| format!("{n} by `{target}`")).collect();
    let ways: Vec<String> = by_way.iter().map(|(way, n)| format!("{n} as {way}")).collect();
    let mut text = format!(
        "# Planted faults\n\n\
         The fast reader is built with one fault at a time, and fuzzed on one core from the small vectors of the \
         corpus but for those that exercise the rules of the fault, or that show it as they are (without a fault, nothing is found); `fuzz/planted/faults.toml` holds the faults, \
         each with a place where a reader of others failed like that.\n\n\
         **{found} of {} were found**, of the {all} in the table, within {} s each ({}; seen {}): half of them within {middle:.1} s, the last one after \
         {longest:.1} s. The times are of one run, from the start of the program to its end, with libFuzzer's seed \
         {}; they differ from run to run and from machine to machine.\n\n\
         Seen as a panic is what a target says does not hold, and a panic of the reader. A file that takes 10 s is a \
         timeout; 2 GiB is too much memory.\n\n\
         Made by `cargo run --release -p assay-fuzz --bin planted -- --markdown reports/planted.md`.\n\n\
         | fault | row | what the faulty reader does | subtle | target | seen as | seconds | files |\n\
         | --- | --- | --- | --- | --- | --- | ---: | ---: |\n",
        lines.len(),
        args.seconds,
        targets.join(", "),
        ways.join(", "),
        args.seed,
    );
    for (fault, hunts) in lines {
        let Some(hunt) = hunts.last() else { continue };
        let files = hunt.files.map_or_else(|| "?".to_owned(), |n| n.to_string());
        let (target, way, seconds) = match &hunt.found {
            Some((way, _)) => {
                (format!("`{}`", hunt.target), way.to_string(), format!("{:.1}", hunt.time.as_secs_f64()))
            }
            None => ("none".to_owned(), String::new(), "not found".to_owned()),
        };
        let subtle = if fault.subtle { "yes" } else { "" };
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {subtle} | {target} | {way} | {seconds} | {files} |",
            fault.id, fault.row, fault.says
        );
    }
    text
}
