//! Configurations of layers.

use burn::tensor::{Tensor, TensorCreationOptions};
use burn_gp_core::{
    inducing::InducingConfig,
    kernels::{AnyKernel, KernelConfig},
    layers::{AnyLayer, GpLayer, GpLayerConfig, PatchLayer, convolutional_layer},
    means::{AnyMean, MeanConfig, ProjectionMean},
    parameter::ParameterConfig,
    patches::{ImageShape, PatchGrid},
    variational::{FirstGaussians, PosteriorConfig, WhitenedConfig},
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::projection::{random_projection, some_images, some_patches};
use crate::{
    InitError,
    config::{options_of, with_first_values},
};

/// The domain of a layer's functions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LayerForm {
    /// Functions of input rows.
    #[default]
    #[serde(deserialize_with = "burn_gp_core::parameter::no_fields")]
    Dense,
    /// Functions of patches. The output is a feature map with their values at every patch of an
    /// image.
    ///
    /// The mean [`MeanConfig::identity()`] then acts on images: principal components of the patches,
    /// divided by the side of a patch. The values of the map then have the same scale as the pixels
    /// of the image.
    Patches {
        /// The number of rows and columns of a patch.
        size: usize,
        /// The distance between patches in pixels.
        stride: usize,
    },
    /// Functions of images: weighted sums of patch responses, with inducing patches.
    Convolutional {
        /// The number of rows and columns of a patch.
        size: usize,
        /// The distance between patches in pixels.
        stride: usize,
        /// The kernel on patch locations. Without it, responses do not depend on the location.
        #[serde(default)]
        location: Option<KernelConfig>,
    },
}

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
    #[serde(default)]
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

fn one() -> f64 {
    1.0
}

impl LayerConfig {
    /// A dense whitened layer with a full covariance, a zero mean, and 128 inducing points, or as
    /// many as there are distinct inputs of the model if these are fewer.
    pub fn new(kernel: impl Into<KernelConfig>) -> Self {
        Self {
            form: LayerForm::Dense,
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
#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // passed down once a layer; the sizes depend on the backends
pub(super) enum Inputs {
    /// Example inputs of the layer.
    Like(Tensor<2>),
    /// Only the number of dimensions, for layers that are filled from a record.
    Blank(usize, TensorCreationOptions),
}

impl Inputs {
    /// D
    pub fn dimensions(&self) -> usize {
        match self {
            Self::Like(inputs) => inputs.dims()[1],
            Self::Blank(dimensions, _) => *dimensions,
        }
    }

    /// The precision and device, without autodiff.
    pub fn options(&self) -> TensorCreationOptions {
        match self {
            Self::Like(inputs) => options_of(inputs),
            Self::Blank(_, options) => options.clone(),
        }
    }

    /// The Gaussians of a layer with these inputs.
    fn first_gaussians(&self) -> FirstGaussians {
        match self {
            Self::Like(_) => FirstGaussians::Prior,
            Self::Blank(..) => FirstGaussians::Blank,
        }
    }

    /// The inputs after a transformation.
    fn map(self, dimensions: usize, change: impl FnOnce(Tensor<2>) -> Tensor<2>) -> Self {
        match self {
            Self::Like(inputs) => Self::Like(change(inputs)),
            Self::Blank(_, options) => Self::Blank(dimensions, options),
        }
    }
}

/// A layer to initialize: its configuration together with everything that determines its shapes.
pub(super) struct Planned<'a> {
    pub config: &'a LayerConfig,
    /// The path of the layer's parameters in the model.
    pub path: String,
    pub parameters: &'a ParameterConfig,
    /// The number of functions.
    pub functions: usize,
    /// The shape of its inputs, if they are images.
    pub image: Option<ImageShape>,
}

impl Planned<'_> {
    /// Initializes the layer for inputs like the given ones.
    pub fn layer(&self, inputs: &Inputs) -> Result<AnyLayer, InitError> {
        let config = self.config;
        (config.inducing).check(config.posterior.has_orthogonal_set())?;
        Ok(match &config.form {
            LayerForm::Dense => self.dense(inputs, &self.path)?.into(),
            LayerForm::Patches { .. } => {
                let grid = self.grid()?;
                let patches =
                    (inputs.clone()).map(grid.dimensions(), |images| self.patches(&grid, images));
                let layer = self.dense(&patches, &format!("{}.layer", self.path))?;
                PatchLayer::new(layer, grid).into()
            }
            LayerForm::Convolutional { location, .. } => {
                self.convolutional(inputs, location.as_ref())?.into()
            }
        })
    }

    /// Example inputs of the next layer, and their shape.
    pub fn outputs(&self, inputs: Inputs) -> Result<(Inputs, Option<ImageShape>), InitError> {
        let functions = self.functions;
        Ok(match &self.config.form {
            LayerForm::Dense | LayerForm::Convolutional { .. } => {
                let first = |inputs: Tensor<2>| self.first_values(&inputs.clone(), inputs);
                (inputs.map(functions, first), None)
            }
            LayerForm::Patches { .. } => {
                let grid = self.grid()?;
                let map = grid.map(functions);
                let outputs = inputs.map(map.len(), |images| {
                    let like = self.patches(&grid, images.clone());
                    let images = some_images(images, self.config.inducing.seed);
                    let [count, _] = images.dims();
                    let values = self.first_values(&like, grid.extract(images));
                    values.reshape([count, map.len()])
                });
                (outputs, Some(map))
            }
        })
    }

    /// Example values at `rows` of the functions of a layer initialized for rows like `like`,
    /// before training: their mean, or a random projection.
    fn first_values(&self, like: &Tensor<2>, rows: Tensor<2>) -> Tensor<2> {
        match self.config.mean == MeanConfig::identity() {
            true => self.mean(&Inputs::Like(like.clone())).forward(rows),
            false => random_projection(rows, self.functions, self.config.inducing.seed),
        }
    }

    /// The mean function for `inputs`.
    fn mean(&self, inputs: &Inputs) -> AnyMean {
        let (mean, functions) = (&self.config.mean, self.functions);
        let of_patches = match self.config.form {
            LayerForm::Patches { size, .. } if *mean == MeanConfig::identity() => Some(size as f64),
            _ => None,
        };
        match (inputs, of_patches) {
            (Inputs::Like(inputs), None) => mean.init_for(inputs, functions),
            (Inputs::Like(patches), Some(side)) => {
                let components = ProjectionMean::principal(patches.clone(), functions);
                components.scaled(side.recip()).into()
            }
            (Inputs::Blank(dimensions, options), None) => {
                mean.init(*dimensions, functions, options.clone())
            }
            (Inputs::Blank(dimensions, options), Some(_)) => {
                ProjectionMean::truncation(*dimensions, functions, options.clone()).into()
            }
        }
    }

    fn grid(&self) -> Result<PatchGrid, InitError> {
        let (LayerForm::Patches { size, stride } | LayerForm::Convolutional { size, stride, .. }) =
            self.config.form
        else {
            return Err(InitError::NoImage);
        };
        let image = self.image.ok_or(InitError::NoImage)?;
        Ok(PatchGrid::new(image, size, stride)?)
    }

    /// Patches among which the inducing patches are chosen.
    fn patches(&self, grid: &PatchGrid, images: Tensor<2>) -> Tensor<2> {
        let InducingConfig {
            count,
            orthogonal,
            seed,
            ..
        } = self.config.inducing;
        some_patches(grid, some_images(images, seed), count + orthogonal, seed)
    }

    /// The kernel of the layer with the values configured at `path`.
    fn kernel(
        &self,
        config: &KernelConfig,
        dimensions: usize,
        path: &str,
        options: &TensorCreationOptions,
    ) -> AnyKernel {
        let kernel = config.init(dimensions, options.clone());
        with_first_values(kernel, self.parameters, path)
    }

    fn dense(&self, inputs: &Inputs, path: &str) -> Result<GpLayer, InitError> {
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
            Inputs::Like(inputs) => config.inducing.select(&kernel, inputs)?,
            Inputs::Blank(dimensions, options) => config.inducing.blank(*dimensions, options),
        };
        let layer = self.on_points(dimensions);
        Ok(layer.assemble(kernel, self.mean(inputs), sets, inputs.first_gaussians())?)
    }

    /// The configuration without the form of the layer.
    fn on_points(&self, dimensions: usize) -> GpLayerConfig {
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

    fn convolutional(
        &self,
        inputs: &Inputs,
        location: Option<&KernelConfig>,
    ) -> Result<GpLayer, InitError> {
        let config = self.config;
        let (grid, options) = (self.grid()?, inputs.options());
        let kernel_path = format!("{}.kernel", self.path);
        let base_path = format!("{kernel_path}.base");
        config.kernel.check_for(&base_path, grid.dimensions())?;
        config
            .posterior
            .check(&format!("{}.posterior", self.path))?;
        if let Some(location) = location {
            location.check_for(&format!("{kernel_path}.location"), 2)?;
        }
        let base = self.kernel(&config.kernel, grid.dimensions(), &base_path, &options);
        let sets = match inputs {
            Inputs::Like(images) => {
                let patches = self.patches(&grid, images.clone());
                config.inducing.select_points(&base, &patches)?
            }
            Inputs::Blank(_, options) => config.inducing.blank_points(grid.dimensions(), options),
        };
        let location = location
            .map(|location| self.kernel(location, 2, &format!("{kernel_path}.location"), &options));
        let layer = self.on_points(grid.dimensions());
        let first = inputs.first_gaussians();
        Ok(convolutional_layer(
            &layer,
            (base, location),
            grid,
            sets,
            first,
        )?)
    }
}
