//! Reads the first sheet of an Excel or OpenDocument workbook.

use std::path::Path;

use calamine::{Data, Reader, open_workbook_auto};

use crate::bytes;
use crate::columns::Columns;
use crate::error::{DataError, FileError};
use crate::origin::Origin;
use crate::raw_column::{DeclaredType, RawColumn};
use crate::raw_table::RawTable;

/// The days between the beginning of Excel's calendar and that of 1970.
const EPOCH: f64 = 25_569.0;

/// Reads the first sheet. Its first row is a header if it has text alone, unless `header` says whether
/// it is one.
pub(crate) fn read(path: &Path, header: Option<bool>) -> Result<RawTable, DataError> {
    bytes::open(path)?;
    let broken = |reason: String| {
        DataError::File(FileError::NotWorkbook {
            path: path.into(),
            reason,
        })
    };
    let mut workbook = open_workbook_auto(path).map_err(|error| broken(error.to_string()))?;
    let sheet = (workbook.worksheet_range_at(0)).ok_or_else(|| broken("it has no sheet".into()))?;
    let sheet = sheet.map_err(|error| broken(error.to_string()))?;
    let first_row = sheet.start().map_or(1, |(row, _)| u64::from(row) + 1);
    let mut rows = sheet.rows().enumerate().peekable();
    let Some((_, first)) = rows.peek() else {
        return Err(DataError::File(FileError::EmptyFile { path: path.into() }));
    };
    let count = first.len();
    let is_text = |cell: &Data| matches!(cell, Data::String(_) | Data::Empty);
    let has_header = header.unwrap_or_else(|| first.iter().all(is_text));
    let names = has_header.then(|| names(first));
    if names.is_some() {
        rows.next();
    }
    let mut cells = vec![RawColumn::default(); count];
    let mut origin = Origin::rows(path.display().to_string(), 0);
    for (row, values) in rows {
        if values.iter().all(|cell| *cell == Data::Empty) {
            continue;
        }
        for (column, value) in cells.iter_mut().zip(values) {
            push(column, value);
        }
        origin.push_line(first_row + row as u64);
    }
    if cells.first().is_none_or(|column| column.len() == 0) {
        return Err(DataError::File(FileError::HeaderOnly { path: path.into() }));
    }
    Ok(RawTable {
        columns: Columns { names, count },
        cells,
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
