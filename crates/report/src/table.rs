//! Tables of plain text: the first columns to the left, numbers to the right.

use std::io::{self, Write};

use crate::style::BOLD;

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    #[must_use]
    pub fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; cells that are missing are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes the table, its last row set off as the total if `total`.
    ///
    /// # Errors
    ///
    /// If the output does not take it.
    pub fn write(&self, out: &mut dyn Write, total: bool) -> io::Result<()> {
        let cell = |row: &[String], i: usize| row.get(i).cloned().unwrap_or_default();
        let widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, (title, _))| {
                self.rows.iter().map(|row| cell(row, i).chars().count()).chain([title.len()]).max().unwrap_or(0)
            })
            .collect();
        let line = |cells: &[String]| {
            let mut text = String::new();
            for (i, (_, align)) in self.columns.iter().enumerate() {
                let gap = if i == 0 { "" } else { "  " };
                let (cell, width) = (cell(cells, i), widths[i]);
                match align {
                    Align::Left => text.push_str(&format!("{gap}{cell:<width$}")),
                    Align::Right => text.push_str(&format!("{gap}{cell:>width$}")),
                }
            }
            text.trim_end().to_owned()
        };
        let titles: Vec<String> = self.columns.iter().map(|(title, _)| (*title).to_owned()).collect();
        writeln!(out, "{BOLD}{}{BOLD:#}", line(&titles))?;
        for (i, row) in self.rows.iter().enumerate() {
            if total && i + 1 == self.rows.len() {
                writeln!(out, "{}", "─".repeat(widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)))?;
            }
            writeln!(out, "{}", line(row))?;
        }
        Ok(())
    }
}
