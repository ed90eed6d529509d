//! Saved models.

use std::path::{Path, PathBuf};

use burn::{
    module::{Module, ModuleMapper, Param, ParamId},
    tensor::{DType, Int, Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    ModelConfig, TrainedModel,
    caught::without_panic,
    explained,
    ready_made::DataShape,
    record::{read_module, write_module},
    training::TrainingData,
};

/// The version of the format that [`SavedModel::save`] writes.
pub const FORMAT_VERSION: u32 = 1;

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
    /// The summary of a model of this configuration trained on `data`. Numbers that depend on the
    /// data are those chosen for them.
    pub fn new(config: impl Into<ModelConfig>, data: &TrainingData) -> Self {
        let ([data_count, dimensions], [_, target_columns]) =
            (data.inputs.dims(), data.targets.dims());
        Self {
            config: config.into().resolved(data),
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
    pub model: TrainedModel,
    /// Configuration, dimensions and precision.
    pub summary: Summary,
    /// The data that the caller stores with the model.
    pub context: C,
}

#[derive(Serialize, Deserialize)]
struct ModelFile<S, C> {
    format_version: u32,
    /// The crate that wrote the file, with its version. Older models do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    written_by: Option<String>,
    /// The CRC-32 checksum of the file with the parameter values. Older models have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights_crc32: Option<u32>,
    #[serde(flatten)]
    summary: S,
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
    /// The file has a different format version.
    #[error(
        "{path} has format version {found}{}, this program reads version {FORMAT_VERSION}",
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
fn numbered(model: TrainedModel) -> TrainedModel {
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

/// The model to be filled, or the reason why there is none.
fn blank(summary: &Summary, options: TensorCreationOptions) -> Result<TrainedModel, String> {
    let shape = DataShape {
        rows: summary.data_count,
        dimensions: summary.dimensions,
        columns: summary.target_columns,
        options,
    };
    let likelihood = summary.config.likelihood();
    likelihood.check().map_err(|reason| reason.to_string())?;
    without_panic(|| summary.config.blank_trained(&shape))?.map_err(|reason| reason.to_string())
}

impl<C: Serialize + DeserializeOwned> SavedModel<C> {
    /// Writes the model into an existing folder.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), SavedModelError> {
        let write_error = |path: &Path, reason: String| SavedModelError::Write {
            path: path.to_owned(),
            reason,
        };
        let path = folder.join(WEIGHTS_FILE);
        let checksum = write_module(numbered(self.model.clone()), &path)
            .map_err(|reason| write_error(&path, reason))?;
        let path = folder.join(MODEL_FILE);
        let file = ModelFile {
            format_version: FORMAT_VERSION,
            written_by: Some(WRITER.into()),
            weights_crc32: Some(checksum),
            summary: &self.summary,
            context: &self.context,
        };
        let text = serde_json::to_string_pretty(&file)
            .map_err(|reason| write_error(&path, reason.to_string()))?;
        std::fs::write(&path, text + "\n").map_err(|reason| write_error(&path, reason.to_string()))
    }

    /// Reads a model from a folder, onto a device without autodiff. Its numbers keep their
    /// floating-point type, unless `place` has another: `(&device, DType::F32)`.
    ///
    /// # Errors
    ///
    /// When a file is missing or damaged, or has a different format version.
    pub fn load(
        folder: &Path,
        place: impl Into<TensorCreationOptions>,
    ) -> Result<Self, SavedModelError> {
        let place = place.into();
        let path = folder.join(MODEL_FILE);
        let read_error = |path: &Path, reason: String| SavedModelError::Read {
            path: path.to_owned(),
            reason,
        };
        let text = std::fs::read_to_string(&path)
            .map_err(|reason| read_error(&path, reason.to_string()))?;
        let file: serde_json::Value =
            serde_json::from_str(&text).map_err(|reason| read_error(&path, explained(&reason)))?;
        match file
            .get("format_version")
            .and_then(|version| version.as_u64())
        {
            Some(version) if version == u64::from(FORMAT_VERSION) => {}
            Some(found) => {
                let writer = file.get("written_by").and_then(|writer| writer.as_str());
                return Err(SavedModelError::Version {
                    path,
                    found,
                    written_by: writer.map(str::to_owned),
                });
            }
            None => return Err(read_error(&path, "it is not a model file".into())),
        }
        let ModelFile {
            weights_crc32,
            mut summary,
            context,
            ..
        } = serde_json::from_value::<ModelFile<Summary, C>>(file)
            .map_err(|reason| read_error(&path, explained(&reason)))?;
        let written = summary.precision.dtype();
        summary.precision = place.dtype.map_or(summary.precision, Precision::of);
        if summary.precision.dtype() != written {
            summary.config = summary.config.as_in(written);
        }
        let options = (&place.device.inner(), summary.precision.dtype()).into();
        let blank = blank(&summary, options).map_err(|reason| read_error(&path, reason))?;
        let path = folder.join(WEIGHTS_FILE);
        let model = read_module(blank, &path, weights_crc32, written)
            .map_err(|reason| read_error(&path, reason.to_string()))?;
        Ok(Self {
            model,
            summary,
            context,
        })
    }
}
