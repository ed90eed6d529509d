//! Reads the columns that say something about the rows.

use crate::columns::{ColumnRoles, TargetColumn};
use crate::encoding::{DateFormat, DateOrder, ambiguous};
use crate::error::{CellError, ColumnError, DataError};
use crate::raw_column::Cell;
use crate::raw_table::RawTable;
use crate::row_attributes::RowAttributes;
use crate::row_role::RowRole;

/// The values of the columns with these roles, at `rows`, except for those that say more about each target, which are
/// checked together with it.
///
/// # Errors
/// When a value is not possible.
pub(super) fn row_values(
    raw: &RawTable,
    roles: &ColumnRoles,
    rows: &[usize],
) -> Result<RowAttributes, DataError> {
    let mut found = RowAttributes::default();
    for (&role, column) in &roles.rows {
        match role {
            RowRole::Companion(_) => {}
            RowRole::Weights => found.insert(role, weights(raw, column, rows)?),
            RowRole::Time => {
                found.insert(role, times(raw, column, rows, roles.inputs.date_order)?);
            }
            RowRole::Id | RowRole::Group => {
                let position = column.position(role.name(), raw.origin.source(), &raw.columns)?;
                found.insert_texts(role, raw.texts(position, rows));
            }
        }
    }
    Ok(found)
}

/// The weights of the rows.
fn weights(raw: &RawTable, column: &TargetColumn, rows: &[usize]) -> Result<Vec<f64>, DataError> {
    let source = raw.origin.source();
    let position = column.position("weights", source, &raw.columns)?;
    let cells = &raw.cells[position];
    let weight = |&row: &usize| match cells.cell(row).number() {
        Some(value) if value >= 0.0 => Ok(value),
        _ => Err(DataError::Cell(CellError::NotAWeight {
            location: raw.origin.location(row),
            column: raw.columns.label(position),
            text: cells.cell(row).to_string(),
        })),
    };
    let weights: Vec<f64> = rows.iter().map(weight).collect::<Result<_, _>>()?;
    match weights.iter().any(|&weight| weight > 0.0) {
        true => Ok(weights),
        false => Err(DataError::Column(ColumnError::NoWeight {
            source_name: source.to_owned(),
            column: raw.columns.label(position),
        })),
    }
}

/// The times of the rows, in days if they are dates.
fn times(
    raw: &RawTable,
    column: &TargetColumn,
    rows: &[usize],
    order: Option<DateOrder>,
) -> Result<Vec<f64>, DataError> {
    let source = raw.origin.source();
    let position = column.position("time", source, &raw.columns)?;
    let cells = &raw.cells[position];
    let format = DateFormat::of(cells.texts().iter().map(String::as_str), order);
    let format = format.map_err(|dates| {
        let problem = ambiguous(cells, &dates);
        let label = raw.columns.label(position);
        DataError::Column(ColumnError::Columns {
            source_name: source.to_owned(),
            problems: vec![format!("{label} {}", problem.reason)],
            options: vec![problem.option],
        })
    })?;
    let time = |&row: &usize| {
        let time = match (cells.cell(row), &format) {
            (Cell::Text(text), Some(format)) => format.days_of(text),
            (cell, _) => cell.number(),
        };
        time.ok_or_else(|| {
            DataError::Cell(CellError::NotATime {
                source_name: source.to_owned(),
                column: raw.columns.label(position),
                text: cells.cell(row).to_string(),
            })
        })
    };
    rows.iter().map(time).collect()
}
