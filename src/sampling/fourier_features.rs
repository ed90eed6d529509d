//! Draws from the prior by random Fourier features.

use burn::tensor::{Tensor, TensorCreationOptions};
use rand::rngs::ChaCha8Rng;

use super::Paths;
use crate::{
    kernels::{FourierBasis, Kernel, NoSpectrum, fourier_basis},
    ops::ExactMatmul,
    random::normals,
};

/// Draws of P functions from a zero-mean Gaussian process, by random Fourier features:
/// `g(x) = Σ_f a_f·(w_f·cos ω_fᵀx + v_f·sin ω_fᵀx)`, `w, v ~ N(0, 1)`. Each component of the kernel
/// contributes `F` frequencies ω, with `a² = σ²/F` of its variance (A. Rahimi and B. Recht, *Random
/// Features for Large-Scale Kernel Machines*, 2007).
#[derive(Clone, Debug)]
pub struct PriorPaths {
    /// ω, [F, D]
    frequencies: Tensor<2>,
    /// a·w and a·v, [S, P, 2F]
    weights: Tensor<3>,
}

impl PriorPaths {
    /// Draws `[samples, outputs]` functions for inputs of `dimensions` dimensions, with `count`
    /// frequencies per component.
    ///
    /// # Errors
    ///
    /// When the kernel has no spectrum.
    pub fn new(
        kernel: &impl Kernel,
        dimensions: usize,
        (samples, outputs): (usize, usize),
        count: usize,
        random: &mut ChaCha8Rng,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<Self, NoSpectrum> {
        let options = options.into();
        let basis = FourierBasis::draw(kernel, dimensions, count, random, options.clone())?;
        let [features] = basis.amplitudes.dims();
        let shape = [samples, outputs, features];
        Ok(Self {
            frequencies: basis.frequencies,
            weights: normals(shape, random, options) * basis.amplitudes.unsqueeze(),
        })
    }
}

/// `Σ_j w_spj·b_jn`: [S, P, N] from weights, [S, P, J], and values of J functions, [J, N].
pub(super) fn combine(weights: Tensor<3>, basis: Tensor<2>) -> Tensor<3> {
    let ([samples, outputs, count], [_, rows]) = (weights.dims(), basis.dims());
    (weights.reshape([samples * outputs, count]))
        .exact_matmul(basis)
        .reshape([samples, outputs, rows])
}

impl Paths for PriorPaths {
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        let (mut frequencies, mut weights) = (self.frequencies.clone(), self.weights.clone());
        if x.is_autodiff() {
            (frequencies, weights) = (frequencies.autodiff(), weights.autodiff());
        }
        combine(weights, fourier_basis(frequencies, x))
    }
}
