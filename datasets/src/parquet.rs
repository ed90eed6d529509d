//! Reads Parquet files, column by column.

mod checked;
mod footer;
mod leaf;

use std::path::{Path, PathBuf};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::allowance::Allowance;
use crate::bytes;
use crate::columns::Columns;
use crate::error::{DataError, FileError};
use crate::foreign;
use crate::origin::Origin;
use crate::raw_column::{DeclaredType, RawColumn};
use crate::raw_table::{RawTable, memory};
use checked::{CheckedFile, CheckedPages};
use leaf::{Leaf, Meaning};

/// The number of values read at a time.
const BATCH: usize = 8192;

/// Reads all columns of a Parquet file.
///
/// Booleans become 0 and 1. Integers, floats and decimals stored in up to 64 bits keep their value;
/// integers that may be inexact in double precision become texts.
/// Dates and times become days since the beginning of 1970. Columns of other types are marked as
/// unreadable.
pub(crate) fn read(path: &Path) -> Result<RawTable, DataError> {
    undamaged(path, || {
        let file = ParquetFile::open(path)?;
        let groups = file.group_rows().into_iter().enumerate();
        let slices: Vec<Slice> = groups
            .map(|(group, rows)| Slice {
                group,
                skipped: 0,
                rows,
            })
            .collect();
        file.rows_of(&slices, |_| true)
    })
}

/// Calls `read`. The Parquet reader panics on some damaged files; these are reported as errors.
pub(crate) fn undamaged<T>(
    path: &Path,
    read: impl FnOnce() -> Result<T, DataError>,
) -> Result<T, DataError> {
    let damaged = |reason| {
        DataError::File(FileError::NotParquet {
            path: path.into(),
            reason,
        })
    };
    foreign::undamaged(damaged, read)
}

/// Consecutive rows of a row group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    pub group: usize,
    /// The rows of the group before the slice.
    pub skipped: usize,
    pub rows: usize,
}

/// An open Parquet file with at least one row and one column.
pub(crate) struct ParquetFile {
    path: PathBuf,
    allowance: Allowance,
    reader: SerializedFileReader<CheckedFile>,
    /// The number of rows.
    pub rows: usize,
    /// The names of the columns.
    pub names: Vec<String>,
}

impl ParquetFile {
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let broken = |error: ParquetError| not_parquet(path, &error);
        let file = bytes::open(path)?;
        let size = bytes::size(path, &file)?;
        if size == 0 {
            return Err(DataError::File(FileError::EmptyFile(path.into())));
        }
        let allowance = Allowance::new(path, size);
        footer::check_branches(&file, size).map_err(broken)?;
        let file = CheckedFile::new(file, size, allowance.limit());
        let reader = SerializedFileReader::new(file).map_err(broken)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        let names: Vec<String> = fields.iter().map(|field| field.name().to_owned()).collect();
        let rows = row_count(path, &reader)?;
        if rows == 0 || names.is_empty() {
            return Err(DataError::File(FileError::HeaderOnly(path.into())));
        }
        allowance.require_cells(rows as u64, 1)?;
        Ok(Self {
            path: path.into(),
            allowance,
            reader,
            rows,
            names,
        })
    }

    /// The number of rows of each row group.
    pub fn group_rows(&self) -> Vec<usize> {
        let groups = self.reader.metadata().row_groups().iter();
        groups
            .map(|group| usize::try_from(group.num_rows()).unwrap_or_default())
            .collect()
    }

    /// The rows of some slices. Columns whose names `is_wanted` rejects consist of gaps.
    pub fn rows_of(
        &self,
        slices: &[Slice],
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<RawTable, DataError> {
        let rows: usize = slices.iter().map(|slice| slice.rows).sum();
        self.allowance
            .require_cells(rows as u64, self.names.len())?;
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let mut cells = vec![RawColumn::default(); self.names.len()];
        for index in 0..schema.num_columns() {
            let root = schema.get_column_root_idx(index);
            let column = &mut cells[root];
            if !is_wanted(&self.names[root]) {
                *column = RawColumn::of_gaps(rows);
                continue;
            }
            match Leaf::of(&schema.column(index)) {
                Ok(leaf) => {
                    if leaf.meaning.is_of_time() {
                        column.declared = Some(DeclaredType::Date);
                    }
                    self.read_leaf(index, slices, &leaf, column)?;
                    self.allowance.require(memory(&cells))?;
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
                count: self.names.len(),
                names: Some(self.names.clone()),
            },
            cells,
            origin: self.origin(slices),
            verbatim: Vec::new(),
            is_comma_separated: false,
        })
    }

    fn origin(&self, slices: &[Slice]) -> Origin {
        let sizes = self.group_rows();
        let numbers = slices.iter().flat_map(|slice| {
            let first = sizes[..slice.group].iter().sum::<usize>() + slice.skipped;
            first..first + slice.rows
        });
        Origin::numbered_rows(self.path.display().to_string(), numbers)
    }

    /// Reads a column of some slices.
    fn read_leaf(
        &self,
        index: usize,
        slices: &[Slice],
        leaf: &Leaf,
        column: &mut RawColumn,
    ) -> Result<(), DataError> {
        let broken = |error: ParquetError| not_parquet(&self.path, &error);
        for slice in slices {
            let group = self.reader.get_row_group(slice.group).map_err(broken)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
            let pages = group.get_column_page_reader(index).map_err(broken)?;
            let pages = CheckedPages::new(pages, rows, leaf.optional);
            let descriptor = group.metadata().schema_descr().column(index);
            let values = get_column_reader(descriptor, Box::new(pages));
            let cells = Cells {
                skipped: slice.skipped,
                end: column.len() + slice.rows,
                are_last: slice.skipped + slice.rows == rows,
            };
            read_slice(values, leaf, cells, column).map_err(|error| match error {
                Some(error) => broken(error),
                None => DataError::File(FileError::NotParquet {
                    path: self.path.clone(),
                    reason: format!("column {} does not have one value per row", index + 1),
                }),
            })?;
        }
        Ok(())
    }
}

/// The cells of a column that a slice fills.
#[derive(Clone, Copy)]
struct Cells {
    /// The number of rows of the group before the slice.
    skipped: usize,
    /// The number of cells of the column after the slice.
    end: usize,
    /// Whether the slice ends the group.
    are_last: bool,
}

/// Reads a column of one row group. An error without a reason means that the number of values is wrong.
fn read_slice(
    values: ColumnReader,
    leaf: &Leaf,
    cells: Cells,
    column: &mut RawColumn,
) -> Result<(), Option<ParquetError>> {
    match values {
        ColumnReader::BoolColumnReader(reader) => fill(reader, leaf, cells, column, |column, v| {
            column.push_number(f64::from(u8::from(*v)));
        }),
        ColumnReader::Int32ColumnReader(reader) => {
            fill(reader, leaf, cells, column, |column, v| {
                column.push_number(match leaf.meaning {
                    Meaning::Unsigned => f64::from(v.cast_unsigned()),
                    Meaning::Number { divisor } | Meaning::Time { divisor } => {
                        f64::from(*v) / divisor
                    }
                    Meaning::Text => f64::from(*v),
                });
            })
        }
        ColumnReader::Int64ColumnReader(reader) => {
            fill(reader, leaf, cells, column, |column, v| {
                match leaf.meaning {
                    Meaning::Unsigned => column.push_whole(v.cast_unsigned().into()),
                    Meaning::Number { divisor: 1.0 } | Meaning::Text => {
                        column.push_whole((*v).into())
                    }
                    Meaning::Number { divisor } | Meaning::Time { divisor } => {
                        column.push_number(*v as f64 / divisor);
                    }
                }
            })
        }
        ColumnReader::Int96ColumnReader(reader) => {
            fill(reader, leaf, cells, column, |column, v| {
                column.push_number(v.to_nanos() as f64 / leaf::NANOSECONDS);
            })
        }
        ColumnReader::FloatColumnReader(reader) => {
            fill(reader, leaf, cells, column, |column, v| {
                column.push_number(f64::from(*v));
            })
        }
        ColumnReader::DoubleColumnReader(reader) => {
            fill(reader, leaf, cells, column, |column, v| {
                column.push_number(*v);
            })
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            fill(reader, leaf, cells, column, |column, v| {
                column.push_label(&String::from_utf8_lossy(v.data()));
            })
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            fill(reader, leaf, cells, column, |column, v| {
                column.push_label(&String::from_utf8_lossy(v.data()));
            })
        }
    }
}

fn fill<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    leaf: &Leaf,
    cells: Cells,
    column: &mut RawColumn,
    push: impl Fn(&mut RawColumn, &T::T),
) -> Result<(), Option<ParquetError>> {
    let (mut values, mut levels) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    let skipped = cells.skipped;
    if skipped > 0 && reader.skip_records(skipped).map_err(Some)? != skipped {
        return Err(None);
    }
    while column.len() < cells.end {
        values.clear();
        levels.clear();
        let most = BATCH.min(cells.end - column.len());
        let read = reader.read_records(most, Some(&mut levels), None, &mut values);
        let (records, _, _) = read.map_err(Some)?;
        if records == 0 {
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
    if !cells.are_last {
        return Ok(());
    }
    values.clear();
    let more = reader.read_records(1, Some(&mut levels), None, &mut values);
    match more.map_err(Some)? {
        (0, _, _) => Ok(()),
        _ => Err(None),
    }
}

fn not_parquet(path: &Path, error: &ParquetError) -> DataError {
    let reason = match error {
        ParquetError::General(text) | ParquetError::EOF(text) => text.clone(),
        other => other.to_string(),
    };
    DataError::File(FileError::NotParquet {
        path: path.into(),
        reason,
    })
}

/// The number of rows; the file and its row groups must agree on it.
fn row_count(path: &Path, reader: &SerializedFileReader<CheckedFile>) -> Result<usize, DataError> {
    let metadata = reader.metadata();
    let rows = metadata.file_metadata().num_rows();
    let groups = metadata.row_groups().iter();
    let total = groups.fold(0i64, |sum, group| sum.saturating_add(group.num_rows()));
    match usize::try_from(rows) {
        Ok(count) if rows == total => Ok(count),
        _ => Err(DataError::File(FileError::NotParquet {
            path: path.into(),
            reason: format!("it claims {rows} rows but has {total}"),
        })),
    }
}
