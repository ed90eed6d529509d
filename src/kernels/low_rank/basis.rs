//! Kernels that use network outputs as basis functions.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::rngs::ChaCha8Rng;

use super::{FeatureMap, LowRankKernel, squared_norms_of};
use crate::{
    features::AnyNetwork,
    kernels::{Kernel, NoFunctionDraws, PriorFeatures, points::map_points, prior_features::origin},
    ops::{ExactMatmul, NotPositiveDefinite},
    parameter::{Part, require_precision, tracked_like},
};

/// `k(x, x′) = φ(x)ᵀφ(x′)` with basis functions `φ = factor · f` from the R outputs f of any
/// network: a deep basis kernel (Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526, eq. 4).
///
/// It is positive semidefinite and of rank at most R for every network. The network also determines
/// its variance.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     features::PerceptronConfig,
///     kernels::{Basis, KernelModule},
/// };
///
/// let device = Device::default();
/// let network = || PerceptronConfig::default().init(2, 8, &device);
/// let kernel = Basis::new(network()).times(0.5);
/// let x = Tensor::<2>::ones([3, 2], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// let variances: Vec<f64> = kernel.diagonal_at(x).into_data().iter().collect();
/// // Equal rows have the covariance of one row with itself.
/// assert!(values.iter().all(|value| (value - variances[0]).abs() < 1e-5));
/// ```
#[derive(Module, Debug)]
pub struct Basis {
    network: Part<AnyNetwork>,
    #[module(skip)]
    factor: f64,
}

impl Basis {
    /// Uses the outputs of `network` as basis functions.
    pub fn new(network: impl Into<AnyNetwork>) -> Self {
        Self {
            network: Part::network(network.into()),
            factor: 1.0,
        }
    }

    /// Multiplies the basis functions by a constant, which is not trained.
    ///
    /// With `1/√R` the kernel is the mean over the R outputs, `k(x, x′) = 1/R Σ_r f_r(x) f_r(x′)`,
    /// the usual scaling under which wide networks have a limit. Neither the initial variances nor
    /// their change per Adam step then grow with R.
    pub fn times(mut self, factor: f64) -> Self {
        self.factor *= factor;
        self
    }

    /// The network.
    pub fn network(&self) -> &AnyNetwork {
        &self.network
    }
}

impl Kernel for Basis {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let [first, second] = [x1, x2].map(|x| map_points(x, |x| self.features(x)));
        first.exact_matmul(second.transpose())
    }

    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        let features = map_points(x, |x| self.features(x));
        features.clone().exact_matmul(features.transpose())
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        squared_norms_of(self, x)
    }

    fn prior_features(
        &self,
        dimensions: usize,
        _count: usize,
        _random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let basis = self.clone();
        let [_, count] = basis.features(origin(dimensions, options)).dims();
        Ok(PriorFeatures::exact(count, move |x| {
            tracked_like(&x, basis.clone()).features(x)
        }))
    }
}

impl FeatureMap for Basis {
    fn features(&self, x: Tensor<2>) -> Tensor<2> {
        require_precision("Basis", &x, &*self.network);
        let features = self.network.forward(x);
        match self.factor {
            1.0 => features,
            factor => features * factor,
        }
    }
}

impl LowRankKernel for Basis {
    type Map = Self;

    fn feature_map(&self) -> Result<Self, NotPositiveDefinite> {
        Ok(self.clone())
    }
}
