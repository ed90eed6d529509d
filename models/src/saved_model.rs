//! Saved models.

use std::path::{Path, PathBuf};

use burn::{
    module::{Module, ModuleMapper, Param, ParamId},
    tensor::{DType, Int, Tensor, TensorCreationOptions},
};
use burn_gp_core::inference::RowColumns;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    AnyTrained, CheckError, CheckedFolder, DataShape, ModelConfig,
    caught::without_panic,
    checked_folder::{CHECKSUMS_FILE, CheckFailure},
    explained,
    record::converted_module,
    training::TrainingData,
};

/// The version of the format that [`SavedModel::save`] writes.
pub const FORMAT_VERSION: u32 = 5;

/// The crate that writes models, with its version.
const WRITER: &str = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));

/// The name of the file that describes a saved model.
pub const MODEL_FILE: &str = "model.json";

/// The name of the file that holds the parameter values of a saved model.
pub const WEIGHTS_FILE: &str = "weights.bpk";

/// The floating-point type of a model: that of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Precision {
    /// The precision of a burn type: double, or single for all others.
    pub fn of(dtype: DType) -> Self {
        match dtype {
            DType::F64 => Self::F64,
            _ => Self::F32,
        }
    }

    /// The corresponding burn type.
    pub fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::F64 => DType::F64,
        }
    }
}

/// The content of a model's file besides its parameter values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The configuration.
    pub config: ModelConfig,
    /// The number of input dimensions, D.
    pub dimensions: usize,
    /// The number of target columns.
    #[serde(default = "one_column")]
    pub target_columns: usize,
    /// The number of training data, N.
    pub data_count: usize,
    /// The floating-point type.
    pub precision: Precision,
}

impl Summary {
    /// The summary of a model of this configuration trained on `data`. Counts that depend on the
    /// data are the ones chosen for them.
    pub fn new(config: impl Into<ModelConfig>, data: &TrainingData) -> Self {
        let ([data_count, dimensions], [_, target_columns]) =
            (data.inputs.dims(), data.targets.dims());
        let mut config = config.into();
        config.resolve(data);
        Self {
            config,
            dimensions,
            target_columns,
            data_count,
            precision: Precision::of(data.inputs.dtype()),
        }
    }
}

/// The number of target columns of models that were saved before there could be several.
fn one_column() -> usize {
    1
}

/// A model on disk: configuration, parameter values and any data that the caller stores with it
/// (`C`: scalers, column names).
#[derive(Clone, Debug)]
pub struct SavedModel<C> {
    /// The model.
    pub model: AnyTrained,
    /// Configuration, dimensions and precision.
    pub summary: Summary,
    /// The data that the caller stores with the model.
    pub context: C,
}

/// A file with a format version.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    format_version: u32,
    /// The crate that wrote the file, with its version.
    written_by: String,
    #[serde(flatten)]
    content: T,
}

/// The content of [`MODEL_FILE`].
#[derive(Serialize, Deserialize)]
struct Described<S, C> {
    #[serde(flatten)]
    summary: S,
    /// What the rows that the model keeps have besides their targets.
    #[serde(default, skip_serializing_if = "RowColumns::is_empty")]
    row_columns: RowColumns,
    context: C,
}

/// The reason why a model cannot be saved or loaded.
#[derive(Debug, thiserror::Error)]
pub enum SavedModelError {
    /// A file cannot be written.
    #[error("{path} cannot be written: {reason}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// A file cannot be read.
    #[error("{path} cannot be read: {reason}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// The file has changed since it was written, or its checksum is missing.
    #[error("{0}; copy the folder again or retrain the model")]
    Damaged(CheckError),
    /// The file has a version that this program does not know.
    #[error(
        "{path} has format version {found}{}, but this program reads version {FORMAT_VERSION}",
        (written_by.as_ref()).map_or_else(String::new, |writer| format!(" and was written by {writer}"))
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: u64,
        /// The crate that wrote the file, with its version, if the file says so.
        written_by: Option<String>,
    },
}

/// The same model with its parameters numbered in order. With burn's random parameter IDs, the
/// files of two equal models would differ.
fn numbered<M: Module>(model: M) -> M {
    struct Numbering(u64);
    impl ModuleMapper for Numbering {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let (_, tensor, mapper) = param.consume();
            self.0 += 1;
            Param::from_mapped_value(ParamId::from(self.0), tensor, mapper)
        }

        fn map_int<const D: usize>(
            &mut self,
            param: Param<Tensor<D, Int>>,
        ) -> Param<Tensor<D, Int>> {
            let (_, tensor, mapper) = param.consume();
            self.0 += 1;
            Param::from_mapped_value(ParamId::from(self.0), tensor, mapper)
        }
    }
    model.map(&mut Numbering(0))
}

/// The model of these shapes, or the reason why it cannot be made.
fn skeleton(
    summary: &Summary,
    row_columns: RowColumns,
    options: TensorCreationOptions,
) -> Result<AnyTrained, String> {
    let shape = DataShape {
        rows: summary.data_count,
        dimensions: summary.dimensions,
        columns: summary.target_columns,
        row_columns,
        options,
    };
    let likelihood = summary.config.likelihood();
    likelihood.check().map_err(|reason| reason.to_string())?;
    without_panic(|| summary.config.skeleton(&shape))?.map_err(|reason| reason.to_string())
}

impl<C: Serialize + DeserializeOwned> SavedModel<C> {
    /// Writes the model into an existing folder.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), SavedModelError> {
        let described = Described {
            summary: &self.summary,
            row_columns: self.model.row_columns(),
            context: &self.context,
        };
        write_with_weights(folder, MODEL_FILE, &described, self.model.clone())
    }

    /// The format version of the model in a folder.
    ///
    /// # Errors
    ///
    /// Same as [`load`](Self::load).
    pub fn format_version(folder: &Path) -> Result<u32, SavedModelError> {
        let checked = CheckedFolder::open(folder)?;
        read_versioned::<Described<Summary, C>>(&checked, folder, MODEL_FILE)?;
        Ok(FORMAT_VERSION)
    }

    /// Reads a model from a folder, onto a device without autodiff. It keeps its floating-point
    /// type unless `place` has another, such as `(&device, DType::F32)`.
    ///
    /// # Errors
    ///
    /// When a file is missing or damaged, or has an unknown format version.
    pub fn load(
        folder: &Path,
        place: impl Into<TensorCreationOptions>,
    ) -> Result<Self, SavedModelError> {
        let place = place.into();
        let checked = CheckedFolder::open(folder)?;
        let Described::<Summary, C> {
            mut summary,
            row_columns,
            context,
        } = read_versioned(&checked, folder, MODEL_FILE)?;
        let read_error = |name: &str, reason: String| SavedModelError::Read {
            path: folder.join(name),
            reason,
        };
        let written = summary.precision.dtype();
        summary.precision = place.dtype.map_or(summary.precision, Precision::of);
        if summary.precision.dtype() != written {
            summary.config.fix_precision(written);
        }
        let options = (&place.device.inner(), summary.precision.dtype()).into();
        let skeleton = skeleton(&summary, row_columns, options)
            .map_err(|reason| read_error(MODEL_FILE, reason))?;
        let model = converted_module(skeleton, checked.read(WEIGHTS_FILE)?, written)
            .map_err(|reason| read_error(WEIGHTS_FILE, reason.to_string()))?;
        Ok(Self {
            model,
            summary,
            context,
        })
    }
}

/// A file of JSON with the format version.
fn versioned_text(content: &impl Serialize) -> serde_json::Result<String> {
    let file = Versioned {
        format_version: FORMAT_VERSION,
        written_by: WRITER.into(),
        content,
    };
    Ok(serde_json::to_string_pretty(&file)? + "\n")
}

/// Writes a file with the format version and the parameter values of a module into an existing folder, and their
/// checksums.
pub(crate) fn write_with_weights<M: Module>(
    folder: &Path,
    name: &str,
    content: &impl Serialize,
    module: M,
) -> Result<(), SavedModelError> {
    let write_error = |name: &str, reason: String| SavedModelError::Write {
        path: folder.join(name),
        reason,
    };
    let weights = numbered(module).into_record().into_bytes();
    let weights = weights.map_err(|reason| write_error(WEIGHTS_FILE, reason.to_string()))?;
    let text = versioned_text(content).map_err(|reason| write_error(name, reason.to_string()))?;
    let mut checked = CheckedFolder::new(folder);
    for (name, content) in [(WEIGHTS_FILE, &*weights), (name, text.as_bytes())] {
        (checked.write(name, content)).map_err(|reason| write_error(name, reason.to_string()))?;
    }
    (checked.seal()).map_err(|reason| write_error(CHECKSUMS_FILE, reason.to_string()))
}

/// Writes a file with the format version into an existing folder, and its checksum.
pub(crate) fn write_versioned(
    folder: &Path,
    name: &str,
    content: &impl Serialize,
) -> Result<(), SavedModelError> {
    let write_error = |name: &str, reason: String| SavedModelError::Write {
        path: folder.join(name),
        reason,
    };
    let text = versioned_text(content).map_err(|reason| write_error(name, reason.to_string()))?;
    let mut checked = CheckedFolder::new(folder);
    (checked.write(name, text.as_bytes()))
        .map_err(|reason| write_error(name, reason.to_string()))?;
    (checked.seal()).map_err(|reason| write_error(CHECKSUMS_FILE, reason.to_string()))
}

/// Reads a file with a format version. The version is checked first, because other versions have other content.
pub(crate) fn read_versioned<T: DeserializeOwned>(
    checked: &CheckedFolder,
    folder: &Path,
    name: &str,
) -> Result<T, SavedModelError> {
    let path = folder.join(name);
    let read_error = |reason: String| SavedModelError::Read {
        path: path.clone(),
        reason,
    };
    let text = checked.read_text(name)?;
    let file: serde_json::Value =
        serde_json::from_str(&text).map_err(|reason| read_error(explained(&reason)))?;
    let version = file
        .get("format_version")
        .and_then(|version| version.as_u64());
    match version {
        None => return Err(read_error("it is not a model file".into())),
        Some(found) if found == u64::from(FORMAT_VERSION) => checked.require_seal()?,
        Some(found) => {
            let writer = file.get("written_by").and_then(|writer| writer.as_str());
            return Err(SavedModelError::Version {
                path,
                found,
                written_by: writer.map(str::to_owned),
            });
        }
    }
    let file: Versioned<T> =
        serde_json::from_value(file).map_err(|reason| read_error(explained(&reason)))?;
    Ok(file.content)
}

/// A file that the operating system cannot read is not damaged.
impl From<CheckError> for SavedModelError {
    fn from(error: CheckError) -> Self {
        match error.reason {
            CheckFailure::Unreadable(reason) => Self::Read {
                path: error.path,
                reason: reason.to_string(),
            },
            _ => Self::Damaged(error),
        }
    }
}
