//! What a verdict says, and that nothing is taken for something.

use assay_oracles::kernels::cases::{ActivationClass, Case, Tier};
use assay_oracles::kernels::generic::{Family, Generic};
use assay_oracles::kernels::judge::{Verdict, all_pass, run};
use assay_oracles::kernels::laws::{Law, check};
use gguf_spec::kernel::contract::Contract;
use gguf_spec::kernel::{KernelError, KernelSet, Matmul, Operation};
use gguf_spec::types::TensorType;

/// A set that promises products and does what it is told.
struct Told {
    answer: Result<f32, KernelError>,
    writes_beside: bool,
    contract: Result<Contract, KernelError>,
}

impl KernelSet for Told {
    fn name(&self) -> &str {
        "told"
    }

    fn contract(&self, _: Operation, _: &'static TensorType, _: usize) -> Result<Contract, KernelError> {
        self.contract.clone()
    }

    fn dequantize(&mut self, _: &'static TensorType, _: &[u8], _: &mut [f32]) -> Result<(), KernelError> {
        self.answer.clone().map(|_| ())
    }

    fn quantize_row(&mut self, _: &'static TensorType, _: &[f32], _: &mut [u8]) -> Result<(), KernelError> {
        self.answer.clone().map(|_| ())
    }

    fn dot(&mut self, _: &'static TensorType, _: &[u8], _: &[f32]) -> Result<f32, KernelError> {
        self.answer.clone()
    }

    fn matmul(&mut self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        Generic::new(Family::Single).matmul(product, y)?;
        if self.writes_beside {
            y[product.weights.rows] = 1.0;
        }
        self.answer.clone().map(|_| ())
    }
}

fn told(answer: Result<f32, KernelError>) -> Told {
    Told { answer, writes_beside: false, contract: Ok(Contract::F32) }
}

fn case(operation: Operation) -> Case {
    let ty = TensorType::from_name("Q4_0").unwrap();
    Case { rows: 3, k: 64, columns: 2, column_padding: 2, ..Case::new(operation, ty, Tier::Exact, 1) }
}

#[test]
fn a_set_without_a_contract_is_not_supported_and_shows_nothing() {
    let outcome = run(&mut Told { contract: Err(KernelError::Unsupported), ..told(Ok(0.0)) }, &case(Operation::Matmul));
    assert_eq!(outcome.verdict, Verdict::NotSupported);
    let reason = all_pass(&[outcome]).unwrap_err();
    assert_eq!(reason, "of 1 cases none was judged: nothing is shown");
    assert!(all_pass(&[]).is_err());
}

#[test]
fn a_set_that_cannot_be_asked_for_its_contract_is_an_error() {
    let lost = KernelError::Failed("it ended".to_owned());
    let set = || Told { contract: Err(lost.clone()), ..told(Ok(0.0)) };
    let matmul = Case { columns: 4, ..case(Operation::Matmul) };
    for outcome in [run(&mut set(), &matmul), check(&mut set(), Law::Repeat, &matmul)] {
        assert_eq!(outcome.verdict, Verdict::Error(lost.clone()));
        assert_eq!(outcome.failure(), Some(format!("{matmul}: it ended")));
    }
}

#[test]
fn errors_and_refusals_are_told_apart() {
    let verdict = |answer| run(&mut told(Err(answer)), &case(Operation::Dot)).verdict;
    assert_eq!(verdict(KernelError::Unsupported), Verdict::NotSupported);
    assert_eq!(
        verdict(KernelError::Failed("it ended".to_owned())),
        Verdict::Error(KernelError::Failed("it ended".to_owned()))
    );
}

#[test]
fn nan_infinity_and_zero_fail() {
    for answer in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0] {
        for tier in [Tier::Exact, Tier::Lossless, Tier::Ordinary] {
            let outcome = run(&mut told(Ok(answer)), &Case { tier, ..case(Operation::Dot) });
            assert_eq!(outcome.verdict, Verdict::Fail, "{answer} {tier}");
            assert!(outcome.failure().is_some_and(|failure| failure.starts_with(&outcome.case.to_string())));
        }
    }
}

#[test]
fn what_is_not_written_fails() {
    let ty = TensorType::from_name("Q8_0").unwrap();
    for (operation, tier) in [(Operation::Dequantize, Tier::Bits), (Operation::QuantizeRow, Tier::Exact)] {
        let outcome = run(&mut told(Ok(0.0)), &Case { k: 64, ..Case::new(operation, ty, tier, 3) });
        assert_eq!(outcome.verdict, Verdict::Fail, "{operation}");
    }
}

#[test]
fn what_lies_between_columns_stays_as_it_was() {
    let right = run(&mut told(Ok(0.0)), &case(Operation::Matmul));
    assert_eq!(right.verdict, Verdict::Pass, "{:?}", right.failure());
    let beside = run(&mut Told { writes_beside: true, ..told(Ok(0.0)) }, &case(Operation::Matmul));
    assert_eq!(beside.verdict, Verdict::Fail);
    assert_eq!(beside.reason.as_deref(), Some("wrote 1e0 at element 3 of column 0, which has 3 rows"));
}

/// What a form cannot hold: a result that is not finite says so, a finite one has to be right, and a set whose form
/// holds it has no excuse.
#[test]
fn activations_beyond_the_form_are_excused_only_where_the_contract_says_so() {
    let ty = TensorType::from_name("Q4_1").unwrap();
    let case = Case {
        k: 64,
        rows: 3,
        activations: ActivationClass::Large,
        ..Case::new(Operation::Dot, ty, Tier::Ordinary, 1)
    };
    for (form, excused) in [("q8_1", true), ("q8_0", false), ("q8_k", false), ("exact", false), ("bf16", false)] {
        let form = gguf_spec::kernel::contract::FORMS.iter().find(|row| row.name == form).unwrap().form;
        let contract = || Ok(Contract::F32.with_activations(form));
        let verdict = |answer| run(&mut Told { contract: contract(), ..told(Ok(answer)) }, &case).verdict;
        for answer in [f32::INFINITY, f32::NAN] {
            assert_eq!(verdict(answer), if excused { Verdict::Pass } else { Verdict::Fail }, "{}", form.name());
        }
        assert_eq!(verdict(0.0), Verdict::Fail, "{}", form.name());
    }
}
