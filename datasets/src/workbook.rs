//! Reads the first sheet of an Excel or OpenDocument workbook.

mod archive;
mod binary;
mod cells;
mod compound;
mod open_document;

use std::fs;
use std::io::Cursor;
use std::path::Path;

use calamine::Data;

use crate::allowance::Allowance;
use crate::bytes;
use crate::columns::Columns;
use crate::error::{DataError, FileError};
use crate::foreign::undamaged;
use crate::origin::Origin;
use crate::raw_column::{DeclaredType, RawColumn};
use crate::raw_table::{RawTable, memory};
use cells::Cells;

/// The days from the beginning of Excel's calendar to the beginning of 1970.
const EPOCH: f64 = 25_569.0;

/// The bytes of a file.
type Contents = Cursor<Vec<u8>>;

/// The reason why a workbook cannot be read.
enum Refusal {
    Damaged(String),
    Data(DataError),
}

impl Refusal {
    fn damaged(error: impl ToString) -> Self {
        Self::Damaged(error.to_string())
    }
}

impl From<DataError> for Refusal {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

/// Reads the first sheet. Its first row is a header if it has only text, unless `header` says otherwise.
pub(crate) fn read(path: &Path, header: Option<bool>) -> Result<RawTable, DataError> {
    let broken = |reason: String| {
        DataError::File(FileError::NotWorkbook {
            path: path.into(),
            reason,
        })
    };
    undamaged(broken, || {
        bytes::open(path)?;
        let contents = fs::read(path).map_err(|error| bytes::reading(path, error))?;
        let allowance = Allowance::new(path, contents.len() as u64);
        let cells = cells::first_sheet(path, contents, &allowance);
        let cells = cells.map_err(|refusal| match refusal {
            Refusal::Data(error) => error,
            Refusal::Damaged(reason) => broken(reason),
        })?;
        table(path, cells, header, &allowance)
    })
}

fn table(
    path: &Path,
    cells: Cells,
    header: Option<bool>,
    allowance: &Allowance,
) -> Result<RawTable, DataError> {
    let width = cells.width();
    allowance.require_cells(cells.rows() as u64, width)?;
    let mut rows = cells.into_rows().peekable();
    let Some((_, first)) = rows.peek() else {
        return Err(DataError::File(FileError::EmptyFile(path.into())));
    };
    let is_text = |cell: &Data| matches!(cell, Data::String(_) | Data::Empty);
    let has_header = header.unwrap_or_else(|| first.iter().all(is_text));
    let names = has_header.then(|| names(first));
    if names.is_some() {
        rows.next();
    }
    let mut columns = vec![RawColumn::default(); width];
    let mut origin = Origin::rows(path.display().to_string(), 0);
    for (row, values) in rows {
        for (column, value) in columns.iter_mut().zip(&values) {
            push(column, value);
        }
        allowance.require(memory(&columns))?;
        origin.push_line(u64::from(row) + 1);
    }
    if columns.first().is_none_or(|column| column.len() == 0) {
        return Err(DataError::File(FileError::HeaderOnly(path.into())));
    }
    Ok(RawTable {
        columns: Columns {
            names,
            count: width,
        },
        cells: columns,
        origin,
        verbatim: Vec::new(),
        is_comma_separated: false,
    })
}

/// The names in a header. A column with an empty name is named after its number.
fn names(header: &[Data]) -> Vec<String> {
    let name = |(position, cell): (usize, &Data)| match cell.to_string().trim() {
        "" => format!("column {}", position + 1),
        name => name.to_owned(),
    };
    header.iter().enumerate().map(name).collect()
}

fn push(column: &mut RawColumn, value: &Data) {
    match value {
        Data::Int(value) => column.push_whole((*value).into()),
        Data::Float(value) => column.push_number(*value),
        Data::Bool(value) => column.push_label(&value.to_string()),
        Data::DateTime(time) => {
            if column.numbers().next().is_none() {
                column.declared = Some(DeclaredType::Date);
            }
            column.push_number(time.as_f64() - EPOCH);
        }
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => {
            column.push_label(text);
        }
        Data::Error(_) | Data::Empty => column.push_missing(),
    }
}
