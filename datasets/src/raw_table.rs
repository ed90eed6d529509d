//! A table as it appears in its source.

use crate::columns::Columns;
use crate::origin::Origin;
use crate::raw_column::RawColumn;

/// The memory that columns take, in bytes.
pub(crate) fn memory(columns: &[RawColumn]) -> u64 {
    columns.iter().map(RawColumn::memory).sum()
}

/// Columns of equal length with the origin of every row.
pub(crate) struct RawTable {
    pub columns: Columns,
    pub cells: Vec<RawColumn>,
    pub origin: Origin,
    /// The texts of some columns exactly as in the source, with the position of each column.
    pub verbatim: Vec<(usize, Vec<String>)>,
    /// Whether commas separate the fields, so that they are probably not decimal marks.
    pub is_comma_separated: bool,
}

impl RawTable {
    /// A table of named columns of numbers from data in memory. Every row has one value per name.
    pub fn of_numbers(
        source: &str,
        names: Vec<String>,
        rows: impl Iterator<Item = impl Iterator<Item = f64>>,
    ) -> Self {
        let mut cells = vec![Vec::with_capacity(rows.size_hint().0); names.len()];
        let mut count = 0;
        for row in rows {
            for (column, value) in cells.iter_mut().zip(row) {
                column.push(value);
            }
            count += 1;
        }
        Self {
            columns: Columns {
                count: names.len(),
                names: Some(names),
            },
            cells: cells.into_iter().map(RawColumn::of_numbers).collect(),
            origin: Origin::rows(source, count),
            verbatim: Vec::new(),
            is_comma_separated: false,
        }
    }

    /// The texts of the column at `position`, in the rows `rows`.
    pub fn texts(&self, position: usize, rows: &[usize]) -> Vec<String> {
        let verbatim = self.verbatim.iter().find(|(own, _)| *own == position);
        let text = |&row: &usize| match verbatim {
            Some((_, texts)) => texts[row].clone(),
            None => self.cells[position].cell(row).to_string(),
        };
        rows.iter().map(text).collect()
    }

    /// The rows at these positions, in their order.
    pub fn select(self, rows: &[usize]) -> Self {
        let select = |texts: Vec<String>| rows.iter().map(|&row| texts[row].clone()).collect();
        let verbatim = self.verbatim.into_iter();
        Self {
            cells: (self.cells.iter())
                .map(|column| column.select(rows))
                .collect(),
            origin: self.origin.select(rows),
            verbatim: verbatim
                .map(|(position, texts)| (position, select(texts)))
                .collect(),
            ..self
        }
    }

    /// The number of rows, N.
    pub fn rows(&self) -> usize {
        self.cells.first().map_or(0, RawColumn::len)
    }
}
