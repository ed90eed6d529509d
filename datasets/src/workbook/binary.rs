//! Checks a workbook in Excel's binary format, `.xls`, in which a few bytes can declare many cells.

use std::io::Cursor;

use super::{Contents, Refusal, archive, compound};
use crate::allowance::Allowance;

/// The memory of a cell and its formula.
const CELL: u64 = 64;

/// The maximum number of sheets to which a byte of the workbook belongs, on average.
const MOST_SHEETS_OF_A_BYTE: usize = 16;

/// Types of records.
mod record {
    pub const SHEET: u16 = 0x0085;
    pub const BEGIN: u16 = 0x0809;
    pub const END: u16 = 0x000a;
    pub const DIMENSIONS: u16 = 0x0200;
    /// A type that no program uses.
    pub const NONE: u16 = 0xfffe;
    /// Records that begin with the row and the column of a cell.
    pub const CELLS: [u16; 8] = [
        0x0006, 0x0203, 0x0204, 0x00d6, 0x0205, 0x027e, 0x00fd, 0x00bd,
    ];
}

/// The workbook alone in a new compound file, if its sheets take no more memory than the allowance. Declared
/// sizes of sheets are removed, because the cells determine them.
pub(super) fn checked(contents: Vec<u8>, allowance: &Allowance) -> Result<Contents, Refusal> {
    if !contents.starts_with(archive::COMPOUND) {
        return Err(Refusal::Damaged("it is not in the format .xls".into()));
    }
    let mut book = ["Workbook", "Book"]
        .into_iter()
        .find_map(|name| compound::stream(&contents, name))
        .ok_or_else(|| Refusal::Damaged("its streams are damaged".into()))?;
    let mut walked = 0;
    for start in sheets(&book) {
        for place in claims(&book, start) {
            book[place..place + 2].copy_from_slice(&record::NONE.to_le_bytes());
        }
    }
    let (mut memory, most) = (0, book.len().saturating_mul(MOST_SHEETS_OF_A_BYTE));
    for start in sheets(&book) {
        let sheet = Sheet::of(&book, start)?;
        walked += sheet.bytes;
        if walked > most {
            return Err(Refusal::Damaged("its sheets overlap".into()));
        }
        memory += sheet.memory();
        allowance.require(memory)?;
    }
    let file = compound::written("Workbook", &book);
    let file = file.ok_or_else(|| Refusal::Damaged("it is too large".into()))?;
    Ok(Cursor::new(file))
}

/// A record: its place in the workbook, its type and its contents.
struct Record<'a> {
    place: usize,
    kind: u16,
    contents: &'a [u8],
}

/// The records from `start` to the end of the sheet or the workbook that begins there.
fn records(book: &[u8], start: usize) -> impl Iterator<Item = Record<'_>> {
    let (mut place, mut depth, mut is_over) = (start, 0usize, false);
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let kind = word(book, place)?;
        let length = word(book, place + 2)?;
        let first = place + 4;
        let contents = book.get(first..first + usize::from(length))?;
        let record = Record {
            place,
            kind,
            contents,
        };
        place = first + contents.len();
        match kind {
            record::BEGIN => depth += 1,
            record::END => {
                depth = depth.saturating_sub(1);
                is_over = depth == 0;
            }
            _ => {}
        }
        Some(record)
    })
}

fn word(bytes: &[u8], place: usize) -> Option<u16> {
    let word = bytes.get(place..)?.first_chunk()?;
    Some(u16::from_le_bytes(*word))
}

/// The positions where sheets begin.
fn sheets(book: &[u8]) -> Vec<usize> {
    let starts = records(book, 0).filter(|record| record.kind == record::SHEET);
    starts
        .filter_map(|record| Some(u32::from_le_bytes(*record.contents.first_chunk()?) as usize))
        .collect()
}

/// The positions of records that declare the size of the sheet at `start`.
fn claims(book: &[u8], start: usize) -> Vec<usize> {
    let claims = records(book, start).filter(|record| record.kind == record::DIMENSIONS);
    claims.map(|record| record.place).collect()
}

/// The extent of a sheet.
#[derive(Default)]
struct Sheet {
    bytes: usize,
    /// The first and the last row and column with a cell.
    rows: Option<(u16, u16)>,
    columns: Option<(u16, u16)>,
}

impl Sheet {
    fn of(book: &[u8], start: usize) -> Result<Self, Refusal> {
        let mut sheet = Self::default();
        for record in records(book, start) {
            sheet.bytes += 4 + record.contents.len();
            if record.kind == record::DIMENSIONS {
                return Err(Refusal::Damaged("its sheets overlap".into()));
            }
            if !record::CELLS.contains(&record.kind) {
                continue;
            }
            if let (Some(row), Some(first)) = (word(record.contents, 0), word(record.contents, 2)) {
                let count = record.contents.len().saturating_sub(6) / 6;
                let is_several = record.kind == 0x00bd;
                let last = if is_several {
                    first.saturating_add(count as u16)
                } else {
                    first
                };
                extend(&mut sheet.rows, row, row);
                extend(&mut sheet.columns, first, last);
            }
        }
        Ok(sheet)
    }

    fn memory(&self) -> u64 {
        let count = |range: Option<(u16, u16)>| {
            range.map_or(0, |(first, last)| u64::from(last - first) + 1)
        };
        count(self.rows) * count(self.columns) * CELL
    }
}

fn extend(range: &mut Option<(u16, u16)>, first: u16, last: u16) {
    *range = Some(match *range {
        Some((low, high)) => (low.min(first), high.max(last)),
        None => (first, last),
    });
}
