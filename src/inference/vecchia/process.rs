//! The posterior of regression by nearest neighbors.

use burn::tensor::Tensor;
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{FiniteRows, Observations, System, each_row, indices, on_device};
use crate::{
    inducing::first_equal_rows,
    kernels::KernelModule,
    ops::{ExactMatmul, NotPositiveDefinite, numbers},
    process::{Joint, Marginals, Process, draw_at_distinct, dummy_row_if_empty},
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
    /// With the values y − m(x), [N, P].
    observed: Observations<K>,
    /// Whether marginals are joint.
    is_joint: bool,
}

impl<K: KernelModule> VecchiaProcess<K> {
    pub(super) fn new(
        kernel: K,
        (noise, row_noise): (Tensor<1>, Option<Tensor<1>>),
        [inputs, residual]: [Tensor<2>; 2],
        most: usize,
        is_joint: bool,
    ) -> Self {
        let observed = Observations::new(kernel, noise, [inputs, residual], most);
        Self {
            observed: observed.with_row_noise(row_noise),
            is_joint,
        }
    }

    /// Means and variances of each row given observed rows only, at `x`, `[N, D]`.
    pub fn independent_marginals(&self, x: Tensor<2>) -> Marginals {
        each_row(x, &|block| self.independent(block))
    }

    fn independent(&self, x: Tensor<2>) -> Marginals {
        let ([rows, _], new) = (x.dims(), self.observed.of_each(&x));
        let [_, outputs] = self.residual().dims();
        Marginals {
            mean: new.known, // μ = bᵀy_c
            variance: new.variance.unsqueeze_dim::<2>(1).expand([rows, outputs]),
        }
    }

    /// y − m(x), [N, P]
    fn residual(&self) -> &Tensor<2> {
        self.observed.values()
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
        let [_, outputs] = self.residual().dims();
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
            return on_device(means, [rows, outputs], self.residual());
        }
        let (system, _) = self
            .observed
            .system(&x.clone().select(0, indices(kept.iter().copied(), x)));
        let values = system.substitute(numbers(self.residual().clone()), outputs, |_, _| 0.0);
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
        on_device(means, [rows, outputs], self.residual())
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
        let (system, known) = self.observed.system(&x);
        let factor = system.factor(self.observed.count());
        let [_, outputs] = self.residual().dims();
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
            let ([rows, _], [_, outputs]) = (x.dims(), self.residual().dims());
            let options = (&x.device(), x.dtype());
            if rows == 0 || samples == 0 {
                return Ok(Tensor::zeros([samples, outputs, rows], options));
            }
            let (system, known) = self.observed.system(&x);
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let noise = normals([rows, samples, outputs], &mut random, options); // by place
            if x.is_autodiff() {
                return Ok(self.dense_draws(&system, known, noise));
            }
            let additions = system.scaled(noise.reshape([rows, samples * outputs]));
            // Each sample continues from the same observed values.
            let draws = system.substituted_draws(&x, self.residual().clone(), &additions);
            let draws: Tensor<3> = draws.reshape([rows, samples, outputs]);
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
