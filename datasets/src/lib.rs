//! Data for Gaussian processes: loaders, standardization, splits and synthetic generators.
//!
//! All data are on the host, as 64-bit floats in row-major order. [`DataSource`] finds data from user
//! input (a registered name, a file, or `synthetic:…`), [`Split`] divides them, [`Standardizer`]
//! scales them by the statistics of the training rows, and [`Schema`] lets a saved model find its
//! inputs in new files. Problems with data are reported as a [`DataError`], one sentence that names
//! file, line and column.
//!
//! ```
//! use burn_gp_datasets::{DataSource, Split, Standardizer};
//!
//! # fn main() -> Result<(), burn_gp_datasets::DataError> {
//! let data = DataSource::resolve("synthetic:sines?n=500&noise=0.1&seed=1", None)?.load(None)?;
//! let split = Split::random(&data, 0.1, 0)?;
//! let standardizer = Standardizer::fit(&data, &split.train);
//! let train = data.select(&split.train);
//! let inputs = standardizer.transform_inputs(&train.inputs); // [450, 1]
//! let targets = standardizer.transform_targets(&train.targets); // [450]
//! assert_eq!((inputs.rows(), targets.len()), (450, 450));
//! # Ok(())
//! # }
//! ```
//!
//! # Memory
//!
//! While a table is read, it takes about three times the memory of its values. However damaged or hostile a
//! file is, reading it takes at most 1 GiB plus 1024 bytes for each of its bytes: contents that unpack to
//! more than 256 MiB plus 256 bytes for each byte of the file are refused, and so are cells that
//! would take more ([`FileError::TooMuchMemory`]), and rows of text of more than 64 MiB
//! ([`FileError::RowTooLong`]).
//!
//! # Features
//!
//! | feature | content |
//! |---|---|
//! | `parquet` (default) | Parquet files |
//! | `arrow` (default) | Arrow and Feather files |
//! | `excel` (default) | Excel and OpenDocument workbooks |
//! | `compression` (default) | text in bzip2, xz, zstd and zip |
//! | `embedded` (default) | the sets `winequality` and `diabetes`, compiled into the program |

#![deny(missing_docs)]

mod allowance;
#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "parquet")]
mod block_file;
mod bytes;
mod cifar;
mod class_order;
mod classes;
mod column_label;
mod column_transforms;
mod column_value;
mod columns;
mod companion;
mod counted;
mod dataset;
mod delimited;
mod double_precision;
#[cfg(feature = "embedded")]
mod embedded;
mod encoding;
mod equal_inputs;
mod error;
mod file;
#[cfg(any(feature = "arrow", feature = "excel", feature = "parquet"))]
mod foreign;
mod idx;
mod image_file;
mod image_shape;
mod images;
mod input_noise;
mod interpretation;
mod json;
mod levels;
mod magnitude;
mod mask;
mod matrix;
mod names;
mod natural_order;
mod number;
mod origin;
#[cfg(feature = "parquet")]
mod parquet;
mod raw_column;
mod raw_table;
mod registry;
mod row_attributes;
mod row_role;
mod row_selection;
mod shared_units;
mod source;
mod split;
mod standardizer;
mod storage;
mod streamed_statistics;
mod streamed_warnings;
mod synthetic;
mod table;
mod task;
mod text;
mod transform;
mod transformed_target;
mod warnings;
mod words;
#[cfg(feature = "excel")]
mod workbook;

#[cfg(feature = "parquet")]
pub use block_file::BlockFile;
pub use class_order::{ClassOrder, ClassOrderError};
pub use classes::Classes;
pub use column_label::ColumnLabel;
pub use column_transforms::ColumnTransforms;
pub use column_value::{ColumnValue, ColumnValueError, OfColumn};
pub use columns::{
    ColumnRoles, Companion, CompanionColumn, KeptColumns, Labels, NewRows, OrderedInputError,
    Schema, SharedInputs, SourceColumn, TargetColumn,
};
pub use counted::{agreeing, counted};
pub use dataset::{Dataset, Features, UnfitRow};
pub use encoding::{
    ColumnEncoding, ColumnKind, ColumnReport, Cycle, DateFormat, DateOrder, DecimalMark, Encoding,
    Gaps, InputColumns, KindOfColumn, MissingValues, Place, Purpose, Time, UnknownKind, quoted,
};
pub use equal_inputs::EqualInputs;
pub use error::{
    CellError, ColumnError, DataError, FileError, MaskError, SetError, SplitError, TransformError,
};
pub use file::{load_features_file, load_file, load_points_file};
pub use image_file::ImageCounts;
pub use image_shape::ImageShape;
pub use input_noise::{NoStandardDeviation, NoiseOfInput, StandardDeviation};
pub use mask::SplitMask;
pub use matrix::Matrix;
pub use names::{did_you_mean, nearest};
pub use origin::{Location, Origin};
pub use registry::{Availability, DatasetInfo, find, registry};
pub use row_attributes::RowAttributes;
pub use row_role::RowRole;
pub use row_selection::{RowSelection, RowsByValue};
pub use source::DataSource;
pub use split::Split;
pub use standardizer::Standardizer;
pub use streamed_statistics::StreamedStatistics;
pub use streamed_warnings::StreamedWarnings;
pub use synthetic::{Synthetic, SyntheticFunction};
pub use task::Task;
pub use transform::{
    TargetTransform, Transform, TransformName, TransformOfColumn, UnknownTransform,
};
pub use warnings::{DataWarning, warnings, warnings_of_new_rows};
