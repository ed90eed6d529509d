//! Opens text files, plain or compressed, as streams.

use std::cell::Cell;
use std::io::{self, BufRead, Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::allowance::Allowance;
use crate::bytes::{ByteStream, is_damage, reading};
use crate::error::{DataError, FileError};
use crate::origin::Location;

/// The text of a file, decompressed while reading, with information from its first line.
pub(crate) struct TextStream {
    /// The text, in which every line ends in a line feed, including the last.
    pub lines: Box<dyn Read>,
    pub delimiter: u8,
    /// The name of the compression; read errors can then mean damaged data.
    pub compression: Option<&'static str>,
    /// The memory that the text may take.
    pub allowance: Allowance,
    pub row: RowLimit,
}

/// The maximum length of a row, in bytes.
const LONGEST_ROW: u64 = 1 << 26;

/// The row that is being read. Its bytes are limited, because a row is read as a whole.
#[derive(Clone)]
pub(crate) struct RowLimit {
    path: PathBuf,
    /// The first line of the row, and the number of bytes read since.
    line: Rc<Cell<u64>>,
    bytes: Rc<Cell<u64>>,
}

impl RowLimit {
    fn new(path: &Path) -> Self {
        Self {
            path: path.into(),
            line: Rc::new(Cell::new(1)),
            bytes: Rc::default(),
        }
    }

    /// Starts a row at this line.
    pub fn begin(&self, line: u64) {
        self.line.set(line);
        self.bytes.set(0);
    }

    fn add(&self, bytes: usize) -> io::Result<()> {
        self.bytes.set(self.bytes.get() + bytes as u64);
        match self.bytes.get() <= LONGEST_ROW {
            true => Ok(()),
            false => Err(io::Error::other(FileError::RowTooLong {
                path: self.path.clone(),
                line: self.line.get(),
                limit: LONGEST_ROW,
            })),
        }
    }
}

impl TextStream {
    /// Opens a text file. A file that starts with the bytes of a compression is decompressed.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let ByteStream {
            contents: mut unpacked,
            compression,
            allowance,
        } = ByteStream::open(path)?;
        let head =
            first_line(&mut unpacked).map_err(|error| stream_error(path, compression, 1, error))?;
        if head.is_empty() {
            return Err(DataError::File(FileError::EmptyFile(path.into())));
        }
        let delimiter = delimiter(&head);
        let text = Cursor::new(head).chain(unpacked);
        let row = RowLimit::new(path);
        Ok(Self {
            lines: Box::new(TerminatedLines::new(text, row.clone())),
            delimiter,
            compression,
            allowance,
            row,
        })
    }
}

pub(crate) fn stream_error(
    path: &Path,
    compression: Option<&'static str>,
    line: u64,
    error: io::Error,
) -> DataError {
    match compression {
        Some(format) if is_damage(compression, &error) => DataError::File(FileError::Damaged {
            location: Location::line(path, line),
            format,
        }),
        _ => reading(path, error),
    }
}

/// The bytes up to the end of the first line that is not blank; empty if all lines are blank.
fn first_line(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    // A longer first "line" is not a table; the rest is still read as one line.
    const LONGEST: u64 = 1 << 24;
    let mut head = Vec::new();
    loop {
        let start = head.len();
        let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut head)?;
        if read == 0 {
            return Ok(Vec::new());
        }
        let line = head[start..].trim_ascii();
        if !line.is_empty() && line != BYTE_ORDER_MARK {
            return Ok(head);
        }
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Tab if the line contains one outside quotes, else semicolon if it contains one, else comma. A
/// comma next to either is a decimal comma or part of a name.
fn delimiter(line: &[u8]) -> u8 {
    let (mut quoted, mut tab, mut semicolon) = (false, false, false);
    for &byte in line.trim_ascii() {
        match byte {
            b'"' => quoted = !quoted,
            b'\t' if !quoted => tab = true,
            b';' if !quoted => semicolon = true,
            _ => {}
        }
    }
    match (tab, semicolon) {
        (true, _) => b'\t',
        (false, true) => b';',
        (false, false) => b',',
    }
}

/// Adds a line feed to the last line if it lacks one, so that line numbers follow from the number
/// of line feeds read.
struct TerminatedLines<R> {
    inner: R,
    last: u8,
    row: RowLimit,
}

impl<R: Read> TerminatedLines<R> {
    fn new(inner: R, row: RowLimit) -> Self {
        Self {
            inner,
            last: b'\n',
            row,
        }
    }
}

impl<R: Read> Read for TerminatedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let read = self.inner.read(buffer)?;
        if read > 0 {
            self.last = buffer[read - 1];
            self.row.add(read)?;
            return Ok(read);
        }
        if self.last == b'\n' {
            return Ok(0);
        }
        self.last = b'\n';
        buffer[0] = b'\n';
        Ok(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_read_from_the_first_line() {
        assert_eq!(delimiter(b"a,b,c\n"), b',');
        assert_eq!(delimiter(b"\"a;b\",c\n"), b',');
        assert_eq!(delimiter(b"1,5;2,5\r\n"), b';');
        assert_eq!(delimiter(b"a\tb;c\td\n"), b'\t');
        assert_eq!(delimiter(b"a\n"), b',');
    }

    #[test]
    fn the_last_line_is_ended() -> io::Result<()> {
        for (text, ended) in [("", ""), ("1", "1\n"), ("1\n", "1\n"), ("1\n2", "1\n2\n")] {
            let mut read = String::new();
            TerminatedLines::new(text.as_bytes(), RowLimit::new(Path::new("a")))
                .read_to_string(&mut read)?;
            assert_eq!(read, ended);
        }
        Ok(())
    }
}
