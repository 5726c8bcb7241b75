//! Kernels that crash or hang when they are asked what they may do: the question is an error, and the run goes on.
//!
//! The program starts itself again as the child that the kernels run in.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use assay_harness::kernels::{Bounds, Filter, Question, ask, questions};
use assay_oracles::kernels::cases::{Case, Tier};
use assay_oracles::kernels::generic::{Family, Generic};
use assay_oracles::kernels::judge::Verdict;
use assay_providers::child::{self, Host, RemoteKernels};
use gguf_spec::kernel::contract::Contract;
use gguf_spec::kernel::{KernelError, KernelSet, Matmul, Operation};
use gguf_spec::types::TensorType;
use libtest_mimic::{Arguments, Failed, Trial};

/// The number of columns at which a set does its deed.
const TARGET: usize = 3;

/// More time than is lost here.
const LONG: Duration = Duration::from_secs(3600);

/// What a call may take, far more than those that end.
const LIMIT: Duration = Duration::from_secs(2);

/// A set that is right, but for its deed.
struct Bad {
    set: Generic,
    deed: fn(),
}

/// The deeds by the words that make a child of this program, and what is said of them.
const DEEDS: [(&str, fn(), &str); 2] = [
    ("__crashes", || std::process::abort(), "the process ended by signal 6 (abort)"),
    ("__hangs", || std::thread::sleep(Duration::from_secs(600)), "no answer within 2 s: it was ended"),
];

impl KernelSet for Bad {
    fn name(&self) -> &str {
        "bad"
    }

    fn contract(&self, operation: Operation, ty: &'static TensorType, columns: usize) -> Result<Contract, KernelError> {
        if columns == TARGET {
            (self.deed)();
        }
        self.set.contract(operation, ty, columns)
    }

    fn dequantize(&mut self, ty: &'static TensorType, blocks: &[u8], out: &mut [f32]) -> Result<(), KernelError> {
        self.set.dequantize(ty, blocks, out)
    }

    fn quantize_row(&mut self, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
        self.set.quantize_row(ty, values, out)
    }

    fn dot(&mut self, ty: &'static TensorType, weights: &[u8], activations: &[f32]) -> Result<f32, KernelError> {
        self.set.dot(ty, weights, activations)
    }

    fn matmul(&mut self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        self.set.matmul(product, y)
    }
}

fn main() -> ExitCode {
    let first = std::env::args_os().nth(1);
    for (word, deed, _) in DEEDS {
        if first == Some(OsString::from(word)) {
            return child::serve_set(&mut Bad { set: Generic::new(Family::Single), deed }, LIMIT);
        }
    }
    let trial = |(word, _, says): (&'static str, fn(), &'static str)| {
        let name = format!("one_that_{}_when_asked_for_its_contract_is_an_error", word.trim_start_matches('_'));
        Trial::test(name, move || is_told(word, says)).with_ignored_flag(!cfg!(unix))
    };
    let mut trials: Vec<_> = DEEDS.map(trial).into();
    trials.push(Trial::test("what_is_wrong_after_other_questions_alone_is_told", what_is_left_is_told));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn is_told(word: &'static str, says: &str) -> Result<(), Failed> {
    let host = Host::current(word)?;
    let maker = || -> Result<Box<dyn KernelSet>, String> {
        // The child serves its own kernels, whatever file is named.
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        Ok(Box::new(RemoteKernels::start(host.clone(), &file, LIMIT).map_err(|error| error.to_string())?))
    };
    let filter = Filter {
        types: TensorType::from_name("Q4_0").into_iter().collect(),
        operations: vec![Operation::Matmul],
        tiers: vec![Tier::Exact],
        parts: Vec::new(),
    };
    let all = questions(&filter, 1);
    let (bad, good): (Vec<Question>, Vec<Question>) = all.into_iter().partition(|one| one.case.inputs() == TARGET);
    assert!(bad.len() >= 2 && good.len() >= 8, "{} questions to fail, {} to pass", bad.len(), good.len());
    // A good one before, between and after.
    let asked = [good[0], bad[0], good[1], bad[1], good[2]];
    let answered = ask(&[&maker], &asked, Bounds { jobs: 1, errors: 50, lost: LONG }, &|_, _| {})?;
    for (answer, fails) in answered.iter().zip([false, true, false, true, false]) {
        let outcome = answer.outcome.as_ref().ok_or("it was not asked")?;
        let Verdict::Error(error) = &outcome.verdict else {
            assert!(!fails && outcome.verdict == Verdict::Pass, "{}: {:?}", answer.question, outcome.verdict);
            continue;
        };
        let message = error.to_string();
        assert!(fails && message.contains(says), "{}: {message}", answer.question);
        assert!(message.starts_with("asked for the contract for matmul, Q4_0, 3 columns: "), "{message}");
    }
    // After so many errors, no more is asked.
    let answered = ask(&[&maker], &[bad[0], good[0]], Bounds { jobs: 1, errors: 1, lost: LONG }, &|_, _| {})?;
    assert!(answered[1].outcome.is_none(), "it was asked again");
    // Another operation is.
    let dot = Question { law: None, case: Case::new(Operation::Dot, good[0].case.ty, Tier::Exact, 1) };
    let answered = ask(&[&maker], &[bad[0], dot], Bounds { jobs: 1, errors: 1, lost: LONG }, &|_, _| {})?;
    assert!(answered[1].outcome.is_some(), "it was not asked");
    // After so much time, nothing is.
    let answered = ask(&[&maker], &[bad[0], dot], Bounds { jobs: 1, errors: 9, lost: Duration::ZERO }, &|_, _| {})?;
    assert!(answered.iter().all(|answer| answer.outcome.is_none()), "it was asked");
    Ok(())
}

/// A set that is right but for every question after its third.
struct Worn(Bad, usize);

impl KernelSet for Worn {
    fn name(&self) -> &str {
        "worn"
    }

    fn contract(&self, operation: Operation, ty: &'static TensorType, columns: usize) -> Result<Contract, KernelError> {
        self.0.set.contract(operation, ty, columns)
    }

    fn dequantize(&mut self, ty: &'static TensorType, blocks: &[u8], out: &mut [f32]) -> Result<(), KernelError> {
        self.0.dequantize(ty, blocks, out)
    }

    fn quantize_row(&mut self, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
        self.0.quantize_row(ty, values, out)
    }

    fn dot(&mut self, ty: &'static TensorType, weights: &[u8], activations: &[f32]) -> Result<f32, KernelError> {
        self.0.dot(ty, weights, activations)
    }

    fn matmul(&mut self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        self.0.matmul(product, y)?;
        self.1 += 1;
        if self.1 > 3 {
            y[0] += 1.0;
        }
        Ok(())
    }
}

fn what_is_left_is_told() -> Result<(), Failed> {
    let maker = || -> Result<Box<dyn KernelSet>, String> {
        Ok(Box::new(Worn(Bad { set: Generic::new(Family::Single), deed: || {} }, 0)))
    };
    let ty = TensorType::from_name("Q4_0").ok_or("no type")?;
    let case = Case { rows: 3, k: 64, ..Case::new(Operation::Matmul, ty, Tier::Exact, 1) };
    let asked = [Question { law: None, case }; 5];
    let answered = ask(&[&maker], &asked, Bounds { jobs: 1, errors: 9, lost: LONG }, &|_, _| {})?;
    for (at, answer) in answered.iter().enumerate() {
        let outcome = answer.outcome.as_ref().ok_or("it was not asked")?;
        let left = outcome.reason.as_ref().is_some_and(|reason| reason.contains("asked alone, in a new process"));
        assert_eq!((outcome.verdict == Verdict::Fail, left), (at >= 3, at >= 3), "{at}: {:?}", outcome.reason);
    }
    Ok(())
}
