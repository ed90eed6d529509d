//! Records in JSON: one on each line, or all in one list.

mod quoted_integers;

use std::fmt;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use indexmap::IndexMap;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};

use crate::allowance::Allowance;
use crate::bytes::ByteStream;
use crate::columns::Columns;
use crate::error::{DataError, FileError};
use crate::origin::Origin;
use crate::raw_column::{DeclaredType, RawColumn};
use crate::raw_table::RawTable;
use quoted_integers::QuotedIntegers;

/// Reads records whose fields are the columns. A missing field is a gap.
pub(crate) fn read(path: &Path) -> Result<RawTable, DataError> {
    let stream = ByteStream::open(path)?;
    let mut contents = BufReader::new(stream.contents);
    let mut records = Records::new(stream.allowance);
    let first = first_byte(path, &mut contents)?;
    let contents = QuotedIntegers::new(contents);
    let read = match first {
        None => return Err(DataError::File(FileError::EmptyFile(path.into()))),
        Some(b'[') => {
            let mut list = serde_json::Deserializer::from_reader(contents);
            let read = list.deserialize_seq(&mut records);
            read.and_then(|()| list.end())
        }
        Some(_) => {
            let mut lines = serde_json::Deserializer::from_reader(contents).into_iter::<Record>();
            lines.try_for_each(|record| records.add(record?))
        }
    };
    match (records.refusal.take(), read) {
        (Some(refusal), _) => Err(refusal),
        (None, Err(error)) => Err(broken(path, error)),
        (None, Ok(())) => records.into_table(path),
    }
}

fn broken(path: &Path, error: serde_json::Error) -> DataError {
    let reason = error.to_string();
    let own = error.is_io().then(|| io::Error::from(error).downcast());
    DataError::File(match own {
        Some(Ok(own)) => own,
        _ => FileError::NotRecords {
            path: path.into(),
            reason,
        },
    })
}

/// The first byte that is not a space, without consuming it.
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
struct Records {
    /// A column ends at the last record with its name; later gaps are not stored.
    columns: IndexMap<String, RawColumn>,
    rows: usize,
    /// The memory that the texts take, in bytes.
    texts: u64,
    allowance: Allowance,
    /// The reason why reading stopped.
    refusal: Option<DataError>,
}

impl Records {
    fn new(allowance: Allowance) -> Self {
        Self {
            columns: IndexMap::new(),
            rows: 0,
            texts: 0,
            allowance,
            refusal: None,
        }
    }

    /// Adds a record, unless the table would take too much memory.
    fn add<E: de::Error>(&mut self, record: Record) -> Result<(), E> {
        self.push(record);
        let cells = (self.rows as u64).saturating_mul(self.columns.len() as u64);
        let memory = cells.saturating_mul(size_of::<f64>() as u64);
        match self.allowance.require(memory.saturating_add(self.texts)) {
            Ok(()) => Ok(()),
            Err(refusal) => {
                self.refusal = Some(refusal);
                Err(E::custom("too much memory"))
            }
        }
    }

    fn push(&mut self, record: Record) {
        for (name, value) in record.0 {
            let column = self.columns.entry(name).or_default();
            // Of several fields with the same name, the first counts.
            if column.len() > self.rows {
                continue;
            }
            fill(column, self.rows);
            let before = column.text_memory();
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
            self.texts += column.text_memory() - before;
        }
        self.rows += 1;
    }

    fn into_table(mut self, path: &Path) -> Result<RawTable, DataError> {
        if self.rows == 0 || self.columns.is_empty() {
            return Err(DataError::File(FileError::HeaderOnly(path.into())));
        }
        for column in self.columns.values_mut() {
            fill(column, self.rows);
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

/// Adds gaps to a column until it has `rows` cells.
fn fill(column: &mut RawColumn, rows: usize) {
    while column.len() < rows {
        column.push_missing();
    }
}

impl<'de> Visitor<'de> for &mut Records {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(record) = list.next_element::<Record>()? {
            self.add(record)?;
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
