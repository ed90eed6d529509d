//! A file that cannot be read as a table of data.

use std::{io, path::PathBuf};

use crate::origin::Location;

/// A file that cannot be read as a table of data. The message is one sentence that says where the problem is
/// and how to fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The path does not exist.
    #[error("there is no file {}; check the path", .0.display())]
    FileMissing(PathBuf),
    /// The path is a folder.
    #[error("{} is a directory, not a data file; name the file inside it", .0.display())]
    IsDirectory(PathBuf),
    /// The operating system refused to open or read the file.
    #[error("{} cannot be read ({source}); check the file and its permissions", path.display())]
    Unreadable {
        /// The given path.
        path: PathBuf,
        /// The reason given by the operating system.
        source: io::Error,
    },
    /// The name ends in `.gz`, but the contents are not gzip data.
    #[error("{} is not a gzip file although its name ends in .gz; rename it or compress it again", .0.display())]
    NotGzip(PathBuf),
    /// The compressed data are truncated or their checksum is wrong.
    #[error(
        "{location}: the {format} data are cut off or damaged here; copy or download the file again"
    )]
    Damaged {
        /// The first line that could not be read.
        location: Location,
        /// The compression.
        format: &'static str,
    },
    /// The file is not a complete file of an image format.
    #[error("{} is not a complete {format} file: {reason}; {advice}", path.display())]
    ImageFile {
        /// The file.
        path: PathBuf,
        /// The format: `idx` or `CIFAR-10`.
        format: &'static str,
        /// The problem.
        reason: String,
        /// Advice for the user.
        advice: &'static str,
    },
    /// The file is empty.
    #[error("{} is empty; it must hold rows of numbers, with or without a header line", .0.display())]
    EmptyFile(PathBuf),
    /// There is a header, or a schema, but no data.
    #[error("{}: there is a header but no row of data; add rows of numbers", .0.display())]
    HeaderOnly(PathBuf),
    /// There is only one row, which cannot be split or fitted.
    #[error("{0}: this is the only row of data; at least two rows are needed")]
    OneRow(Location),
    /// The file is not a Parquet file.
    #[error("{} is not a readable Parquet file ({reason}); write it again or give a CSV file", path.display())]
    NotParquet {
        /// The file.
        path: PathBuf,
        /// The reason given by the reader.
        reason: String,
    },
    /// The file is not an Arrow file.
    #[error("{} is not a readable Arrow file ({reason}); write it again or give a CSV file", path.display())]
    NotArrow {
        /// The file.
        path: PathBuf,
        /// The reason given by the reader.
        reason: String,
    },
    /// The file is not a workbook.
    #[error("{} is not a readable workbook ({reason}); save it again or give a CSV file", path.display())]
    NotWorkbook {
        /// The file.
        path: PathBuf,
        /// The reason given by the reader.
        reason: String,
    },
    /// The file does not hold JSON records.
    #[error("{} does not hold JSON records ({reason}); write one record per line, such as {{\"x\": 1, \"y\": 2}}, or a list of records", path.display())]
    NotRecords {
        /// The file.
        path: PathBuf,
        /// The reason given by the reader.
        reason: String,
    },
    /// The contents would take far more memory than the size of the file suggests: it is damaged, or
    /// nearly all of its values are empty or equal.
    #[error(
        "{} has {size} bytes, but its contents would take more than {} MiB of memory; if it is not damaged, remove its empty rows and columns, or give it as an uncompressed CSV file",
        path.display(), limit >> 20
    )]
    TooMuchMemory {
        /// The file.
        path: PathBuf,
        /// The number of its bytes.
        size: u64,
        /// The memory that a file of this size may take, in bytes.
        limit: u64,
    },
    /// A row of a text file is too long for a row of a table.
    #[error(
        "{}: the row that begins on line {} has more than {} MiB; end each row with a line feed, and close every quote",
        path.display(), line, limit >> 20
    )]
    RowTooLong {
        /// The file.
        path: PathBuf,
        /// The first line of the row.
        line: u64,
        /// The maximum length of a row, in bytes.
        limit: u64,
    },
    /// The program was compiled without support for the format.
    #[error("{} cannot be read, because this program was built without the feature `{feature}`; build it with that feature or give a CSV file", path.display())]
    FormatNotBuilt {
        /// The file.
        path: PathBuf,
        /// The missing feature.
        feature: &'static str,
    },
    /// Only Parquet files are read in blocks.
    #[error(
        "{} is not a Parquet file, and only Parquet files can be read in blocks during training; convert it, or remove --stream",
        .0.display()
    )]
    NotInBlocks(PathBuf),
    /// Training data were given on standard input.
    #[error(
        "training reads its data more than once, so it cannot read standard input; write the data to a file"
    )]
    StandardInput,
}
