//! What is wrong with an answer, in sentences, and which wrong answers are shown first.

use std::collections::BTreeMap;

use assay_harness::kernels::record::{Result as ResultLine, WorstLine};
use gguf_spec::types::TensorType;

use crate::text::{count, grouped};

/// So many pairs of operation and type are counted one by one.
const GROUPS: usize = 8;

/// So many ulps are told; more say nothing that the numbers do not.
const MOST_ULPS: i64 = 1_000_000;

/// What is wrong with an answer: the element that is the furthest off, where wrong elements are, and whatever else. What
/// is wrong with no element in particular comes before the element.
pub(super) fn sentences(result: &ResultLine) -> Vec<String> {
    let worst = result.worst.as_ref().map(|worst| element(result, worst));
    match (worst, &result.reason) {
        (Some(worst), reason) if result.wrong.is_some() || reason.is_none() => {
            [worst].into_iter().chain(places(result)).chain(reason.clone()).collect()
        }
        (worst, reason) => {
            let off = worst.filter(|_| result.share.is_none_or(|share| share > 0.0));
            reason.clone().into_iter().chain(off.map(|worst| format!("the furthest off: {worst}"))).collect()
        }
    }
}

/// How many elements are wrong, and where; `None` if only one was compared.
fn places(result: &ResultLine) -> Option<String> {
    let wrong = result.wrong.as_ref().filter(|_| result.checked > 1)?;
    let unwritten = match wrong.unwritten {
        0 => String::new(),
        all if all == wrong.elements => ", never written".to_owned(),
        some => format!(", {} of them never written", grouped(some)),
    };
    let places = if wrong.places.is_empty() { String::new() } else { format!(": {}", wrong.places) };
    Some(format!("{} of {} wrong{unwritten}{places}", grouped(wrong.elements), count(result.checked, "element")))
}

/// An element: where it is, what was expected, what came, and how far that is off.
fn element(result: &ResultLine, worst: &WorstLine) -> String {
    let (expected, got) = (number(&worst.expected), number(&worst.got));
    let bound = number(&worst.bound);
    let given = |text: String| match worst.unwritten {
        true => format!("nothing: never written (0x{})", worst.got_bits),
        false => format!("{text} (0x{})", worst.got_bits),
    };
    let place = place(result, worst);
    if bound <= 0.0 {
        let right = worst.expected.parse::<f32>().unwrap_or(f32::NAN);
        let value = f32::from_bits(u32::from_str_radix(&worst.got_bits, 16).unwrap_or_default());
        let far = match ulps(right, value) {
            _ if worst.unwritten => String::new(),
            Some(1..) if value.to_bits() == (-right).to_bits() => ": the other sign".to_owned(),
            Some(ulps @ ..=MOST_ULPS) => format!(": {} apart", count(ulps, "ulp")),
            _ => String::new(),
        };
        let got = given(format!("{value:e}"));
        return format!("{place}: expected {right:e} (0x{:08x}) and nothing else, got {got}{far}", right.to_bits());
    }
    let error = (got - expected).abs();
    let far = match error / bound {
        _ if worst.unwritten || !error.is_finite() => format!(" (within {bound:.2e})"),
        share if share > 1.0 => format!(": off by {error:.2e}, {share:.2} times the bound of {bound:.2e}"),
        share => format!(": off by {error:.2e}, {:.0} % of the bound of {bound:.2e}", 100.0 * share),
    };
    format!("{place}: expected {expected:.8e}, got {}{far}", given(format!("{got:.8e}")))
}

/// A number of a record.
fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// Numbers of binary32 between two; `None` if one is not finite.
fn ulps(a: f32, b: f32) -> Option<i64> {
    let place = |x: f32| {
        let magnitude = i64::from(x.to_bits() & 0x7FFF_FFFF);
        if x.is_sign_negative() { -magnitude } else { magnitude }
    };
    (a.is_finite() && b.is_finite()).then(|| (place(a) - place(b)).abs())
}

/// Where an element is. Of a law, the call is no matter: all its results come from several.
fn place(result: &ResultLine, worst: &WorstLine) -> String {
    let call = if worst.call > 0 && result.law.is_none() { ", second call" } else { "" };
    let place = match result.operation.as_str() {
        "dequantize" | "get-rows" => weight(result, worst.row),
        "quantize-row" => format!("column {}, {}", worst.column, weight(result, worst.row)),
        _ => format!("column {}, row {}", worst.column, worst.row),
    };
    format!("{place}{call}")
}

/// A weight by its place among all, and by that in its block.
fn weight(result: &ResultLine, at: usize) -> String {
    let block = TensorType::from_name(&result.ty).and_then(|ty| usize::try_from(ty.block).ok()).filter(|&n| n > 1);
    match block {
        Some(block) => format!("weight {at} (block {}, weight {})", at / block, at % block),
        None => format!("weight {at}"),
    }
}

/// Wrong answers in the order in which they are shown: the first of each operation and type, then the second of each,
/// and so on.
pub(super) fn in_turns<'a>(wrong: &[&'a ResultLine]) -> Vec<&'a ResultLine> {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut turns: Vec<(usize, &ResultLine)> = Vec::new();
    for &result in wrong {
        let turn = seen.entry((&result.operation, &result.ty)).or_default();
        turns.push((*turn, result));
        *turn += 1;
    }
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, result)| result).collect()
}

/// How many wrong answers each operation and type has, in words; `None` if all are of one.
pub(super) fn by_operation_and_type(wrong: &[&ResultLine]) -> Option<String> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for result in wrong {
        *counts.entry((&result.operation, &result.ty)).or_default() += 1;
    }
    if counts.len() < 2 {
        return None;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let told = counts.iter().take(GROUPS);
    let mut told: Vec<String> =
        told.map(|((operation, ty), times)| format!("{} {operation} {ty}", grouped(times))).collect();
    if let Some(left @ 1..) = counts.len().checked_sub(GROUPS) {
        told.push(format!("and {left} operations and types more"));
    }
    Some(told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulps_are_counted_across_zero() {
        assert_eq!(ulps(1.0, 1.0_f32.next_up()), Some(1));
        assert_eq!(ulps(0.0_f32.next_up(), 0.0_f32.next_down()), Some(2));
        assert_eq!((ulps(0.0, -0.0), ulps(f32::NAN, 1.0)), (Some(0), None));
    }
}
