//! Opens files, plain or compressed, as byte streams.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::{DataError, FileError};

const BUFFER: usize = 1 << 16;

/// Opens an existing regular file.
pub(crate) fn open(path: &Path) -> Result<File, DataError> {
    let metadata = fs::metadata(path).map_err(|error| reading(path, error))?;
    if metadata.is_dir() {
        return Err(DataError::File(FileError::IsDirectory {
            path: path.into(),
        }));
    }
    File::open(path).map_err(|error| reading(path, error))
}

/// Converts an operating system error into a data error.
pub(crate) fn reading(path: &Path, error: io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::NotFound => DataError::File(FileError::FileMissing { path: path.into() }),
        _ => DataError::File(FileError::Unreadable {
            path: path.into(),
            source: error,
        }),
    }
}

/// The contents of a file, decompressed while reading.
pub(crate) struct ByteStream {
    pub contents: Box<dyn BufRead>,
    /// The name of the compression, which determines the meaning of read errors.
    pub compression: Option<&'static str>,
}

/// A file, or the standard input, as it is.
type Raw = BufReader<Box<dyn Read>>;

/// The path that stands for the standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// A compression and the bytes with which its files begin.
struct Compression {
    name: &'static str,
    magic: &'static [u8],
    unpack: fn(Raw) -> io::Result<Box<dyn BufRead>>,
}

const COMPRESSIONS: &[Compression] = &[
    Compression {
        name: "gzip",
        magic: &[0x1f, 0x8b],
        unpack: |raw| Ok(buffered(MultiGzDecoder::new(raw))),
    },
    #[cfg(feature = "compression")]
    Compression {
        name: "bzip2",
        magic: b"BZh",
        unpack: |raw| Ok(buffered(bzip2::bufread::MultiBzDecoder::new(raw))),
    },
    #[cfg(feature = "compression")]
    Compression {
        name: "xz",
        magic: &[0xfd, b'7', b'z', b'X', b'Z', 0],
        unpack: |raw| Ok(buffered(lzma_rust2::XzReader::new(raw, true))),
    },
    #[cfg(feature = "compression")]
    Compression {
        name: "zstd",
        magic: &[0x28, 0xb5, 0x2f, 0xfd],
        unpack: |raw| Ok(buffered(zstd::stream::read::Decoder::with_buffer(raw)?)),
    },
    #[cfg(feature = "compression")]
    Compression {
        name: "zip",
        magic: b"PK\x03\x04",
        unpack: unpack_zip,
    },
];

fn buffered(contents: impl Read + 'static) -> Box<dyn BufRead> {
    Box::new(BufReader::with_capacity(BUFFER, contents))
}

/// The only file of an archive.
#[cfg(feature = "compression")]
fn unpack_zip(mut raw: Raw) -> io::Result<Box<dyn BufRead>> {
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
    archive.by_name(file)?.read_to_end(&mut contents)?;
    Ok(Box::new(io::Cursor::new(contents)))
}

impl ByteStream {
    /// Opens a file. A file that starts with the bytes of a compression is decompressed.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let source: Box<dyn Read> = match path == Path::new(STANDARD_INPUT) {
            true => Box::new(io::stdin()),
            false => Box::new(open(path)?),
        };
        let mut raw = BufReader::with_capacity(BUFFER, source);
        let start = raw.fill_buf().map_err(|error| reading(path, error))?;
        let mut compressions = COMPRESSIONS.iter();
        let found = compressions.find(|compression| start.starts_with(compression.magic));
        let claims_gzip = path.extension().is_some_and(|extension| extension == "gz");
        if claims_gzip && found.is_none() && !start.is_empty() {
            return Err(DataError::File(FileError::NotGzip { path: path.into() }));
        }
        let contents = match found {
            Some(compression) => (compression.unpack)(raw).map_err(|error| reading(path, error))?,
            None => Box::new(raw),
        };
        Ok(Self {
            contents,
            compression: found.map(|compression| compression.name),
        })
    }
}

/// Whether `error` was caused by damaged compressed data rather than by the disk.
pub(crate) fn is_damage(compression: Option<&str>, error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    let kinds = [UnexpectedEof, InvalidInput, InvalidData, Other];
    compression.is_some() && kinds.contains(&error.kind())
}
