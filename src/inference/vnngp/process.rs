//! The function given independent values at inputs.

use burn::tensor::{IndexingUpdateOp, Tensor};

use crate::{
    inference::vecchia::{Observations, System, draws_of_normals, each_row, indices, on_device},
    kernels::KernelModule,
    neighbors::NeighborSets,
    ops::{ExactMatmul, NotPositiveDefinite, numbers},
    parameter::both_tracked,
    process::{Joint, Marginals, Process, dummy_row_if_empty},
};

/// The process where each new row is conditioned on the nearest inducing values, which are independent Gaussians
/// `N(μ, s²)`: its mean is `bᵀμ_c`, and its variance `d + Σ b_c²s_c²`.
///
/// Rows, neighbors and joint predictions are as for [`VecchiaProcess`](super::super::VecchiaProcess): the joint
/// covariance is `U·diag(d)·Uᵀ` plus that of the inducing values, which `U = (I − B)⁻¹` passes on.
///
/// Values are NaN at inputs that are not finite.
#[derive(Clone, Debug)]
pub struct VnngpProcess<K> {
    /// With the values μ, [M, 1].
    observed: Observations<K>,
    /// s, `[M]`
    deviation: Tensor<1>,
}

impl<K: KernelModule> VnngpProcess<K> {
    /// `observed` have the values μ, [M, 1], with standard deviations, `[M]`.
    pub(super) fn new(observed: Observations<K>, deviation: Tensor<1>) -> Self {
        Self {
            observed,
            deviation,
        }
    }

    fn independent(&self, x: Tensor<2>) -> Marginals {
        let (sets, new) = self.observed.nearest(&x);
        let shape = new.weights.dims();
        let index = indices(each_index(&sets), self.observed.values());
        let deviation = self.deviation.clone().select(0, index).reshape(shape);
        let (deviation, weights) = both_tracked(deviation, new.weights);
        let spread = (deviation * weights).square().sum_dim(1); // Σ b²s²
        Marginals {
            mean: new.known, // bᵀμ_c
            variance: new.variance.unsqueeze_dim::<2>(1) + spread,
        }
    }

    /// The means, [T, 1], a root of the covariance, [T, V + T]: what s and the variances d become, and the V
    /// inducing values that are neighbors.
    fn joint_root(&self, x: &Tensor<2>) -> (Tensor<2>, Tensor<2>, Vec<usize>) {
        let (system, known) = self.observed.system(x);
        let factor = system.factor(self.observed.count());
        let places = system.places(x);
        let used = self.neighbors(&system.sets);
        let mean = factor.solve(known); // U·bᵀμ_c
        let [rows, _] = mean.dims();
        let eye = Tensor::<2>::eye(rows, &mean.device()).cast(mean.dtype());
        let own = eye * system.variance.clone().sqrt().unsqueeze_dim::<2>(0);
        let passed_on = self.scaled_weights(&system, &used);
        let root = factor.solve(Tensor::cat(vec![passed_on, own], 1)); // U·(b∘s, √diag(d))
        (mean.select(0, places.clone()), root.select(0, places), used)
    }

    /// The inducing values that are neighbors of some row, ascending.
    fn neighbors(&self, sets: &NeighborSets) -> Vec<usize> {
        let all = each_index(sets).filter(|&index| index < self.observed.count());
        let mut used: Vec<usize> = all.collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// The weights of inducing values times their standard deviations, [T, V].
    fn scaled_weights(&self, system: &System, used: &[usize]) -> Tensor<2> {
        let weights = system.weights.clone();
        let shape @ [rows, _] = weights.dims();
        let (device, dtype) = (weights.device(), weights.dtype());
        // Weights of new rows go to column zero, times zero.
        let place = |index| used.binary_search(&index).ok();
        let plain = weights.clone().without_autodiff();
        let known = numbers(self.deviation.clone());
        let factors = each_index(&system.sets)
            .map(|index| place(index).map_or(0.0, |place| known[used[place]]));
        let factors = on_device(factors.collect(), shape, &plain);
        let columns = each_index(&system.sets).map(|index| place(index).unwrap_or(0));
        let columns = indices(columns, &weights).reshape(shape);
        let (weights, factors) = both_tracked(weights, factors);
        let zeros = Tensor::<2>::zeros([rows, used.len()], (&device, dtype));
        zeros.scatter(1, columns, weights * factors, IndexingUpdateOp::Add)
    }

    /// Draws by forward substitution, [T, S], from draws of the inducing values and noise for each row.
    fn substituted_draws(&self, x: &Tensor<2>, [of_inducing, noise]: [Tensor<2>; 2]) -> Tensor<2> {
        let (system, _) = self.observed.system(x);
        let deviation = self.deviation.clone().unsqueeze_dim::<2>(1);
        let inducing = of_inducing * deviation + self.observed.values().clone(); // [M, S]
        system.substituted_draws(x, inducing, &system.scaled(noise))
    }
}

/// The indices of a table in turn.
fn each_index(sets: &NeighborSets) -> impl Iterator<Item = usize> + '_ {
    sets.indices().iter().map(|&index| index as usize)
}

impl<K: KernelModule> Process for VnngpProcess<K> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        each_row(x, &|block| self.independent(block))
    }

    /// Means and covariances given inducing values and each other. Time and memory grow with the square of the
    /// number of rows.
    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let (mean, root, _) = self.joint_root(&x);
        let covariance = root.clone().exact_matmul(root.transpose());
        Joint {
            mean,
            covariance: covariance.unsqueeze(),
        }
    }

    /// Draws of the joint distribution, in time proportional to the number of rows; at inputs on a device with
    /// autodiff, to its square.
    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let inducing = self.observed.count();
        draws_of_normals(x, (inducing, samples, seed), |x, [of_inducing, noise]| {
            if !x.is_autodiff() {
                return self.substituted_draws(x, [of_inducing, noise]);
            }
            let (mean, root, used) = self.joint_root(x);
            let used = of_inducing.select(0, indices(used.into_iter(), x));
            root.exact_matmul(Tensor::cat(vec![used, noise], 0)) + mean
        })
    }
}
