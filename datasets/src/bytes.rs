//! Opens files, plain or gzipped, as byte streams.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::DataError;

const BUFFER: usize = 1 << 16;

/// Opens an existing regular file.
pub(crate) fn open(path: &Path) -> Result<File, DataError> {
    let metadata = fs::metadata(path).map_err(|error| reading(path, error))?;
    if metadata.is_dir() {
        return Err(DataError::IsDirectory { path: path.into() });
    }
    File::open(path).map_err(|error| reading(path, error))
}

/// Converts an operating system error into a data error.
pub(crate) fn reading(path: &Path, error: io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::NotFound => DataError::FileMissing { path: path.into() },
        _ => DataError::Unreadable {
            path: path.into(),
            source: error,
        },
    }
}

/// The contents of a file, decompressed while reading.
pub(crate) struct ByteStream {
    pub contents: Box<dyn BufRead>,
    /// Whether the file is gzipped, which determines the meaning of read errors.
    pub compressed: bool,
}

impl ByteStream {
    /// Opens a file. A file that starts with the two gzip magic bytes is decompressed.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let mut raw = BufReader::with_capacity(BUFFER, open(path)?);
        let start = raw.fill_buf().map_err(|error| reading(path, error))?;
        let compressed = start.starts_with(&[0x1f, 0x8b]);
        let claims_gzip = path.extension().is_some_and(|extension| extension == "gz");
        if claims_gzip && !compressed && !start.is_empty() {
            return Err(DataError::NotGzip { path: path.into() });
        }
        let contents: Box<dyn BufRead> = if compressed {
            Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(raw)))
        } else {
            Box::new(raw)
        };
        Ok(Self {
            contents,
            compressed,
        })
    }
}

/// Whether `error` was caused by damaged gzip data rather than by the disk.
pub(crate) fn is_gzip_damage(compressed: bool, error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    compressed && matches!(error.kind(), UnexpectedEof | InvalidInput | InvalidData)
}
