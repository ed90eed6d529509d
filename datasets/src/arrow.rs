//! Reads Arrow and Feather files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema, TimeUnit};

use crate::bytes;
use crate::columns::Columns;
use crate::error::DataError;
use crate::origin::Origin;
use crate::raw_column::{DeclaredType, RawColumn};
use crate::raw_table::RawTable;

/// Microseconds of a day.
const DAY: f64 = 86_400e6;

/// The meaning of the values of a column.
#[derive(Clone, Debug)]
enum Meaning {
    Number,
    Text,
    Boolean,
    Moment,
    TimeOfDay,
    Unreadable(String),
}

/// Reads all columns of a file, or of a stream in a file.
pub(crate) fn read(path: &Path) -> Result<RawTable, DataError> {
    let broken = |error: ArrowError| DataError::NotArrow {
        path: path.into(),
        reason: error.to_string(),
    };
    let open = || -> Result<BufReader<File>, DataError> { Ok(BufReader::new(bytes::open(path)?)) };
    if let Ok(reader) = FileReader::try_new(open()?, None) {
        let schema = reader.schema();
        return table(path, &schema, reader).map_err(broken)?;
    }
    let reader = StreamReader::try_new(open()?, None).map_err(broken)?;
    let schema = reader.schema();
    table(path, &schema, reader).map_err(broken)?
}

fn table(
    path: &Path,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<Result<RawTable, DataError>, ArrowError> {
    let fields = schema.fields();
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    let meanings: Vec<Meaning> = fields
        .iter()
        .map(|field| meaning(field.data_type()))
        .collect();
    let mut cells = vec![RawColumn::default(); names.len()];
    for (column, meaning) in cells.iter_mut().zip(&meanings) {
        column.declared = match meaning {
            Meaning::Moment | Meaning::TimeOfDay => Some(DeclaredType::Date),
            Meaning::Unreadable(kind) => Some(DeclaredType::Unreadable(kind.clone())),
            Meaning::Number | Meaning::Text | Meaning::Boolean => None,
        };
    }
    for batch in batches {
        let batch = batch?;
        for ((array, meaning), column) in batch.columns().iter().zip(&meanings).zip(&mut cells) {
            push(array, meaning, column)?;
        }
    }
    let rows = cells.first().map_or(0, RawColumn::len);
    if rows == 0 {
        return Ok(Err(DataError::HeaderOnly { path: path.into() }));
    }
    Ok(Ok(RawTable {
        columns: Columns {
            count: names.len(),
            names: Some(names),
        },
        cells,
        origin: Origin::rows(path.display().to_string(), rows),
        verbatim: Vec::new(),
    }))
}

fn meaning(kind: &DataType) -> Meaning {
    match kind {
        DataType::Boolean => Meaning::Boolean,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Meaning::Text,
        DataType::Dictionary(_, values) => meaning(values),
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Meaning::Moment,
        DataType::Time32(_) | DataType::Time64(_) => Meaning::TimeOfDay,
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..)
        | DataType::Null => Meaning::Number,
        kind if kind.is_numeric() => Meaning::Number,
        kind => Meaning::Unreadable(kind.to_string()),
    }
}

fn push(array: &ArrayRef, meaning: &Meaning, column: &mut RawColumn) -> Result<(), ArrowError> {
    match meaning {
        Meaning::Number => {
            let numbers = cast(array, &DataType::Float64)?;
            let numbers = numbers.as_primitive::<Float64Type>().iter();
            numbers.for_each(|value| column.push_number(value.unwrap_or(f64::NAN)));
        }
        Meaning::Text => {
            let texts = cast(array, &DataType::Utf8)?;
            let texts = texts.as_string::<i32>().iter();
            texts.for_each(|text| column.push_label(text.unwrap_or_default()));
        }
        Meaning::Boolean => {
            let values = cast(array, &DataType::Boolean)?;
            for value in values.as_boolean().iter() {
                let text = value.map(|value| value.to_string());
                column.push_label(&text.unwrap_or_default());
            }
        }
        Meaning::Moment | Meaning::TimeOfDay => {
            let kind = match meaning {
                Meaning::Moment => DataType::Timestamp(TimeUnit::Microsecond, None),
                _ => DataType::Time64(TimeUnit::Microsecond),
            };
            let times = cast(&cast(array, &kind)?, &DataType::Int64)?;
            let times = times.as_primitive::<Int64Type>().iter();
            let day = |time: Option<i64>| time.map_or(f64::NAN, |time| time as f64 / DAY);
            times.for_each(|time| column.push_number(day(time)));
        }
        Meaning::Unreadable(_) => (0..array.len()).for_each(|_| column.push_missing()),
    }
    Ok(())
}
