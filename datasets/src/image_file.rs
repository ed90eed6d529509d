//! A file of images or labels, read byte by byte.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::bytes::{ByteStream, is_damage, open, reading};
use crate::error::{DataError, FileError};

/// The value of a white pixel. Inputs range from 0 to 1.
pub(crate) const WHITE: f64 = 255.0;

/// The number of images in the files of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageCounts {
    /// Training images.
    pub train: usize,
    /// Test images.
    pub test: usize,
}

impl ImageCounts {
    /// The total number of images, which is the number of rows, N.
    pub fn total(&self) -> usize {
        self.train + self.test
    }
}

/// The name of a format and the advice for damaged files.
pub(crate) struct ImageFormat {
    pub name: &'static str,
    /// Advice for a file that does not have this format.
    pub advice: &'static str,
}

impl ImageFormat {
    /// The error for a file that is not a complete file of this format.
    pub fn damaged(&self, path: &Path, reason: impl Into<String>) -> DataError {
        DataError::File(FileError::ImageFile {
            path: path.into(),
            format: self.name,
            reason: reason.into(),
            advice: self.advice,
        })
    }
}

/// A file, plain or gzipped, that is read sequentially.
pub(crate) struct ImageFile {
    path: PathBuf,
    format: &'static ImageFormat,
    stream: ByteStream,
    /// The number of bytes read so far.
    position: u64,
}

impl ImageFile {
    pub fn open(path: &Path, format: &'static ImageFormat) -> Result<Self, DataError> {
        Ok(Self {
            path: path.into(),
            format,
            stream: ByteStream::open(path)?,
            position: 0,
        })
    }

    /// Fills `buffer` as far as possible and returns the number of bytes read.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, DataError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.stream.contents.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(filled, error)),
            }
        }
        self.position += filled as u64;
        Ok(filled)
    }

    /// Reads the remaining bytes, at most `most`.
    pub fn rest(mut self, most: u64) -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::new();
        match (&mut self.stream.contents)
            .take(most)
            .read_to_end(&mut bytes)
        {
            Ok(_) => Ok(bytes),
            Err(error) => Err(self.failure(bytes.len(), error)),
        }
    }

    /// Counts the remaining bytes, after decompression but without storing them.
    pub fn count_rest(mut self) -> Result<u64, DataError> {
        if self.stream.compression.is_none() {
            let metadata = open(&self.path)?.metadata();
            let length = metadata.map_err(|error| reading(&self.path, error))?.len();
            return Ok(length.saturating_sub(self.position));
        }
        let start = self.position;
        let mut buffer = vec![0; 1 << 16];
        while self.fill(&mut buffer)? > 0 {}
        Ok(self.position - start)
    }

    /// The error for a file that is not a complete file of its format.
    pub fn damaged(&self, reason: impl Into<String>) -> DataError {
        self.format.damaged(&self.path, reason)
    }

    /// Converts an error that occurred after `more` bytes.
    fn failure(&self, more: usize, error: io::Error) -> DataError {
        if is_damage(self.stream.compression, &error) {
            let intact = self.position + more as u64;
            return self.damaged(format!(
                "its gzip data are cut off or damaged after {intact} unpacked bytes"
            ));
        }
        reading(&self.path, error)
    }
}

/// The path of the file `name` in a folder, gzipped or not.
pub(crate) fn plain_or_gzipped(folder: &Path, name: &str) -> PathBuf {
    let [gzipped, plain] = both_forms(folder, name);
    if gzipped.is_file() { gzipped } else { plain }
}

/// The possible paths of the file `name` in a folder: gzipped and plain.
pub(crate) fn both_forms(folder: &Path, name: &str) -> [PathBuf; 2] {
    [folder.join(format!("{name}.gz")), folder.join(name)]
}
