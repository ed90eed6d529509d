//! Compound files, the containers of old Office documents: a file system of sectors, in which a table gives
//! the next sector for each sector.

/// The length of the name, of the header and of an entry of the directory.
const NAME: usize = 64;
const HEADER: usize = 512;
const ENTRY: usize = 128;

/// Offsets in the header.
const SECTOR_SHIFT: usize = 30;
const DIRECTORY: usize = 48;
const SMALL_TABLE: usize = 60;
const MORE_TABLES: usize = 68;
const TABLES: usize = 76;

/// Offsets in an entry.
const KIND: usize = 66;
const START: usize = 116;
const LENGTH: usize = 120;

/// The kinds of entries.
const STREAM: u8 = 2;
const ROOT: u8 = 5;

/// Numbers from here on do not stand for sectors.
const NO_SECTOR: u32 = 0xffff_fffa;
const OF_TABLE: u32 = 0xffff_fffd;
const END: u32 = 0xffff_fffe;
const FREE: u32 = 0xffff_ffff;

/// Shorter streams are in small sectors, which are part of the root's stream.
const SHORTEST: usize = 4096;
const SMALL_SECTOR: usize = 64;

/// The contents of the stream called `name`; `None` if there is none, or its chain of sectors is damaged.
pub(super) fn stream(file: &[u8], name: &str) -> Option<Vec<u8>> {
    let size = match file.get(SECTOR_SHIFT)? {
        9 => 512,
        12 => 4096,
        _ => return None,
    };
    let sectors = Sectors {
        bytes: file.get(size..)?,
        size,
    };
    let table = table(file, &sectors)?;
    let directory = sectors.chain(double_word(file, DIRECTORY)?, &table, usize::MAX)?;
    let entries = || directory.chunks_exact(ENTRY);
    let entry = entries().find(|entry| entry[KIND] == STREAM && is_called(entry, name))?;
    let (start, length) = (
        double_word(entry, START)?,
        double_word(entry, LENGTH)? as usize,
    );
    if length >= SHORTEST {
        return sectors.chain(start, &table, length);
    }
    let root = entries().next()?;
    let small = sectors.chain(double_word(root, START)?, &table, usize::MAX)?;
    let small_table = sectors.chain(double_word(file, SMALL_TABLE)?, &table, usize::MAX)?;
    let small = Sectors {
        bytes: &small,
        size: SMALL_SECTOR,
    };
    small.chain(start, &double_words(&small_table), length)
}

fn double_word(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(place..)?.first_chunk()?))
}

fn double_words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words.filter_map(|word| double_word(word, 0)).collect()
}

/// Whether an entry has this name, ignoring case.
fn is_called(entry: &[u8], name: &str) -> bool {
    let units = entry[..NAME].chunks_exact(2);
    let units: Vec<u16> = units
        .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
        .collect();
    let own = String::from_utf16_lossy(&units);
    own.trim_end_matches('\0').eq_ignore_ascii_case(name)
}

/// The table of sectors: for each sector, the number of the next one.
fn table(file: &[u8], sectors: &Sectors<'_>) -> Option<Vec<u32>> {
    let mut parts = double_words(file.get(TABLES..HEADER)?);
    let mut more = double_word(file, MORE_TABLES)?;
    for _ in 0..sectors.count() {
        if more >= NO_SECTOR {
            break;
        }
        let mut numbers = double_words(sectors.get(more)?);
        more = numbers.pop()?;
        parts.extend(numbers);
    }
    let mut table = Vec::new();
    for part in parts.into_iter().filter(|&part| part < NO_SECTOR) {
        if table.len() >= sectors.count() {
            break;
        }
        table.extend(double_words(sectors.get(part)?));
    }
    Some(table)
}

/// Sectors of the same size, one after the other.
struct Sectors<'a> {
    bytes: &'a [u8],
    size: usize,
}

impl Sectors<'_> {
    fn count(&self) -> usize {
        self.bytes.len().div_ceil(self.size)
    }

    /// A sector; the last one may be incomplete.
    fn get(&self, number: u32) -> Option<&[u8]> {
        let start = (number as usize).checked_mul(self.size)?;
        let rest = self.bytes.get(start..).filter(|rest| !rest.is_empty())?;
        Some(&rest[..self.size.min(rest.len())])
    }

    /// At most `length` bytes of the chain of sectors from `start`, in which no sector may occur twice.
    fn chain(&self, start: u32, table: &[u32], length: usize) -> Option<Vec<u8>> {
        let (mut bytes, mut number) = (Vec::new(), start);
        for _ in 0..=self.count() {
            if number == END || bytes.len() >= length {
                bytes.truncate(length);
                return Some(bytes);
            }
            bytes.extend_from_slice(self.get(number)?);
            number = *table.get(number as usize)?;
        }
        None
    }
}

/// A compound file with one stream; `None` if the stream has more than 450 MB. The file has large sectors: the
/// tables, the directory, and the stream, padded with zeros.
pub(super) fn written(name: &str, contents: &[u8]) -> Option<Vec<u8>> {
    const SIZE: usize = 4096;
    const PLACES: usize = (HEADER - TABLES) / 4;
    let data = contents.len().max(SHORTEST).div_ceil(SIZE);
    let tables = (1..=PLACES).find(|tables| tables * SIZE / 4 > tables + data)?;
    let mut file = vec![0; SIZE];
    file[..8].copy_from_slice(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    let mut set = |place: usize, value: u32| {
        file[place..place + 4].copy_from_slice(&value.to_le_bytes());
    };
    // The format is 4, the bytes are little-endian, and sectors have 4096 and 64 bytes.
    for (place, value) in [
        (24, 0x0004_003e),
        (28, 0x000c_fffe),
        (32, 6),
        (44, tables as u32),
    ] {
        set(place, value);
    }
    set(DIRECTORY, tables as u32);
    set(56, SHORTEST as u32);
    set(SMALL_TABLE, END);
    set(MORE_TABLES, END);
    for place in 0..PLACES {
        let sector = if place < tables { place as u32 } else { FREE };
        set(TABLES + 4 * place, sector);
    }
    let first = tables + 1;
    let next = (0..tables * SIZE / 4).map(|sector| match sector {
        sector if sector < tables => OF_TABLE,
        sector if sector == tables || sector == first + data - 1 => END,
        sector if sector < first + data => sector as u32 + 1,
        _ => FREE,
    });
    file.extend(next.flat_map(u32::to_le_bytes));
    let mut directory = entry("Root Entry", ROOT, 0, 0);
    directory.extend(entry(name, STREAM, first as u32, data * SIZE));
    directory.resize(SIZE, 0);
    file.extend(directory);
    file.extend_from_slice(contents);
    file.resize(SIZE * (first + 1 + data), 0);
    Some(file)
}

/// An entry of the directory.
fn entry(name: &str, kind: u8, start: u32, length: usize) -> Vec<u8> {
    let mut entry = vec![0; ENTRY];
    let units: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    entry[..units.len()].copy_from_slice(&units);
    entry[NAME] = units.len() as u8 + 2;
    (entry[KIND], entry[KIND + 1]) = (kind, 1);
    let child = if kind == ROOT { 1 } else { FREE };
    for (place, value) in [
        (68, FREE),
        (72, FREE),
        (76, child),
        (START, start),
        (LENGTH, length as u32),
    ] {
        entry[place..place + 4].copy_from_slice(&value.to_le_bytes());
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for length in [5, 4096, 5_000_000] {
            let contents: Vec<u8> = (0..length).map(|byte| (byte % 251) as u8).collect();
            let file = written("Workbook", &contents).unwrap();
            let read = stream(&file, "WORKBOOK").unwrap();
            assert_eq!(read[..contents.len()], contents);
            assert!(read[contents.len()..].iter().all(|&byte| byte == 0));
            assert_eq!(stream(&file, "Book"), None);
        }
    }

    #[test]
    fn a_chain_without_end_is_refused() {
        let mut file = written("Workbook", &[1; 9000]).unwrap();
        // The last sector of the stream is followed by its first.
        let (first, last) = (2u32, 4);
        file[4096 + 4 * last..][..4].copy_from_slice(&first.to_le_bytes());
        let length = 2 * 4096 + 128 + LENGTH;
        file[length..][..4].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
        assert_eq!(stream(&file, "Workbook"), None);
        assert_eq!(stream(&file[..600], "Workbook"), None);
    }
}
