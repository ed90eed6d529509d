//! The log density with any kernel, tile by tile.

use core::f64::consts::PI;

use burn::{
    module::{ModuleVisitor, Param},
    tensor::{Gradients, IndexingUpdateOp, Tensor},
};

use super::{JITTER, tile::Tile};
use crate::{
    kernels::KernelModule,
    ops::{NeighborRows, NotPositiveDefinite, may_wait, neighbor_conditional, numbers},
};

/// `Σ_p Σ_i log N(r_ip | bᵀr_cp, d)` over the rows of a table.
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
    noise: Tensor<1>,
    [inputs, residual]: [Tensor<2>; 2],
    rows: NeighborRows<'_>,
) -> Result<Tensor<1>, NotPositiveDefinite> {
    let is_tracked = noise.is_autodiff();
    let [points, targets] = [&inputs, &residual].map(|tensor| tensor.clone().without_autodiff());
    let [count, _] = points.dims();
    let mut value = targets.clone().narrow(0, 0, 1).sum() * 0.0;
    let mut slopes = Slopes::zero(&targets);
    for tile in Tile::all(rows, count, &points) {
        let arguments = match is_tracked {
            true => points.clone().autodiff(),
            false => points.clone(),
        };
        let own_noise = match is_tracked {
            true => noise.clone().without_autodiff().autodiff().require_grad(),
            false => noise.clone(),
        };
        let matrix = tile.covariance(kernel, arguments, own_noise.clone());
        let (weights, variance) =
            neighbor_conditional(matrix, JITTER).map_err(|error| NotPositiveDefinite {
                batch: rows.own[tile.rows.start + error.batch] as usize,
                ..error
            })?;
        check_variances(&variance, &tile, rows)?;
        let terms = Terms::new(&tile, targets.clone(), weights, variance);
        let density = terms.density.clone();
        value = value + density.clone().without_autodiff();
        if is_tracked {
            let gradients = density.backward();
            slopes.add_residual(&tile, &terms);
            slopes.add_noise(&own_noise, &gradients);
            slopes.add_kernel(kernel, &gradients);
        }
    }
    if !is_tracked {
        return Ok(value);
    }
    let surrogate = slopes.surrogate(kernel, noise, residual);
    Ok(surrogate.clone() - surrogate.detach() + value.autodiff())
}

/// Reports a conditional variance that is not positive, if the device may wait.
fn check_variances(
    variance: &Tensor<1>,
    tile: &Tile,
    rows: NeighborRows<'_>,
) -> Result<(), NotPositiveDefinite> {
    if !may_wait(variance) {
        return Ok(());
    }
    let dtype = variance.dtype();
    let values = numbers(variance.clone());
    let is_positive = |value: f64| value > 0.0; // false for NaN
    let Some(row) = values.iter().position(|&value| !is_positive(value)) else {
        return Ok(());
    };
    let place = tile.rows.start + row;
    Err(NotPositiveDefinite {
        batch: rows.own[place] as usize,
        pivot: rows.counts[place] as usize,
        size: rows.counts[place] as usize + 1,
        jitter: 0.0,
        smallest_diagonal: values[row],
        largest_diagonal: values[row],
        dtype,
    })
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
        let last = tile.places() - 1;
        let (rows, [_, outputs]) = (tile.rows.len(), targets.dims());
        let own = tile.gather(targets.clone()); // [R, q, P]
        let given = own.clone().narrow(1, 0, last);
        let own = own.narrow(1, last, 1).reshape([rows, outputs]);
        let (given, own) = match weights.is_autodiff() {
            true => (given.autodiff(), own.autodiff()),
            false => (given, own),
        };
        let error = match last {
            0 => own,
            _ => {
                let predicted = given * weights.clone().unsqueeze_dim::<3>(2);
                own - predicted.sum_dim(1).reshape([rows, outputs]) // e
            }
        };
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

/// The sums of the gradients of all tiles.
struct Slopes {
    /// `[1]`
    noise: Tensor<1>,
    /// [N, P]
    residual: Tensor<2>,
    /// Of each parameter of the kernel, flat, if it has one.
    kernel: Vec<Option<Tensor<1>>>,
}

impl Slopes {
    fn zero(residual: &Tensor<2>) -> Self {
        Self {
            noise: Tensor::zeros([1], (&residual.device(), residual.dtype())),
            residual: residual.zeros_like(),
            kernel: Vec::new(),
        }
    }

    /// `r̄ = −(e/d)·v`, `v = (−b; 1)`
    fn add_residual(&mut self, tile: &Tile, terms: &Terms) {
        let [rows, outputs] = terms.scaled.dims();
        let scaled = terms.scaled.clone().unsqueeze_dim::<3>(1); // [R, 1, P]
        let given = scaled.clone() * terms.weights.clone().unsqueeze_dim::<3>(2);
        let slopes = match tile.places() {
            1 => scaled.neg(),
            _ => Tensor::cat(vec![given, scaled.neg()], 1),
        };
        let slopes = slopes.reshape([rows * tile.places(), outputs]);
        let (sums, index) = (self.residual.clone(), tile.index(&self.residual));
        self.residual = sums.select_assign(0, index, slopes, IndexingUpdateOp::Add);
    }

    fn add_noise(&mut self, noise: &Tensor<1>, gradients: &Gradients) {
        if let Some(gradient) = noise.grad(gradients) {
            self.noise = self.noise.clone() + gradient;
        }
    }

    fn add_kernel<K: KernelModule>(&mut self, kernel: &K, gradients: &Gradients) {
        let mut found = Found {
            gradients,
            slopes: Vec::new(),
        };
        kernel.visit(&mut found);
        self.kernel.resize(found.slopes.len(), None);
        for (sum, slope) in self.kernel.iter_mut().zip(found.slopes) {
            *sum = match (sum.take(), slope) {
                (Some(sum), Some(slope)) => Some(sum + slope),
                (sum, slope) => sum.or(slope),
            };
        }
    }

    /// `⟨ḡ, θ⟩` of all arguments θ with their gradients ḡ.
    fn surrogate<K: KernelModule>(
        self,
        kernel: &K,
        noise: Tensor<1>,
        residual: Tensor<2>,
    ) -> Tensor<1> {
        let sum = noise * self.noise.autodiff();
        let mut products = Products {
            slopes: self.kernel.into_iter(),
            sum: sum + (residual.autodiff() * self.residual.autodiff()).sum(),
        };
        kernel.visit(&mut products);
        products.sum
    }
}

/// Reads the gradients of the parameters of a module.
struct Found<'a> {
    gradients: &'a Gradients,
    slopes: Vec<Option<Tensor<1>>>,
}

impl ModuleVisitor for Found<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let stored = param.base();
        let count = stored.shape().num_elements();
        let gradient = match stored.is_require_grad() {
            true => stored.grad(self.gradients),
            false => None,
        };
        (self.slopes).push(gradient.map(|gradient| gradient.reshape([count])));
    }
}

/// Multiplies the parameters of a module by their gradients.
struct Products {
    slopes: std::vec::IntoIter<Option<Tensor<1>>>,
    sum: Tensor<1>,
}

impl ModuleVisitor for Products {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(slope) = self.slopes.next().flatten() {
            let [count] = slope.dims();
            let products = param.base().reshape([count]) * slope.autodiff();
            self.sum = self.sum.clone() + products.sum();
        }
    }
}
