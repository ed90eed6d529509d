//! The posterior of regression by nearest neighbors.

use burn::tensor::{Tensor, TensorData};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{
    FiniteRows, ObservedRows, System, Tile, each_row, errors, indices, on_device,
    predicted_conditional,
};
use crate::{
    inducing::first_equal_rows,
    kernels::KernelModule,
    neighbors::NeighborSets,
    ops::{ExactMatmul, NeighborRows, NotPositiveDefinite, numbers},
    parameter::{both_tracked, tracked_like},
    process::{Joint, Marginals, Process, draw_at_distinct, dummy_row_if_empty, nonnegative},
    random::normals,
};

/// The number of inputs that are predicted together. Their neighbors and weights take a kilobyte each.
const JOINT_INPUTS: usize = 1 << 16;

/// The process where each new row is conditioned on neighbors: `μ = bᵀy_c` and `σ² = d`, with noise on the
/// diagonal of the observed neighbors only.
///
/// The neighbors are from three scales: half of them the nearest of all observed rows, a quarter the nearest among
/// the first sixteenth, and the rest among the first 256th. If the rows are in maximin order, the first ones cover
/// all inputs, and so predictions far from all data are as good as those between them.
///
/// [`independent_marginals`](Self::independent_marginals) condition each row on observed rows only, so that they do
/// not depend on other rows. [`joint`](Process::joint), [`sample`](Process::sample) and
/// [`joint_marginals`](Self::joint_marginals) also condition rows on those before them, in an order that begins in
/// the middle of the widest gap: the mean is `μ_t = Σ b·(y or μ)`, and the covariance `U·diag(d)·Uᵀ` with
/// `U = (I − B)⁻¹` for the weights B among new rows (M. Katzfuss, J. Guinness, W. Gong and D. Zilber, *Vecchia
/// Approximations of Gaussian-Process Predictions*, arXiv:1805.03309, Section 3).
/// [`marginals`](Process::marginals) are one or the other, as
/// [`with_joint_predictions`](super::Vecchia::with_joint_predictions) says.
///
/// Values are NaN at inputs that are not finite.
#[derive(Clone, Debug)]
pub struct VecchiaProcess<K> {
    kernel: K,
    /// σ², `[1]`
    noise: Tensor<1>,
    /// [N, D]
    inputs: Tensor<2>,
    /// y − m(x), [N, P]
    residual: Tensor<2>,
    observed: ObservedRows,
    /// Whether marginals are joint.
    is_joint: bool,
}

/// The conditional distributions of new rows.
struct Conditionals {
    /// b, [T, m]
    weights: Tensor<2>,
    /// d, `[T]`
    variance: Tensor<1>,
    /// `Σ b·y` over the observed neighbors, [T, P]
    known: Tensor<2>,
}

impl<K: KernelModule> VecchiaProcess<K> {
    pub(super) fn new(
        kernel: K,
        noise: Tensor<1>,
        [inputs, residual]: [Tensor<2>; 2],
        most: usize,
        is_joint: bool,
    ) -> Self {
        Self {
            observed: ObservedRows::new(&kernel, &inputs, most),
            kernel,
            noise,
            inputs,
            residual,
            is_joint,
        }
    }

    /// The conditional distributions of the rows `own` given their neighbors, as indices of observed rows followed
    /// by the rows of `x`.
    fn conditionals(&self, x: &Tensor<2>, own: &[u32], sets: &NeighborSets) -> Conditionals {
        let ([observed, _], [count, _]) = (self.inputs.dims(), x.dims());
        let [_, outputs] = self.residual.dims();
        let kernel = tracked_like(x, self.kernel.clone());
        let (inputs, new) = both_tracked(self.inputs.clone(), x.clone());
        let all = Tensor::cat(vec![inputs, new], 0);
        let unknown = on_device(vec![0.0; count * outputs], [count, outputs], &self.residual);
        let values = Tensor::cat(vec![self.residual.clone(), unknown], 0);
        let table = NeighborRows {
            own,
            neighbors: sets.indices(),
            counts: sets.counts(),
        };
        let (mut weights, mut variances, mut known) = (Vec::new(), Vec::new(), Vec::new());
        for tile in Tile::all(table, observed, 0, &self.inputs) {
            let noise = match x.is_autodiff() {
                true => self.noise.clone().autodiff(),
                false => self.noise.clone(),
            };
            let matrix = tile.covariance(&kernel, all.clone(), noise);
            let (own_weights, own_variances) = predicted_conditional(matrix);
            let (values, factors) = both_tracked(tile.gather(values.clone()), own_weights.clone());
            known.push(errors(values, factors).neg());
            weights.push(own_weights);
            variances.push(own_variances);
        }
        Conditionals {
            weights: Tensor::cat(weights, 0),
            variance: nonnegative(Tensor::cat(variances, 0).unsqueeze_dim(1)).squeeze_dim(1),
            known: Tensor::cat(known, 0),
        }
    }

    /// Means and variances of each row given observed rows only, at `x`, `[N, D]`.
    pub fn independent_marginals(&self, x: Tensor<2>) -> Marginals {
        each_row(x, &|block| self.independent(block))
    }

    fn independent(&self, x: Tensor<2>) -> Marginals {
        let ([observed, outputs], [rows, _]) = (self.residual.dims(), x.dims());
        let sets = self.observed.nearest(&x);
        let own: Vec<u32> = (0..rows).map(|row| (observed + row) as u32).collect();
        let new = self.conditionals(&x, &own, &sets);
        Marginals {
            mean: new.known, // μ = bᵀy_c
            variance: new.variance.unsqueeze_dim::<2>(1).expand([rows, outputs]),
        }
    }

    /// The new rows in an order, given observed rows and those before them, and `Σ b·y` over the observed neighbors,
    /// [T, P].
    fn system(&self, x: &Tensor<2>) -> (System, Tensor<2>) {
        let (order, sets) = self.observed.ordered(x);
        let rows = self.observed.count();
        let own: Vec<u32> = (rows..rows + order.len()).map(|row| row as u32).collect();
        let ordered = x.clone().select(0, indices(order.iter().copied(), x));
        let Conditionals {
            weights,
            variance,
            known,
        } = self.conditionals(&ordered, &own, &sets);
        let system = System {
            order,
            sets,
            weights,
            variance,
        };
        (system, known)
    }

    /// Joint means with [independent](Self::independent_marginals) variances, at `x`, `[N, D]`, in time and memory
    /// proportional to N. Each mean depends on all rows of `x`; equal rows have equal means. At inputs on a device
    /// with autodiff, the means are constants.
    pub fn joint_marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint_marginals(one).at_none();
        }
        if let Some(rows) = FiniteRows::among(&x) {
            return rows.spread(self.joint_marginals(rows.of(&x)));
        }
        let Marginals { mean, variance } = self.independent_marginals(x.clone());
        let plain = x.clone().without_autodiff();
        let mean = self.joint_means(&plain, mean.without_autodiff());
        Marginals {
            mean: if x.is_autodiff() {
                mean.autodiff()
            } else {
                mean
            },
            variance,
        }
    }

    /// Joint means, [N, P], of the rows of `x` whose independent means are finite.
    fn joint_means(&self, x: &Tensor<2>, independent: Tensor<2>) -> Tensor<2> {
        let [rows, dimensions] = x.dims();
        let [_, outputs] = self.residual.dims();
        let mut means = numbers(independent);
        let first = match dimensions {
            0 => vec![0; rows],
            _ => first_equal_rows(&numbers(x.clone()), dimensions),
        };
        let is_finite: Vec<bool> = (means.chunks_exact(outputs))
            .map(|means| means.iter().all(|mean| mean.is_finite()))
            .collect();
        // Equal rows would make the covariances of neighbors singular.
        let kept: Vec<usize> = (0..rows)
            .filter(|&row| first[row] == row && is_finite[row])
            .collect();
        if kept.is_empty() {
            return on_device(means, [rows, outputs], &self.residual);
        }
        let (system, _) = self.system(&x.clone().select(0, indices(kept.iter().copied(), x)));
        let values = system.substitute(&numbers(self.residual.clone()), outputs, |_, _| 0.0);
        for row in 0..rows {
            // The first rows are ascending.
            let Ok(place) = kept.binary_search(&first[row]) else {
                continue;
            };
            let joint = &values[place * outputs..][..outputs];
            // A covariance that no jitter helps makes joint means NaN.
            if joint.iter().all(|mean| mean.is_finite()) {
                means[row * outputs..][..outputs].copy_from_slice(joint);
            }
        }
        on_device(means, [rows, outputs], &self.residual)
    }
}

impl<K: KernelModule> Process for VecchiaProcess<K> {
    /// [Joint](VecchiaProcess::joint_marginals) or [independent](VecchiaProcess::independent_marginals) marginals, as
    /// the model says. At inputs on a device with autodiff, they are independent, with gradients.
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        match self.is_joint && !x.is_autodiff() {
            true => self.joint_marginals(x),
            false => self.independent_marginals(x),
        }
    }

    fn joint_inputs(&self) -> usize {
        match self.is_joint {
            true => JOINT_INPUTS,
            false => 1,
        }
    }

    /// Means and covariances given observed rows and each other. Time and memory grow with the square of the
    /// number of rows.
    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let (system, known) = self.system(&x);
        let factor = system.factor(self.observed.count());
        let [_, outputs] = self.residual.dims();
        let places = system.places(&x);
        let mean = factor.solve(known).select(0, places.clone());
        // U·√diag(d), with U = (I − B)⁻¹
        let deviations = system.variance.sqrt();
        let eye = Tensor::<2>::eye(system.order.len(), &mean.device()).cast(mean.dtype());
        let root = factor.solve(eye) * deviations.unsqueeze_dim::<2>(0);
        let root = root.select(0, places);
        let covariance = root.clone().exact_matmul(root.transpose());
        Joint {
            mean,
            covariance: covariance.unsqueeze::<3>().repeat_dim(0, outputs),
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
            let ([rows, _], [_, outputs]) = (x.dims(), self.residual.dims());
            let options = (&x.device(), x.dtype());
            if rows == 0 || samples == 0 {
                return Ok(Tensor::zeros([samples, outputs, rows], options));
            }
            let (system, known) = self.system(&x);
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let noise = normals([rows, samples, outputs], &mut random, options); // by place
            if x.is_autodiff() {
                return Ok(self.dense_draws(&system, known, noise));
            }
            // Each sample continues from the same observed values.
            let observed = numbers(self.residual.clone());
            let observed: Vec<f64> = (observed.chunks_exact(outputs))
                .flat_map(|row| row.iter().copied().cycle().take(samples * outputs))
                .collect();
            let noise = numbers(noise);
            let columns = samples * outputs;
            let deviations = numbers(system.variance.clone().sqrt());
            let at =
                |place: usize, column: usize| deviations[place] * noise[place * columns + column];
            let values = system.substitute(&observed, columns, at);
            let draws = TensorData::new(values, [rows, samples, outputs]);
            let draws = Tensor::<3>::from_data(draws, (&x.device(), x.dtype()));
            Ok(draws.permute([1, 2, 0]))
        })
    }
}

impl<K: KernelModule> VecchiaProcess<K> {
    /// Draws `(I − B)⁻¹(known + √d·ε)`, [S, P, T], for normals ε, [T, S, P].
    fn dense_draws(&self, system: &System, known: Tensor<2>, noise: Tensor<3>) -> Tensor<3> {
        let [rows, samples, outputs] = noise.dims();
        let factor = system.factor(self.observed.count());
        let deviations = system.variance.clone().sqrt();
        let noise = noise * deviations.reshape([rows, 1, 1]);
        let right = noise + known.reshape([rows, 1, outputs]);
        let draws = factor.solve(right.reshape([rows, samples * outputs]));
        let places = system.places(&draws);
        let draws = draws.select(0, places);
        draws.reshape([rows, samples, outputs]).permute([1, 2, 0])
    }
}
