//! The linear model of coregionalization.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions, TensorData},
};
use derive_setters::Setters;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::NotPositiveDefinite,
    process::{Mixture, SamplePaths, VariationalGaussian, mix},
    variational::{AnyPosterior, Evaluation, Posterior},
};

/// The linear model of coregionalization (LMC): `f(x) = W·g(x)` with P functions f, Q independent
/// latent functions g from any posterior, and a trained mixing matrix W, `[P, Q]`.
///
/// The means of f are the means of g times Wᵀ, the variances are those of g times `(W∘W)ᵀ`, and the
/// KL divergence is that of g. With Q < P latent functions, the cost hardly grows with P. If the
/// latent functions share a kernel, this is the intrinsic coregionalization model,
/// `Cov[f_p, f_p′] = (WWᵀ)_pp′·k` (M. Álvarez, L. Rosasco and N. Lawrence, *Kernels for
/// Vector-Valued Functions: a Review*, arXiv:1106.6251, section 4.2).
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{
///     inducing::InducingPoints,
///     kernels::{Kernels, StationaryConfig},
///     ops::{Jitter, NotPositiveDefinite, Stationary},
///     process::{CovarianceShape, VariationalGaussian},
///     variational::{Coregionalized, Posterior, Whitened},
/// };
///
/// # fn main() -> Result<(), NotPositiveDefinite> {
/// let device = Device::default();
/// let prior = Kernels::from(StationaryConfig::new(Stationary::Matern52).init(1, &device));
/// let inducing = || InducingPoints::new(Tensor::from_data([[0.0], [1.0], [2.0]], &device));
/// let jitter = Jitter::for_precision(DType::F32);
/// let distribution = VariationalGaussian::standard(3, 2, CovarianceShape::Full, &device);
/// let latent = Whitened::new(inducing(), distribution, jitter);
/// // Three functions as mixtures of two.
/// let mixing = Tensor::from_data([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], &device);
/// let posterior = Coregionalized::new(latent, mixing);
/// let evaluation = posterior.evaluate(&prior, Tensor::from_data([[0.5], [1.5]], &device))?;
/// assert_eq!(evaluation.marginals.mean.dims(), [2, 3]);
/// let variance: Vec<f64> = evaluation.marginals.variance.into_data().iter().collect();
/// assert!((variance[0] + variance[1] - variance[2]).abs() < 1e-4);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct Coregionalized {
    latent: AnyPosterior,
    /// W, [P, Q]
    mixing: Param<Tensor<2>>,
}

impl Coregionalized {
    /// Mixes the functions of `latent` with the weights `mixing`, `[P, Q]`.
    pub fn new(latent: impl Into<AnyPosterior>, mixing: Tensor<2>) -> Self {
        Self {
            latent: latent.into(),
            mixing: Param::from_tensor(mixing),
        }
    }

    /// The posterior of the latent functions.
    pub fn latent(&self) -> &AnyPosterior {
        &self.latent
    }

    /// The mixing matrix, `[P, Q]`.
    pub fn mixing(&self) -> Tensor<2> {
        self.mixing.val()
    }
}

/// The linear model of coregionalization: the functions are linear combinations of latent
/// functions.
///
/// ```
/// use burn_gp_core::{layers::GpLayerConfig, variational::CoregionalizationConfig};
///
/// let mut layer = GpLayerConfig::new(2, 3);
/// layer.coregionalization = Some(CoregionalizationConfig::new(2).with_seed(1));
/// # assert_eq!(layer.coregionalization.map(|config| config.latent), Some(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct CoregionalizationConfig {
    /// The number of latent functions, Q.
    pub latent: usize,
    /// The seed of the initial mixing matrix.
    #[serde(default)]
    pub seed: u64,
}

impl CoregionalizationConfig {
    /// Creates a configuration with `latent` latent functions and seed 0.
    pub fn new(latent: usize) -> Self {
        Self { latent, seed: 0 }
    }
}

/// An initial mixing matrix, `[P, Q]`. Its first Q rows are the identity, so that each latent
/// function starts as one output. The rows below are random with variance `1/Q` and depend on the
/// seed.
pub fn first_mixing(
    outputs: usize,
    latent: usize,
    seed: u64,
    options: impl Into<TensorCreationOptions>,
) -> Tensor<2> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let bound = (3.0 / latent as f64).sqrt();
    let mut entry = |row: usize, column: usize| {
        if row >= latent {
            bound * (2.0 * random.random::<f64>() - 1.0)
        } else if row == column {
            1.0
        } else {
            0.0
        }
    };
    let values: Vec<f64> = (0..outputs * latent)
        .map(|index| entry(index / latent, index % latent))
        .collect();
    Tensor::from_data(TensorData::new(values, [outputs, latent]), options)
}

impl Posterior for Coregionalized {
    fn evaluate(&self, prior: &Kernels, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let Evaluation { marginals, kl } = self.latent.evaluate(prior, x)?;
        Ok(Evaluation {
            marginals: mix(marginals, self.mixing()),
            kl,
        })
    }

    fn condition(&self, prior: &Kernels) -> Result<Box<dyn SamplePaths>, NotPositiveDefinite> {
        let latent = self.latent.condition(prior)?;
        let mixing = self.mixing().without_autodiff();
        Ok(Box::new(Mixture::new(latent, mixing)))
    }

    fn after_step(&mut self, prior: &Kernels) {
        self.latent.after_step(prior);
    }

    fn synchronize(&mut self, prior: &Kernels) {
        self.latent.synchronize(prior);
    }

    fn inducing(&self) -> Vec<&AnyInducing> {
        self.latent.inducing()
    }

    fn distributions(&self) -> Vec<&VariationalGaussian> {
        self.latent.distributions()
    }
}
