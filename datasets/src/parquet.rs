//! Reads Parquet files, column by column.

mod leaf;

use std::fs::File;
use std::panic;
use std::path::Path;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::bytes;
use crate::columns::Columns;
use crate::error::DataError;
use crate::origin::Origin;
use crate::raw_column::{DeclaredType, RawColumn};
use crate::raw_table::RawTable;
use leaf::{Leaf, Meaning};

/// The number of values read at a time.
const BATCH: usize = 8192;

/// Reads all columns of a Parquet file.
///
/// Booleans become 0 and 1. Integers, floats and decimals stored in up to 64 bits keep their value.
/// Dates and times become days since the beginning of 1970. Columns of other types are marked as
/// unreadable.
pub(crate) fn read(path: &Path) -> Result<RawTable, DataError> {
    // The Parquet reader panics on some damaged files; report these as errors.
    panic::catch_unwind(|| read_undamaged(path)).unwrap_or_else(|_| {
        Err(DataError::NotParquet {
            path: path.into(),
            reason: "its contents are damaged".into(),
        })
    })
}

fn read_undamaged(path: &Path) -> Result<RawTable, DataError> {
    let broken = |error: ParquetError| not_parquet(path, &error);
    let file = bytes::open(path)?;
    let length = file.metadata().map_err(|error| DataError::Unreadable {
        path: path.into(),
        source: error,
    })?;
    if length.len() == 0 {
        return Err(DataError::EmptyFile { path: path.into() });
    }
    let reader = SerializedFileReader::new(file).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let fields = schema.root_schema().get_fields();
    let names: Vec<String> = fields.iter().map(|field| field.name().to_owned()).collect();
    let rows = row_count(path, &reader)?;
    if rows == 0 || names.is_empty() {
        return Err(DataError::HeaderOnly { path: path.into() });
    }
    let mut cells = vec![RawColumn::default(); names.len()];
    for index in 0..schema.num_columns() {
        let column = &mut cells[schema.get_column_root_idx(index)];
        match Leaf::of(&schema.column(index)) {
            Ok(leaf) => {
                if leaf.meaning.is_of_time() {
                    column.declared = Some(DeclaredType::Date);
                }
                read_leaf(path, &reader, index, &leaf, column)?;
            }
            // A nested column has several leaves.
            Err(kind) if column.declared.is_none() => {
                *column = RawColumn::of_gaps(rows);
                column.declared = Some(DeclaredType::Unreadable(kind));
            }
            Err(_) => {}
        }
    }
    Ok(RawTable {
        columns: Columns {
            count: names.len(),
            names: Some(names),
        },
        cells,
        origin: Origin::rows(path.display().to_string(), rows),
        verbatim: Vec::new(),
    })
}

/// Reads a column of all row groups.
fn read_leaf(
    path: &Path,
    reader: &SerializedFileReader<File>,
    index: usize,
    leaf: &Leaf,
    column: &mut RawColumn,
) -> Result<(), DataError> {
    let broken = |error: ParquetError| not_parquet(path, &error);
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(broken)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
        let end = column.len() + rows;
        let values = group.get_column_reader(index).map_err(broken)?;
        read_group(values, leaf, end, column).map_err(|error| match error {
            Some(error) => broken(error),
            None => DataError::NotParquet {
                path: path.into(),
                reason: format!("column {} has not one value a row", index + 1),
            },
        })?;
    }
    Ok(())
}

/// Reads a column of one row group, up to row `end`. Without a reason, the number of values is not
/// that of the rows.
fn read_group(
    values: ColumnReader,
    leaf: &Leaf,
    end: usize,
    column: &mut RawColumn,
) -> Result<(), Option<ParquetError>> {
    match values {
        ColumnReader::BoolColumnReader(reader) => fill(reader, leaf, end, column, |column, v| {
            column.push_number(f64::from(u8::from(*v)));
        }),
        ColumnReader::Int32ColumnReader(reader) => fill(reader, leaf, end, column, |column, v| {
            column.push_number(match leaf.meaning {
                Meaning::Unsigned => f64::from(v.cast_unsigned()),
                Meaning::Number { divisor } | Meaning::Time { divisor } => f64::from(*v) / divisor,
                Meaning::Text => f64::from(*v),
            });
        }),
        ColumnReader::Int64ColumnReader(reader) => fill(reader, leaf, end, column, |column, v| {
            column.push_number(match leaf.meaning {
                Meaning::Unsigned => v.cast_unsigned() as f64,
                Meaning::Number { divisor } | Meaning::Time { divisor } => *v as f64 / divisor,
                Meaning::Text => *v as f64,
            });
        }),
        ColumnReader::Int96ColumnReader(reader) => fill(reader, leaf, end, column, |column, v| {
            column.push_number(v.to_nanos() as f64 / leaf::NANOSECONDS);
        }),
        ColumnReader::FloatColumnReader(reader) => fill(reader, leaf, end, column, |column, v| {
            column.push_number(f64::from(*v));
        }),
        ColumnReader::DoubleColumnReader(reader) => fill(reader, leaf, end, column, |column, v| {
            column.push_number(*v);
        }),
        ColumnReader::ByteArrayColumnReader(reader) => {
            fill(reader, leaf, end, column, |column, v| {
                column.push_label(&String::from_utf8_lossy(v.data()));
            })
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            fill(reader, leaf, end, column, |column, v| {
                column.push_label(&String::from_utf8_lossy(v.data()));
            })
        }
    }
}

fn fill<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    leaf: &Leaf,
    end: usize,
    column: &mut RawColumn,
    push: impl Fn(&mut RawColumn, &T::T),
) -> Result<(), Option<ParquetError>> {
    let (mut values, mut levels) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    loop {
        values.clear();
        levels.clear();
        let read = reader.read_records(BATCH, Some(&mut levels), None, &mut values);
        let (records, _, _) = read.map_err(Some)?;
        if records == 0 && column.len() == end {
            return Ok(());
        }
        if records == 0 || column.len() + records > end {
            return Err(None);
        }
        let mut values = values.iter();
        for record in 0..records {
            let is_null = leaf.optional && levels.get(record) == Some(&0);
            let value = if is_null { None } else { values.next() };
            match value {
                Some(value) => push(column, value),
                None => column.push_missing(),
            }
        }
    }
}

fn not_parquet(path: &Path, error: &ParquetError) -> DataError {
    let reason = match error {
        ParquetError::General(text) | ParquetError::EOF(text) => text.clone(),
        other => other.to_string(),
    };
    DataError::NotParquet {
        path: path.into(),
        reason,
    }
}

/// The number of rows, on which the file and its row groups must agree.
fn row_count(path: &Path, reader: &SerializedFileReader<File>) -> Result<usize, DataError> {
    let metadata = reader.metadata();
    let rows = metadata.file_metadata().num_rows();
    let groups = metadata.row_groups().iter();
    let total = groups.fold(0i64, |sum, group| sum.saturating_add(group.num_rows()));
    match usize::try_from(rows) {
        Ok(count) if rows == total => Ok(count),
        _ => Err(DataError::NotParquet {
            path: path.into(),
            reason: format!("it claims {rows} rows and has {total}"),
        }),
    }
}
