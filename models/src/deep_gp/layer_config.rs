//! Configurations of layers.

use burn::tensor::{Tensor, TensorCreationOptions};
use burn_gp_core::{
    inducing::{InducingConfig, InducingPoints},
    kernels::{AnyKernel, KernelConfig},
    layers::{AnyLayer, GpLayer, GpLayerConfig},
    means::{AnyMean, MeanConfig, ProjectionMean},
    parameter::ParameterConfig,
    patches::{ImageShape, PatchGrid},
    variational::{FirstGaussians, PosteriorConfig, WhitenedConfig},
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    forms::{DenseForm, LayerForm},
    projection::{random_projection, some_images, some_patches},
};
use crate::{
    InitError,
    config::{options_of, with_first_values},
};

/// Configuration of a layer.
///
/// ```
/// use burn::tensor::{DType, Device};
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary};
/// use burn_gp_models::{DeepGpConfig, InducingConfig, LayerConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
/// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
/// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
/// let kernel = StationaryConfig::new(Stationary::Matern52);
/// let layer = || LayerConfig::new(kernel.clone()).with_inducing(InducingConfig::new(6));
/// let config = DeepGpConfig::new(layer(), GaussianConfig::default()).with_hidden(2, layer());
/// let model = config.init(&data)?;
/// let training = FullBatchTraining { iterations: 5, ..FullBatchTraining::default() };
/// let mut trainer = FullBatchTrainer::new(model, data, training);
/// let first = trainer.loss()?;
/// trainer.step()?;
/// assert!(trainer.loss()? < first);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct LayerConfig {
    /// The domain of the functions.
    #[serde(default = "dense")]
    #[setters(into)]
    pub form: LayerForm,
    /// The kernel on rows or on patches.
    #[setters(into)]
    pub kernel: KernelConfig,
    /// The mean function.
    pub mean: MeanConfig,
    /// The posterior.
    #[setters(into)]
    pub posterior: PosteriorConfig,
    /// The inducing points or patches.
    #[setters(skip)]
    pub inducing: InducingConfig,
    /// Whether each function has its own kernel instead of one shared kernel. Not supported by
    /// convolutional layers.
    #[serde(default)]
    #[setters(bool)]
    pub separate_kernels: bool,
    /// The initial standard deviations of Gaussian inducing variables, relative to those of the
    /// prior. With a small number, a hidden layer starts close to its mean function.
    #[serde(default = "one")]
    pub deviation: f64,
}

fn dense() -> LayerForm {
    DenseForm {}.into()
}

fn one() -> f64 {
    1.0
}

impl LayerConfig {
    /// A dense whitened layer with a full covariance, a zero mean, and 128 inducing points, or as
    /// many as there are distinct inputs of the model if these are fewer.
    pub fn new(kernel: impl Into<KernelConfig>) -> Self {
        Self {
            form: dense(),
            kernel: kernel.into(),
            mean: MeanConfig::zero(),
            posterior: WhitenedConfig::default().into(),
            inducing: InducingConfig::default(),
            separate_kernels: false,
            deviation: 1.0,
        }
    }

    /// Sets the inducing points: a number, or an [`InducingConfig`] for more settings.
    pub fn with_inducing(mut self, inducing: impl Into<InducingConfig>) -> Self {
        self.inducing = self.inducing.replaced_by(inducing);
        self
    }
}

/// The inputs that a layer is initialized with.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // passed down once a layer; the sizes depend on the backends
pub enum LayerInputs {
    /// Example inputs of the layer.
    Like(Tensor<2>),
    /// Only the number of dimensions, for layers that are filled from a record.
    Shape(usize, TensorCreationOptions),
}

impl LayerInputs {
    /// D
    pub fn dimensions(&self) -> usize {
        match self {
            Self::Like(inputs) => inputs.dims()[1],
            Self::Shape(dimensions, _) => *dimensions,
        }
    }

    /// The precision and device, without autodiff.
    pub fn options(&self) -> TensorCreationOptions {
        match self {
            Self::Like(inputs) => options_of(inputs),
            Self::Shape(_, options) => options.clone(),
        }
    }

    /// The Gaussians of a layer with these inputs.
    pub(super) fn first_gaussians(&self) -> FirstGaussians {
        match self {
            Self::Like(_) => FirstGaussians::Prior,
            Self::Shape(..) => FirstGaussians::Skeleton,
        }
    }

    /// The inputs after a transformation.
    pub fn map(self, dimensions: usize, change: impl FnOnce(Tensor<2>) -> Tensor<2>) -> Self {
        match self {
            Self::Like(inputs) => Self::Like(change(inputs)),
            Self::Shape(_, options) => Self::Shape(dimensions, options),
        }
    }
}

/// A layer to initialize: its configuration together with everything that determines its shapes.
#[derive(Debug)]
pub struct LayerPlan<'a> {
    /// The configuration.
    pub config: &'a LayerConfig,
    /// The path of the layer's parameters in the model.
    pub path: String,
    /// Initial values and bounds of the parameters of the model.
    pub parameters: &'a ParameterConfig,
    /// The number of functions.
    pub functions: usize,
    /// The shape of its inputs, if they are images.
    pub image: Option<ImageShape>,
}

impl LayerPlan<'_> {
    /// Initializes the layer for inputs like the given ones.
    ///
    /// # Errors
    ///
    /// When the inducing points cannot be chosen or do not match the posterior, their covariance cannot be
    /// factored, or a setting is invalid.
    pub fn layer(&self, inputs: &LayerInputs) -> Result<AnyLayer, InitError> {
        let config = self.config;
        (config.inducing).check(config.posterior.has_orthogonal_set())?;
        config.form.init(self, inputs)
    }

    /// The layer of functions of rows: kernel, mean and posterior of the configuration.
    ///
    /// # Errors
    ///
    /// Same as [`layer`](Self::layer).
    pub fn gp_layer(&self, inputs: &LayerInputs) -> Result<GpLayer, InitError> {
        self.on_rows(inputs, &self.path, None)
    }

    /// Example values at `rows` of the functions of a layer initialized for rows like `like`,
    /// before training: their mean, or a random projection. If the rows are patches, `side` is their side.
    pub(super) fn first_values(
        &self,
        like: &Tensor<2>,
        rows: Tensor<2>,
        side: Option<usize>,
    ) -> Tensor<2> {
        match self.config.mean == MeanConfig::identity() {
            true => {
                let mean = self.mean(&LayerInputs::Like(like.clone()), side);
                mean.forward(rows)
            }
            false => random_projection(rows, self.functions, self.config.inducing.seed),
        }
    }

    /// The mean function for `inputs`. The mean [`MeanConfig::identity`] of patches is their principal
    /// components, divided by their side.
    fn mean(&self, inputs: &LayerInputs, side: Option<usize>) -> AnyMean {
        let (mean, functions) = (&self.config.mean, self.functions);
        let side = side.filter(|_| *mean == MeanConfig::identity());
        match (inputs, side) {
            (LayerInputs::Like(inputs), None) => mean.init_for(inputs, functions),
            (LayerInputs::Like(patches), Some(side)) => {
                let components = ProjectionMean::principal(patches.clone(), functions);
                components.scaled((side as f64).recip()).into()
            }
            (LayerInputs::Shape(dimensions, options), None) => {
                mean.init(*dimensions, functions, options.clone())
            }
            (LayerInputs::Shape(dimensions, options), Some(_)) => {
                ProjectionMean::truncation(*dimensions, functions, options.clone()).into()
            }
        }
    }

    /// The patches of the images, of this size and stride.
    pub(super) fn grid(&self, size: usize, stride: usize) -> Result<PatchGrid, InitError> {
        let image = self.image.ok_or(InitError::NoImage)?;
        Ok(PatchGrid::new(image, size, stride)?)
    }

    /// Patches among which the inducing patches are chosen.
    pub(super) fn patches(&self, grid: &PatchGrid, images: Tensor<2>) -> Tensor<2> {
        let InducingConfig {
            count,
            orthogonal,
            seed,
            ..
        } = self.config.inducing;
        some_patches(grid, some_images(images, seed), count + orthogonal, seed)
    }

    /// The kernel of the layer with the values configured at `path`.
    pub(super) fn kernel(
        &self,
        config: &KernelConfig,
        dimensions: usize,
        path: &str,
        options: &TensorCreationOptions,
    ) -> AnyKernel {
        let kernel = config.init(dimensions, options.clone());
        with_first_values(kernel, self.parameters, path)
    }

    /// The layer of functions of rows, or of patches with this side, with its parameters at `path`.
    pub(super) fn on_rows(
        &self,
        inputs: &LayerInputs,
        path: &str,
        side: Option<usize>,
    ) -> Result<GpLayer, InitError> {
        let config = self.config;
        let (dimensions, options) = (inputs.dimensions(), inputs.options());
        let kernel_path = format!("{path}.kernel");
        config.kernel.check_for(&kernel_path, dimensions)?;
        config.posterior.check(&format!("{path}.posterior"))?;
        // If there are several kernels, their values are set one by one.
        let kernel = match config.separate_kernels {
            true => config.kernel.init(dimensions, options.clone()),
            false => self.kernel(&config.kernel, dimensions, &kernel_path, &options),
        };
        let sets = match inputs {
            LayerInputs::Like(inputs) => config.inducing.select(&kernel, inputs)?,
            LayerInputs::Shape(dimensions, options) => {
                let points = config.inducing.at_origin(*dimensions, options);
                points.into_iter().map(InducingPoints::new).collect()
            }
        };
        let layer = self.on_points(dimensions);
        Ok(layer.assemble(
            kernel,
            self.mean(inputs, side),
            sets,
            inputs.first_gaussians(),
        )?)
    }

    /// The configuration without the form of the layer.
    pub(super) fn on_points(&self, dimensions: usize) -> GpLayerConfig {
        let config = self.config;
        GpLayerConfig {
            kernel: config.kernel.clone(),
            mean: config.mean.clone(),
            posterior: config.posterior.clone(),
            inducing: config.inducing.clone(),
            separate_kernels: config.separate_kernels,
            deviation: config.deviation,
            ..GpLayerConfig::new(dimensions, self.functions)
        }
    }
}
