//! The functions that a provider may leave out, and kernels of this program served in the same way.

use std::time::Duration;

use assay_providers::child::{self, Host, RemoteKernels};
use gguf_spec::kernel::contract::Contract;
use gguf_spec::kernel::{Columns, KernelError, KernelSet, Matmul, MatmulId, Matrix, Operation};
use gguf_spec::types::TensorType;
use libtest_mimic::Failed;

use crate::compiler::{Compiler, package};
use crate::{LIMIT, OWN, start};

fn f32s() -> &'static TensorType {
    TensorType::from_name("F32").expect("a type of the table")
}

/// Three experts of two rows of two weights; every row is followed by something that is none.
const WEIGHTS: [f32; 17] = [1.0, 2.0, 9e9, 3.0, 4.0, 9e9, 5.0, 6.0, 9e9, 7.0, 8.0, 9e9, 9.0, 10.0, 9e9, 11.0, 12.0];

fn weights() -> Vec<u8> {
    WEIGHTS.iter().flat_map(|weight| weight.to_le_bytes()).collect()
}

pub(crate) fn experts_and_rows(compiler: &Compiler) -> Result<(), Failed> {
    let mut set = start(&compiler.library(&package("tests/full.c"))?, LIMIT)?;
    for operation in [Operation::MatmulId, Operation::GetRows] {
        assert_eq!(set.contract(operation, f32s(), 2), Ok(Contract::F32), "{operation}");
    }
    let bytes = weights();
    let experts = Matrix::new(f32s(), 2, 2, 12, &bytes)?;
    let product = |columns, used| MatmulId {
        weights: experts,
        experts: 3,
        expert_stride: 24,
        ids: &[2, 0, 1, 2],
        used,
        columns,
        y_stride: 3,
        threads: 1,
    };
    let x = [1.0, 10.0, -1.0, 1.0, 0.0, 2.0, 0.5, 0.0];
    for (columns, used, expected) in [
        // A column a token, each with two experts; then a column a pair.
        (Columns::new(2, 2, 2, &x)?, 2, [[109.0, 131.0], [21.0, 43.0], [1.0, 1.0], [1.0, 1.0]]),
        (Columns::new(4, 2, 2, &x)?, 2, [[109.0, 131.0], [1.0, 1.0], [12.0, 16.0], [4.5, 5.5]]),
    ] {
        let mut y = [-7.0; 11];
        set.matmul_id(&product(columns, used), &mut y)?;
        for (pair, [a, b]) in expected.into_iter().enumerate() {
            let column = &y[3 * pair..y.len().min(3 * pair + 3)];
            assert_eq!(
                [column[0], column[1]].map(f32::to_bits),
                [a, b].map(f32::to_bits),
                "pair {pair} of {} columns",
                columns.count
            );
            assert!(column[2..].iter().all(|y| y.to_bits() == (-7_f32).to_bits()));
        }
    }
    let rows = Matrix::new(f32s(), 6, 2, 12, &bytes)?;
    let mut y = [0.0; 6];
    set.get_rows(&rows, &[5, 0, 0], &mut y)?;
    assert_eq!(y.map(f32::to_bits), [11_f32, 12.0, 1.0, 2.0, 1.0, 2.0].map(f32::to_bits));
    let error = set.get_rows(&rows, &[6], &mut [0.0; 2]).expect_err("a row that there is not");
    assert_eq!(error.to_string(), "ids[0]: expected one of 6 rows, got 6");
    Ok(())
}

/// Kernels in Rust: they decode F32, and abort if the first weight is 666.
struct Own;

impl KernelSet for Own {
    fn name(&self) -> &str {
        "own"
    }

    fn contract(
        &self,
        operation: Operation,
        ty: &'static TensorType,
        _columns: usize,
    ) -> Result<Contract, KernelError> {
        (operation == Operation::Dequantize && ty.name == "F32")
            .then_some(Contract::F32)
            .ok_or(KernelError::Unsupported)
    }

    fn dequantize(&mut self, _ty: &'static TensorType, blocks: &[u8], out: &mut [f32]) -> Result<(), KernelError> {
        for (out, bytes) in out.iter_mut().zip(blocks.as_chunks().0) {
            *out = f32::from_le_bytes(*bytes);
        }
        if out.first().is_some_and(|first| first.to_bits() == 666_f32.to_bits()) {
            std::process::abort()
        } else {
            Ok(())
        }
    }

    fn quantize_row(&mut self, _: &'static TensorType, _: &[f32], _: &mut [u8]) -> Result<(), KernelError> {
        Err(KernelError::Unsupported)
    }

    fn dot(&mut self, _: &'static TensorType, _: &[u8], _: &[f32]) -> Result<f32, KernelError> {
        Err(KernelError::Unsupported)
    }

    fn matmul(&mut self, _: &Matmul<'_>, _: &mut [f32]) -> Result<(), KernelError> {
        Err(KernelError::Unsupported)
    }
}

/// What this program does when it is started for its own kernels.
pub(crate) fn serve() -> std::process::ExitCode {
    child::serve_set(&mut Own, Duration::from_secs(60))
}

pub(crate) fn own_kernels() -> Result<(), Failed> {
    let mut set = RemoteKernels::start(Host::current(OWN)?, &package("Cargo.toml"), LIMIT)?;
    assert_eq!(set.name(), "own");
    let mut y = [0.0];
    set.dequantize(f32s(), &2_f32.to_le_bytes(), &mut y)?;
    assert_eq!(y[0].to_bits(), 2_f32.to_bits());
    let failed = set.dequantize(f32s(), &666_f32.to_le_bytes(), &mut y);
    assert_eq!(failed, Err(KernelError::Failed("the process ended by signal 6 (abort)".to_owned())));
    set.dequantize(f32s(), &3_f32.to_le_bytes(), &mut y)?;
    assert_eq!(y[0].to_bits(), 3_f32.to_bits());
    Ok(())
}
