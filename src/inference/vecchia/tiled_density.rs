//! The log density with any kernel, tile by tile.

use core::f64::consts::PI;

use burn::tensor::{IndexingUpdateOp, Tensor};

use super::{ParameterSlopes, conditional, errors, signed_weights, tile::Tile};
use crate::{
    kernels::KernelModule,
    ops::{NeighborRows, NotPositiveDefinite},
    parameter::both_tracked,
};

/// `Σ_p Σ_i log N(r_ip | bᵀr_cp, d)` over the rows of a table. `known` are noise variances of the rows besides σ², `[N]`.
///
/// With autodiff, each tile is differentiated at once and forgotten. A surrogate then passes on the sums of the
/// gradients of the kernel, the noise and the residual; the inputs are constants. Memory does not grow with the
/// number of rows times m².
///
/// # Errors
///
/// When the covariance of the neighbors of a row cannot be factored, or its conditional variance is not positive.
pub fn tiled_density<K: KernelModule>(
    kernel: &K,
    (noise, known): (Tensor<1>, Option<Tensor<1>>),
    [inputs, residual]: [Tensor<2>; 2],
    rows: NeighborRows<'_>,
) -> Result<Tensor<1>, NotPositiveDefinite> {
    let known = known.map(Tensor::without_autodiff);
    let is_tracked = noise.is_autodiff();
    let [points, targets] = [&inputs, &residual].map(|tensor| tensor.clone().without_autodiff());
    let [count, _] = points.dims();
    let mut value = targets.clone().narrow(0, 0, 1).sum() * 0.0;
    let mut slopes = ResidualSlopes(targets.zeros_like());
    let mut parameters = ParameterSlopes::zero(&targets);
    for tile in Tile::all(rows, count, 0, &points) {
        let arguments = match is_tracked {
            true => points.clone().autodiff(),
            false => points.clone(),
        };
        let own_noise = match is_tracked {
            true => noise.clone().without_autodiff().autodiff().require_grad(),
            false => noise.clone(),
        };
        let at_places = tile.noise_at_places(own_noise.clone(), known.as_ref());
        let matrix = tile.covariance_with(kernel, arguments, at_places);
        let (weights, variance) = conditional(&tile, rows, matrix)?;
        let terms = Terms::new(&tile, targets.clone(), weights, variance);
        let density = terms.density.clone();
        value = value + density.clone().without_autodiff();
        if is_tracked {
            let gradients = density.backward();
            slopes.add(&tile, &terms);
            parameters.add(kernel, &own_noise, &gradients);
        }
    }
    if !is_tracked {
        return Ok(value);
    }
    let slopes = slopes.0.autodiff();
    let surrogate = parameters.surrogate(kernel, noise) + (residual * slopes).sum();
    Ok(surrogate.clone() - surrogate.detach() + value.autodiff())
}

/// The log densities of a tile.
struct Terms {
    /// Their sum, `[1]`.
    density: Tensor<1>,
    /// b, [R, m], without autodiff
    weights: Tensor<2>,
    /// e/d, [R, P], without autodiff
    scaled: Tensor<2>,
}

impl Terms {
    fn new(tile: &Tile, targets: Tensor<2>, weights: Tensor<2>, variance: Tensor<1>) -> Self {
        let (rows, [_, outputs]) = (tile.rows.len(), targets.dims());
        let (values, weights) = both_tracked(tile.gather(targets), weights); // [R, q, P]
        let error = errors(values, weights.clone()); // e
        let scaled = error.clone() / variance.clone().unsqueeze_dim(1);
        let fit = (error * scaled.clone()).sum();
        let logarithms = variance.log().sum() * outputs as f64;
        let constant = (rows * outputs) as f64 * (2.0 * PI).ln();
        Self {
            density: (fit + logarithms + constant) * -0.5,
            weights: weights.without_autodiff(),
            scaled: scaled.without_autodiff(),
        }
    }
}

/// The gradient of the residual, [N, P].
struct ResidualSlopes(Tensor<2>);

impl ResidualSlopes {
    /// `r̄ = −(e/d)·v`, `v = (−b; 1)`
    fn add(&mut self, tile: &Tile, terms: &Terms) {
        let [rows, outputs] = terms.scaled.dims();
        let signed = signed_weights(terms.weights.clone()).unsqueeze_dim::<3>(2);
        let slopes = signed.neg() * terms.scaled.clone().unsqueeze_dim::<3>(1); // [R, q, P]
        let slopes = slopes.reshape([rows * tile.places(), outputs]);
        let (sums, index) = (self.0.clone(), tile.index(&self.0));
        self.0 = sums.select_assign(0, index, slopes, IndexingUpdateOp::Add);
    }
}
