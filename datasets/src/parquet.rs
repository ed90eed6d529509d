//! Reads Parquet files of numbers, column by column.

use std::fs::File;
use std::ops::Range;
use std::panic;
use std::path::Path;

use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::bytes;
use crate::column_label::ColumnLabel;
use crate::columns::{Columns, Layout, Request, Role};
use crate::error::DataError;
use crate::origin::{Location, Origin};
use crate::table::Table;

/// The number of values read at a time.
const BATCH: usize = 8192;

/// Reads the columns of a Parquet file selected by `request`.
///
/// Booleans become 0 and 1. Integers, floats and decimals stored in up to 64 bits keep their value.
pub(crate) fn read(path: &Path, request: Request<'_>) -> Result<Table, DataError> {
    // The Parquet reader panics on some damaged files; report these as errors.
    panic::catch_unwind(|| read_undamaged(path, request)).unwrap_or_else(|_| {
        Err(DataError::NotParquet {
            path: path.into(),
            reason: "its contents are damaged".into(),
        })
    })
}

fn read_undamaged(path: &Path, request: Request<'_>) -> Result<Table, DataError> {
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
    let mut filler = Filler::new(path, schema, &reader, request)?;
    let leaves = numeric_leaves(path, schema, &filler.table.layout)?;
    let mut start = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(broken)?;
        let end = start + usize::try_from(group.metadata().num_rows()).unwrap_or_default();
        for leaf in &leaves {
            let column = group.get_column_reader(leaf.index).map_err(broken)?;
            filler.read_column(column, leaf, start..end)?;
        }
        start = end;
    }
    Ok(filler.table)
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

/// A column to read: its position and the meaning of its stored integers.
struct Leaf {
    /// Position among the leaves of the file's schema.
    index: usize,
    /// Position among the columns of the file.
    column: usize,
    role: Role,
    optional: bool,
    unsigned: bool,
    /// The value of a decimal is its integer divided by this.
    divisor: f64,
}

/// The columns that have a role, all of which must be numeric.
fn numeric_leaves(
    path: &Path,
    schema: &SchemaDescriptor,
    layout: &Layout,
) -> Result<Vec<Leaf>, DataError> {
    let mut leaves = Vec::new();
    for index in 0..schema.num_columns() {
        let column = schema.get_column_root_idx(index);
        let role = layout.roles[column];
        if role == Role::Ignored {
            continue;
        }
        let descriptor = schema.column(index);
        let nested = descriptor.path().parts().len() > 1 || descriptor.max_rep_level() > 0;
        if let Some(kind) = non_numeric(&descriptor, nested) {
            return Err(DataError::ParquetType {
                path: path.into(),
                column: layout.label(column),
                kind,
            });
        }
        leaves.push(leaf(&descriptor, index, column, role));
    }
    Ok(leaves)
}

fn leaf(descriptor: &ColumnDescriptor, index: usize, column: usize, role: Role) -> Leaf {
    let unsigned = match descriptor.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => !integer.is_signed,
        _ => matches!(
            descriptor.converted_type(),
            ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64
        ),
    };
    let scale = match descriptor.logical_type_ref() {
        Some(LogicalType::Decimal(decimal)) => decimal.scale,
        None if descriptor.converted_type() == ConvertedType::DECIMAL => descriptor.type_scale(),
        _ => 0,
    };
    Leaf {
        index,
        column,
        role,
        optional: descriptor.max_def_level() > 0,
        unsigned,
        divisor: 10f64.powi(scale),
    }
}

/// The name of a column's type if it is not numeric.
fn non_numeric(descriptor: &ColumnDescriptor, nested: bool) -> Option<String> {
    if nested {
        return Some("nested".into());
    }
    let physical = descriptor.physical_type();
    let stored_as_number = matches!(
        physical,
        PhysicalType::BOOLEAN
            | PhysicalType::INT32
            | PhysicalType::INT64
            | PhysicalType::FLOAT
            | PhysicalType::DOUBLE
    );
    let converted = descriptor.converted_type();
    let numeric = match descriptor.logical_type_ref() {
        Some(logical) => matches!(logical, LogicalType::Integer(_) | LogicalType::Decimal(_)),
        None => matches!(
            converted,
            ConvertedType::NONE
                | ConvertedType::DECIMAL
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64
                | ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64
        ),
    };
    if numeric && stored_as_number {
        return None;
    }
    Some(match (converted, descriptor.logical_type_ref()) {
        (ConvertedType::NONE, Some(logical)) => logical_name(logical),
        (ConvertedType::NONE, None) => physical.to_string(),
        (converted, _) => converted.to_string(),
    })
}

/// The name of the type without its parameters.
fn logical_name(logical: &LogicalType) -> String {
    let described = format!("{logical:?}");
    let name = described.split(['(', ' ']).next();
    name.unwrap_or(&described).to_owned()
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

/// Allocates a table of the size that the file claims, which may exceed the memory.
fn zeros(path: &Path, rows: usize, columns: usize) -> Result<Vec<f64>, DataError> {
    let size = rows.saturating_mul(columns);
    let mut values = Vec::new();
    if values.try_reserve_exact(size).is_err() {
        return Err(DataError::NotParquet {
            path: path.into(),
            reason: format!("there is no memory for the {rows} rows it claims"),
        });
    }
    values.resize(size, 0.0);
    Ok(values)
}

/// Writes columns into the row-major table.
struct Filler<'a> {
    path: &'a Path,
    table: Table,
}

impl<'a> Filler<'a> {
    fn new(
        path: &'a Path,
        schema: &SchemaDescriptor,
        reader: &SerializedFileReader<File>,
        request: Request<'_>,
    ) -> Result<Self, DataError> {
        let source = path.display().to_string();
        let fields = schema.root_schema().get_fields();
        let names: Vec<String> = fields.iter().map(|field| field.name().to_owned()).collect();
        let columns = Columns {
            count: names.len(),
            names: Some(names),
        };
        let rows = row_count(path, reader)?;
        if rows == 0 || columns.count == 0 {
            return Err(DataError::HeaderOnly { path: path.into() });
        }
        let layout = request.layout(&source, columns)?;
        let rows_if = |present: bool| if present { rows } else { 0 };
        let targets = rows_if(layout.target().is_some());
        let noise = rows_if(layout.noise().is_some());
        Ok(Self {
            path,
            table: Table {
                inputs: zeros(path, rows, layout.inputs)?,
                targets: zeros(path, targets, 1)?,
                noise: zeros(path, noise, 1)?,
                labels: None,
                origin: Origin::rows(source, rows),
                layout,
            },
        })
    }

    /// Reads one column of a row group that contains the rows `rows` of the file.
    fn read_column(
        &mut self,
        column: ColumnReader,
        leaf: &Leaf,
        rows: Range<usize>,
    ) -> Result<(), DataError> {
        let (unsigned, divisor) = (leaf.unsigned, leaf.divisor);
        match column {
            ColumnReader::BoolColumnReader(reader) => {
                self.fill(reader, leaf, rows, |value| f64::from(u8::from(*value)))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                self.fill(reader, leaf, rows, |value| match unsigned {
                    true => f64::from(value.cast_unsigned()),
                    false => f64::from(*value) / divisor,
                })
            }
            ColumnReader::Int64ColumnReader(reader) => {
                self.fill(reader, leaf, rows, |value| match unsigned {
                    true => value.cast_unsigned() as f64,
                    false => *value as f64 / divisor,
                })
            }
            ColumnReader::FloatColumnReader(reader) => {
                self.fill(reader, leaf, rows, |value| f64::from(*value))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                self.fill(reader, leaf, rows, |value| *value)
            }
            ColumnReader::Int96ColumnReader(_)
            | ColumnReader::ByteArrayColumnReader(_)
            | ColumnReader::FixedLenByteArrayColumnReader(_) => Err(DataError::ParquetType {
                path: self.path.into(),
                column: self.table.layout.label(leaf.column),
                kind: "binary".into(),
            }),
        }
    }

    fn fill<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        leaf: &Leaf,
        rows: Range<usize>,
        convert: impl Fn(&T::T) -> f64,
    ) -> Result<(), DataError> {
        let mut row = rows.start;
        let (mut values, mut levels) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        loop {
            values.clear();
            levels.clear();
            let (records, _, _) = reader
                .read_records(BATCH, Some(&mut levels), None, &mut values)
                .map_err(|error| not_parquet(self.path, &error))?;
            if records == 0 && row == rows.end {
                return Ok(());
            }
            if records == 0 || row + records > rows.end {
                return Err(DataError::NotParquet {
                    path: self.path.into(),
                    reason: format!("column {} has not one value a row", leaf.column + 1),
                });
            }
            let null = leaf
                .optional
                .then(|| levels.iter().position(|level| *level == 0))
                .flatten();
            for value in values.iter().take(null.unwrap_or(records)) {
                self.put(leaf, row, convert(value))?;
                row += 1;
            }
            if null.is_some() {
                return Err(DataError::MissingValue {
                    location: self.location(row),
                    column: self.label(leaf),
                });
            }
        }
    }

    fn put(&mut self, leaf: &Leaf, row: usize, value: f64) -> Result<(), DataError> {
        if !value.is_finite() {
            return Err(DataError::NotFinite {
                location: self.location(row),
                column: self.label(leaf),
                text: value.to_string(),
            });
        }
        let columns = self.table.layout.inputs;
        match leaf.role {
            Role::Input(input) => self.table.inputs[row * columns + input] = value,
            Role::Target => self.table.targets[row] = value,
            Role::Noise => self.table.noise[row] = value,
            Role::Ignored => {}
        }
        Ok(())
    }

    fn location(&self, row: usize) -> Location {
        Location::row(self.path.display().to_string(), row as u64 + 1)
    }

    fn label(&self, leaf: &Leaf) -> ColumnLabel {
        self.table.layout.label(leaf.column)
    }
}
