//! Kernels of finite rank.

mod basis;
mod random_fourier;

use core::fmt::Debug;

use burn::tensor::Tensor;

pub use basis::Basis;
pub use random_fourier::RandomFourier;
pub(crate) use random_fourier::{FourierBasis, fourier_basis};

use super::FunctionPrior;
use crate::ops::{NotPositiveDefinite, column_squares};

/// The prior of functions `f(x) = wᵀφ(x) + g(x)`, `w ~ N(0, I)`, whose covariance is
/// `φ(x)ᵀφ(x′) + c(x)·δ_xx′`: R features φ, and what they leave of the variance.
///
/// [`Basis`] has the features of a network, [`RandomFourier`] those of a stationary kernel,
/// [`Nystrom`](crate::inducing::Nystrom) those of any kernel with any inducing variables. Inference
/// is one and the same for all of them: on all data in
/// [`LowRankRegression`](crate::inference::LowRankRegression), in batches and with any likelihood
/// by the posterior [`WeightSpace`](crate::variational::WeightSpace).
pub trait LowRankKernel: FunctionPrior {
    /// What the features come from.
    type Map: FeatureMap;

    /// The features, with everything that does not depend on inputs computed once. Gradients flow
    /// from it to the parameters of the kernel.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    fn feature_map(&self) -> Result<Self::Map, NotPositiveDefinite>;
}

/// The features φ of a kernel of finite rank.
pub trait FeatureMap: Clone + Debug {
    /// φ(x).
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N, R]`
    fn features(&self, x: Tensor<2>) -> Tensor<2>;

    /// The variances k(x, x) of the kernel that the features approximate; none where the features
    /// are all there is.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N]`
    fn prior_variance(&self, _x: Tensor<2>) -> Option<Tensor<1>> {
        None
    }
}

/// `κ_n = ‖φ_n‖²`, `[N]`, of features, `[N, R]`.
pub fn squared_norms(features: Tensor<2>) -> Tensor<1> {
    column_squares(features.transpose())
}
