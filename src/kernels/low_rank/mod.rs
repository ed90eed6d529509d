//! Kernels of finite rank.

mod basis;
mod random_fourier;

use core::fmt::Debug;

use burn::tensor::Tensor;

pub use basis::Basis;
pub use random_fourier::RandomFourier;

use super::FunctionPrior;
use crate::ops::{NotPositiveDefinite, column_squares};

/// The prior of functions `f(x) = wᵀφ(x) + g(x)`, `w ~ N(0, I)`, with covariance
/// `φ(x)ᵀφ(x′) + c(x)·δ_xx′`: R features φ and the residual variance c.
///
/// The features come from a network in [`Basis`], from a stationary kernel in [`RandomFourier`],
/// and from any kernel with any inducing variables in [`Nystrom`](crate::inducing::Nystrom).
/// Inference works the same way for all of them: full batch in
/// [`LowRankRegression`](crate::inference::LowRankRegression), and on mini-batches with any
/// likelihood through the posterior [`WeightSpace`](crate::variational::WeightSpace).
pub trait LowRankKernel: FunctionPrior {
    /// The type that computes the features.
    type Map: FeatureMap;

    /// The feature map, with everything that does not depend on inputs precomputed. Gradients flow
    /// from it to the parameters of the kernel.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    fn feature_map(&self) -> Result<Self::Map, NotPositiveDefinite>;
}

/// The features φ of a kernel of finite rank.
pub trait FeatureMap: Clone + Debug + Send + Sync + 'static {
    /// φ(x).
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N, R]`
    fn features(&self, x: Tensor<2>) -> Tensor<2>;

    /// The variances k(x, x) of the kernel that the features approximate, or `None` if the features
    /// define the kernel.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N]`
    fn prior_variance(&self, _x: Tensor<2>) -> Option<Tensor<1>> {
        None
    }
}

/// The squared norms `κ_n = ‖φ_n‖²`, `[N]`, of features, `[N, R]`.
pub fn squared_norms(features: Tensor<2>) -> Tensor<1> {
    column_squares(features.transpose())
}

/// The squared norms of the features at the points of B sets, `[B, N, D]`: `[B, N]`.
fn squared_norms_of(map: &impl FeatureMap, x: Tensor<3>) -> Tensor<2> {
    let [batch, rows, dimensions] = x.dims();
    let features = map.features(x.reshape([batch * rows, dimensions]));
    squared_norms(features).reshape([batch, rows])
}
