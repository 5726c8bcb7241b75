//! Laws hold for right sets, whether they promise them or not, and ask them on memory that ends with the operands.

use assay_kernels::Kernels;
use assay_oracles::kernels::cases::{Case, Tier};
use assay_oracles::kernels::generic::{Family, Generic};
use assay_oracles::kernels::judge::{Verdict, all_pass};
use assay_oracles::kernels::laws::{Law, check, list};
use gguf_spec::kernel::contract::Contract;
use gguf_spec::kernel::{KernelError, KernelSet, Matmul, Operation};
use gguf_spec::types::TensorType;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::{report, seed};

#[test]
fn laws_hold_for_right_sets() {
    let cases = list("", 0);
    report(seed::each(4, |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let generic = |family| -> Box<dyn KernelSet> { Box::new(Generic::new(family)) };
        let mut sets: Vec<_> = Family::ALL.map(generic).into();
        sets.push(Box::new(Kernels::scalar()));
        for mut set in sets {
            for &law in Law::ALL {
                let has = |case: &Case| set.contract(case.operation, case.ty, case.columns).is_ok();
                let of_law: Vec<_> = cases.iter().filter(|(of, case)| *of == law && has(case)).collect();
                let outcomes: Vec<_> =
                    of_law.sample(&mut rng, 2).map(|(law, case)| check(set.as_mut(), *law, case)).collect();
                all_pass(&outcomes).map_err(|reason| format!("{}, {law}: {reason}", set.name()))?;
            }
        }
        Ok(())
    }));
}

/// A right set that looks where its operands end, and may write behind the result.
struct Looks {
    set: Generic,
    calls: usize,
    writes_behind: bool,
    /// Whether it adds one to the first result of a column that is alone.
    alone: bool,
}

impl KernelSet for Looks {
    fn name(&self) -> &str {
        "looks"
    }

    fn contract(&self, operation: Operation, ty: &'static TensorType, columns: usize) -> Result<Contract, KernelError> {
        self.set.contract(operation, ty, columns)
    }

    fn dequantize(&mut self, _: &'static TensorType, _: &[u8], _: &mut [f32]) -> Result<(), KernelError> {
        Err(KernelError::Unsupported)
    }

    fn quantize_row(&mut self, _: &'static TensorType, _: &[f32], _: &mut [u8]) -> Result<(), KernelError> {
        Err(KernelError::Unsupported)
    }

    fn dot(&mut self, _: &'static TensorType, _: &[u8], _: &[f32]) -> Result<f32, KernelError> {
        Err(KernelError::Unsupported)
    }

    fn matmul(&mut self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        self.calls += 1;
        // Where pages are larger than this, they are multiples of it.
        let page = 4096;
        let ends = [product.weights.bytes.as_ptr_range().end.addr(), product.columns.values.as_ptr_range().end.addr()];
        if cfg!(unix) && ends.iter().any(|end| !end.is_multiple_of(page)) {
            return Err(KernelError::Failed(format!("operands end at {ends:x?}, inside of a page")));
        }
        self.set.matmul(product, y)?;
        if self.writes_behind {
            y[product.columns.count * product.y_stride] = 1.0;
        }
        if self.alone && product.columns.count == 1 {
            y[0] += 1.0;
        }
        Ok(())
    }
}

#[test]
fn laws_ask_on_memory_that_ends_with_the_operands() {
    let ty = TensorType::from_name("Q4_1").unwrap();
    let case = Case { rows: 5, k: 96, columns: 3, ..Case::new(Operation::Matmul, ty, Tier::Exact, 1) };
    for &law in Law::ALL {
        let mut set = Looks { set: Generic::new(Family::Single), calls: 0, writes_behind: false, alone: false };
        let right = check(&mut set, law, &case);
        assert_eq!(right.verdict, Verdict::Pass, "{law}: {:?}", right.failure());
        assert!(set.calls > 0);
        let wrong = check(&mut Looks { writes_behind: true, ..set }, law, &case);
        assert_eq!(wrong.verdict, Verdict::Fail, "{law}");
        let told = wrong.failure().unwrap_or_default();
        assert!(told.contains("wrote 1e0 at element 0 of column"), "{law}: {told}");
    }
}

/// A law that does not hold says what it compares, and which elements differ.
#[test]
fn what_a_law_compares_is_told() {
    let ty = TensorType::from_name("Q4_1").unwrap();
    let case = |tier| Case { rows: 5, k: 96, columns: 3, ..Case::new(Operation::Matmul, ty, tier, 1) };
    let mut set = Looks { set: Generic::new(Family::Single), calls: 0, writes_behind: false, alone: true };
    let promised = set.contract(Operation::Matmul, ty, 3).unwrap().promises.batch_invariant;
    for (tier, why) in [
        (Tier::Exact, if promised { "promises ASSAY_BATCH_INVARIANT" } else { "nothing can be rounded" }),
        (Tier::Lossless, if promised { "promises ASSAY_BATCH_INVARIANT" } else { "within their bounds" }),
    ] {
        let wrong = check(&mut set, Law::ColumnAlone, &case(tier));
        let reason = wrong.reason.as_deref().unwrap_or_default();
        let start = "column-alone: expected is the column among others, got the column alone; ";
        assert!(reason.starts_with(start) && reason.contains(why), "{tier}: {reason}");
        assert_eq!((wrong.wrong.elements, wrong.wrong.places(&case(tier)).as_str()), (3, "row 0 of 5; all 3 columns"));
    }
}

/// One row cannot be split, nor one block.
#[test]
fn what_cannot_be_split_is_not_judged() {
    let ty = TensorType::from_name("Q4_1").unwrap();
    let case = Case { rows: 1, k: 32, columns: 3, ..Case::new(Operation::Matmul, ty, Tier::Exact, 1) };
    for law in [Law::SplitRows, Law::SplitK] {
        let outcome = check(&mut Generic::new(Family::Single), law, &case);
        assert_eq!(outcome.verdict, Verdict::NotSupported, "{law}: {:?}", outcome.failure());
    }
}
