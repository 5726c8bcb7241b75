//! Judgements on operands that somebody else chose: a fuzzer, or whoever has a case at hand.
//!
//! Blocks may be anything at all, so these say nothing where nothing follows: of rows with weights that are not
//! finite or beyond the range of binary32, and of columns with activations that are not finite.

use assay_guard::Buffer;
use gguf_spec::kernel::contract::Contract;
use gguf_spec::kernel::{Columns, KernelError, KernelSet, Matmul, Operation};
use gguf_spec::quant::{self, Weight, same};
use gguf_spec::types::TensorType;

use super::bounds::Row;
use super::cases::{block, block_bytes};
use super::components::components;
use super::expect::prepare;
use super::held::Held;
use super::judge::is_excused;
use super::memory::{self, CANARY, Memory, written_beside};
use super::numbers::round_f32;
use crate::Holds;

/// How much of a product was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// The elements of the result.
    pub elements: usize,
    /// Those that have a bound, and are within it.
    pub judged: usize,
}

/// The specification on some bytes of a type with a layout: the components of a weight add up without a rounding,
/// to what is decoded, and bytes that are not whole blocks are refused.
///
/// # Errors
///
/// What does not hold.
pub fn specification(ty: &'static TensorType, bytes: &[u8]) -> Holds {
    for part in partial(ty, bytes) {
        let count = part.len() / block_bytes(ty) * block(ty);
        if quant::decode(ty, part, &mut vec![0.0; count]).is_ok() {
            return Err(format!("{}: decode takes {} bytes, which are not whole blocks", ty.name, part.len()));
        }
        if quant::weights(ty, part, &mut vec![Weight::default(); count]).is_ok() {
            return Err(format!("{}: weights takes {} bytes, which are not whole blocks", ty.name, part.len()));
        }
    }
    let bytes = whole(ty, bytes);
    let count = bytes.len() / block_bytes(ty) * block(ty);
    let mut parts = vec![Weight::default(); count];
    quant::weights(ty, bytes, &mut parts).map_err(|error| error.to_string())?;
    for (at, (part, value)) in parts.iter().zip(decoded(ty, bytes)?).enumerate() {
        let sum = part.product + part.offset;
        if !same(round_f32(sum), value) {
            return Err(format!("{}, weight {at}: components add up to {sum:e}, decoded {value:e}", ty.name));
        }
        // What a sum lost (Knuth).
        let back = sum - part.product;
        let lost = (part.product - (sum - back)) + (part.offset - back);
        if sum.is_finite() && lost != 0.0 {
            return Err(format!("{}, weight {at}: {part:?} do not add up exactly, but for {lost:e}", ty.name));
        }
    }
    Ok(())
}

/// A set decodes some bytes of a type with a layout as the specification does, disputed blocks too, and refuses
/// bytes that are not whole blocks. Its operand ends where memory may not be read.
///
/// # Errors
///
/// What does not hold.
pub fn dequantize(set: &mut dyn KernelSet, ty: &'static TensorType, bytes: &[u8]) -> Holds {
    let contract = contract_of(set, Operation::Dequantize, ty, 1)?;
    for part in partial(ty, bytes) {
        let mut out = vec![0.0; part.len() / block_bytes(ty) * block(ty)];
        let refused = set.dequantize(ty, part, &mut out).err();
        if !matches!(refused, Some(KernelError::Arguments(_))) && contract.is_some() {
            return Err(format!(
                "{}, {}: {} bytes are not whole blocks: expected them to be refused, got {refused:?}",
                set.name(),
                ty.name,
                part.len()
            ));
        }
    }
    let bytes = whole(ty, bytes);
    let expected = decoded(ty, bytes)?;
    let mut got = vec![f32::from_bits(CANARY); expected.len()];
    let operand = Buffer::holding(bytes, contract.map_or(0, |contract| contract.reads_past))
        .map_err(|error| format!("memory for the operands: {error}"))?;
    match (set.dequantize(ty, operand.bytes(), &mut got), contract) {
        (Ok(()), Some(_)) => {}
        (Err(KernelError::Unsupported), None) => return Ok(()),
        (result, contract) => return Err(contradicts(set, ty, &result, contract.as_ref())),
    }
    let wrong = |(got, expected): (&f32, &f32)| !same(*got, *expected) || got.to_bits() == CANARY;
    match got.iter().zip(&expected).position(wrong) {
        Some(at) => Err(format!(
            "{}, {}: block {}, weight {}: expected {:e} ({:#010x}), got {:e} ({:#010x})",
            set.name(),
            ty.name,
            at / block(ty),
            at % block(ty),
            expected[at],
            expected[at].to_bits(),
            got[at],
            got[at].to_bits()
        )),
        None => Ok(()),
    }
}

/// A product is within the worst case of the set's contract wherever there is one; a column alone has the same
/// bits as among the others, where that is promised; and nothing is written beside the result. The operands end
/// where memory may not be read.
///
/// # Errors
///
/// What does not hold, or that the operands do not fit each other.
pub fn matmul(set: &mut dyn KernelSet, product: &Matmul<'_>) -> Result<Judged, String> {
    let Matmul { weights, columns, .. } = product;
    let ty = weights.ty;
    let contract = contract_of(set, Operation::Matmul, ty, columns.count)?;
    let reads_past = contract.map_or(0, |contract| contract.reads_past);
    let memory = Memory::of_product(product, reads_past).map_err(|error| error.to_string())?;
    let placed = memory.product(product);
    let (result, y) = call(set, &placed);
    let contract = match (result, contract) {
        (Ok(()), Some(contract)) => contract,
        (Err(KernelError::Unsupported), None) => return Ok(Judged::default()),
        (result, contract) => return Err(contradicts(set, ty, &result, contract.as_ref())),
    };
    let at = |column: usize, row: usize| y[column * product.y_stride + row];
    let of_element = |column: usize, row: usize| format!("{}, {}: column {column}, row {row}", set.name(), ty.name);
    let rows: Vec<Option<Row>> = (0..weights.rows).map(|row| judgeable(ty, weights.row(row), &contract)).collect();
    let mut judged = Judged { elements: weights.rows * columns.count, judged: 0 };
    for column in 0..columns.count {
        let x = columns.column(column);
        if !x.iter().all(|x| x.is_finite()) {
            continue;
        }
        let held = Held::new(x, contract.activations, contract.flushes_subnormals);
        for (row, prepared) in rows.iter().enumerate() {
            let Some(limit) = prepared.as_ref().map(|row| row.limit(&held, &contract)) else { continue };
            if !limit.worst.is_finite() {
                continue;
            }
            let got = at(column, row);
            let near = (f64::from(got) - limit.expected).abs() <= limit.worst;
            if !near && !is_excused(got, &limit) {
                return Err(format!(
                    "{}: expected {:e} within {:e}, got {got:e}",
                    of_element(column, row),
                    limit.expected,
                    limit.worst
                ));
            }
            judged.judged += 1;
        }
    }
    if let Some(i) = written_beside(&y, weights.rows, columns.count, product.y_stride) {
        let (column, row) = (i / product.y_stride, i % product.y_stride);
        return Err(format!("{}: wrote {:e} beside the result", of_element(column, row), y[i]));
    }
    if contract.promises.batch_invariant && contract_of(set, Operation::Matmul, ty, 1)? == Some(contract) {
        for column in 0..columns.count {
            let one = Columns { count: 1, values: placed.columns.column(column), ..placed.columns };
            let (result, alone) = call(set, &Matmul { columns: one, ..placed });
            result.map_err(|error| format!("{}, {}: column {column} alone: {error}", set.name(), ty.name))?;
            if let Some(row) = (0..weights.rows).find(|&row| !same(alone[row], at(column, row))) {
                return Err(format!(
                    "{}, {}: column {column}, row {row}: {:e} among {} columns, {:e} alone",
                    set.name(),
                    ty.name,
                    at(column, row),
                    columns.count,
                    alone[row]
                ));
            }
        }
    }
    Ok(judged)
}

/// What a set makes of a product, and what lies beside it.
fn call(set: &mut dyn KernelSet, product: &Matmul<'_>) -> (Result<(), KernelError>, Vec<f32>) {
    let mut y = memory::result(product.columns.count, product.weights.rows, product.y_stride);
    (set.matmul(product, &mut y), y)
}

/// The contract of a set; `None` if it has no kernel.
fn contract_of(
    set: &dyn KernelSet,
    operation: Operation,
    ty: &'static TensorType,
    columns: usize,
) -> Result<Option<Contract>, String> {
    match set.contract(operation, ty, columns) {
        Ok(contract) => Ok(Some(contract)),
        Err(KernelError::Unsupported) => Ok(None),
        Err(error) => Err(format!("{}, {}: {error}", set.name(), ty.name)),
    }
}

/// A row that something follows for: all its weights, in all their parts, are in the range of binary32.
fn judgeable(ty: &'static TensorType, row: &[u8], contract: &Contract) -> Option<Row> {
    let in_range = components(ty, row).iter().all(|part| part.magnitude() <= f64::from(f32::MAX));
    in_range.then(|| prepare(ty, row, contract))
}

/// The bytes as far as they are whole blocks.
fn whole<'a>(ty: &TensorType, bytes: &'a [u8]) -> &'a [u8] {
    &bytes[..bytes.len() / block_bytes(ty) * block_bytes(ty)]
}

/// The beginnings of the bytes that are not whole blocks, of those nearest to the end.
fn partial<'a>(ty: &TensorType, bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let size = block_bytes(ty);
    let lengths = [Some(bytes.len()), bytes.len().checked_sub(1)].into_iter().flatten();
    lengths.filter(move |length| !length.is_multiple_of(size)).map(|length| &bytes[..length])
}

/// What the specification makes of whole blocks.
fn decoded(ty: &TensorType, bytes: &[u8]) -> Result<Vec<f32>, String> {
    let mut values = vec![0.0; bytes.len() / block_bytes(ty) * block(ty)];
    quant::decode(ty, bytes, &mut values).map_err(|error| error.to_string())?;
    Ok(values)
}

/// A call did what the contract of its set does not say.
fn contradicts(
    set: &dyn KernelSet,
    ty: &TensorType,
    result: &Result<(), KernelError>,
    contract: Option<&Contract>,
) -> String {
    let expected = if contract.is_some() { "a result" } else { "that it is not supported" };
    format!("{}, {}: expected {expected}, got {result:?}", set.name(), ty.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::generic::{Family, Generic};
    use gguf_spec::kernel::Matrix;
    use gguf_spec::quant::blocks::{Scales, random};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// A right set whose results are changed.
    struct Changed {
        set: Generic,
        by: fn(&Matmul<'_>, &mut [f32]),
    }

    impl KernelSet for Changed {
        fn name(&self) -> &str {
            "changed"
        }

        fn contract(
            &self,
            operation: Operation,
            ty: &'static TensorType,
            columns: usize,
        ) -> Result<Contract, KernelError> {
            self.set.contract(operation, ty, columns)
        }

        fn dequantize(&mut self, ty: &'static TensorType, bytes: &[u8], out: &mut [f32]) -> Result<(), KernelError> {
            self.set.dequantize(ty, bytes, out)?;
            out[1] = -out[1];
            Ok(())
        }

        fn quantize_row(&mut self, _: &'static TensorType, _: &[f32], _: &mut [u8]) -> Result<(), KernelError> {
            Err(KernelError::Unsupported)
        }

        fn dot(&mut self, _: &'static TensorType, _: &[u8], _: &[f32]) -> Result<f32, KernelError> {
            Err(KernelError::Unsupported)
        }

        fn matmul(&mut self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError> {
            self.set.matmul(product, y)?;
            (self.by)(product, y);
            Ok(())
        }
    }

    fn changed(by: fn(&Matmul<'_>, &mut [f32])) -> Changed {
        Changed { set: Generic::new(Family::Single), by }
    }

    /// What comes of three rows and two columns; `scale` is that of the blocks of the last row.
    fn outcome(set: &mut dyn KernelSet, ty: &str, scale: f32) -> Result<Judged, String> {
        let ty = TensorType::from_name(ty).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut row = |scale| (0..2).flat_map(|_| random(ty, &mut rng, &Scales::exact(scale)).unwrap()).collect();
        let rows: [Vec<u8>; 3] = [row(0.25), row(-1.0), row(scale)];
        let (k, bytes) = (2 * block(ty), rows.concat());
        let x: Vec<f32> = (0..u16::try_from(2 * k).unwrap()).map(|i| f32::from(i % 19) - 8.7).collect();
        let product = Matmul {
            weights: Matrix::new(ty, 3, k, rows[0].len(), &bytes).unwrap(),
            columns: Columns::new(2, k, k, &x).unwrap(),
            y_stride: 4,
            threads: 1,
        };
        matmul(set, &product)
    }

    #[test]
    fn right_sets_are_right_and_what_is_not_finite_is_not_judged() {
        for family in Family::ALL {
            for ty in ["F16", "Q4_0", "Q4_1", "Q6_K"] {
                let of = |scale| outcome(&mut Generic::new(family), ty, scale);
                assert_eq!(of(0.5), Ok(Judged { elements: 6, judged: 6 }), "{family:?} {ty}");
                assert_eq!(of(f32::INFINITY), Ok(Judged { elements: 6, judged: 4 }), "{family:?} {ty}");
            }
        }
    }

    #[test]
    fn wrong_results_are_told() {
        for (by, what) in [
            ((|_, y| y[5] += 1.0) as fn(&Matmul<'_>, &mut [f32]), "column 1, row 1: expected"),
            (|_, y| y[3] = 0.0, "column 0, row 3: wrote"),
            (|_, y| y[7] = 0.0, "wrote"),
            (|_, y| y[2] = f32::from_bits(CANARY), "column 0, row 2: expected"),
            (
                |product, y| {
                    if product.columns.count == 1 {
                        y[2] = y[2].next_up();
                    }
                },
                "column 0, row 2: ",
            ),
        ] {
            let told = outcome(&mut changed(by), "Q5_0", 0.5).unwrap_err();
            assert!(told.contains(what), "{told}");
        }
    }

    #[test]
    fn decoding_is_held_to_the_specification() {
        for ty in TensorType::live() {
            let mut rng = ChaCha8Rng::seed_from_u64(u64::from(ty.id));
            let scales = [Scales::Any, Scales::exact(-1.5)];
            let bytes: Vec<u8> =
                (0..20).flat_map(|i| random(ty, &mut rng, &scales[i % 2]).unwrap()).chain([0x55; 3]).collect();
            assert_eq!(specification(ty, &bytes), Ok(()), "{}", ty.name);
            assert_eq!(dequantize(&mut Generic::new(Family::Single), ty, &bytes), Ok(()), "{}", ty.name);
            // The second weight gets the other sign, which a zero has not.
            let ones = (0..2).flat_map(|_| random(ty, &mut rng, &Scales::exact(1.0)).unwrap()).collect::<Vec<_>>();
            let is_zero = decoded(ty, &ones).unwrap()[1] == 0.0;
            assert_eq!(dequantize(&mut changed(|_, _| {}), ty, &ones).is_ok(), is_zero, "{}", ty.name);
        }
    }
}
