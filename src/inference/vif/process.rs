//! The posterior of regression by inducing variables and neighbors.

use burn::tensor::Tensor;
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::{
    inducing::AnyInducing,
    inference::vecchia::{
        ObservedRows, System, Tile, each_row, errors, indices, on_device, predicted_conditional,
    },
    kernels::Kernels,
    neighbors::NeighborSets,
    ops::{CholeskyFactor, ExactMatmul, NeighborRows, NotPositiveDefinite, gram, numbers},
    parameter::{both_tracked, tracked_like},
    process::{
        Joint, Marginals, Process, WhitenedCovariance, draw_at_distinct, dummy_row_if_empty,
        nonnegative,
    },
    random::normals,
};

/// The process given inducing variables and neighbors: with `ã = a_t − Σ b·a_c` and whitened inducing variables
/// `w ~ N(μ_w, S)` given all data, a new value is `f_t = Σ b·y_c + ãᵀw + √d·ε`.
///
/// The neighbors and what [`marginals`](Process::marginals), [`joint`](Process::joint) and
/// [`sample`](Process::sample) condition on are as for [`VecchiaProcess`](crate::inference::VecchiaProcess).
///
/// Values are NaN at inputs that are not finite.
#[derive(Clone, Debug)]
pub struct VifProcess {
    pub(super) kernels: Kernels,
    pub(super) inducing: AnyInducing,
    /// L, the factor of `K_uu`.
    pub(super) factor: CholeskyFactor<2>,
    /// σ², `[1]`
    pub(super) noise: Tensor<1>,
    /// [N, D]
    pub(super) inputs: Tensor<2>,
    /// A, [N, M], and y − m, [N, P]
    pub(super) values: [Tensor<2>; 2],
    /// μ_w, [P, M]
    pub(super) mean: Tensor<2>,
    /// S
    pub(super) spread: WhitenedCovariance,
    pub(super) observed: ObservedRows,
}

/// The conditional distributions of new rows.
struct Conditionals {
    /// b, [T, m]
    weights: Tensor<2>,
    /// d, `[T]`
    variance: Tensor<1>,
    /// ãᵀ, [M, T]
    features: Tensor<2>,
    /// `Σ b·y` over the observed neighbors, [T, P]
    known: Tensor<2>,
}

impl VifProcess {
    fn outputs(&self) -> usize {
        let [outputs, _] = self.mean.dims();
        outputs
    }

    /// The conditional distributions of the rows `own` given their neighbors, as indices of observed rows followed
    /// by the rows of `x`.
    fn conditionals(&self, x: &Tensor<2>, own: &[u32], sets: &NeighborSets) -> Conditionals {
        let ([count, _], [outputs, size]) = (x.dims(), self.mean.dims());
        let kernels = tracked_like(x, self.kernels.clone());
        let cross = self.inducing.kuf(&self.kernels, x.clone()).squeeze_dim(0);
        let features: Tensor<2> = self.factor.solve(cross).transpose(); // [T, M]
        let unknown = on_device(vec![0.0; count * outputs], [count, outputs], &self.inputs);
        let inputs = followed_by(&self.inputs, x.clone());
        let [of_features, residual] = &self.values;
        let features = followed_by(of_features, features);
        let residual = followed_by(residual, unknown);
        let table = NeighborRows {
            own,
            neighbors: sets.indices(),
            counts: sets.counts(),
        };
        let (noise, residual) = match x.is_autodiff() {
            true => (self.noise.clone().autodiff(), residual.autodiff()),
            false => (self.noise.clone(), residual),
        };
        let (mut weights, mut variances) = (Vec::new(), Vec::new());
        let (mut adjusted, mut known) = (Vec::new(), Vec::new());
        for tile in Tile::all(table, self.observed.count(), size, &self.inputs) {
            let features = tile.without_padding(tile.gather(features.clone())); // [R, q, M]
            let covariance = tile.covariance(kernels.first(), inputs.clone(), noise.clone());
            let remainder = covariance - gram(features.clone());
            let (own_weights, own_variances) = predicted_conditional(remainder);
            let residual = tile.gather(residual.clone()); // [R, q, P]
            adjusted.push(errors(features, own_weights.clone()));
            known.push(errors(residual, own_weights.clone()).neg());
            weights.push(own_weights);
            variances.push(own_variances);
        }
        Conditionals {
            weights: Tensor::cat(weights, 0),
            variance: nonnegative(Tensor::cat(variances, 0).unsqueeze_dim(1)).squeeze_dim(1),
            features: Tensor::cat(adjusted, 0).transpose(),
            known: Tensor::cat(known, 0),
        }
    }

    fn independent(&self, x: Tensor<2>) -> Marginals {
        let [rows, _] = x.dims();
        let sets = self.observed.nearest(&x);
        let first = self.observed.count();
        let own: Vec<u32> = (first..first + rows).map(|row| row as u32).collect();
        let new = self.conditionals(&x, &own, &sets);
        let (mean, variance) = self.spread.project(&self.mean, new.features);
        Marginals {
            mean: new.known + mean,
            variance: new.variance.unsqueeze_dim::<2>(1) + variance,
        }
    }

    /// The new rows in an order, given observed rows and those before them, with ãᵀ, [M, T], and `Σ b·y` over the
    /// observed neighbors, [T, P].
    fn system(&self, x: &Tensor<2>) -> (System, [Tensor<2>; 2]) {
        let (order, sets) = self.observed.ordered(x);
        let rows = self.observed.count();
        let own: Vec<u32> = (rows..rows + order.len()).map(|row| row as u32).collect();
        let ordered = x.clone().select(0, indices(order.iter().copied(), x));
        let new = self.conditionals(&ordered, &own, &sets);
        let system = System {
            order,
            sets,
            weights: new.weights,
            variance: new.variance,
        };
        (system, [new.features, new.known])
    }

    /// What is added to `Σ b·(y or f)` in draws: `ãᵀw + √d·ε`, [T, S·P].
    fn additions(
        &self,
        system: &System,
        features: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Tensor<2> {
        let ([outputs, size], rows) = (self.mean.dims(), system.order.len());
        let options = (&self.mean.device(), self.mean.dtype());
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let common = normals([samples, outputs, size], &mut random, options);
        let noise = normals([rows, samples, outputs], &mut random, options); // by place
        let draws = self.spread.draw(&self.mean, common); // w, [S, P, M]
        let draws = draws.reshape([samples * outputs, size]).transpose();
        let noise = noise.reshape([rows, samples * outputs]);
        let deviations = system.variance.clone().sqrt().unsqueeze_dim::<2>(1);
        let (features, draws) = both_tracked(features, draws);
        let (deviations, noise) = both_tracked(deviations, noise);
        features.transpose().exact_matmul(draws) + deviations * noise
    }
}

/// Observed values followed by those of new rows.
fn followed_by(observed: &Tensor<2>, new: Tensor<2>) -> Tensor<2> {
    let (observed, new) = both_tracked(observed.clone(), new);
    Tensor::cat(vec![observed, new], 0)
}

impl Process for VifProcess {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        each_row(x, &|block| self.independent(block))
    }

    /// Means and covariances given observed rows and each other, `U·(diag(d) + ÃSÃᵀ)·Uᵀ` with `U = (I − B)⁻¹` for the
    /// weights B among new rows. Time and memory grow with the square of the number of rows.
    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let (system, [features, known]) = self.system(&x);
        let factor = system.factor(self.observed.count());
        let places = system.places(&x);
        let basis = (factor.solve(features.transpose()))
            .select(0, places.clone())
            .transpose(); // (UÃ)ᵀ, [M, T]
        let known = factor.solve(known).select(0, places.clone());
        let (mean, _) = self.spread.project(&self.mean, basis.clone());
        let deviations = system.variance.sqrt();
        let eye = Tensor::<2>::eye(system.order.len(), &mean.device()).cast(mean.dtype());
        let root = factor.solve(eye) * deviations.unsqueeze_dim::<2>(0);
        let root = root.select(0, places);
        let own = root.clone().exact_matmul(root.transpose()).unsqueeze::<3>();
        let common = self.spread.covariance(self.outputs(), basis.unsqueeze());
        Joint {
            mean: known + mean,
            covariance: common + own,
        }
    }

    /// Exact draws of the joint distribution, in time proportional to the number of rows; at inputs on a device with
    /// autodiff, to its square.
    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        draw_at_distinct(x, |x| {
            let ([rows, _], outputs) = (x.dims(), self.outputs());
            if rows == 0 || samples == 0 {
                let options = (&x.device(), x.dtype());
                return Ok(Tensor::zeros([samples, outputs, rows], options));
            }
            let (system, [features, known]) = self.system(&x);
            let additions = self.additions(&system, features, samples, seed);
            let draws = if x.is_autodiff() {
                let known = known.repeat_dim(1, samples);
                let factor = system.factor(self.observed.count());
                let draws = factor.solve(known + additions); // [T, S·P]
                let places = system.places(&draws);
                draws.select(0, places)
            } else {
                // Each sample continues from the same observed values.
                let [_, residual] = &self.values;
                system.substituted_draws(&x, residual.clone(), &numbers(additions))
            };
            let draws: Tensor<3> = draws.reshape([rows, samples, outputs]);
            Ok(draws.permute([1, 2, 0]))
        })
    }
}
