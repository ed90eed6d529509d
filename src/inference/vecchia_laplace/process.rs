//! The posterior of latent values given neighbors.

use burn::tensor::{Tensor, TensorData};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::{
    inference::vecchia::{
        ObservedRows, System, Tile, each_row, errors, indices, predicted_conditional,
    },
    kernels::KernelModule,
    neighbors::NeighborSets,
    ops::{ExactMatmul, NeighborRows, NotPositiveDefinite, numbers},
    parameter::{both_tracked, tracked_like},
    process::{Joint, Marginals, Process, draw_at_distinct, dummy_row_if_empty, nonnegative},
    random::normals,
};

/// The process where each new row is conditioned on the latent values of neighbors, which have the Gaussian
/// distribution `N(ĝ, VVᵀ)` of the Laplace approximation: `μ = bᵀĝ_c` and `σ² = d + |V_cᵀb|²`.
///
/// Rows, neighbors and joint predictions are as for [`VecchiaProcess`](super::super::VecchiaProcess): the joint
/// covariance is `U·diag(d)·Uᵀ` plus that of the latent values, which `U = (I − B)⁻¹` passes on.
///
/// Values are NaN at inputs that are not finite.
#[derive(Clone, Debug)]
pub struct VecchiaLaplaceProcess<K> {
    kernel: K,
    /// What is added to the variance of each observed row, `[1]`.
    jitter: Tensor<1>,
    /// [N, D]
    inputs: Tensor<2>,
    /// ĝ and V, [N, 1 + K]
    values: Tensor<2>,
    observed: ObservedRows,
}

/// The conditional distributions of new rows.
struct Conditionals {
    /// b, [T, m]
    weights: Tensor<2>,
    /// d, `[T]`
    variance: Tensor<1>,
    /// `bᵀĝ_c` and `bᵀV_c` over the observed neighbors, [T, 1 + K]
    known: Tensor<2>,
}

impl<K: KernelModule> VecchiaLaplaceProcess<K> {
    /// `values` are ĝ and V, [N, 1 + K]; new rows have at most `most` neighbors.
    pub(super) fn new(
        kernel: K,
        jitter: Tensor<1>,
        [inputs, values]: [Tensor<2>; 2],
        most: usize,
    ) -> Self {
        Self {
            observed: ObservedRows::new(&kernel, &inputs, most),
            kernel,
            jitter,
            inputs,
            values,
        }
    }

    /// The conditional distributions of the rows `own` given their neighbors, as indices of observed rows followed
    /// by the rows of `x`.
    fn conditionals(&self, x: &Tensor<2>, own: &[u32], sets: &NeighborSets) -> Conditionals {
        let ([observed, columns], [count, _]) = (self.values.dims(), x.dims());
        let kernel = tracked_like(x, self.kernel.clone());
        let (inputs, new) = both_tracked(self.inputs.clone(), x.clone());
        let all = Tensor::cat(vec![inputs, new], 0);
        let options = (&self.values.device(), self.values.dtype());
        let unknown = Tensor::zeros([count, columns], options);
        let values = Tensor::cat(vec![self.values.clone(), unknown], 0);
        let table = NeighborRows {
            own,
            neighbors: sets.indices(),
            counts: sets.counts(),
        };
        let (mut weights, mut variances, mut known) = (Vec::new(), Vec::new(), Vec::new());
        for tile in Tile::all(table, observed, columns, &self.inputs) {
            let jitter = match x.is_autodiff() {
                true => self.jitter.clone().autodiff(),
                false => self.jitter.clone(),
            };
            let matrix = tile.covariance(&kernel, all.clone(), jitter);
            let (own_weights, own_variances) = predicted_conditional(matrix);
            let (values, factors) = both_tracked(tile.gather(values.clone()), own_weights.clone());
            known.push(errors(values, factors).neg()); // the row itself is unknown, zero
            weights.push(own_weights);
            variances.push(own_variances);
        }
        Conditionals {
            weights: Tensor::cat(weights, 0),
            variance: nonnegative(Tensor::cat(variances, 0).unsqueeze_dim(1)).squeeze_dim(1),
            known: Tensor::cat(known, 0),
        }
    }

    fn independent(&self, x: Tensor<2>) -> Marginals {
        let ([observed, columns], [rows, _]) = (self.values.dims(), x.dims());
        let sets = self.observed.nearest(&x);
        let own: Vec<u32> = (0..rows).map(|row| (observed + row) as u32).collect();
        let new = self.conditionals(&x, &own, &sets);
        let spread = new.known.clone().narrow(1, 1, columns - 1); // Vᵀb
        Marginals {
            mean: new.known.narrow(1, 0, 1),
            variance: new.variance.unsqueeze_dim(1) + spread.square().sum_dim(1),
        }
    }

    /// The new rows in an order, given observed rows and those before them, and `bᵀĝ_c` and `bᵀV_c` over the observed
    /// neighbors, [T, 1 + K].
    fn system(&self, x: &Tensor<2>) -> (System, Tensor<2>) {
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
        (system, new.known)
    }

    /// The means, [T, 1], and a root of the covariance, [T, K + T]: what V and the variances d become.
    fn joint_root(&self, x: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let (system, known) = self.system(x);
        let factor = system.factor(self.observed.count());
        let places = system.places(x);
        let [rows, columns] = known.dims();
        let passed = factor.solve(known); // U·(bᵀĝ_c, bᵀV_c)
        let eye = Tensor::<2>::eye(rows, &passed.device()).cast(passed.dtype());
        let own = factor.solve(eye) * system.variance.sqrt().unsqueeze_dim::<2>(0); // U·√diag(d)
        let root = Tensor::cat(vec![passed.clone().narrow(1, 1, columns - 1), own], 1);
        let mean = passed.narrow(1, 0, 1);
        (mean.select(0, places.clone()), root.select(0, places))
    }

    /// Draws by forward substitution, [S, 1, T], from latent values of the observed rows and noise for each row.
    fn substituted_draws(&self, x: &Tensor<2>, [of_latent, noise]: [Tensor<2>; 2]) -> Tensor<3> {
        let (system, _) = self.system(x);
        let ([_, columns], [rows, samples]) = (self.values.dims(), noise.dims());
        let mean = self.values.clone().narrow(1, 0, 1);
        let root = self.values.clone().narrow(1, 1, columns - 1);
        let latent = root.exact_matmul(of_latent) + mean; // [N, S]
        let deviations = numbers(system.variance.clone().sqrt());
        let noise = numbers(noise);
        let addition =
            |place: usize, sample: usize| deviations[place] * noise[place * samples + sample];
        let values = system.substitute(&numbers(latent), samples, addition);
        let data = TensorData::new(values, [rows, samples]);
        let draws = Tensor::<2>::from_data(data, (&x.device(), x.dtype()));
        draws.transpose().unsqueeze_dim(1)
    }
}

impl<K: KernelModule> Process for VecchiaLaplaceProcess<K> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        each_row(x, &|block| self.independent(block))
    }

    /// Means and covariances given observed rows and each other. Time and memory grow with the square of the
    /// number of rows.
    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let (mean, root) = self.joint_root(&x);
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
        draw_at_distinct(x, |x| {
            let ([rows, _], [_, columns]) = (x.dims(), self.values.dims());
            let options = (&x.device(), x.dtype());
            if rows == 0 || samples == 0 {
                return Ok(Tensor::zeros([samples, 1, rows], options));
            }
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let of_latent = normals([columns - 1, samples], &mut random, options);
            let noise = normals([rows, samples], &mut random, options);
            if !x.is_autodiff() {
                return Ok(self.substituted_draws(&x, [of_latent, noise]));
            }
            let (mean, root) = self.joint_root(&x);
            let draws = root.exact_matmul(Tensor::cat(vec![of_latent, noise], 0)) + mean; // [T, S]
            Ok(draws.transpose().unsqueeze_dim(1))
        })
    }
}
