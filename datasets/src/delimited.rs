//! Text separated by commas, semicolons or tabs, read row by row.

use std::io::Read;
use std::path::Path;

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};

use crate::allowance::Allowance;
use crate::column_label::ColumnLabel;
use crate::columns::{Columns, Request};
use crate::error::{CellError, DataError, FileError};
use crate::number;
use crate::origin::{Location, Origin};
use crate::raw_column::{NotUtf8, RawColumn};
use crate::raw_table::{RawTable, memory};
use crate::text::{RowLimit, TextStream};

/// Records of a text file with their line numbers.
pub(crate) struct Records<'a> {
    path: &'a Path,
    reader: Reader<Box<dyn Read>>,
    record: ByteRecord,
    compression: Option<&'static str>,
    /// The memory that the rows may take.
    pub allowance: Allowance,
    row: RowLimit,
    delimiter: u8,
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
            compression: stream.compression,
            allowance: stream.allowance,
            row: stream.row,
            delimiter: stream.delimiter,
        })
    }

    /// Advances to the next record that is not blank and returns its line number, or `None` at the
    /// end.
    pub fn advance(&mut self) -> Result<Option<u64>, DataError> {
        loop {
            self.row.begin(self.reader.position().line());
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
        Err(DataError::Cell(CellError::Ragged {
            location: Location::line(self.path, line),
            expected,
            found: self.record.len(),
        }))
    }

    fn failure(&self, error: csv::Error) -> DataError {
        let line = self.reader.position().line();
        match error.into_kind() {
            csv::ErrorKind::Io(error) => {
                crate::text::stream_error(self.path, self.compression, line, error)
            }
            other => DataError::File(FileError::Unreadable {
                path: self.path.into(),
                source: std::io::Error::other(format!("{other:?}")),
            }),
        }
    }
}

/// Reads a delimited text file. Its first line is a header if any field is not a number, unless the request
/// says that there is none.
pub(crate) fn read(path: &Path, request: Request<'_>) -> Result<RawTable, DataError> {
    let mut records = Records::open(path)?;
    let Some(first) = records.advance()? else {
        return Err(DataError::File(FileError::EmptyFile(path.into())));
    };
    let count = records.fields().len();
    let has_header = request.header();
    let has_header = has_header.unwrap_or_else(|| is_header(records.fields(), request));
    let names = match has_header {
        true => Some(header_names(path, first, records.fields())?),
        false => None,
    };
    let columns = Columns { names, count };
    let kept = request.kept(&columns).into_iter();
    let mut table = RawTable {
        columns,
        cells: vec![RawColumn::default(); count],
        origin: Origin::text(path),
        verbatim: kept.map(|position| (position, Vec::new())).collect(),
        is_comma_separated: records.delimiter == b',',
    };
    let mut line = match has_header {
        true => records.advance()?,
        false => Some(first),
    };
    while let Some(number) = line {
        records.require_fields(number, count)?;
        push(&mut table, path, number, records.fields())?;
        records.allowance.require(memory(&table.cells))?;
        line = records.advance()?;
    }
    match table.rows() {
        0 => Err(DataError::File(FileError::HeaderOnly(path.into()))),
        _ => Ok(table),
    }
}

/// Whether any field is neither a number nor a label.
fn is_header(fields: &ByteRecord, request: Request<'_>) -> bool {
    let labels = request.label_position(fields.len());
    let mut numbers = (fields.iter().enumerate()).filter(|(at, _)| Some(*at) != labels);
    !numbers.all(|(_, field)| number::may_be_data(field))
}

fn push(
    table: &mut RawTable,
    path: &Path,
    line: u64,
    fields: &ByteRecord,
) -> Result<(), DataError> {
    for (position, (field, column)) in fields.iter().zip(&mut table.cells).enumerate() {
        if let Err(NotUtf8) = column.push_field(field) {
            return Err(DataError::Cell(CellError::NotUtf8 {
                location: Location::line(path, line),
                column: table.columns.label(position),
            }));
        }
    }
    for (position, texts) in &mut table.verbatim {
        texts.push(
            String::from_utf8_lossy(&fields[*position])
                .trim()
                .to_owned(),
        );
    }
    table.origin.push_line(line);
    Ok(())
}

/// The column names. A column with an empty name is named after its number.
fn header_names(path: &Path, line: u64, header: &ByteRecord) -> Result<Vec<String>, DataError> {
    header
        .iter()
        .enumerate()
        .map(|(position, field)| {
            let name = std::str::from_utf8(field).map_err(|_| {
                DataError::Cell(CellError::NotUtf8 {
                    location: Location::line(path, line),
                    column: ColumnLabel {
                        number: position + 1,
                        name: None,
                    },
                })
            })?;
            // Some programs write names in single quotes.
            let name = name.trim();
            let inner = name
                .strip_prefix('\'')
                .and_then(|name| name.strip_suffix('\''));
            Ok(match inner.unwrap_or(name).trim() {
                "" => format!("column {}", position + 1),
                name => name.to_owned(),
            })
        })
        .collect()
}
