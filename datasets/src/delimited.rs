//! Text separated by commas, semicolons or tabs, read row by row.

use std::io::Read;
use std::path::Path;

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};

use crate::column_label::ColumnLabel;
use crate::columns::{Columns, Layout, Request, Role};
use crate::error::DataError;
use crate::number::{self, FieldError};
use crate::origin::{Location, Origin};
use crate::table::Table;
use crate::text::TextStream;

/// Records of a text file with their line numbers.
pub(crate) struct Records<'a> {
    path: &'a Path,
    reader: Reader<Box<dyn Read>>,
    record: ByteRecord,
    compressed: bool,
}

impl<'a> Records<'a> {
    pub fn open(path: &'a Path) -> Result<Self, DataError> {
        let stream = TextStream::open(path)?;
        let reader = ReaderBuilder::new()
            .has_headers(false)
            // Check field counts below, where the message can include the line.
            .flexible(true)
            .delimiter(stream.delimiter)
            // Keep the carriage return of CRLF in the last field, where it is trimmed, so that
            // every record ends at exactly one line feed.
            .terminator(Terminator::Any(b'\n'))
            .buffer_capacity(1 << 16)
            .from_reader(stream.lines);
        Ok(Self {
            path,
            reader,
            record: ByteRecord::new(),
            compressed: stream.compressed,
        })
    }

    /// Advances to the next record that is not blank and returns its line number, or `None` at the
    /// end.
    pub fn advance(&mut self) -> Result<Option<u64>, DataError> {
        loop {
            let more = self
                .reader
                .read_byte_record(&mut self.record)
                .map_err(|error| self.failure(error))?;
            if !more {
                return Ok(None);
            }
            if self.record.len() == 1 && self.record[0].trim_ascii().is_empty() {
                continue;
            }
            let inner = self.record.as_slice();
            let line_feeds = inner.iter().filter(|byte| **byte == b'\n').count() as u64;
            return Ok(Some(self.reader.position().line() - 1 - line_feeds));
        }
    }

    /// The fields of the current record.
    pub fn fields(&self) -> &ByteRecord {
        &self.record
    }

    /// Checks that the record has `expected` fields.
    pub fn require_fields(&self, line: u64, expected: usize) -> Result<(), DataError> {
        if self.record.len() == expected {
            return Ok(());
        }
        Err(DataError::Ragged {
            location: Location::line(self.path, line),
            expected,
            found: self.record.len(),
        })
    }

    fn failure(&self, error: csv::Error) -> DataError {
        let line = self.reader.position().line();
        match error.into_kind() {
            csv::ErrorKind::Io(error) => {
                crate::text::stream_error(self.path, self.compressed, line, error)
            }
            other => DataError::Unreadable {
                path: self.path.into(),
                source: std::io::Error::other(format!("{other:?}")),
            },
        }
    }
}

/// Reads the columns of a delimited text file selected by `request`.
pub(crate) fn read(path: &Path, request: Request<'_>) -> Result<Table, DataError> {
    let mut records = Records::open(path)?;
    let Some(first) = records.advance()? else {
        return Err(DataError::EmptyFile { path: path.into() });
    };
    let count = records.fields().len();
    let labels = request.label_position(count);
    let mut numbers = (records.fields().iter().enumerate()).filter(|(at, _)| Some(*at) != labels);
    let has_header = !numbers.all(|(_, field)| number::may_be_data(field));
    let names = if has_header {
        Some(header_names(path, first, records.fields())?)
    } else {
        None
    };
    let source = path.display().to_string();
    let layout = request.layout(&source, Columns { names, count })?;
    let mut rows = Rows::new(path, layout);
    let mut line = if has_header {
        records.advance()?
    } else {
        Some(first)
    };
    while let Some(number) = line {
        records.require_fields(number, count)?;
        rows.push(number, records.fields())?;
        line = records.advance()?;
    }
    rows.finish()
}

/// The column names. A column with an empty name is named after its number.
fn header_names(path: &Path, line: u64, header: &ByteRecord) -> Result<Vec<String>, DataError> {
    header
        .iter()
        .enumerate()
        .map(|(position, field)| {
            let name = std::str::from_utf8(field).map_err(|_| DataError::NotUtf8 {
                location: Location::line(path, line),
                column: ColumnLabel {
                    number: position + 1,
                    name: None,
                },
            })?;
            Ok(match name.trim() {
                "" => format!("column {}", position + 1),
                name => name.to_owned(),
            })
        })
        .collect()
}

/// Collects parsed rows.
struct Rows<'a> {
    path: &'a Path,
    table: Table,
    inputs: Vec<f64>,
}

impl<'a> Rows<'a> {
    fn new(path: &'a Path, layout: Layout) -> Self {
        Self {
            path,
            inputs: vec![0.0; layout.inputs],
            table: Table {
                layout,
                inputs: Vec::new(),
                targets: Vec::new(),
                noise: Vec::new(),
                labels: None,
                origin: Origin::text(path),
            },
        }
    }

    fn push(&mut self, line: u64, fields: &ByteRecord) -> Result<(), DataError> {
        for (position, (field, role)) in fields.iter().zip(&self.table.layout.roles).enumerate() {
            match role {
                Role::Ignored => {}
                Role::Input(input) => match number::parse(field) {
                    Ok(value) => self.inputs[*input] = value,
                    Err(error) => return Err(self.refuse(error, line, position, field)),
                },
                Role::Target if self.table.layout.labels.is_some() => match number::label(field) {
                    Ok(text) => {
                        let labels = self.table.labels.get_or_insert_default();
                        self.table.targets.push(labels.position_of(text));
                    }
                    Err(error) => return Err(self.refuse(error, line, position, field)),
                },
                Role::Target => match number::parse(field) {
                    Ok(value) => self.table.targets.push(value),
                    Err(error) => return Err(self.refuse(error, line, position, field)),
                },
                Role::Noise => match number::parse(field) {
                    Ok(value) => self.table.noise.push(value),
                    Err(error) => return Err(self.refuse(error, line, position, field)),
                },
            }
        }
        self.table.inputs.extend_from_slice(&self.inputs);
        self.table.origin.push_line(line);
        Ok(())
    }

    fn refuse(&self, error: FieldError, line: u64, position: usize, field: &[u8]) -> DataError {
        error.at(
            Location::line(self.path, line),
            self.table.layout.label(position),
            self.table.layout.roles[position] == Role::Target,
            field,
        )
    }

    fn finish(self) -> Result<Table, DataError> {
        if self.table.inputs.is_empty() {
            return Err(DataError::HeaderOnly {
                path: self.path.into(),
            });
        }
        Ok(self.table)
    }
}
