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
        LowRankProcess, Marginals, Spread, VarianceCorrection, VariationalGaussian, blocks,
        largest_norm, residual_variance,
    },
};

/// `q(w_p) = N(m_p, W_pW_pᵀ)` over the weights of features, `f_p(x) = w_pᵀφ(x)`, with the prior
/// `w ~ N(0, I)`: what a whitened posterior is to inducing variables, with φ in the place of
/// `L⁻¹k_u` (Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526, eq. 8–10).
///
/// `μ = φᵀm`, `σ² = ‖Wᵀφ‖² + c`, `KL = ½(‖W‖²_F + ‖m‖² − R) − Σ_i log|W_ii|`. With a Gaussian
/// likelihood the variance c in training is the penalty `−c/(2σ²)` of eq. 11, with any other one its
/// like. In batches the prior variance is brought to the largest of the batch; in prediction to that
/// of all training inputs, which [`with_level_of`](Self::with_level_of) finds.
#[derive(Module, Debug)]
pub struct WeightSpace {
    distribution: VariationalGaussian,
    /// The largest ‖φ‖² of the training inputs, `[1]`, not trained.
    level: Param<Tensor<1>>,
    #[module(skip)]
    correction: VarianceCorrection,
}

impl WeightSpace {
    /// A posterior with the given distribution over the weights and correction of the variance. It
    /// knows of no training inputs yet.
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

    /// Where the variance that the features leave is taken into account.
    pub fn correction(&self) -> VarianceCorrection {
        self.correction
    }

    /// The level that predictions bring the prior variance to, `[1]`.
    pub fn level(&self) -> Tensor<1> {
        self.level.val()
    }

    /// The posterior whose predictions bring the prior variance to the largest of these inputs,
    /// `[N, D]`: those of training, once it is over.
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

    /// The posterior with the given [`level`](Self::level), `[1]`.
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
    type Process = LowRankProcess<K::Map>;

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

    fn condition(&self, kernel: &K) -> Result<Self::Process, NotPositiveDefinite> {
        let (this, kernel) = (self.valid(), kernel.valid());
        let level = (this.correction).is_predicted().then(|| this.level());
        Ok(LowRankProcess::new(
            kernel.feature_map()?,
            this.distribution.mean(),
            Spread::Factor(this.distribution.scale()),
            level,
        ))
    }
}
