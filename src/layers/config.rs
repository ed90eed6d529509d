//! Configuration of a layer on points.

use burn::tensor::{Tensor, TensorCreationOptions, TensorData};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{GpLayer, LayerError};
use crate::{
    inducing::{InducingConfig, InducingPoints, SetsError},
    kernels::{AnyKernel, KernelConfig, Kernels},
    likelihoods::scrambled_normal_points,
    means::{AnyMean, MeanConfig},
    ops::{NotPositiveDefinite, Stationary},
    parameter::tracked_like,
    variational::{
        CoregionalizationConfig, Coregionalized, FirstGaussians, PosteriorConfig, PosteriorInit,
        WhitenedConfig, first_mixing, with_scaled_deviations,
    },
};

/// Configuration of a [`GpLayer`] of P functions of D inputs, chosen at run time.
///
/// [`init`](Self::init) places the inducing points like standard normal inputs, which suits
/// features of that scale. [`init_from`](Self::init_from) places them among the features that reach
/// the layer: pass those of the first batch. [`init_at`](Self::init_at) takes the points
/// themselves. A layer never moves its points by itself, so that copies, records and devices all
/// see the same module.
///
/// ```
/// use burn::{module::Module, tensor::{Device, Distribution, Tensor}};
/// use burn_gp_core::{layers::{GpLayerConfig, Layer}, likelihoods::{GaussianConfig, Likelihood}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default().autodiff();
/// let features = Tensor::<2>::random([64, 3], Distribution::Normal(0.0, 1.0), &device);
/// let layer = GpLayerConfig::new(3, 2).with_inducing(16).init_from(&features)?;
/// let values = layer.evaluate(features)?;
/// assert_eq!(values.marginals.mean.dims(), [64, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
// Layers on patches share the setters of the other fields.
#[setters(prefix = "with_", generate = false)]
pub struct GpLayerConfig {
    /// The number of inputs, D.
    #[setters(generate)]
    pub inputs: usize,
    /// The number of functions, P.
    #[setters(generate)]
    pub outputs: usize,
    /// The kernel. The default is Matérn-5/2 with a lengthscale for each input.
    #[serde(default = "matern52")]
    pub kernel: KernelConfig,
    /// The mean function. The default is zero.
    #[serde(default)]
    pub mean: MeanConfig,
    /// The posterior. The default is whitened, with full covariances.
    #[serde(default = "whitened")]
    pub posterior: PosteriorConfig,
    /// The inducing points. The default is 128, at cluster centers of the features.
    #[serde(default = "inducing")]
    pub inducing: InducingConfig,
    /// Whether each function has its own kernel instead of one shared kernel.
    #[serde(default)]
    pub separate_kernels: bool,
    /// If present, the functions are mixtures of fewer latent functions instead of independent.
    #[serde(default)]
    pub coregionalization: Option<CoregionalizationConfig>,
    /// The initial standard deviations of Gaussian inducing variables, relative to those of the
    /// prior. With a small value, a hidden layer starts close to its mean function.
    #[serde(default = "one")]
    pub deviation: f64,
}

fn matern52() -> KernelConfig {
    Stationary::Matern52.into()
}

fn whitened() -> PosteriorConfig {
    WhitenedConfig::default().into()
}

fn inducing() -> InducingConfig {
    InducingConfig::new(128)
}

fn one() -> f64 {
    1.0
}

/// The setters of a configuration of functions, which is `self` or a field of it.
macro_rules! function_options {
    ($self:ident => $functions:expr) => {
        /// Sets the number of inducing points.
        pub fn with_inducing(mut $self, count: usize) -> Self {
            $functions.inducing.count = count;
            $self
        }

        /// Sets the number of orthogonal inducing points of the posteriors solve and odvgp.
        pub fn with_orthogonal(mut $self, count: usize) -> Self {
            $functions.inducing.orthogonal = count;
            $self
        }

        /// Sets the method that chooses inducing points among the inputs.
        pub fn with_initializer(mut $self, initializer: $crate::inducing::Initializer) -> Self {
            $functions.inducing.initializer = initializer;
            $self
        }

        /// Sets the seed of the inducing points.
        pub fn with_seed(mut $self, seed: u64) -> Self {
            $functions.inducing.seed = seed;
            $self
        }

        /// Sets the jitter of the covariance of the inducing variables.
        pub fn with_jitter(mut $self, jitter: $crate::ops::Jitter) -> Self {
            $functions.inducing.jitter = Some(jitter);
            $self
        }

        /// Sets the kernel.
        pub fn with_kernel(mut $self, kernel: impl Into<$crate::kernels::KernelConfig>) -> Self {
            $functions.kernel = kernel.into();
            $self
        }

        /// Sets the mean function.
        pub fn with_mean(mut $self, mean: $crate::means::MeanConfig) -> Self {
            $functions.mean = mean;
            $self
        }

        /// Sets the posterior.
        pub fn with_posterior(
            mut $self,
            posterior: impl Into<$crate::variational::PosteriorConfig>,
        ) -> Self {
            $functions.posterior = posterior.into();
            $self
        }

        /// Sets the initial standard deviations to `deviation` times those of the prior.
        pub fn with_deviation(mut $self, deviation: f64) -> Self {
            $functions.deviation = deviation;
            $self
        }
    };
}
pub(super) use function_options;

impl GpLayerConfig {
    /// Creates a configuration of `outputs` functions of `inputs` inputs, with the defaults of the
    /// fields.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            kernel: matern52(),
            mean: MeanConfig::zero(),
            posterior: whitened(),
            inducing: inducing(),
            separate_kernels: false,
            coregionalization: None,
            deviation: 1.0,
        }
    }

    function_options!(self => self);

    /// Gives each function its own kernel.
    pub fn with_separate_kernels(mut self) -> Self {
        self.separate_kernels = true;
        self
    }

    /// Makes the functions mixtures of `latent` latent functions.
    pub fn with_coregionalization(mut self, latent: usize) -> Self {
        self.coregionalization = Some(CoregionalizationConfig { latent, seed: 0 });
        self
    }

    /// Initializes the layer on a device, with inducing points distributed like standard normal
    /// inputs.
    ///
    /// # Panics
    ///
    /// If there are no inducing points, the orthogonal points do not fit the posterior, a value of
    /// the kernel is out of range, or the covariance of the inducing variables cannot be factored.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> GpLayer {
        let options = options.into();
        let points = spread_points(&self.inducing, self.inputs, &options);
        match self.init_at(points) {
            Ok(layer) => layer,
            Err(error) => panic!("GpLayerConfig: {error}"),
        }
    }

    /// Initializes the layer with inducing points chosen among `features`, `[N, D]`, in their
    /// precision and on their device. A mean that projects its inputs uses their principal
    /// directions.
    ///
    /// # Errors
    ///
    /// When there are too few distinct features, the orthogonal points do not fit the posterior, or
    /// the covariance of the inducing variables cannot be factored.
    ///
    /// # Panics
    ///
    /// If the features do not have D columns, or a value of the kernel is out of range.
    #[track_caller]
    pub fn init_from(&self, features: &Tensor<2>) -> Result<GpLayer, LayerError> {
        self.require_inputs(features);
        self.inducing.check(self.posterior.has_orthogonal_set())?;
        let plain = features.clone().inner();
        let kernel = (self.kernel).init(self.inputs, (&plain.device(), plain.dtype()));
        let sets = self.inducing.select(&kernel, &plain)?;
        let mean = self.mean.init_for(&plain, self.outputs);
        let layer = self.assemble(kernel, mean, sets, FirstGaussians::Prior)?;
        Ok(tracked_like(features, layer))
    }

    /// Initializes the layer with the given sets of inducing points, `[M, D]` each, in their
    /// precision and on their device: one set, or two for the posteriors solve and odvgp.
    ///
    /// # Errors
    ///
    /// When the number of sets does not fit the posterior, or the covariance of the inducing
    /// variables cannot be factored.
    ///
    /// # Panics
    ///
    /// If a set is missing or does not have D columns, or a value of the kernel is out of range.
    #[track_caller]
    pub fn init_at(&self, sets: Vec<Tensor<2>>) -> Result<GpLayer, LayerError> {
        let Some(first) = sets.first().cloned() else {
            panic!("GpLayerConfig: no set of inducing points");
        };
        sets.iter().for_each(|set| self.require_inputs(set));
        match (self.posterior.has_orthogonal_set(), sets.get(1)) {
            (true, None) => return Err(SetsError::NoOrthogonalPoints.into()),
            (false, Some(set)) => {
                let [count, _] = set.dims();
                return Err(SetsError::OrthogonalPoints { count }.into());
            }
            _ => {}
        }
        let options = TensorCreationOptions::from((&first.device().inner(), first.dtype()));
        let kernel = self.kernel.init(self.inputs, options.clone());
        let mean = self.mean.init(self.inputs, self.outputs, options);
        let sets = sets.into_iter().map(|set| InducingPoints::new(set.inner()));
        let layer = self.assemble(kernel, mean, sets.collect(), FirstGaussians::Prior)?;
        Ok(tracked_like(&first, layer))
    }

    /// The layer with this kernel, mean and inducing points, on their device. Separate kernels are
    /// newly created.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored; never for
    /// [`FirstGaussians::Skeleton`].
    pub fn assemble(
        &self,
        kernel: AnyKernel,
        mean: AnyMean,
        sets: Vec<InducingPoints>,
        first: FirstGaussians,
    ) -> Result<GpLayer, NotPositiveDefinite> {
        let points = sets[0].points();
        let jitter = self.inducing.jitter_for(points.dtype());
        let options = || TensorCreationOptions::from((&points.device(), points.dtype()));
        let latent = (self.coregionalization).map_or(self.outputs, |config| config.latent);
        let posterior = &self.posterior;
        let kernels = match self.separate_kernels {
            false => Kernels::from(kernel),
            true => {
                Kernels::separate((0..latent).map(|_| self.kernel.init(self.inputs, options())))
            }
        };
        let start = PosteriorInit {
            prior: &kernels,
            first,
            outputs: latent,
            jitter,
            options: options(),
        };
        let posterior = posterior.build(sets.into_iter().map(Into::into).collect(), &start)?;
        let posterior = with_scaled_deviations(posterior, self.deviation);
        let posterior = match self.coregionalization {
            None => posterior,
            Some(CoregionalizationConfig { latent, seed }) => {
                let mixing = first_mixing(self.outputs, latent, seed, options());
                Coregionalized::new(posterior, mixing).into()
            }
        };
        Ok(GpLayer::new(kernels, mean, posterior))
    }

    #[track_caller]
    fn require_inputs(&self, features: &Tensor<2>) {
        let shape @ [_, columns] = features.dims();
        assert!(
            columns == self.inputs,
            "GpLayerConfig of {} inputs: features or points {shape:?}; expected [N, {}]",
            self.inputs,
            self.inputs
        );
    }
}

/// Inducing points for a layer that has not seen any inputs, distributed like standard normal
/// inputs: a scrambled Sobol sequence, mapped to normals. It depends on the seed.
pub(super) fn spread_points(
    inducing: &InducingConfig,
    dimensions: usize,
    options: &TensorCreationOptions,
) -> Vec<Tensor<2>> {
    let counts = inducing.counts();
    let seed = inducing.seed as u32;
    let all = scrambled_normal_points(counts.iter().sum(), dimensions, seed);
    let mut rest = all.as_slice();
    let set = |count: usize| {
        let (own, others) = rest.split_at(count * dimensions);
        rest = others;
        let data = TensorData::new(own.to_vec(), [count, dimensions]);
        Tensor::from_data(data, options.clone())
    };
    counts.into_iter().map(set).collect()
}
