//! Which elements of a result are wrong, so that the shape of a fault is seen at a glance: which rows, which columns,
//! and whether they were written at all.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gguf_spec::kernel::Operation;

use super::cases::{Case, block};
use super::judge::Worst;

/// So many rows and so many columns are remembered; wrong elements elsewhere are counted.
const MOST: usize = 4096;

/// So many runs of rows or columns are told.
const RUNS: usize = 8;

/// The wrong elements of a result.
#[derive(Clone, Debug, Default)]
pub struct Wrong {
    /// How many are wrong.
    pub elements: usize,
    /// How many of them were never written.
    pub unwritten: usize,
    rows: Along,
    columns: Along,
    /// Whether one of the first call is among them.
    first_call: bool,
}

/// The wrong places in one direction.
#[derive(Clone, Debug, Default)]
struct Along {
    /// How long it is, as far as elements were compared.
    length: usize,
    wrong: BTreeSet<usize>,
    /// Whether there are more than are remembered.
    cut: bool,
}

impl Wrong {
    /// Takes an element into account that was compared.
    pub(super) fn add(&mut self, case: &Case, element: &Worst, right: bool) {
        let (row, column) = match case.operation {
            // Of what is decoded, one after the other: the block, and the weight in it.
            Operation::Dequantize | Operation::GetRows => (element.row / block(case.ty), element.row % block(case.ty)),
            _ => (element.row, element.column),
        };
        self.rows.add(row, right);
        self.columns.add(column, right);
        if !right {
            self.elements += 1;
            self.unwritten += usize::from(element.is_unwritten());
            self.first_call |= element.call == 0;
        }
    }

    /// Where they are: `rows 1, 3, 5..15 of 17; all 3 columns`; empty if there is only one place.
    #[must_use]
    pub fn places(&self, case: &Case) -> String {
        let (row, column) = match case.operation {
            Operation::Dequantize | Operation::GetRows if block(case.ty) > 1 => ("block", "weight"),
            Operation::Dequantize | Operation::GetRows => ("weight", "weight"),
            Operation::QuantizeRow => ("weight", "column"),
            _ => ("row", "column"),
        };
        let mut text = [self.rows.text(row), self.columns.text(column)].into_iter().flatten().collect::<Vec<_>>();
        if case.again && self.elements > 0 && !self.first_call {
            text.push("only in the second call".to_owned());
        }
        text.join("; ")
    }
}

impl Along {
    fn add(&mut self, at: usize, right: bool) {
        self.length = self.length.max(at + 1);
        if right || self.wrong.contains(&at) {
            return;
        }
        if self.wrong.len() < MOST {
            self.wrong.insert(at);
        } else {
            self.cut = true;
        }
    }

    /// The wrong places in words; `None` where there is only one place.
    fn text(&self, noun: &str) -> Option<String> {
        let right = self.length - self.wrong.len();
        if self.length < 2 || self.wrong.is_empty() {
            return None;
        }
        if right == 0 {
            return Some(format!("all {} {noun}s", self.length));
        }
        if right <= 2 && self.wrong.len() > 2 && !self.cut {
            let right = (0..self.length).filter(|at| !self.wrong.contains(at)).map(|at| at.to_string());
            return Some(format!("all {} {noun}s but {}", self.length, right.collect::<Vec<_>>().join(" and ")));
        }
        let plural = if self.wrong.len() == 1 { "" } else { "s" };
        Some(format!("{noun}{plural} {}", self.numbers()))
    }

    fn numbers(&self) -> String {
        let all: Vec<usize> = self.wrong.iter().copied().collect();
        let of = self.length;
        if let [first, second, .., last] = all[..]
            && all.len() > 3
            && second - first > 1
            && all.windows(2).all(|pair| pair[1] - pair[0] == second - first)
            && !self.cut
        {
            return format!("{first}, {second}, ..., {last} of {of} (steps of {})", second - first);
        }
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for at in all {
            match runs.last_mut() {
                Some((_, end)) if *end + 1 == at => *end = at,
                _ => runs.push((at, at)),
            }
        }
        let mut text = String::new();
        for (index, (start, end)) in runs.iter().take(RUNS).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let written = match end - start {
                0 => write!(text, "{comma}{start}"),
                1 => write!(text, "{comma}{start}, {end}"),
                _ => write!(text, "{comma}{start}..{end}"),
            };
            debug_assert!(written.is_ok(), "a text takes what is written to it");
        }
        if self.cut || runs.len() > RUNS {
            text.push_str(", ...");
        }
        format!("{text} of {of}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn along(length: usize, wrong: impl IntoIterator<Item = usize>) -> Option<String> {
        let mut along = Along::default();
        along.add(length - 1, true);
        wrong.into_iter().for_each(|at| along.add(at, false));
        along.text("row")
    }

    #[test]
    fn the_shape_of_a_fault_is_told() {
        for (length, wrong, text) in [
            (17, (1..17).step_by(2).collect::<Vec<_>>(), "rows 1, 3, ..., 15 of 17 (steps of 2)"),
            (17, vec![1, 3, 5, 6, 7, 8], "rows 1, 3, 5..8 of 17"),
            (17, (0..17).collect(), "all 17 rows"),
            (5, (1..5).collect(), "all 5 rows but 0"),
            (51, (48..51).collect(), "rows 48..50 of 51"),
            (51, vec![3, 4], "rows 3, 4 of 51"),
            (51, vec![3], "row 3 of 51"),
            (150, (0..30).map(|i| i * i / 10 + 2 * i).collect(), "rows 0, 2, 4, 6, 9, 12, 15, 18, ... of 150"),
        ] {
            assert_eq!(along(length, wrong).as_deref(), Some(text));
        }
        assert_eq!((along(1, [0]), along(9, [])), (None, None));
        let many = along(9000, 0..8000).unwrap();
        assert_eq!(many, "rows 0..4095, ... of 9000");
    }

    #[test]
    fn decoded_weights_are_told_by_block() {
        let case: Case = "dequantize/Q4_0/bits/r1-k128-c1-scales.normal/1".parse().unwrap();
        let mut wrong = Wrong::default();
        for row in 0..128 {
            let element = Worst { call: 0, column: 0, row, expected: 0.0, got: 1.0, bound: 0.0 };
            wrong.add(&case, &element, row % 32 != 3 || row < 64);
        }
        assert_eq!((wrong.elements, wrong.places(&case).as_str()), (2, "blocks 2, 3 of 4; weight 3 of 32"));
    }
}
