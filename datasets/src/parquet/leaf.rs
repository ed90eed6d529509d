//! The type of a column of a Parquet file.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as PhysicalType};
use parquet::schema::types::ColumnDescriptor;

/// Time units per day.
const MILLISECONDS: f64 = 86_400e3;
const MICROSECONDS: f64 = 86_400e6;
pub(super) const NANOSECONDS: f64 = 86_400e9;

/// A column that can be read.
pub(super) struct Leaf {
    pub optional: bool,
    pub meaning: Meaning,
}

/// The meaning of stored values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    /// A number; a decimal is its integer divided by this.
    Number { divisor: f64 },
    /// An unsigned integer.
    Unsigned,
    /// A date or a time, in days after division.
    Time { divisor: f64 },
    /// Text.
    Text,
}

impl Meaning {
    pub fn is_of_time(self) -> bool {
        matches!(self, Self::Time { .. })
    }
}

impl Leaf {
    /// The column, or the name of its type if it cannot be read.
    pub fn of(descriptor: &ColumnDescriptor) -> Result<Self, String> {
        if descriptor.path().parts().len() > 1 || descriptor.max_rep_level() > 0 {
            return Err("nested".into());
        }
        let meaning = meaning(descriptor).ok_or_else(|| name(descriptor))?;
        Ok(Self {
            optional: descriptor.max_def_level() > 0,
            meaning,
        })
    }
}

fn meaning(descriptor: &ColumnDescriptor) -> Option<Meaning> {
    let physical = descriptor.physical_type();
    let is_number = matches!(
        physical,
        PhysicalType::BOOLEAN
            | PhysicalType::INT32
            | PhysicalType::INT64
            | PhysicalType::FLOAT
            | PhysicalType::DOUBLE
    );
    let is_text = matches!(
        physical,
        PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY
    );
    let number = |divisor: f64| is_number.then_some(Meaning::Number { divisor });
    let time = |divisor: f64| is_number.then_some(Meaning::Time { divisor });
    let text = is_text.then_some(Meaning::Text);
    match descriptor.logical_type_ref() {
        Some(LogicalType::Integer(integer)) if !integer.is_signed => Some(Meaning::Unsigned),
        Some(LogicalType::Integer(_)) => number(1.0),
        Some(LogicalType::Decimal(decimal)) => number(10f64.powi(decimal.scale)),
        Some(LogicalType::Date) => time(1.0),
        Some(LogicalType::Timestamp(stamp)) => time(unit(&stamp.unit)),
        Some(LogicalType::Time(stamp)) => time(unit(&stamp.unit)),
        Some(LogicalType::String | LogicalType::Enum) => text,
        Some(_) => None,
        None => converted(descriptor, number, time, text),
    }
}

fn converted(
    descriptor: &ColumnDescriptor,
    number: impl Fn(f64) -> Option<Meaning>,
    time: impl Fn(f64) -> Option<Meaning>,
    text: Option<Meaning>,
) -> Option<Meaning> {
    match descriptor.converted_type() {
        ConvertedType::NONE if descriptor.physical_type() == PhysicalType::INT96 => {
            Some(Meaning::Time { divisor: 1.0 })
        }
        ConvertedType::NONE
        | ConvertedType::INT_8
        | ConvertedType::INT_16
        | ConvertedType::INT_32
        | ConvertedType::INT_64 => number(1.0),
        ConvertedType::UINT_8
        | ConvertedType::UINT_16
        | ConvertedType::UINT_32
        | ConvertedType::UINT_64 => Some(Meaning::Unsigned),
        ConvertedType::DECIMAL => number(10f64.powi(descriptor.type_scale())),
        ConvertedType::DATE => time(1.0),
        ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIME_MILLIS => time(MILLISECONDS),
        ConvertedType::TIMESTAMP_MICROS | ConvertedType::TIME_MICROS => time(MICROSECONDS),
        ConvertedType::UTF8 | ConvertedType::ENUM => text,
        _ => None,
    }
}

/// The number of these units in a day.
fn unit(unit: &TimeUnit) -> f64 {
    match unit {
        TimeUnit::MILLIS => MILLISECONDS,
        TimeUnit::MICROS => MICROSECONDS,
        TimeUnit::NANOS => NANOSECONDS,
    }
}

/// The name of the type without its parameters.
fn name(descriptor: &ColumnDescriptor) -> String {
    match (descriptor.converted_type(), descriptor.logical_type_ref()) {
        (ConvertedType::NONE, Some(logical)) => {
            let described = format!("{logical:?}");
            let name = described.split(['(', ' ']).next();
            name.unwrap_or(&described).to_owned()
        }
        (ConvertedType::NONE, None) => descriptor.physical_type().to_string(),
        (converted, _) => converted.to_string(),
    }
}
