//! Checks what a Parquet file declares about the size of its contents, before memory is allocated for them.

use std::fs::File;
use std::io::{BufRead, BufReader};

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// A file whose reads stay within its bounds, and whose pages unpack to a limited size.
pub(super) struct CheckedFile {
    file: File,
    size: u64,
    /// The maximum size of a page, in bytes.
    limit: u64,
}

impl CheckedFile {
    pub fn new(file: File, size: u64, limit: u64) -> Self {
        Self { file, size, limit }
    }
}

impl Length for CheckedFile {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for CheckedFile {
    type T = BufReader<File>;

    /// Reads from `start`, the position of a page header.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut reader = self.file.get_read(start)?;
        match unpacked_size(reader.fill_buf()?) {
            Some(size) if size > self.limit => Err(ParquetError::General(format!(
                "a page claims to unpack to {size} bytes"
            ))),
            _ => Ok(reader),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        match start.checked_add(length as u64) {
            Some(end) if end <= self.size => self.file.get_bytes(start, length),
            _ => Err(ParquetError::EOF("a part lies outside the file".into())),
        }
    }
}

/// The unpacked size in the header of a page, which begins with two 32-bit integers in Thrift's compact
/// protocol: the type of the page and this size.
fn unpacked_size(header: &[u8]) -> Option<u64> {
    const INTEGER_AFTER_THE_LAST_FIELD: u8 = 0x15;
    let mut rest = header;
    let mut value = 0;
    for _ in 0..2 {
        rest = rest.strip_prefix(&[INTEGER_AFTER_THE_LAST_FIELD])?;
        (value, rest) = variable_length(rest)?;
    }
    // Zigzag: positive numbers are even.
    (value % 2 == 0).then_some(value / 2)
}

/// The number at the start of `bytes`, seven bits in each byte, and the bytes after it.
fn variable_length(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (place, &byte) in bytes.iter().take(9).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[place + 1..]));
        }
    }
    None
}

/// Pages of a column, checked to declare no more values than they can hold.
pub(super) struct CheckedPages {
    pages: Box<dyn PageReader>,
    /// The rows of the row group, each with one value.
    rows: usize,
    optional: bool,
}

impl CheckedPages {
    pub fn new(pages: Box<dyn PageReader>, rows: usize, optional: bool) -> Self {
        Self {
            pages,
            rows,
            optional,
        }
    }

    fn check(&self, page: &Page) -> Result<()> {
        let (buffer, first) = match page {
            // A value takes at least one byte.
            Page::DictionaryPage {
                buf, num_values, ..
            } if *num_values as usize > buf.len() => {
                return Err(ParquetError::General(format!(
                    "a dictionary of {} bytes claims {num_values} values",
                    buf.len()
                )));
            }
            Page::DictionaryPage { .. } => return Ok(()),
            Page::DataPage { buf, .. } if self.optional => {
                let levels = buf.get(..4).and_then(|length| length.try_into().ok());
                let levels = levels.map_or(0, u32::from_le_bytes);
                (buf, 4 + levels as usize)
            }
            Page::DataPage { buf, .. } => (buf, 0),
            Page::DataPageV2 {
                buf,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => (
                buf,
                *def_levels_byte_len as usize + *rep_levels_byte_len as usize,
            ),
        };
        let values = buffer.get(first..).unwrap_or_default();
        let claims = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY => lengths(values),
            _ => 0,
        };
        match claims.max(u64::from(page.num_values())) > self.rows as u64 {
            true => Err(ParquetError::General(format!(
                "a page claims {} values for {} rows",
                claims.max(u64::from(page.num_values())),
                self.rows
            ))),
            false => Ok(()),
        }
    }
}

/// The number of lengths of texts at the start of `values`, after the two sizes of their blocks.
fn lengths(values: &[u8]) -> u64 {
    let count = variable_length(values)
        .and_then(|(_, rest)| variable_length(rest))
        .and_then(|(_, rest)| variable_length(rest));
    count.map_or(0, |(count, _)| count)
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.iter().try_for_each(|page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.pages.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        let page = self.pages.take_deferred_dictionary()?;
        page.iter().try_for_each(|page| self.check(page))?;
        Ok(page)
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_headers() {
        assert_eq!(variable_length(&[0xac, 0x02, 7]), Some((300, &[7][..])));
        assert_eq!(variable_length(&[0xff; 20]), None);
        assert_eq!(unpacked_size(&[0x15, 0, 0x15, 0xac, 0x02]), Some(150));
        assert_eq!(unpacked_size(&[0x15, 0, 0x25, 0xac, 0x02]), None);
        assert_eq!(lengths(&[0x80, 1, 4, 0xac, 0x02, 9]), 300);
    }
}
