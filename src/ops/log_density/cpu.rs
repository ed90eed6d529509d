//! The log-density on the CPU.

use core::f64::consts::PI;

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::{Accum, MatMut, MatRef, prelude::ReborrowMut};

use super::LogDensityOps;
use crate::ops::{
    cholesky::{CholeskyOps, Jitter, add_share_of_jitter, inverse_from_factor, jitters},
    cpu::{
        CpuMemory, Element, Scalar, Side, lower_product, map_members, matrix_dims, member,
        mirror_lower, part, with_element, write, write_like,
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
        let (batch, rows, _) = matrix_dims(&whitened.shape());
        let density = with_element!(factor, T => {
            let (triangles, values) = (B::read::<T>(&factor), B::read::<T>(&whitened));
            let density = |index| {
                let (triangle, own) = (part(&triangles, index, batch), part(&values, index, batch));
                <T as Scalar>::from_f64(log_density(triangle, own, rows))
            };
            write::<B, T>((0..batch).map(density).collect(), [batch], &factor.device())
        });
        let weights = B::factor_solve(factor.clone(), whitened, Side::Transposed);
        (density, status, factor, weights)
    }

    fn gaussian_log_density_backward(
        [status, factor, weights]: [FloatTensor<B>; 3],
        gradient: FloatTensor<B>,
        wanted: [bool; 2],
    ) -> [Option<FloatTensor<B>>; 2] {
        let jitters = jitters::<B>(&status);
        let (batch, rows, columns) = matrix_dims(&weights.shape());
        with_element!(factor, T => {
            let (factors, values) = (B::read::<T>(&factor), B::read::<T>(&weights));
            let gradients: Vec<f64> = B::read::<T>(&gradient).iter().map(|g| g.to_f64()).collect();
            let covariance = wanted[0].then(|| {
                count_decomposition();
                map_members::<B, T>(&factor, |index, out| {
                    let weights = member(&values, index, rows, columns);
                    let factor = member(&factors, index, rows, rows);
                    covariance_gradient((factor, weights), gradients[index], jitters[index], out);
                })
            });
            let residual = wanted[1].then(|| {
                let scaled = (0..batch).flat_map(|index| {
                    let factor = <T as Scalar>::from_f64(-gradients[index]);
                    part(&values, index, batch).iter().map(move |&value| factor * value)
                });
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
    (factor, weights): (MatRef<'_, T>, MatRef<'_, T>),
    gradient: f64,
    jitter: f64,
    mut inverse: MatMut<'_, T>,
) {
    let size = factor.nrows();
    inverse_from_factor(factor, inverse.rb_mut());
    let scale = <T as Scalar>::from_f64(-0.5 * gradient * weights.ncols() as f64);
    for row in 0..size {
        for column in 0..=row {
            inverse[(row, column)] = scale * inverse[(row, column)];
        }
    }
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
}
