//! The log-density on the CPU.

use core::f64::consts::PI;

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::{Accum, MatMut, MatRef, prelude::ReborrowMut};

use super::LogDensityOps;
use crate::ops::{
    cholesky::{CholeskyOps, Jitter, add_share_of_jitter, inverse_from_factor, jitters},
    cpu::{
        CpuMemory, Element, Scalar, Side, lower_product, member, mirror_lower, with_element, write,
        write_like,
    },
    decompositions::count_decomposition,
    triangular_solve::TriangularSolveOps,
};

impl<B: CpuMemory> LogDensityOps for B {
    fn gaussian_log_density(
        covariance: FloatTensor<B>,
        residual: FloatTensor<B>,
        jitter: Jitter,
    ) -> (
        FloatTensor<B>,
        FloatTensor<B>,
        FloatTensor<B>,
        FloatTensor<B>,
    ) {
        let (factor, status) = B::cholesky(covariance, jitter);
        let whitened = B::factor_solve(factor.clone(), residual, Side::Lower);
        let density = with_element!(factor, T => {
            let (triangle, values) = (B::read::<T>(&factor), B::read::<T>(&whitened));
            let density = log_density(&triangle, &values, whitened.shape()[0]);
            write::<B, T>(vec![<T as Scalar>::from_f64(density)], [1], &factor.device())
        });
        let weights = B::factor_solve(factor.clone(), whitened, Side::Transposed);
        (density, status, factor, weights)
    }

    fn gaussian_log_density_backward(
        [status, factor, weights]: [FloatTensor<B>; 3],
        gradient: FloatTensor<B>,
        wanted: [bool; 2],
    ) -> [Option<FloatTensor<B>>; 2] {
        let jitter = jitters::<B>(&status)[0];
        with_element!(factor, T => {
            let (factors, values) = (B::read::<T>(&factor), B::read::<T>(&weights));
            let gradient = B::read::<T>(&gradient)[0].to_f64();
            let covariance = wanted[0].then(|| {
                let gradients = covariance_gradient(&factors, &values, gradient, jitter);
                write_like::<B, T>(gradients, &factor)
            });
            let residual = wanted[1].then(|| {
                let scaled = values.iter().map(|&value| <T as Scalar>::from_f64(-gradient) * value);
                write_like::<B, T>(scaled.collect(), &weights)
            });
            [covariance, residual]
        })
    }
}

/// `−½‖L⁻¹R‖² − P·(½log|K| + ½N·log 2π)`, summed in double precision.
fn log_density<T: Element>(factor: &[T], whitened: &[T], rows: usize) -> f64 {
    let columns = whitened.len() / rows.max(1);
    let square = |&value: &T| value.to_f64() * value.to_f64();
    let fit: f64 = whitened.iter().map(square).sum();
    let pivots = factor.iter().step_by(rows + 1);
    let logarithms: f64 = pivots.map(|pivot| pivot.to_f64().ln()).sum();
    -0.5 * fit - columns as f64 * (logarithms + 0.5 * rows as f64 * (2.0 * PI).ln())
}

/// `½g·(ααᵀ − P·K⁻¹)` plus the contribution of the jitter.
fn covariance_gradient<T: Element>(
    factor: &[T],
    weights: &[T],
    gradient: f64,
    jitter: f64,
) -> Vec<T> {
    count_decomposition();
    let size = factor.len().isqrt();
    let columns = weights.len() / size.max(1);
    let mut out = vec![T::default(); size * size];
    let mut inverse = MatMut::from_row_major_slice_mut(&mut out, size, size);
    inverse_from_factor(member(factor, 0, size, size), inverse.rb_mut());
    let scale = <T as Scalar>::from_f64(-0.5 * gradient * columns as f64);
    for row in 0..size {
        for column in 0..=row {
            inverse[(row, column)] = scale * inverse[(row, column)];
        }
    }
    let weights = MatRef::from_row_major_slice(weights, size, columns);
    let half = <T as Scalar>::from_f64(0.5 * gradient);
    lower_product(
        inverse.rb_mut(),
        Accum::Add,
        weights,
        weights.transpose(),
        half,
    );
    mirror_lower(inverse.rb_mut());
    add_share_of_jitter(inverse, jitter);
    out
}
