//! Checks what an Arrow file declares about the size of its contents, before memory is allocated for them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, Message, RecordBatch, root_as_footer, root_as_message};

use crate::allowance::Allowance;
use crate::bytes;
use crate::error::{DataError, FileError};

/// The first bytes of a file with a footer, and the last.
const MAGIC: &[u8] = b"ARROW1";

/// The reason why a file cannot be read.
pub(super) enum Refusal {
    Unreadable(io::Error),
    Damaged(String),
    Data(DataError),
}

impl Refusal {
    pub fn into_error(self, path: &Path) -> DataError {
        match self {
            Self::Unreadable(error) => bytes::reading(path, error),
            Self::Data(error) => error,
            Self::Damaged(reason) => DataError::File(FileError::NotArrow {
                path: path.into(),
                reason,
            }),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged("it is cut off".into()),
            _ => Self::Unreadable(error),
        }
    }
}

/// Whether the file has a footer and is not a stream.
pub(super) fn has_footer(file: &mut File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == MAGIC)
}

/// Checks the batches that the footer of a file lists.
pub(super) fn check_file(file: &mut File, allowance: &Allowance) -> Result<(), Refusal> {
    let size = file.seek(SeekFrom::End(0))?;
    let mut end = [0; 10];
    file.seek(SeekFrom::Start(size.saturating_sub(10)))?;
    file.read_exact(&mut end)?;
    let length = read_footer_length(end).map_err(|error| Refusal::Damaged(error.to_string()))?;
    let start = size.checked_sub(10 + length as u64);
    let start = start.ok_or_else(|| Refusal::Damaged("its footer is cut off".into()))?;
    let footer = part(file, start, length as u64)?;
    let footer = root_as_footer(&footer).map_err(|error| Refusal::Damaged(error.to_string()))?;
    let columns = footer.schema().and_then(|schema| schema.fields());
    let columns = columns.map_or(0, |fields| fields.len());
    let mut claims = Claims::new(columns, allowance);
    let blocks = [footer.dictionaries(), footer.recordBatches()];
    for block in blocks.into_iter().flatten().flatten() {
        let (start, length, body) = place(block, size)?;
        let metadata = part(file, start, length)?;
        // The length comes first; in newer files, a marker precedes it.
        let skipped = if metadata.starts_with(&[0xff; 4]) {
            8
        } else {
            4
        };
        let Some(Ok(message)) = metadata.get(skipped..).map(root_as_message) else {
            return Err(Refusal::Damaged(
                "the description of a batch is damaged".into(),
            ));
        };
        claims.add(file, &message, start + length, body)?;
    }
    Ok(())
}

/// The place of a block, the length of its description, and the length of its contents after it.
fn place(block: &Block, size: u64) -> Result<(u64, u64, u64), Refusal> {
    let start = u64::try_from(block.offset()).ok();
    let length = u64::try_from(block.metaDataLength()).ok();
    let body = u64::try_from(block.bodyLength()).ok();
    if let (Some(start), Some(length), Some(body)) = (start, length, body)
        && let Some(end) = start
            .checked_add(length)
            .and_then(|end| end.checked_add(body))
        && end <= size
    {
        return Ok((start, length, body));
    }
    Err(Refusal::Damaged("a batch lies outside the file".into()))
}

/// Checks the batches of a stream.
pub(super) fn check_stream(file: &mut File, allowance: &Allowance) -> Result<(), Refusal> {
    let size = file.seek(SeekFrom::End(0))?;
    let (mut at, mut claims) = (0, Claims::new(0, allowance));
    while size.saturating_sub(at) >= 4 {
        let mut word = part(file, at, 4)?;
        at += 4;
        if word == [0xff; 4] {
            word = part(file, at, 4)?;
            at += 4;
        }
        let word = <[u8; 4]>::try_from(word).map_or(0, i32::from_le_bytes);
        let length = u64::try_from(word)
            .map_err(|_| Refusal::Damaged("a batch has a negative length".into()))?;
        if length == 0 {
            break;
        }
        let metadata = part(file, at, length)?;
        at += length;
        let message =
            root_as_message(&metadata).map_err(|error| Refusal::Damaged(error.to_string()))?;
        if let Some(fields) = message
            .header_as_schema()
            .and_then(|schema| schema.fields())
        {
            claims.columns = fields.len();
        }
        let body = u64::try_from(message.bodyLength()).ok();
        let Some((body, end)) = body.and_then(|body| Some((body, at.checked_add(body)?))) else {
            return Err(Refusal::Damaged("a batch has a negative length".into()));
        };
        claims.add(file, &message, at, body)?;
        at = end;
    }
    Ok(())
}

/// The sizes that batches declare.
struct Claims<'a> {
    columns: usize,
    allowance: &'a Allowance,
    rows: u64,
    /// Bytes of buffers after decompression.
    unpacked: u64,
}

impl<'a> Claims<'a> {
    fn new(columns: usize, allowance: &'a Allowance) -> Self {
        Self {
            columns,
            allowance,
            rows: 0,
            unpacked: 0,
        }
    }

    /// Adds a message whose contents are the `body` bytes from `start`.
    fn add(
        &mut self,
        file: &mut File,
        message: &Message<'_>,
        start: u64,
        body: u64,
    ) -> Result<(), Refusal> {
        let dictionary = message.header_as_dictionary_batch();
        let batch = match dictionary {
            Some(dictionary) => dictionary.data(),
            None => message.header_as_record_batch(),
        };
        let Some(batch) = batch else { return Ok(()) };
        let rows = u64::try_from(batch.length()).unwrap_or(u64::MAX);
        // A dictionary is read again for each batch.
        let columns = if dictionary.is_some() {
            1
        } else {
            self.columns
        };
        self.rows = self.rows.saturating_add(rows);
        self.allowance
            .require_cells(self.rows, columns)
            .map_err(Refusal::Data)?;
        self.unpacked = self
            .unpacked
            .saturating_add(unpacked(file, &batch, start, body)?);
        self.allowance.require(self.unpacked).map_err(Refusal::Data)
    }
}

/// The declared unpacked size, in bytes, of the compressed buffers of a batch. Each begins with its size.
fn unpacked(
    file: &mut File,
    batch: &RecordBatch<'_>,
    start: u64,
    body: u64,
) -> Result<u64, Refusal> {
    let mut total = 0u64;
    if batch.compression().is_none() {
        return Ok(total);
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let (offset, length) = (
            u64::try_from(buffer.offset()),
            u64::try_from(buffer.length()),
        );
        let (Ok(offset), Ok(length)) = (offset, length) else {
            return Err(Refusal::Damaged("a buffer has a negative length".into()));
        };
        if offset.checked_add(length).is_none_or(|end| end > body) {
            return Err(Refusal::Damaged("a buffer lies outside its batch".into()));
        }
        if length < 8 {
            continue;
        }
        let claim = part(file, start + offset, 8)?;
        let claim = <[u8; 8]>::try_from(claim).map_or(0, i64::from_le_bytes);
        total = total.saturating_add(u64::try_from(claim).unwrap_or(0));
    }
    Ok(total)
}

/// A part of a file, which must be complete.
fn part(file: &mut File, start: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(length).read_to_end(&mut bytes)?;
    match bytes.len() as u64 == length {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
