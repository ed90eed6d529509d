//! Trained models: prediction, saving and loading.

use std::path::{Path, PathBuf};

use burn::{
    module::{Module, ModuleMapper, Param, ParamId},
    tensor::{DType, Device, Int, Tensor},
};
use burn_gp::{
    inference::FullBatch,
    likelihoods::AnyLikelihood,
    multi_output::{Functions, Kernels},
    ops::NotPositiveDefinite,
    parameter::{Hyperparameter, numbers},
    variational::{AnyPosterior, Coordinates, InducingSet, Orthogonal, Whitened},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    AnyComputationAware, AnyConjugateGradients, AnyDbk, AnyDeepGp, AnySolveCollapsed, AnySvdbk,
    AnyVariational, InitError, Svgp,
    config::{AnyExact, AnySgpr, AnySvgp, ModelConfig},
    deep_basis,
    on_data::OnData,
    training::{MiniBatchModel, TrainingData},
};

/// A trained model.
#[allow(
    clippy::large_enum_variant,
    reason = "a program holds one or two, and burn's modules can hold no boxes"
)]
#[derive(Module, Debug)]
pub enum TrainedModel {
    /// Exact regression, which keeps its data.
    Exact(OnData<AnyExact>),
    /// Computation-aware regression, which keeps them too.
    ComputationAware(OnData<AnyComputationAware>),
    /// Regression by conjugate gradients, with its data too.
    ConjugateGradients(OnData<AnyConjugateGradients>),
    /// A sparse model, which does not.
    Sparse(AnySvgp),
    /// A deep model, or one of images.
    Deep(AnyDeepGp),
    /// A deep basis kernel.
    Basis(AnySvdbk),
}

impl TrainedModel {
    /// An exact model conditioned on `data`.
    pub fn exact(regression: AnyExact, data: &TrainingData) -> Self {
        Self::Exact(OnData::new(regression, data))
    }

    /// A computation-aware model conditioned on `data`.
    pub fn computation_aware(regression: AnyComputationAware, data: &TrainingData) -> Self {
        Self::ComputationAware(OnData::new(regression, data))
    }

    /// A model by conjugate gradients conditioned on `data`.
    pub fn conjugate_gradients(regression: AnyConjugateGradients, data: &TrainingData) -> Self {
        Self::ConjugateGradients(OnData::new(regression, data))
    }

    /// A collapsed model, as the variational model with the optimal `q(u)` given `data`.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn collapsed(model: &AnySgpr, data: &TrainingData) -> Result<Self, NotPositiveDefinite> {
        let model = model.valid();
        let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
        let distribution = model.optimal_distribution(inputs, targets)?;
        let posterior = Whitened::new(model.inducing().clone(), distribution, model.jitter());
        Ok(Self::Sparse(Svgp::new(
            Kernels::Shared(model.kernel().clone()),
            model.mean().clone(),
            AnyLikelihood::Gaussian(model.likelihood().clone()),
            Functions::Independent(AnyPosterior::Whitened(posterior)),
        )))
    }

    /// A collapsed model with orthogonal inducing points, as the variational model with the optimal
    /// `q(u)` and `q(v_⊥)` given `data`.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn collapsed_orthogonal(
        model: &AnySolveCollapsed,
        data: &TrainingData,
    ) -> Result<Self, NotPositiveDefinite> {
        let model = model.valid();
        let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
        let points = [model.inducing().clone(), model.orthogonal().clone()];
        let sets = (points.into_iter()).zip(model.optimal_distributions(inputs, targets)?);
        let sets = sets.map(|(points, distribution)| InducingSet::new(points, distribution));
        let posterior = Orthogonal::new(sets.collect(), Coordinates::Whitened, model.jitter());
        Ok(Self::Sparse(Svgp::new(
            Kernels::Shared(model.kernel().clone()),
            model.mean().clone(),
            AnyLikelihood::Gaussian(model.likelihood().clone()),
            Functions::Independent(AnyPosterior::Solve(posterior)),
        )))
    }

    /// A deep basis kernel on all data, as the variational model with the distribution of the
    /// weights given `data`.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn deep_basis(model: &AnyDbk, data: &TrainingData) -> Result<Self, NotPositiveDefinite> {
        Ok(Self::Basis(deep_basis::given(model, data)?))
    }

    /// A variational deep basis kernel, whose predictions bring the prior variance to the largest of
    /// `data`.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn variational_deep_basis(
        model: &AnySvdbk,
        data: &TrainingData,
    ) -> Result<Self, NotPositiveDefinite> {
        Ok(Self::Basis(deep_basis::levelled(model, data)?))
    }

    /// A variational model.
    pub fn variational(model: impl Into<AnyVariational>) -> Self {
        match model.into() {
            AnyVariational::Svgp(model) => Self::Sparse(model.valid()),
            AnyVariational::Deep(model) => Self::Deep(model.valid()),
        }
    }

    /// A model of the right shapes, to be filled from a record.
    fn blank(summary: &Summary, device: &Device) -> Result<Self, InitError> {
        let (dimensions, columns) = (summary.dimensions, summary.target_columns);
        let dtype = summary.precision.dtype();
        let options = (device, dtype);
        let zeros = || {
            let zeros = |width| Tensor::zeros([summary.data_count, width], options);
            TrainingData {
                inputs: zeros(dimensions),
                targets: zeros(columns),
            }
        };
        Ok(match &summary.config {
            ModelConfig::Exact(config) => Self::exact(config.init(dimensions, options)?, &zeros()),
            ModelConfig::ComputationAware(config) => {
                let model = config.blank(summary.data_count, dimensions, options)?;
                Self::computation_aware(model, &zeros())
            }
            ModelConfig::ConjugateGradients(config) => {
                Self::conjugate_gradients(config.blank(dimensions, options)?, &zeros())
            }
            ModelConfig::Sgpr(config) => {
                Self::Sparse(config.variational().blank(dimensions, columns, options)?)
            }
            ModelConfig::SolveCollapsed(config) => {
                Self::Sparse(config.variational().blank(dimensions, columns, options)?)
            }
            ModelConfig::Svgp(config) => Self::Sparse(config.blank(dimensions, columns, options)?),
            ModelConfig::DeepGp(config) => Self::Deep(config.blank(dimensions, columns, options)?),
            ModelConfig::Dbk(config) => {
                Self::Basis(config.variational().blank(dimensions, columns, options)?)
            }
            ModelConfig::Svdbk(config) => Self::Basis(config.blank(dimensions, columns, options)?),
        })
    }

    /// The hyperparameters, in the units people read.
    pub fn hyperparameters(&self) -> Vec<Hyperparameter> {
        match self {
            Self::Exact(model) => model.regression.hyperparameters(),
            Self::ComputationAware(model) => model.regression.hyperparameters(),
            Self::ConjugateGradients(model) => model.regression.hyperparameters(),
            Self::Sparse(model) => model.hyperparameters(),
            Self::Deep(model) => model.hyperparameters(),
            Self::Basis(model) => model.hyperparameters(),
        }
    }

    /// The inducing points of all sets, row-major, `[M, D]`, of the first layer where there are
    /// several; none for regression that keeps its data and for deep basis kernels.
    pub fn inducing_points(&self) -> Vec<f64> {
        match self {
            Self::Exact(_)
            | Self::ComputationAware(_)
            | Self::ConjugateGradients(_)
            | Self::Basis(_) => Vec::new(),
            Self::Sparse(model) => {
                let sets = model.posterior().independent().inducing().into_iter();
                sets.flat_map(|points| numbers(points.points())).collect()
            }
            Self::Deep(model) => {
                let first = model.layers().hidden().first();
                let first = first.unwrap_or(model.layers().output());
                first
                    .inducing_inputs()
                    .into_iter()
                    .flat_map(numbers)
                    .collect()
            }
        }
    }
}

/// The version of the format that [`SavedModel::save`] writes.
pub const FORMAT_VERSION: u32 = 1;

/// The name of the file that describes a saved model.
pub const MODEL_FILE: &str = "model.json";

/// The name of the file that holds a saved model's numbers.
pub const WEIGHTS_FILE: &str = "weights.bpk";

/// The floating-point type of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Precision {
    /// The type as burn names it.
    pub fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::F64 => DType::F64,
        }
    }
}

/// What a model's file says besides its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The configuration.
    pub config: ModelConfig,
    /// Input dimensions, D.
    pub dimensions: usize,
    /// Columns of the targets.
    #[serde(default = "one_column")]
    pub target_columns: usize,
    /// Training data, N.
    pub data_count: usize,
    /// The floating-point type.
    pub precision: Precision,
}

/// The targets of models that were saved before there could be more columns.
fn one_column() -> usize {
    1
}

/// A model on disk: configuration, numbers, and whatever its user needs with it (`C`: scalers,
/// column names).
#[derive(Clone, Debug)]
pub struct SavedModel<C> {
    /// The model.
    pub model: TrainedModel,
    /// Configuration, dimensions and precision.
    pub summary: Summary,
    /// What the user of the model needs with it.
    pub context: C,
}

#[derive(Serialize, Deserialize)]
struct ModelFile<S, C> {
    format_version: u32,
    #[serde(flatten)]
    summary: S,
    context: C,
}

/// Why a model cannot be saved or loaded.
#[derive(Debug, thiserror::Error)]
pub enum SavedModelError {
    /// A file cannot be written.
    #[error("{path} cannot be written: {reason}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// A file cannot be read.
    #[error("{path} cannot be read: {reason}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// The file was written by another version of the program.
    #[error("{path} has format version {found}, this program reads version {FORMAT_VERSION}")]
    Version {
        /// The file.
        path: PathBuf,
        /// The version found.
        found: u64,
    },
}

/// The same model with its parameters numbered in order. Their random identities would make the
/// files of two equal models differ.
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
        let path = folder.join(MODEL_FILE);
        let file = ModelFile {
            format_version: FORMAT_VERSION,
            summary: &self.summary,
            context: &self.context,
        };
        let text = serde_json::to_string_pretty(&file)
            .map_err(|reason| write_error(&path, reason.to_string()))?;
        std::fs::write(&path, text + "\n")
            .map_err(|reason| write_error(&path, reason.to_string()))?;
        let path = folder.join(WEIGHTS_FILE);
        (numbered(self.model.clone()).save_file(&path))
            .map_err(|reason| write_error(&path, reason.to_string()))
    }

    /// Reads a model from a folder, onto a device without autodiff.
    ///
    /// # Errors
    ///
    /// When a file is missing, damaged or of another format version.
    pub fn load(folder: &Path, device: &Device) -> Result<Self, SavedModelError> {
        let path = folder.join(MODEL_FILE);
        let read_error = |path: &Path, reason: String| SavedModelError::Read {
            path: path.to_owned(),
            reason,
        };
        let text = std::fs::read_to_string(&path)
            .map_err(|reason| read_error(&path, reason.to_string()))?;
        let file: serde_json::Value =
            serde_json::from_str(&text).map_err(|reason| read_error(&path, reason.to_string()))?;
        match file
            .get("format_version")
            .and_then(|version| version.as_u64())
        {
            Some(version) if version == u64::from(FORMAT_VERSION) => {}
            Some(found) => return Err(SavedModelError::Version { path, found }),
            None => return Err(read_error(&path, "it is not a model file".into())),
        }
        let ModelFile {
            summary, context, ..
        } = serde_json::from_value::<ModelFile<Summary, C>>(file)
            .map_err(|reason| read_error(&path, reason.to_string()))?;
        let path = folder.join(WEIGHTS_FILE);
        let model = TrainedModel::blank(&summary, device)
            .map_err(|reason| read_error(&path, reason.to_string()))?
            .try_load_file(&path)
            .map_err(|reason| read_error(&path, reason.to_string()))?;
        Ok(Self {
            model,
            summary,
            context,
        })
    }
}
