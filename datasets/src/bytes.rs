//! Opens files, plain or compressed, as byte streams.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use flate2::bufread::MultiGzDecoder;

use crate::allowance::Allowance;
use crate::error::{DataError, FileError};

const BUFFER: usize = 1 << 16;

/// Opens an existing regular file.
pub(crate) fn open(path: &Path) -> Result<File, DataError> {
    let metadata = fs::metadata(path).map_err(|error| reading(path, error))?;
    if metadata.is_dir() {
        return Err(DataError::File(FileError::IsDirectory(path.into())));
    }
    File::open(path).map_err(|error| reading(path, error))
}

/// The number of bytes of an open file.
pub(crate) fn size(path: &Path, file: &File) -> Result<u64, DataError> {
    let metadata = file.metadata().map_err(|error| reading(path, error))?;
    Ok(metadata.len())
}

/// Converts an error of a reader into a data error.
pub(crate) fn reading(path: &Path, error: io::Error) -> DataError {
    DataError::File(match error.downcast::<FileError>() {
        Ok(own) => own,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            FileError::FileMissing(path.into())
        }
        Err(error) => FileError::Unreadable {
            path: path.into(),
            source: error,
        },
    })
}

/// The contents of a file, decompressed while reading.
pub(crate) struct ByteStream {
    pub contents: Box<dyn BufRead>,
    /// The name of the compression; read errors can then mean damaged data.
    pub compression: Option<&'static str>,
    /// The memory that the contents may take.
    pub allowance: Allowance,
}

/// A file or standard input, before decompression.
type Raw = BufReader<Box<dyn Read>>;

/// The path that stands for standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// What has been read from the standard input.
static READ: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The standard input from its beginning. What is read is kept, so that a table can be read again with other columns
/// as the target.
#[derive(Default)]
struct StandardInput {
    position: usize,
}

impl Read for StandardInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = &read[self.position..];
        let count = match known.is_empty() {
            false => known.read(buffer)?,
            true => {
                let count = io::stdin().read(buffer)?;
                read.extend_from_slice(&buffer[..count]);
                count
            }
        };
        self.position += count;
        Ok(count)
    }
}

/// A compression and the bytes with which its files begin.
struct Compression {
    name: &'static str,
    magic: &'static [u8],
    unpack: fn(Raw, &Allowance) -> io::Result<Box<dyn Read>>,
}

const COMPRESSIONS: &[Compression] = &[
    Compression {
        name: "gzip",
        magic: &[0x1f, 0x8b],
        unpack: |raw, _| Ok(Box::new(MultiGzDecoder::new(raw))),
    },
    #[cfg(feature = "compression")]
    Compression {
        name: "bzip2",
        magic: b"BZh",
        unpack: |raw, _| Ok(Box::new(bzip2::bufread::MultiBzDecoder::new(raw))),
    },
    #[cfg(feature = "compression")]
    Compression {
        name: "xz",
        magic: &[0xfd, b'7', b'z', b'X', b'Z', 0],
        unpack: |raw, allowance| {
            // The header of a block declares the size of a dictionary.
            let most = u32::try_from(allowance.limit() >> 10).unwrap_or(u32::MAX);
            Ok(Box::new(lzma_rust2::XzReader::new_mem_limit(
                raw, true, most,
            )))
        },
    },
    #[cfg(feature = "compression")]
    Compression {
        name: "zstd",
        magic: &[0x28, 0xb5, 0x2f, 0xfd],
        unpack: |raw, _| Ok(Box::new(zstd::stream::read::Decoder::with_buffer(raw)?)),
    },
    #[cfg(feature = "compression")]
    Compression {
        name: "zip",
        magic: b"PK\x03\x04",
        unpack: unpack_zip,
    },
];

/// The only file of an archive.
#[cfg(feature = "compression")]
fn unpack_zip(mut raw: Raw, allowance: &Allowance) -> io::Result<Box<dyn Read>> {
    let mut packed = Vec::new();
    raw.read_to_end(&mut packed)?;
    let mut archive = zip::ZipArchive::new(io::Cursor::new(packed))?;
    let names = archive.file_names().map(|name| Ok(name?.into_owned()));
    let names: Vec<String> = names.collect::<zip::result::ZipResult<_>>()?;
    let is_file = |name: &&String| !name.ends_with('/') && !name.starts_with("__MACOSX");
    let mut files = names.iter().filter(is_file);
    let (Some(file), None) = (files.next(), files.next()) else {
        return Err(io::Error::other(
            "the archive does not hold exactly one file",
        ));
    };
    let mut contents = Vec::new();
    let mut unpacked = allowance.limiting(archive.by_name(file)?);
    unpacked.read_to_end(&mut contents)?;
    Ok(Box::new(io::Cursor::new(contents)))
}

impl ByteStream {
    /// Opens a file. A file that starts with the bytes of a compression is decompressed.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let (source, size): (Box<dyn Read>, u64) = match path == Path::new(STANDARD_INPUT) {
            true => (Box::new(StandardInput::default()), 0),
            false => {
                let file = open(path)?;
                let size = size(path, &file)?;
                (Box::new(file), size)
            }
        };
        let allowance = Allowance::new(path, size);
        let source: Box<dyn Read> = Box::new(allowance.counting(source));
        let mut raw = BufReader::with_capacity(BUFFER, source);
        let start = raw.fill_buf().map_err(|error| reading(path, error))?;
        let mut compressions = COMPRESSIONS.iter();
        let found = compressions.find(|compression| start.starts_with(compression.magic));
        let claims_gzip = path.extension().is_some_and(|extension| extension == "gz");
        if claims_gzip && found.is_none() && !start.is_empty() {
            return Err(DataError::File(FileError::NotGzip(path.into())));
        }
        let contents: Box<dyn BufRead> = match found {
            Some(compression) => {
                let unpacked = (compression.unpack)(raw, &allowance);
                let unpacked = unpacked.map_err(|error| reading(path, error))?;
                let limited = allowance.limiting(unpacked);
                Box::new(BufReader::with_capacity(BUFFER, limited))
            }
            None => Box::new(raw),
        };
        Ok(Self {
            contents,
            allowance,
            compression: found.map(|compression| compression.name),
        })
    }
}

/// Whether `error` was caused by damaged compressed data rather than by the disk.
pub(crate) fn is_damage(compression: Option<&str>, error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    let kinds = [UnexpectedEof, InvalidInput, InvalidData, Other];
    let is_own = error.get_ref().is_some_and(|inner| inner.is::<FileError>());
    compression.is_some() && !is_own && kinds.contains(&error.kind())
}
