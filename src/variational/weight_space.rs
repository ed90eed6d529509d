//! The posterior over the weights of features.

use burn::{
    module::{Module, Param},
    tensor::Tensor,
};

use super::{Evaluation, Posterior};
use crate::{
    kernels::{FeatureMap, LowRankKernel},
    ops::NotPositiveDefinite,
    process::{
        LowRankProcess, Marginals, SamplePaths, VarianceCorrection, VariationalGaussian,
        WhitenedCovariance, blocks, largest_norm, residual_variance,
    },
};

/// `q(w_p) = N(m_p, W_pW_pᵀ)` over the weights of features, `f_p(x) = w_pᵀφ(x)`, with the prior
/// `w ~ N(0, I)`. It corresponds to a whitened posterior over inducing variables, with φ in place
/// of `L⁻¹k_u` (Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526, eq. 8–10).
///
/// `μ = φᵀm`, `σ² = ‖Wᵀφ‖² + c`, `KL = ½(‖W‖²_F + ‖m‖² − R) − Σ_i log|W_ii|`, with the correction c
/// of [`VarianceCorrection`]. With a Gaussian likelihood, c in the training variance is the penalty
/// `−c/(2σ²)` of eq. 11; with other likelihoods it acts in the same way. For the features of a
/// network, c raises the prior variance to the largest one in the batch in training, and to the
/// largest one over all training inputs in prediction, which [`with_level_of`](Self::with_level_of)
/// computes.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     features::PerceptronConfig,
///     kernels::Basis,
///     process::{CovarianceShape, VarianceCorrection, VariationalGaussian},
///     variational::{Posterior, WeightSpace},
/// };
///
/// # fn main() -> Result<(), burn_gp_core::ops::NotPositiveDefinite> {
/// let device = Device::default();
/// let kernel = Basis::new(PerceptronConfig::default().init(2, 4, &device));
/// let weights = VariationalGaussian::standard(4, 1, CovarianceShape::Full, &device);
/// let posterior = WeightSpace::new(weights, VarianceCorrection::NONE);
/// let evaluation = posterior.evaluate(&kernel, Tensor::ones([3, 2], &device))?;
/// // A standard normal over the weights is the prior.
/// assert!(evaluation.kl.into_scalar::<f64>().abs() < 1e-4);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct WeightSpace {
    distribution: VariationalGaussian,
    /// The largest ‖φ‖² of the training inputs, `[1]`, not trained.
    level: Param<Tensor<1>>,
    #[module(skip)]
    correction: VarianceCorrection,
}

impl WeightSpace {
    /// Creates a posterior from a distribution over the weights and a variance correction. The
    /// level is zero until [`with_level_of`](Self::with_level_of) or
    /// [`with_level`](Self::with_level) sets it.
    pub fn new(distribution: VariationalGaussian, correction: VarianceCorrection) -> Self {
        let mean = distribution.mean();
        let zero = Tensor::zeros([1], (&mean.device(), mean.dtype()));
        let level = Param::from_tensor(zero).set_require_grad(false);
        Self {
            distribution,
            level,
            correction,
        }
    }

    /// The distribution over the weights.
    pub fn distribution(&self) -> &VariationalGaussian {
        &self.distribution
    }

    /// Whether training and prediction correct the variance that the features miss.
    pub fn correction(&self) -> VarianceCorrection {
        self.correction
    }

    /// The level to which predictions raise the prior variance, `[1]`.
    pub fn level(&self) -> Tensor<1> {
        self.level.val()
    }

    /// Makes predictions raise the prior variance to the largest one among `inputs`, `[N, D]`. Pass
    /// the training inputs once training is over.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn with_level_of<K: LowRankKernel>(
        self,
        kernel: &K,
        inputs: Tensor<2>,
    ) -> Result<Self, NotPositiveDefinite> {
        let map = kernel.valid().feature_map()?;
        let level = largest_norm(&map, &blocks(&inputs.inner()));
        Ok(self.with_level(level))
    }

    /// Sets the [`level`](Self::level), `[1]`.
    pub fn with_level(mut self, level: Tensor<1>) -> Self {
        self.level = self.level.map(|old| {
            let level = level.inner();
            let level = if old.is_autodiff() {
                level.autodiff()
            } else {
                level
            };
            level.set_require_grad(false)
        });
        self
    }
}

impl<K: LowRankKernel> Posterior<K> for WeightSpace {
    fn evaluate(&self, kernel: &K, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let map = kernel.feature_map()?;
        let features = map.features(x.clone()); // [N, R]
        let moments = self.distribution.moments();
        let (mean, variance) = moments.clone().project(features.clone().transpose());
        let variance = if self.correction.training {
            variance + residual_variance(&map, x, features, None).unsqueeze_dim(1)
        } else {
            variance
        };
        Ok(Evaluation {
            marginals: Marginals { mean, variance },
            kl: moments.kl_from_standard(),
        })
    }

    fn condition(&self, kernel: &K) -> Result<Box<dyn SamplePaths>, NotPositiveDefinite> {
        let (this, kernel) = (self.valid(), kernel.valid());
        let level = (this.correction).is_predicted().then(|| this.level());
        Ok(Box::new(LowRankProcess::new(
            kernel.feature_map()?,
            this.distribution.mean(),
            WhitenedCovariance::Factor(this.distribution.scale()),
            level,
        )))
    }

    fn distributions(&self) -> Vec<&VariationalGaussian> {
        vec![&self.distribution]
    }
}
