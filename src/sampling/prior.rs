//! Draws from the prior by features of the kernel.

use burn::tensor::{Tensor, TensorCreationOptions};
use rand::rngs::ChaCha8Rng;

use super::Paths;
use crate::{
    kernels::{Kernel, NoFunctionDraws, PriorFeatures},
    ops::ExactMatmul,
    parameter::both_tracked,
    random::normals,
};

/// Draws of P functions from a zero-mean Gaussian process, `g(x) = wᵀφ(x)`, `w ~ N(0, I)`, with
/// [features](PriorFeatures) φ of the kernel. They are random Fourier features for a stationary kernel
/// (A. Rahimi and B. Recht, *Random Features for Large-Scale Kernel Machines*, 2007).
#[derive(Clone, Debug)]
pub struct PriorPaths {
    features: PriorFeatures,
    /// w, [S, P, R]
    weights: Tensor<3>,
}

impl PriorPaths {
    /// Draws `[samples, outputs]` functions for inputs of `dimensions` dimensions, with `count`
    /// random features of each kind.
    ///
    /// # Errors
    ///
    /// When the kernel has no features, or too many.
    pub fn new(
        kernel: &dyn Kernel,
        dimensions: usize,
        (samples, outputs): (usize, usize),
        count: usize,
        random: &mut ChaCha8Rng,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<Self, NoFunctionDraws> {
        let options = options.into();
        let features = kernel.prior_features(dimensions, count, random, options.clone())?;
        let shape = [samples, outputs, features.count()];
        Ok(Self {
            features,
            weights: normals(shape, random, options),
        })
    }
}

/// `Σ_j w_spj·b_jn`: [S, P, N] from weights, [S, P, J], and values of J functions, [J, N].
pub(super) fn combine(weights: Tensor<3>, basis: Tensor<2>) -> Tensor<3> {
    let (weights, basis) = both_tracked(weights, basis);
    let ([samples, outputs, count], [_, rows]) = (weights.dims(), basis.dims());
    (weights.reshape([samples * outputs, count]))
        .exact_matmul(basis)
        .reshape([samples, outputs, rows])
}

impl Paths for PriorPaths {
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        combine(self.weights.clone(), self.features.evaluate(x))
    }
}
