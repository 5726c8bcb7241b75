//! Every case there is: for each type the shapes, tiers and extremes on which kernels are known to fail.

use std::sync::OnceLock;

use gguf_spec::kernel::Operation;
use gguf_spec::types::{TENSOR_TYPES, TensorType};

use super::cases::{ActivationClass, Case, ScaleClass, Tier, block, holds_activations, multiplied};
use super::draw;

/// The cases whose name contains `filter` (upper and lower case are the same; `""` is all), drawn from one seed.
///
/// A filter between slashes is a whole part of a name: `/F16/` is the type, and not BF16 too.
#[must_use]
pub fn list(filter: &str, seed: u64) -> Vec<Case> {
    let filter = filter.to_ascii_lowercase();
    let mut cases: Vec<Case> = TensorType::live().flat_map(|ty| of_type(ty, seed)).collect();
    cases.retain(|case| filter.is_empty() || format!("/{case}").to_ascii_lowercase().contains(&filter));
    cases
}

/// The cases of one type.
#[must_use]
pub fn of_type(ty: &'static TensorType, seed: u64) -> Vec<Case> {
    let mut cases = decoding(ty, seed);
    if holds_activations(ty) {
        cases.extend(quantizing(ty, seed));
    }
    if multiplied(ty) {
        for tier in [Tier::Exact, Tier::Lossless, Tier::Ordinary] {
            cases.extend(products(ty, tier, seed));
        }
    }
    cases
}

/// Row lengths: the shortest, an odd number of blocks, and a tail behind the last 256 weights, where blocks are
/// shorter. Plain numbers have no blocks, and lengths that fit no vector.
fn lengths(ty: &TensorType) -> [usize; 3] {
    match block(ty) {
        1 => [1, 31, 257],
        128 => [128, 3 * 128, 5 * 128],
        block @ ..128 => [block, 3 * block, (256 / block + 1) * block],
        block => [block, 3 * block, 2 * block],
    }
}

/// A row as models have them, and a block more.
fn long(ty: &TensorType) -> usize {
    4096 + block(ty)
}

fn decoding(ty: &'static TensorType, seed: u64) -> Vec<Case> {
    let new = |operation| Case::new(operation, ty, Tier::Bits, seed);
    let dequantize = new(Operation::Dequantize);
    let get_rows = new(Operation::GetRows);
    let [one, odd, tail] = lengths(ty);
    let mut cases: Vec<Case> = [one, odd, tail, 3 * tail, long(ty)].map(|k| Case { k, ..dequantize }).to_vec();
    for scales in [ScaleClass::Zero, ScaleClass::Smallest, ScaleClass::Subnormal, ScaleClass::Largest, ScaleClass::Any]
    {
        cases.push(Case { k: 4 * tail, scales, ..dequantize });
    }
    cases.push(Case { k: odd, again: true, ..dequantize });
    if let edges @ 1.. = edges(ty) {
        cases.push(Case { k: edges * block(ty), scales: ScaleClass::Edges, ..dequantize });
    }
    cases.extend([
        Case { rows: 1, k: one, columns: 1, ..get_rows },
        Case { rows: 17, k: odd, columns: 5, row_padding: 1, ..get_rows },
        Case { rows: 17, k: tail, columns: 20, ..get_rows },
        Case { rows: 37, k: one, columns: 45, row_padding: 2, ..get_rows },
        Case { rows: 5, k: odd, columns: 3, again: true, ..get_rows },
        Case { rows: 5, k: odd, columns: 6, scales: ScaleClass::Subnormal, ..get_rows },
    ]);
    cases
}

/// How many edge blocks a type has; made once, since they are many.
fn edges(ty: &'static TensorType) -> usize {
    static COUNTS: [OnceLock<usize>; TENSOR_TYPES.len()] = [const { OnceLock::new() }; TENSOR_TYPES.len()];
    let count = || draw::all_edges(ty).map_or(0, |edges| edges.len());
    usize::try_from(ty.id).ok().and_then(|id| COUNTS.get(id)).map_or_else(count, |known| *known.get_or_init(count))
}

fn quantizing(ty: &'static TensorType, seed: u64) -> Vec<Case> {
    let [one, odd, tail] = lengths(ty);
    let mut cases = Vec::new();
    for tier in [Tier::Exact, Tier::Ordinary] {
        let case = Case { columns: 4, ..Case::new(Operation::QuantizeRow, ty, tier, seed) };
        cases.extend([one, odd, tail, long(ty)].map(|k| Case { k, ..case }));
        cases.push(Case { k: odd, again: true, ..case });
    }
    for activations in [ActivationClass::Large, ActivationClass::Huge, ActivationClass::Tiny, ActivationClass::Zero] {
        cases.push(Case { k: odd, activations, ..Case::new(Operation::QuantizeRow, ty, Tier::Ordinary, seed) });
    }
    cases
}

/// Products of one tier.
fn products(ty: &'static TensorType, tier: Tier, seed: u64) -> Vec<Case> {
    let [one, odd, tail] = lengths(ty);
    let matmul = Case { rows: 17, k: odd, ..Case::new(Operation::Matmul, ty, tier, seed) };
    let dot = Case { rows: 5, columns: 2, ..Case::new(Operation::Dot, ty, tier, seed) };
    let experts = Case { rows: 9, k: odd, experts: 4, used: 2, ..Case::new(Operation::MatmulId, ty, tier, seed) };
    let two = 2 * block(ty).max(16);

    let mut cases = vec![
        Case { k: one, ..matmul },
        Case { rows: 32, ..matmul },
        Case { columns: 2, row_padding: 1, column_padding: 3, ..matmul },
        Case { k: tail, columns: 3, ..matmul },
        Case { columns: 4, threads: 3, ..matmul },
        Case { k: one, columns: 5, ..matmul },
        Case { k: tail, columns: 6, column_padding: 1, ..matmul },
        Case { k: two, columns: 7, ..matmul },
        Case { k: tail, columns: 8, row_padding: 2, ..matmul },
        Case { columns: 9, column_padding: 5, ..matmul },
        Case { rows: 33, k: one, columns: 32, ..matmul },
        Case { k: tail, columns: 33, ..matmul },
        Case { rows: 3, k: one, columns: 512, ..matmul },
        Case { rows: 1, k: tail, columns: 1, ..matmul },
        Case { columns: 3, again: true, ..matmul },
        Case { columns: 33, k: two, again: true, ..matmul },
        Case { columns: 1, again: true, ..matmul },
        Case { k: tail.max(3 * block(ty)), columns: 2, activations: ActivationClass::Cancelling, ..matmul },
    ];
    let extremes: &[ScaleClass] = match tier {
        // Scales that differ more than an exact sum allows.
        Tier::Exact => &[ScaleClass::Zero, ScaleClass::Smallest, ScaleClass::Subnormal, ScaleClass::Largest],
        _ => &[ScaleClass::Zero, ScaleClass::Smallest, ScaleClass::Subnormal, ScaleClass::Largest, ScaleClass::Mixed],
    };
    for &scales in extremes {
        cases.push(Case { columns: 2, scales, ..matmul });
        cases.push(Case { k: one, scales, ..dot });
        cases.push(Case { rows: 5, k: odd, columns: 33, scales, ..matmul });
    }
    if tier == Tier::Exact {
        // More threads than rows, and more than usual.
        cases.push(Case { rows: 3, columns: 2, threads: 8, ..matmul });
        cases.push(Case { rows: 131, k: one, columns: 2, threads: 6, ..matmul });
        cases.push(Case { columns: 9, threads: 3, ..experts });
    }
    if tier == Tier::Ordinary {
        // Sums that are as large as they get.
        let ends = Case { rows: 9, scales: ScaleClass::Ends, activations: ActivationClass::Ends, ..matmul };
        cases.extend([2, 33].map(|columns| Case { columns, ..ends }));
        cases.push(Case { scales: ScaleClass::Ends, activations: ActivationClass::Ends, k: odd, ..dot });
        for activations in [ActivationClass::Large, ActivationClass::Huge, ActivationClass::Tiny, ActivationClass::Zero]
        {
            cases.push(Case { columns: 3, activations, ..matmul });
            cases.push(Case { columns: 33, k: one, activations, ..matmul });
        }
    }
    cases.extend([one, odd, tail, long(ty)].map(|k| Case { k, ..dot }));
    cases.push(Case { k: odd, again: true, ..dot });
    // Longer, and more, than what is taken at once.
    cases.extend([
        Case { rows: 3, k: long(ty), columns: 1, ..matmul },
        Case { rows: 5, k: long(ty), columns: 9, ..matmul },
        Case { rows: 131, k: one, columns: 1, ..matmul },
        Case { rows: 131, k: two, columns: 67, ..matmul },
        Case { rows: 34, columns: 2, ..matmul },
        Case { columns: 16, ..matmul },
        Case { k: two, columns: 17, ..matmul },
        Case { rows: 5, columns: 129, ..matmul },
        Case { rows: 5, columns: 512, ..matmul },
    ]);
    // Strides, on every path that the number of columns may choose.
    cases.extend([1, 4, 12, 32, 64, 256].map(|columns| Case {
        rows: 5,
        columns,
        row_padding: 1 + columns % 3,
        column_padding: 4,
        ..matmul
    }));
    cases.extend([
        Case { columns: 1, ..experts },
        Case { columns: 2, row_padding: 1, column_padding: 2, ..experts },
        Case { columns: 7, used: 1, k: tail, ..experts },
        Case { columns: 8, paired: true, ..experts },
        Case { columns: 35, experts: 3, k: one, ..experts },
        Case { rows: 5, columns: 2, k: long(ty), ..experts },
        Case { rows: 17, columns: 9, experts: 9, used: 3, row_padding: 1, column_padding: 1, ..experts },
        Case { rows: 5, columns: 12, used: 3, paired: true, row_padding: 2, column_padding: 3, ..experts },
        Case { rows: 3, columns: 160, experts: 2, used: 1, row_padding: 1, ..experts },
        Case { columns: 3, again: true, ..experts },
    ]);
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_differ_and_replay() {
        let cases = list("", 7);
        let names: HashSet<String> = cases.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), cases.len());
        for case in &cases {
            assert_eq!(case.to_string().parse::<Case>().as_ref(), Ok(case));
        }
    }

    #[test]
    fn every_type_and_operation_is_there() {
        let cases = list("", 1);
        for ty in TensorType::live() {
            assert!(cases.iter().any(|case| case.ty.id == ty.id), "{}", ty.name);
        }
        for operation in gguf_spec::kernel::OPERATIONS {
            assert!(cases.iter().any(|case| case.operation == operation.operation), "{}", operation.name);
        }
        for columns in (1..=9).chain([32, 512]) {
            assert!(cases.iter().any(|case| case.columns == columns), "{columns}");
        }
    }

    #[test]
    fn a_filter_takes_parts_of_names() {
        assert!(list("matmul/q4_k/exact", 1).iter().all(|case| case.ty.name == "Q4_K" && case.tier == Tier::Exact));
        assert!(!list("/F16/", 1).is_empty() && list("/F16/", 1).iter().all(|case| case.ty.name == "F16"));
        assert!(list("no such case", 1).is_empty());
    }
}
