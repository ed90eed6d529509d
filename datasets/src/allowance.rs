//! The memory that a file may take.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::error::{DataError, FileError};

/// The memory that any file may take, in bytes.
const ANY_FILE: u64 = 1 << 28;

/// The memory that a file may take for each of its own bytes, in bytes.
const EACH_BYTE: u64 = 256;

/// The memory of a column besides its cells, including its name and its description, in bytes.
const COLUMN: u64 = 512;

/// The memory that the contents of a file may take: 256 MiB plus 256 bytes for each byte of the file.
///
/// A few bytes can stand for terabytes: a compressed file of zeros, a workbook with one cell in the
/// last row and column, a damaged length. Readers check the allowance before they allocate memory for such
/// contents, because a failed allocation ends the program.
#[derive(Clone)]
pub(crate) struct Allowance {
    path: PathBuf,
    size: Arc<AtomicU64>,
}

impl Allowance {
    /// The allowance of a file of `size` bytes.
    pub fn new(path: &Path, size: u64) -> Self {
        Self {
            path: path.into(),
            size: Arc::new(AtomicU64::new(size)),
        }
    }

    /// The bytes that the contents may take.
    pub fn limit(&self) -> u64 {
        ANY_FILE.saturating_add(EACH_BYTE.saturating_mul(self.size.load(Ordering::Relaxed)))
    }

    /// Checks that contents may take `bytes` bytes.
    ///
    /// # Errors
    /// [`FileError::TooMuchMemory`].
    pub fn require(&self, bytes: u64) -> Result<(), DataError> {
        match bytes <= self.limit() {
            true => Ok(()),
            false => Err(DataError::File(self.refusal())),
        }
    }

    /// Checks that a table may have `rows` rows and `columns` columns of numbers.
    ///
    /// # Errors
    /// [`FileError::TooMuchMemory`].
    pub fn require_cells(&self, rows: u64, columns: usize) -> Result<(), DataError> {
        let column = rows.saturating_mul(size_of::<f64>() as u64);
        self.require((columns as u64).saturating_mul(column.saturating_add(COLUMN)))
    }

    fn refusal(&self) -> FileError {
        FileError::TooMuchMemory {
            path: self.path.clone(),
            size: self.size.load(Ordering::Relaxed),
            limit: self.limit(),
        }
    }

    /// A reader of the file itself. For a source of unknown size, the bytes read so far count as its size.
    pub fn counting<R: Read>(&self, inner: R) -> impl Read + use<R> {
        Counting {
            inner,
            read: 0,
            size: self.size.clone(),
        }
    }

    /// A reader of unpacked contents, which fails with a [`FileError`] when they are too large.
    pub fn limiting<R: Read>(&self, inner: R) -> impl Read + use<R> {
        Limiting {
            inner,
            read: 0,
            allowance: self.clone(),
        }
    }
}

struct Counting<R> {
    inner: R,
    read: u64,
    size: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read += read as u64;
        self.size.fetch_max(self.read, Ordering::Relaxed);
        Ok(read)
    }
}

struct Limiting<R> {
    inner: R,
    read: u64,
    allowance: Allowance,
}

impl<R: Read> Read for Limiting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read += read as u64;
        match self.read <= self.allowance.limit() {
            true => Ok(read),
            false => Err(io::Error::other(self.allowance.refusal())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allowance_grows_with_what_is_read() {
        let allowance = Allowance::new(Path::new("-"), 0);
        assert!(allowance.require(ANY_FILE).is_ok());
        assert!(allowance.require(ANY_FILE + 1).is_err());
        assert!(allowance.require_cells(u64::MAX, usize::MAX).is_err());
        let copied = io::copy(&mut allowance.counting(&[0; 10][..]), &mut io::sink());
        assert_eq!(copied.ok(), Some(10));
        assert_eq!(allowance.limit(), ANY_FILE + 10 * EACH_BYTE);
    }

    #[test]
    fn endless_contents_are_refused() {
        let allowance = Allowance::new(Path::new("a.gz"), 3);
        let error = io::copy(&mut allowance.limiting(io::repeat(0)), &mut io::sink()).unwrap_err();
        let own = error.downcast::<FileError>().unwrap();
        assert!(matches!(own, FileError::TooMuchMemory { size: 3, .. }));
    }
}
