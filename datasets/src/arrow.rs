//! Reads Arrow and Feather files.

mod claims;

use std::io::{BufReader, Seek};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema, TimeUnit};

use crate::allowance::Allowance;
use crate::bytes;
use crate::columns::Columns;
use crate::error::{DataError, FileError};
use crate::foreign::undamaged;
use crate::origin::Origin;
use crate::raw_column::{DeclaredType, RawColumn};
use crate::raw_table::{RawTable, memory};

/// Seconds in a day.
const DAY: f64 = 86_400.0;

/// The values of a column, in order.
enum Cells<'a> {
    /// NaN where there is no number.
    Numbers(Vec<f64>),
    Wholes(Vec<Option<i128>>),
    Texts(Vec<Option<&'a str>>),
}

/// Reads all columns of a file, or of a stream in a file.
pub(crate) fn read(path: &Path) -> Result<RawTable, DataError> {
    let broken = |reason: String| {
        DataError::File(FileError::NotArrow {
            path: path.into(),
            reason,
        })
    };
    let failed = |error: ArrowError| broken(error.to_string());
    let unreadable = |error| bytes::reading(path, error);
    undamaged(broken, || {
        let mut file = bytes::open(path)?;
        let allowance = Allowance::new(path, bytes::size(path, &file)?);
        let has_footer = claims::has_footer(&mut file).map_err(unreadable)?;
        let checked = match has_footer {
            true => claims::check_file(&mut file, &allowance),
            false => claims::check_stream(&mut file, &allowance),
        };
        checked.map_err(|refusal| refusal.into_error(path))?;
        file.rewind().map_err(unreadable)?;
        let contents = BufReader::new(file);
        if has_footer {
            let reader = FileReader::try_new(contents, None).map_err(failed)?;
            table(
                path,
                &allowance,
                &reader.schema(),
                reader.map(|batch| batch.map_err(failed)),
            )
        } else {
            let reader = StreamReader::try_new(contents, None).map_err(failed)?;
            table(
                path,
                &allowance,
                &reader.schema(),
                reader.map(|batch| batch.map_err(failed)),
            )
        }
    })
}

fn table(
    path: &Path,
    allowance: &Allowance,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, DataError>>,
) -> Result<RawTable, DataError> {
    let fields = schema.fields();
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    let mut cells = vec![RawColumn::default(); names.len()];
    for (column, field) in cells.iter_mut().zip(fields) {
        column.declared = declared(field.data_type());
    }
    for batch in batches {
        for (array, column) in batch?.columns().iter().zip(&mut cells) {
            push(array, column, allowance)?;
        }
        allowance.require(memory(&cells))?;
    }
    let rows = cells.first().map_or(0, RawColumn::len);
    if rows == 0 {
        return Err(DataError::File(FileError::HeaderOnly(path.into())));
    }
    Ok(RawTable {
        columns: Columns {
            count: names.len(),
            names: Some(names),
        },
        cells,
        origin: Origin::rows(path.display().to_string(), rows),
        verbatim: Vec::new(),
        is_comma_separated: false,
    })
}

/// The declared type of a column, if the values do not show it.
fn declared(kind: &DataType) -> Option<DeclaredType> {
    match kind {
        DataType::Dictionary(_, values) => declared(values),
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Some(DeclaredType::Date),
        DataType::Time32(_) | DataType::Time64(_) => Some(DeclaredType::Date),
        DataType::Boolean | DataType::Null => None,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => None,
        kind if kind.is_numeric() => None,
        kind => Some(DeclaredType::Unreadable(kind.to_string())),
    }
}

/// Adds the values of an array. Texts may overlap in the file, and then take more memory than the file.
fn push(array: &dyn Array, column: &mut RawColumn, allowance: &Allowance) -> Result<(), DataError> {
    match cells(array) {
        Some(Cells::Numbers(numbers)) => {
            numbers
                .into_iter()
                .for_each(|value| column.push_number(value));
        }
        Some(Cells::Wholes(wholes)) => wholes.into_iter().for_each(|value| match value {
            Some(value) => column.push_whole(value),
            None => column.push_missing(),
        }),
        Some(Cells::Texts(texts)) => {
            for text in texts {
                column.push_label(text.unwrap_or_default());
                allowance.require(column.text_memory())?;
            }
        }
        None => (0..array.len()).for_each(|_| column.push_missing()),
    }
    Ok(())
}

/// The values of an array; `None` if they are neither numbers nor texts. Points in time are days
/// since 1970, times of day are fractions of a day.
fn cells(array: &dyn Array) -> Option<Cells<'_>> {
    use DataType as T;
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    if array.as_any_dictionary_opt().is_some() {
        return dictionary(array);
    }
    let numbers = match array.data_type() {
        T::Int8 => numbers::<Int8Type>(array, f64::from),
        T::Int16 => numbers::<Int16Type>(array, f64::from),
        T::Int32 => numbers::<Int32Type>(array, f64::from),
        T::Int64 => return Some(Cells::Wholes(wholes::<Int64Type>(array))),
        T::UInt8 => numbers::<UInt8Type>(array, f64::from),
        T::UInt16 => numbers::<UInt16Type>(array, f64::from),
        T::UInt32 => numbers::<UInt32Type>(array, f64::from),
        T::UInt64 => return Some(Cells::Wholes(wholes::<UInt64Type>(array))),
        T::Float16 => numbers::<Float16Type>(array, f64::from),
        T::Float32 => numbers::<Float32Type>(array, f64::from),
        T::Float64 => numbers::<Float64Type>(array, f64::from),
        // Identifiers of databases, for example NUMERIC(38, 0).
        T::Decimal64(_, 0) => return Some(Cells::Wholes(wholes::<Decimal64Type>(array))),
        T::Decimal128(_, 0) => return Some(Cells::Wholes(wholes::<Decimal128Type>(array))),
        T::Decimal32(..) => decimals::<Decimal32Type>(array),
        T::Decimal64(..) => decimals::<Decimal64Type>(array),
        T::Decimal128(..) => decimals::<Decimal128Type>(array),
        T::Decimal256(..) => decimals::<Decimal256Type>(array),
        T::Date32 => numbers::<Date32Type>(array, f64::from),
        T::Date64 => numbers::<Date64Type>(array, |value| value as f64 / (1e3 * DAY)),
        T::Timestamp(unit, _) => match unit {
            Second => numbers::<TimestampSecondType>(array, |value| value as f64 / DAY),
            Millisecond => {
                numbers::<TimestampMillisecondType>(array, |value| value as f64 / (1e3 * DAY))
            }
            Microsecond => {
                numbers::<TimestampMicrosecondType>(array, |value| value as f64 / (1e6 * DAY))
            }
            Nanosecond => numbers::<TimestampNanosecondType>(array, nanoseconds),
        },
        T::Time32(Second) => numbers::<Time32SecondType>(array, |value| f64::from(value) / DAY),
        T::Time32(_) => {
            numbers::<Time32MillisecondType>(array, |value| f64::from(value) / (1e3 * DAY))
        }
        T::Time64(Nanosecond) => numbers::<Time64NanosecondType>(array, nanoseconds),
        T::Time64(_) => numbers::<Time64MicrosecondType>(array, |value| value as f64 / (1e6 * DAY)),
        T::Null => vec![f64::NAN; array.len()],
        T::Utf8 => return Some(Cells::Texts(array.as_string::<i32>().iter().collect())),
        T::LargeUtf8 => return Some(Cells::Texts(array.as_string::<i64>().iter().collect())),
        T::Utf8View => return Some(Cells::Texts(array.as_string_view().iter().collect())),
        T::Boolean => {
            let name = |value| if value { "true" } else { "false" };
            let names = array.as_boolean().iter().map(|value| value.map(name));
            return Some(Cells::Texts(names.collect()));
        }
        _ => return None,
    };
    Some(Cells::Numbers(numbers))
}

/// The values to which the keys of a dictionary point.
fn dictionary(array: &dyn Array) -> Option<Cells<'_>> {
    let dictionary = array.as_any_dictionary();
    let keys = match dictionary.values().len() {
        0 => vec![0; array.len()],
        _ => dictionary.normalized_keys(),
    };
    let positions =
        (keys.into_iter().enumerate()).map(|(row, key)| (!array.is_null(row)).then_some(key));
    Some(match cells(dictionary.values())? {
        Cells::Numbers(numbers) => {
            let number = |key: Option<usize>| Some(*numbers.get(key?)?);
            Cells::Numbers(
                positions
                    .map(|key| number(key).unwrap_or(f64::NAN))
                    .collect(),
            )
        }
        Cells::Wholes(wholes) => {
            let whole = |key: Option<usize>| *wholes.get(key?)?;
            Cells::Wholes(positions.map(whole).collect())
        }
        Cells::Texts(texts) => {
            let text = |key: Option<usize>| *texts.get(key?)?;
            Cells::Texts(positions.map(text).collect())
        }
    })
}

fn numbers<T: ArrowPrimitiveType>(
    array: &dyn Array,
    number: impl Fn(T::Native) -> f64,
) -> Vec<f64> {
    let values = array.as_primitive::<T>().iter();
    values
        .map(|value| value.map_or(f64::NAN, &number))
        .collect()
}

/// Integers, which may be inexact in double precision.
fn wholes<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &dyn Array) -> Vec<Option<i128>> {
    let values = array.as_primitive::<T>().iter();
    values.map(|value| value.map(Into::into)).collect()
}

/// Days. Fractions of a microsecond are dropped: with them, days of this century would need more digits than
/// double precision has.
fn nanoseconds(value: i64) -> f64 {
    (value / 1000) as f64 / (1e6 * DAY)
}

/// The nearest numbers in double precision.
fn decimals<T: DecimalType>(array: &dyn Array) -> Vec<f64> {
    let array = array.as_primitive::<T>();
    let number = |row| array.value_as_string(row).parse().unwrap_or(f64::NAN);
    let rows = 0..array.len();
    rows.map(|row| {
        if array.is_null(row) {
            f64::NAN
        } else {
            number(row)
        }
    })
    .collect()
}
