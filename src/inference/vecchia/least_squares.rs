//! Generalized least squares with the covariance of the approximation.

use burn::{module::Module, tensor::Tensor};

use super::{Vecchia, conditional, errors, tile::Tile};
use crate::{
    inference::{check_rows, row_noise::NoisyRows},
    kernels::KernelModule,
    ops::{ExactMatmul, Jitter, NeighborRows, NotPositiveDefinite, cholesky},
};

/// The coefficients of a linear mean that maximize the log density.
#[derive(Clone, Debug)]
pub struct LeastSquares {
    /// β̂, `[Q, P]`.
    pub coefficients: Tensor<2>,
    /// The covariance of the coefficients of each output, `[Q, Q]`.
    pub covariance: Tensor<2>,
}

impl<K: KernelModule> Vecchia<K> {
    /// Generalized least squares of targets on the columns of a design H: with `e_H = h_i − bᵀH_c` and
    /// `e_y = y_i − bᵀy_c`, `β̂ = (Σ e_H e_Hᵀ/d)⁻¹·Σ e_H e_yᵀ/d`, whose first factor is its covariance. The mean of
    /// the model itself is subtracted first. `y − Hβ̂` has the largest log density.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`, `design` (H): `[N, Q]`
    ///
    /// # Errors
    ///
    /// When a covariance cannot be factored, or the columns of the design depend on each other.
    ///
    /// # Panics
    ///
    /// If the numbers of rows differ.
    #[track_caller]
    pub fn least_squares(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        design: Tensor<2>,
    ) -> Result<LeastSquares, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        check_rows(&inputs, &design);
        let this = self.valid();
        let [inputs, targets, design] = [inputs, targets, design].map(Tensor::without_autodiff);
        let noisy = NoisyRows::of(inputs.clone(), targets, this.row_columns);
        let residual = (this.mean).residual(noisy.targets.clone(), inputs.clone());
        let ([rows, outputs], [_, columns]) = (residual.dims(), design.dims());
        let sets = this.neighbors(&inputs)?;
        let own: Vec<u32> = (0..rows as u32).collect();
        let table = NeighborRows {
            own: &own,
            neighbors: sets.indices(),
            counts: sets.counts(),
        };
        let all = Tensor::cat(vec![design, residual], 1); // [N, Q + P]
        let options = (&all.device(), all.dtype());
        let mut normal = Tensor::<2>::zeros([columns, columns + outputs], options);
        let besides = noisy.besides(this.likelihood.noise());
        for tile in Tile::all(table, rows, 0, &inputs) {
            let noise = tile.noise_at_places(this.likelihood.noise(), besides.as_ref());
            let matrix = tile.covariance_with(&this.kernel, inputs.clone(), noise);
            let (weights, variance) = conditional(&tile, table, matrix)?;
            let errors = errors(tile.gather(all.clone()), weights); // [R, Q + P]
            let scaled = errors.clone().narrow(1, 0, columns) / variance.unsqueeze_dim(1);
            normal = normal + scaled.transpose().exact_matmul(errors);
        }
        let factor = cholesky(normal.clone().narrow(1, 0, columns), Jitter::NONE)?;
        let solve = |right| factor.solve_transposed(factor.solve(right));
        let eye = Tensor::<2>::eye(columns, &normal.device()).cast(normal.dtype());
        Ok(LeastSquares {
            coefficients: solve(normal.narrow(1, columns, outputs)),
            covariance: solve(eye),
        })
    }
}
