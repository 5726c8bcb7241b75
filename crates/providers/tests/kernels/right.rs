//! The provider of `examples/provider`, and what a child does for it.

use assay_providers::child::RemoteKernels;
use gguf_spec::kernel::contract::{Contract, Promises};
use gguf_spec::kernel::{Columns, KernelError, KernelSet, Matmul, Matrix, Operation, alignment, row_bytes};
use gguf_spec::quant;
use gguf_spec::types::TensorType;
use libtest_mimic::Failed;

use crate::compiler::{Compiler, package};
use crate::{LIMIT, start};

type Test = fn(&Compiler) -> Result<(), Failed>;

pub(crate) const TESTS: [(&str, Test); 4] = [
    ("the_example_says_what_it_is", about),
    ("the_example_decodes_as_specified", decodes),
    ("the_example_multiplies_within_roundings", multiplies),
    ("what_the_example_cannot_do_is_told", refuses),
];

const TYPES: [&str; 3] = ["F32", "Q4_0", "Q8_0"];

fn example(compiler: &Compiler) -> Result<RemoteKernels, Failed> {
    Ok(start(&compiler.library(&package("../../examples/provider/provider.c"))?, LIMIT)?)
}

fn ty(name: &str) -> &'static TensorType {
    TensorType::from_name(name).expect("a type of the table")
}

fn about(compiler: &Compiler) -> Result<(), Failed> {
    let set = example(compiler)?;
    assert_eq!(set.name(), "example in C");
    let promises = Promises { batch_invariant: true, split_invariant: true, repeatable: true };
    let expected = Contract { promises, ..Contract::F32 };
    for name in TYPES {
        for operation in [Operation::Dequantize, Operation::Dot, Operation::Matmul] {
            assert_eq!(set.contract(operation, ty(name), 5), Ok(expected), "{operation} {name}");
        }
        for operation in [Operation::QuantizeRow, Operation::MatmulId, Operation::GetRows] {
            assert_eq!(set.contract(operation, ty(name), 5), Err(KernelError::Unsupported), "{operation} {name}");
        }
    }
    assert_eq!(set.contract(Operation::Matmul, ty("Q4_K"), 1), Err(KernelError::Unsupported));
    Ok(())
}

/// Blocks with every code and scales of both signs, among them the largest and a subnormal one.
fn blocks(ty: &TensorType, count: usize) -> Result<Vec<u8>, Failed> {
    let block = usize::try_from(ty.block)?;
    let values: Vec<f32> = (0..count * block)
        .map(|i| (f32::from(u16::try_from(i * 37 % 251).unwrap_or(0)) - 125.0) * [0.5, -3.0, 60.0, 1e-6][i / block % 4])
        .collect();
    let mut bytes = vec![0; row_bytes(ty_of(ty), values.len())?];
    quant::encode(ty, &values, &mut bytes)?;
    Ok(bytes)
}

fn ty_of(ty: &TensorType) -> &'static TensorType {
    TensorType::from_id(ty.id).expect("a row of the table")
}

fn decodes(compiler: &Compiler) -> Result<(), Failed> {
    let mut set = example(compiler)?;
    for name in TYPES {
        let ty = ty(name);
        for count in [1, 2, 7, 300] {
            let bytes = blocks(ty, count)?;
            let weights = count * usize::try_from(ty.block)?;
            let (mut expected, mut actual) = (vec![0.0; weights], vec![f32::NAN; weights]);
            quant::decode(ty, &bytes, &mut expected)?;
            set.dequantize(ty, &bytes, &mut actual)?;
            let wrong = expected.iter().zip(&actual).position(|(&a, &b)| !quant::same(a, b));
            assert_eq!(wrong, None, "{name}, {count} blocks");
        }
    }
    Ok(())
}

fn multiplies(compiler: &Compiler) -> Result<(), Failed> {
    let mut set = example(compiler)?;
    for name in TYPES {
        let ty = ty(name);
        for (rows, count, columns) in [(1, 1, 1), (3, 5, 2), (4, 2, 9)] {
            let k = count * 32;
            let row = row_bytes(ty, k)?;
            let row_stride = row + 2 * alignment(ty);
            let all = blocks(ty, rows * k / usize::try_from(ty.block)?)?;
            let mut bytes = vec![0xFF; (rows - 1) * row_stride + row];
            for r in 0..rows {
                bytes[r * row_stride..][..row].copy_from_slice(&all[r * row..][..row]);
            }
            let (x_stride, y_stride) = (k + 1, rows + 2);
            let x: Vec<f32> = (0..columns * x_stride)
                .map(|i| if i % x_stride < k { f32::from(u8::try_from(i % 83).unwrap_or(0)) - 41.5 } else { f32::NAN })
                .collect();
            let product = Matmul {
                weights: Matrix::new(ty, rows, k, row_stride, &bytes)?,
                columns: Columns::new(columns, k, x_stride, &x)?,
                y_stride,
                threads: 1,
            };
            let mut y = vec![-7.5; columns * y_stride];
            set.matmul(&product, &mut y)?;
            for (c, y) in y.chunks_exact(y_stride).enumerate() {
                let column = product.columns.column(c);
                for (r, &y) in y[..rows].iter().enumerate() {
                    let mut weights = vec![0.0; k];
                    quant::decode(ty, product.weights.row(r), &mut weights)?;
                    let products = weights.iter().zip(column).map(|(&w, &x)| f64::from(w) * f64::from(x));
                    let magnitude: f64 = products.clone().map(f64::abs).sum();
                    let bound = f64::from(u32::try_from(k + 1)?) * 2_f64.powi(-24) * magnitude;
                    let off = (f64::from(y) - products.sum::<f64>()).abs();
                    assert!(off <= bound && magnitude > 0.0, "{name}: row {r} of column {c} is off by {off:e}");
                    let alone = set.dot(ty, product.weights.row(r), column)?;
                    assert_eq!(alone.to_bits(), y.to_bits(), "{name}: row {r} of column {c}, alone");
                }
                assert!(y[rows..].iter().all(|y| y.to_bits() == (-7.5_f32).to_bits()), "what fills the stride changed");
            }
        }
    }
    Ok(())
}

fn refuses(compiler: &Compiler) -> Result<(), Failed> {
    let mut set = example(compiler)?;
    assert_eq!(set.dequantize(ty("Q4_K"), &[0; 144], &mut [0.0; 256]), Err(KernelError::Unsupported));
    assert_eq!(set.dequantize(ty("Q4_2"), &[], &mut []), Err(KernelError::Unsupported));
    assert_eq!(set.quantize_row(ty("Q8_0"), &[0.0; 32], &mut [0; 34]), Err(KernelError::Unsupported));
    let weights = Matrix::new(ty("F32"), 1, 1, 4, &[0; 4])?;
    assert_eq!(set.get_rows(&weights, &[0], &mut [0.0]), Err(KernelError::Unsupported));
    let says = |error: KernelError| match error {
        KernelError::Arguments(what) => what,
        other => panic!("not an error of arguments: {other:?}"),
    };
    let error = set.dequantize(ty("Q4_0"), &[0; 18], &mut [0.0; 31]).expect_err("an output too short");
    assert_eq!(says(error), "weights: expected 32 elements, got 31");
    // Rows that lie where no compiler puts a block.
    let bytes = [0; 18 + 19];
    let product = Matmul {
        weights: Matrix::new(ty("Q4_0"), 2, 32, 19, &bytes)?,
        columns: Columns::new(1, 32, 32, &[0.0; 32])?,
        y_stride: 2,
        threads: 1,
    };
    let error = set.matmul(&product, &mut [0.0; 2]).expect_err("a stride that is odd");
    assert_eq!(says(error), "row stride: expected a multiple of 2 for Q4_0, got 19");
    // None of this was the end of the child, or of what it can do.
    assert_eq!(set.dot(ty("F32"), &2_f32.to_le_bytes(), &[3.0]).map(f32::to_bits), Ok(6_f32.to_bits()));
    assert_eq!(set.dot(ty("F32"), &[], &[]).map(f32::to_bits), Ok(0));
    Ok(())
}
