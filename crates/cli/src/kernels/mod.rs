//! `assay kernels`: every type, operation and set of kernels on this processor.

mod again;
mod json;
mod planted;
mod record;
mod sets;

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use assay_harness::kernels::record::{Footer, Header, Record, Result as ResultLine};
use assay_harness::kernels::{Bounds, Filter, Question, ask, questions};
use assay_oracles::kernels::cases::Tier;
use assay_providers::ggml::kernels as ggml;
use assay_report::kernels::{MOST_FAILURES, terminal};
use gguf_spec::kernel::{OPERATIONS, Operation};
use gguf_spec::types::TensorType;

use crate::exit::{Exit, Failure};
use crate::numbers::{most, whole};
use crate::ui::{Progress, Ui, write_json};

pub use sets::{NAME, serve};

const EXAMPLES: &str = "\
Examples:
  assay kernels                                      our own kernels: every type and operation
  assay kernels --provider ggml --ggml-dir DIR       ggml's builds that this processor runs
  assay kernels --provider ./libmine.so              yours; docs/write-a-provider.md says how
  assay kernels --type Q4_K --operation matmul       one type and one operation
  assay kernels --list --tier exact                  the names of the questions, without asking
  assay kernels --case dot/Q4_K/exact/r1-k256-c1-scales.normal/1     one question again, by its name
  assay kernels --mutants --markdown page.md         what these questions are worth: faults they have to find

Each set of kernels is judged by the contract that it states: the forms in which it holds weights and
activations, and what it adds up in. Where inputs are chosen so that nothing can be rounded there is one
right result (tiers bits and exact); elsewhere bounds are derived from the contract (lossless,
ordinary), and the table says what share of them was used. Libraries run in processes of their own, on
memory that ends where nothing may be read or written. They run with your rights: name those you trust.

Exit codes: 0 all that was asked is right; 1 something is wrong, or a kernel crashed or hung; 2 usage; 3 a
library could not be used, or nothing was compared.";

/// Judge kernels: every type, operation and set of kernels, to a bound that can be defended
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Whose kernels: `scalar` are our own, `ggml` those of --ggml-dir, anything else is a shared
    /// library behind `assay_kernels.h`; can be given more than once
    #[arg(long, value_name = "WHOSE", default_value = "scalar")]
    provider: Vec<String>,

    /// The folder of ggml's libraries
    #[arg(long, value_name = "DIR")]
    ggml_dir: Option<PathBuf>,

    /// Only this build of ggml, such as haswell; can be given more than once
    #[arg(long, value_name = "NAME")]
    build: Vec<String>,

    /// Only this type, such as Q4_K; can be given more than once
    #[arg(long = "type", value_name = "TYPE", value_parser = tensor_type)]
    types: Vec<&'static TensorType>,

    /// Only this operation; can be given more than once
    #[arg(long = "operation", value_name = "OPERATION", value_parser = operation)]
    operations: Vec<Operation>,

    /// Only this tier: bits, exact, lossless or ordinary; can be given more than once
    #[arg(long = "tier", value_name = "TIER", value_parser = tier)]
    tiers: Vec<Tier>,

    /// Only the questions whose name contains this; `/F16/` between slashes is a whole part of a name; given more than
    /// once, those that contain any of them
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,

    /// This question, by its name; can be given more than once
    #[arg(long = "case", value_name = "NAME", value_parser = question)]
    #[arg(conflicts_with_all = ["filter", "types", "operations", "tiers"])]
    cases: Vec<Question>,

    /// Print the names of the questions, and ask none
    #[arg(long)]
    list: bool,

    /// What inputs are drawn from; the last part of the name of a question [default: 1]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// Questions at once [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// How long one call of a library may take; what takes longer hangs
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    call_seconds: u64,

    /// Write the record of the run to this file: JSON lines
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Show at most this many failures of each set; 0 for all [default: 5]
    #[arg(long, value_name = "N", value_parser = whole)]
    max_failures: Option<u64>,

    /// A table of each set, also where there are many
    #[arg(long)]
    full: bool,

    /// Ask our own sets with planted faults, one fault at a time, until a question tells
    #[arg(long)]
    #[arg(conflicts_with_all = ["provider", "ggml_dir", "build", "types", "operations", "tiers", "filter", "cases"])]
    #[arg(conflicts_with_all = ["list", "call_seconds", "record", "max_failures", "full"])]
    mutants: bool,

    /// Write the planted faults as a page of Markdown here
    #[arg(long, value_name = "FILE", requires = "mutants")]
    markdown: Option<PathBuf>,

    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl Args {
    fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// Whether builds of ggml are asked, and not its base library.
    fn leaves_base_out(&self) -> bool {
        !self.build.is_empty() && self.build.iter().all(|build| build != ggml::BASE)
    }

    fn jobs(&self) -> usize {
        self.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, std::num::NonZero::get))
    }
}

fn tensor_type(name: &str) -> Result<&'static TensorType, String> {
    let named = TensorType::from_name(name).filter(|ty| ty.has_layout());
    named.ok_or_else(|| one_of(TensorType::live().map(|ty| ty.name)))
}

fn operation(name: &str) -> Result<Operation, String> {
    Operation::from_name(name).ok_or_else(|| one_of(OPERATIONS.iter().map(|row| row.name)))
}

fn tier(name: &str) -> Result<Tier, String> {
    Tier::from_name(name).ok_or_else(|| one_of(Tier::ALL.iter().map(|tier| tier.name())))
}

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("expected one of {}", names.collect::<Vec<_>>().join(", "))
}

fn question(name: &str) -> Result<Question, String> {
    name.parse()
}

/// After so many crashes and hangs in one operation with one type a set is not asked for it any more.
const MOST_ERRORS: usize = 3;

/// After so much time with crashes and hangs a set is not asked anything any more.
const MOST_LOST: Duration = Duration::from_secs(60);

/// Runs the command.
///
/// # Errors
///
/// [`Failure::Usage`] if the questions or the sets make no sense together, [`Failure::Unreadable`] if a library
/// cannot be used, the record cannot be written, or nothing was compared.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    if args.mutants {
        return planted::run(args, ui);
    }
    if args.seed.is_some() && !args.cases.is_empty() {
        let why = "--seed does not go with --case: the seed is the last part of the name of a question, as in .../7";
        return Err(Failure::Usage(why.to_owned()));
    }
    let filter = Filter {
        types: args.types.clone(),
        operations: args.operations.clone(),
        tiers: args.tiers.clone(),
        parts: args.filter.clone(),
    };
    let asked = if args.cases.is_empty() { questions(&filter, args.seed()) } else { args.cases.clone() };
    if asked.is_empty() {
        return Err(Failure::Unreadable("no question fits the filters: nothing was asked".to_owned()));
    }
    if args.list {
        return list(&asked, args.json, ui);
    }
    let (sets, not_run) = sets::open(args)?;
    let names = sets.iter().map(|set| set.name.clone()).collect();
    let header = Header::new(args.seed(), asked.len(), names, not_run);
    let mut record = record::Recorder::begin(args.record.as_deref(), &header)?;

    let bar = Progress::things("kernels", "questions", asked.len(), ui.progress()).noting("questions");
    let start = Instant::now();
    let bounds = Bounds { jobs: args.jobs(), errors: MOST_ERRORS, lost: MOST_LOST };
    let makers: Vec<_> = sets.iter().map(|set| set.maker.as_ref()).collect();
    let answered = ask(&makers, &asked, bounds, &|ended, of| bar.reached(ended, of)).map_err(Failure::Unreadable);
    drop(bar);
    let answered = answered?;
    let seconds = start.elapsed().as_secs_f64();

    let results: Vec<ResultLine> = answered.iter().map(|one| ResultLine::new(&sets[one.set].name, one)).collect();
    let footer = Footer::new(&results, seconds);
    record.end(&results, &footer)?;
    let exit = exit(&results);
    if args.json {
        write_json(ui.out(), &json::summary(&header, &results, &footer, exit))?;
    } else {
        let shown = Record { header, results, footer: Some(footer) };
        let again = again::command(args);
        terminal::write(&shown, most(args.max_failures, MOST_FAILURES), args.full, Some(&again), ui.out())?;
        if args.leaves_base_out() && asked.iter().any(|question| question.case.operation == Operation::Dequantize) {
            writeln!(ui.out(), "dequantize of ggml is in its base library: --build {} asks it", ggml::BASE)?;
        }
    }
    if exit == Exit::Unreadable {
        return Err(Failure::Unreadable("nothing was compared: no set has a kernel for what was asked".to_owned()));
    }
    Ok(exit)
}

fn list(asked: &[Question], json: bool, ui: &mut Ui) -> Result<Exit, Failure> {
    if json {
        let names: Vec<String> = asked.iter().map(ToString::to_string).collect();
        write_json(ui.out(), &serde_json::json!({"assay": env!("CARGO_PKG_VERSION"), "questions": names}))?;
    } else {
        for question in asked {
            writeln!(ui.out(), "{question}")?;
        }
    }
    Ok(Exit::Fine)
}

fn exit(results: &[ResultLine]) -> Exit {
    if results.iter().any(ResultLine::is_wrong) {
        Exit::Findings
    } else if results.iter().any(|result| result.verdict == "pass") {
        Exit::Fine
    } else {
        Exit::Unreadable
    }
}
