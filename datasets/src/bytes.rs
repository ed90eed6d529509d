//! Opening a file, plain or gzipped, as a stream of bytes.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::DataError;

const BUFFER: usize = 1 << 16;

/// Opens a file that must exist and be a file.
pub(crate) fn open(path: &Path) -> Result<File, DataError> {
    let metadata = fs::metadata(path).map_err(|error| reading(path, error))?;
    if metadata.is_dir() {
        return Err(DataError::IsDirectory { path: path.into() });
    }
    File::open(path).map_err(|error| reading(path, error))
}

/// What an error of the operating system means.
pub(crate) fn reading(path: &Path, error: io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::NotFound => DataError::FileMissing { path: path.into() },
        _ => DataError::Unreadable {
            path: path.into(),
            source: error,
        },
    }
}

/// The contents of a file, unpacked on the way.
pub(crate) struct ByteStream {
    pub contents: Box<dyn BufRead>,
    /// Whether the file is gzipped, which decides what a reading error means.
    pub compressed: bool,
}

impl ByteStream {
    /// Opens a file; one that begins with gzip's two magic bytes is unpacked.
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

/// Whether `error` says that the gzip data, not the disk, are at fault.
pub(crate) fn is_gzip_damage(compressed: bool, error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    compressed && matches!(error.kind(), UnexpectedEof | InvalidInput | InvalidData)
}
