//! Records in JSON: one on each line, or all in one list.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;

use indexmap::IndexMap;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};

use crate::bytes::ByteStream;
use crate::columns::Columns;
use crate::error::{DataError, FileError};
use crate::origin::Origin;
use crate::raw_column::{DeclaredType, RawColumn};
use crate::raw_table::RawTable;

/// Reads records whose fields are the columns. A field that a record lacks is a gap.
pub(crate) fn read(path: &Path) -> Result<RawTable, DataError> {
    let mut contents = BufReader::new(ByteStream::open(path)?.contents);
    let broken = |error: serde_json::Error| {
        DataError::File(FileError::NotRecords {
            path: path.into(),
            reason: error.to_string(),
        })
    };
    let mut records = Records::default();
    match first_byte(path, &mut contents)? {
        None => return Err(DataError::File(FileError::EmptyFile { path: path.into() })),
        Some(b'[') => {
            let mut list = serde_json::Deserializer::from_reader(contents);
            list.deserialize_seq(&mut records).map_err(broken)?;
            list.end().map_err(broken)?;
        }
        Some(_) => {
            let lines = serde_json::Deserializer::from_reader(contents);
            for record in lines.into_iter::<Record>() {
                records.add(record.map_err(broken)?);
            }
        }
    }
    records.into_table(path)
}

/// The first byte that is not a space, which stays to be read.
fn first_byte(path: &Path, contents: &mut impl BufRead) -> Result<Option<u8>, DataError> {
    loop {
        let buffer = contents
            .fill_buf()
            .map_err(|error| crate::bytes::reading(path, error))?;
        if buffer.is_empty() {
            return Ok(None);
        }
        let spaces = buffer.iter().take_while(|byte| byte.is_ascii_whitespace());
        let count = spaces.count();
        if let Some(&byte) = buffer.get(count) {
            contents.consume(count);
            return Ok(Some(byte));
        }
        contents.consume(count);
    }
}

/// The columns of the records read so far.
#[derive(Default)]
struct Records {
    columns: IndexMap<String, RawColumn>,
    rows: usize,
}

impl Records {
    fn add(&mut self, record: Record) {
        for (name, value) in record.0 {
            let column = self.columns.entry(name).or_default();
            // The last of several equal names counts.
            if column.len() > self.rows {
                continue;
            }
            while column.len() < self.rows {
                column.push_missing();
            }
            match value {
                Value::Missing => column.push_missing(),
                Value::Number(value) => column.push_number(value),
                Value::Whole(value) => column.push_whole(value),
                Value::Text(text) => column.push_label(&text),
                Value::Nested => {
                    column.declared = Some(DeclaredType::Unreadable("nested".into()));
                    column.push_missing();
                }
            }
        }
        self.rows += 1;
        for column in self.columns.values_mut() {
            while column.len() < self.rows {
                column.push_missing();
            }
        }
    }

    fn into_table(self, path: &Path) -> Result<RawTable, DataError> {
        if self.rows == 0 || self.columns.is_empty() {
            return Err(DataError::File(FileError::HeaderOnly { path: path.into() }));
        }
        let (names, cells): (Vec<String>, Vec<RawColumn>) = self.columns.into_iter().unzip();
        Ok(RawTable {
            columns: Columns {
                count: names.len(),
                names: Some(names),
            },
            cells,
            origin: Origin::rows(path.display().to_string(), self.rows),
            verbatim: Vec::new(),
            is_comma_separated: false,
        })
    }
}

impl<'de> Visitor<'de> for &mut Records {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(record) = list.next_element::<Record>()? {
            self.add(record);
        }
        Ok(())
    }
}

/// The fields of a record in their order.
struct Record(Vec<(String, Value)>);

enum Value {
    Missing,
    Number(f64),
    Whole(i128),
    Text(String),
    Nested,
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Record;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a record such as {\"x\": 1}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Record(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;

        impl<'de> Visitor<'de> for Scalar {
            type Value = Value;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a value")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
                Ok(Value::Missing)
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Text(value.to_string()))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Whole(value.into()))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
                Ok(Value::Whole(value.into()))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Number(value))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Value::Nested)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Value::Nested)
            }
        }

        deserializer.deserialize_any(Scalar)
    }
}
