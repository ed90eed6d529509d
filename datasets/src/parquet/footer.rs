//! Checks the tree of columns in the footer of a Parquet file, before memory is allocated for its branches.
//! The footer is in Thrift's compact protocol.

use std::fs::File;

use parquet::errors::{ParquetError, Result};
use parquet::file::reader::ChunkReader;

/// The field of the footer with the list of elements of the tree.
const ELEMENTS: i64 = 2;
/// The field of an element with the number of its branches.
const BRANCHES: i64 = 5;

/// The maximum nesting of values that is followed.
const DEEPEST: usize = 32;

/// Types of values.
mod kind {
    pub const BYTE: u8 = 3;
    pub const SHORT: u8 = 4;
    pub const LONG: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BYTES: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
}

/// Checks that no element of the tree declares more branches than there are elements.
pub(super) fn check_branches(file: &File, size: u64) -> Result<()> {
    const END: u64 = 8;
    let Some(end) = size.checked_sub(END) else {
        return Ok(());
    };
    let length = file.get_bytes(end, 4)?;
    let length = length
        .first_chunk()
        .map_or(0, |length| u32::from_le_bytes(*length));
    let Some(start) = end.checked_sub(u64::from(length)) else {
        return Ok(());
    };
    let footer = file.get_bytes(start, length as usize)?;
    match (Values { rest: &footer }).most_branches() {
        Some((branches, elements)) if branches > elements => Err(ParquetError::General(format!(
            "a group of columns claims {branches} of {elements}"
        ))),
        // The reader itself reports a damaged footer.
        _ => Ok(()),
    }
}

/// A sequence of values.
struct Values<'a> {
    rest: &'a [u8],
}

impl Values<'_> {
    /// The maximum number of branches of an element, and the number of elements.
    fn most_branches(mut self) -> Option<(u64, u64)> {
        let mut last = 0;
        while let Some((field, kind)) = self.field(&mut last)? {
            if (field, kind) != (ELEMENTS, kind::LIST) {
                self.skip(kind, 0)?;
                continue;
            }
            let (elements, _) = self.list()?;
            let mut most = 0;
            for _ in 0..elements {
                most = self.branches()?.max(most);
            }
            return Some((most, elements));
        }
        None
    }

    /// The number of branches of the next element.
    fn branches(&mut self) -> Option<u64> {
        let (mut last, mut branches) = (0, 0);
        while let Some((field, kind)) = self.field(&mut last)? {
            match field {
                BRANCHES => branches = u64::try_from(self.signed()?).unwrap_or(0),
                _ => self.skip(kind, 0)?,
            }
        }
        Some(branches)
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn advance(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for place in 0..10 {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The number and the type of the next field of a struct; `None` after the last.
    fn field(&mut self, last: &mut i64) -> Option<Option<(i64, u8)>> {
        let header = self.byte()?;
        if header == 0 {
            return Some(None);
        }
        *last = match header >> 4 {
            0 => self.signed()?,
            more => last.checked_add(i64::from(more))?,
        };
        Some(Some((*last, header & 15)))
    }

    /// The length of a list and the type of its values.
    fn list(&mut self) -> Option<(u64, u8)> {
        let header = self.byte()?;
        let length = match header >> 4 {
            15 => self.unsigned()?,
            length => u64::from(length),
        };
        Some((length, header & 15))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            kind::BYTE => self.advance(1),
            kind::SHORT..=kind::LONG => self.unsigned().map(|_| ()),
            kind::DOUBLE => self.advance(8),
            kind::BYTES => {
                let length = self.unsigned()?;
                self.advance(length)
            }
            kind::LIST | kind::SET => {
                let (length, kind) = self.list()?;
                // A truth value in a list takes a byte, unlike one in a field.
                let kind = if kind < kind::BYTE { kind::BYTE } else { kind };
                (0..length).try_for_each(|_| self.skip(kind, depth + 1))
            }
            kind::MAP => {
                let length = self.unsigned()?;
                let kinds = if length > 0 { self.byte()? } else { 0 };
                (0..length).try_for_each(|_| {
                    self.skip(kinds >> 4, depth + 1)?;
                    self.skip(kinds & 15, depth + 1)
                })
            }
            kind::STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            // A truth value is in the type of its field.
            _ => Some(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version 2, and two elements: a group with `branches` and a name, and a column.
    fn footer(branches: u8) -> Vec<u8> {
        let group = [0x48, 1, b'g', 0x15, 2 * branches, 0];
        let column = [0x15, 4, 0x38, 1, b'c', 0];
        [&[0x15, 4, 0x19, 0x2c][..], &group, &column, &[0]].concat()
    }

    #[test]
    fn branches_are_counted() {
        let most = |bytes: &[u8]| Values { rest: bytes }.most_branches();
        assert_eq!(most(&footer(1)), Some((1, 2)));
        assert_eq!(most(&footer(60)), Some((60, 2)));
        assert_eq!(most(&footer(1)[..9]), None);
        assert_eq!(most(&[]), None);
    }
}
