//! The posterior of regression by nearest neighbors.

use std::sync::Arc;

use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{
    VecchiaSettings,
    metric::{coordinates, metric_of},
    tile::Tile,
};
use crate::{
    inducing::first_equal_rows,
    kernels::KernelModule,
    neighbors::{Coordinates, NeighborSets, NeighborTree, Scale, maximin_of_targets},
    ops::{
        CholeskyFactor, ExactMatmul, Jitter, NeighborRows, NotPositiveDefinite,
        neighbor_conditional, numbers,
    },
    parameter::{both_tracked, tracked_like},
    process::{
        Joint, Marginals, Process, blocks, draw_at_distinct, dummy_row_if_empty, nonnegative,
    },
    random::normals,
};

/// Inputs without noise at which predictions repeat make the covariance of neighbors singular. Enough jitter is then
/// added, however much that is.
const JITTER: Jitter = Jitter {
    initial: 0.0,
    escalations: 10,
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
/// [`joint_predictions`](VecchiaSettings::joint_predictions) says.
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
    /// The metric of the lengthscales, `[D]`.
    scales: Vec<f64>,
    observed: Arc<(Coordinates, NeighborTree)>,
    settings: VecchiaSettings,
}

/// The weights and variances of new rows.
struct Conditionals {
    /// b, [T, m]
    weights: Tensor<2>,
    /// d, `[T]`
    variance: Tensor<1>,
}

/// New rows given observed rows and those before them, `f_t = Σ b·(y or f) + √d·ε`.
struct System {
    /// The new rows, in their order.
    order: Vec<usize>,
    /// Indices of observed rows, and after those of new rows by their place in the order.
    sets: NeighborSets,
    conditionals: Conditionals,
}

impl<K: KernelModule> VecchiaProcess<K> {
    pub(super) fn new(
        kernel: K,
        noise: Tensor<1>,
        [inputs, residual]: [Tensor<2>; 2],
        settings: VecchiaSettings,
    ) -> Self {
        let [_, dimensions] = inputs.dims();
        let scales = metric_of(&kernel, dimensions);
        let observed = finite_coordinates(&inputs, &scales);
        let tree = NeighborTree::new(&observed);
        Self {
            kernel,
            noise,
            inputs,
            residual,
            scales,
            observed: Arc::new((observed, tree)),
            settings,
        }
    }

    fn scales_of_neighbors(&self) -> [Scale; 3] {
        let most = self.settings.prediction_neighbors;
        Scale::three(most, self.observed.0.rows())
    }

    /// The conditional distributions of the rows `own` given their neighbors, as indices of observed rows followed
    /// by the rows of `x`.
    fn conditionals(&self, x: &Tensor<2>, own: &[u32], sets: &NeighborSets) -> Conditionals {
        let [observed, _] = self.inputs.dims();
        let kernel = tracked_like(x, self.kernel.clone());
        let (inputs, new) = both_tracked(self.inputs.clone(), x.clone());
        let all = Tensor::cat(vec![inputs, new], 0);
        let table = NeighborRows {
            own,
            neighbors: sets.indices(),
            counts: sets.counts(),
        };
        let (mut weights, mut variances) = (Vec::new(), Vec::new());
        for tile in Tile::all(table, observed, &self.inputs) {
            let (noise, points) = match x.is_autodiff() {
                true => (self.noise.clone().autodiff(), all.clone()),
                false => (self.noise.clone(), all.clone()),
            };
            let matrix = tile.covariance(&kernel, points, noise);
            let options = (&matrix.device(), matrix.dtype());
            let (rows, width) = (tile.rows.len(), tile.places() - 1);
            let (own_weights, own_variances) =
                neighbor_conditional(matrix, JITTER).unwrap_or_else(|_| {
                    let unknown = |shape| Tensor::<2>::full(shape, f64::NAN, options);
                    (unknown([rows, width]), unknown([rows, 1]).squeeze_dim(1))
                });
            weights.push(own_weights);
            variances.push(own_variances);
        }
        Conditionals {
            weights: Tensor::cat(weights, 0),
            variance: nonnegative(Tensor::cat(variances, 0).unsqueeze_dim(1)).squeeze_dim(1),
        }
    }

    /// The values at the neighbors of all rows of a table, [T, m, P].
    fn at_neighbors(&self, values: Tensor<2>, sets: &NeighborSets) -> Tensor<3> {
        let (rows, width, [_, outputs]) = (sets.rows(), sets.width(), values.dims());
        let index = indices(sets.indices().iter().map(|&index| index as usize), &values);
        values.select(0, index).reshape([rows, width, outputs])
    }

    /// Means and variances of each row given observed rows only, at `x`, `[N, D]`.
    pub fn independent_marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.independent_marginals(one).at_none();
        }
        let parts = blocks(&x).into_iter().map(|block| self.independent(block));
        let (means, variances) = parts.map(|part| (part.mean, part.variance)).unzip();
        Marginals {
            mean: Tensor::cat(means, 0),
            variance: Tensor::cat(variances, 0),
        }
    }

    fn independent(&self, x: Tensor<2>) -> Marginals {
        let [observed, _] = self.inputs.dims();
        let [rows, _] = x.dims();
        let targets = finite_coordinates(&x, &self.scales);
        let sets = self
            .observed
            .1
            .nearest(&targets, &self.scales_of_neighbors());
        let own: Vec<u32> = (0..rows).map(|row| (observed + row) as u32).collect();
        let Conditionals { weights, variance } = self.conditionals(&x, &own, &sets);
        let given = self.at_neighbors(self.residual.clone(), &sets); // [T, m, P]
        let (given, weights) = both_tracked(given, weights);
        let [_, _, outputs] = given.dims();
        // μ = bᵀy_c; padded weights are zero
        let mean = (given * weights.unsqueeze_dim::<3>(2))
            .sum_dim(1)
            .reshape([rows, outputs]);
        Marginals {
            mean,
            variance: variance.unsqueeze_dim::<2>(1).expand([rows, outputs]),
        }
    }

    /// The new rows in an order, given observed rows and those before them.
    fn system(&self, x: &Tensor<2>) -> System {
        let (observed, tree) = &*self.observed;
        let rows = observed.rows();
        let targets = finite_coordinates(x, &self.scales);
        let order = maximin_of_targets(&targets, tree);
        let all = NeighborTree::new(&observed.followed_by(&targets.select(&order)));
        let new = rows..rows + order.len();
        let sets = all.previous(new.clone(), &self.scales_of_neighbors());
        let own: Vec<u32> = new.map(|row| row as u32).collect();
        let ordered = x.clone().select(0, indices(order.iter().copied(), x));
        let conditionals = self.conditionals(&ordered, &own, &sets);
        System {
            order,
            sets,
            conditionals,
        }
    }

    /// Joint means with [independent](Self::independent_marginals) variances, at `x`, `[N, D]`, in time and memory
    /// proportional to N. Each mean depends on all rows of `x`; equal rows have equal means. At inputs on a device
    /// with autodiff, the means are constants.
    pub fn joint_marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint_marginals(one).at_none();
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
        let system = self.system(&x.clone().select(0, indices(kept.iter().copied(), x)));
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

    /// `(I − B)⁻¹`-solves in the order of a system: the factor I − B, [T, T], and the part of the means that the
    /// observed rows determine, [T, P].
    fn dense(&self, system: &System) -> (CholeskyFactor<2>, Tensor<2>) {
        let (sets, weights) = (&system.sets, &system.conditionals.weights);
        let ([observed, outputs], rows) = (self.residual.dims(), sets.rows());
        let zeros = Tensor::zeros(
            [rows, outputs],
            (&self.residual.device(), self.residual.dtype()),
        );
        let values = Tensor::cat(vec![self.residual.clone(), zeros], 0);
        let (given, weights) = both_tracked(self.at_neighbors(values, sets), weights.clone());
        let known = (given * weights.clone().unsqueeze_dim::<3>(2)).sum_dim(1);
        // Weights of observed rows go to column zero, times zero.
        let all = sets.indices().iter().map(|&index| index as usize);
        let is_new = all
            .clone()
            .map(|index| if index < observed { 0.0 } else { 1.0 });
        let is_new = on_device(is_new.collect(), [rows, sets.width()], &self.residual);
        let columns = indices(all.map(|index| index.saturating_sub(observed)), &weights);
        let columns = columns.reshape([rows, sets.width()]);
        let (weights, is_new) = both_tracked(weights, is_new);
        let eye = Tensor::<2>::eye(rows, &weights.device()).cast(weights.dtype());
        let factor = eye.scatter(1, columns, (weights * is_new).neg(), IndexingUpdateOp::Add);
        (
            CholeskyFactor::from_nonsingular(factor),
            known.reshape([rows, outputs]),
        )
    }
}

impl System {
    /// Values of the new rows by forward substitution, `f_t = Σ b·(y or f) + √d·ε_t`, with `columns` values for
    /// each row and the noise of a place in the order and a column; in the order of the rows of x.
    fn substitute(
        &self,
        observed: &[f64],
        columns: usize,
        mut noise: impl FnMut(usize, usize) -> f64,
    ) -> Vec<f64> {
        let weights = numbers(self.conditionals.weights.clone());
        let variances = numbers(self.conditionals.variance.clone());
        let (width, first) = (self.sets.width(), observed.len() / columns);
        let mut known = observed.to_vec();
        let mut result = vec![0.0; self.order.len() * columns];
        for (place, &row) in self.order.iter().enumerate() {
            let deviation = variances[place].sqrt();
            for column in 0..columns {
                let terms = self.sets.row(place).iter().zip(&weights[place * width..]);
                let mean: f64 = terms
                    .map(|(&index, weight)| weight * known[index as usize * columns + column])
                    .sum();
                let value = mean + deviation * noise(place, column);
                known.push(value);
                result[row * columns + column] = value;
            }
        }
        debug_assert_eq!(known.len(), (first + self.order.len()) * columns);
        result
    }

    /// The place in the order of each row of x, as an index.
    fn places(&self, like: &Tensor<2>) -> Tensor<1, Int> {
        let mut places = vec![0; self.order.len()];
        for (place, &row) in self.order.iter().enumerate() {
            places[row] = place;
        }
        indices(places.into_iter(), like)
    }
}

impl<K: KernelModule> Process for VecchiaProcess<K> {
    /// [Joint](VecchiaProcess::joint_marginals) or [independent](VecchiaProcess::independent_marginals) marginals, as
    /// the settings say. At inputs on a device with autodiff, they are independent, with gradients.
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        match self.settings.joint_predictions && !x.is_autodiff() {
            true => self.joint_marginals(x),
            false => self.independent_marginals(x),
        }
    }

    fn joint_inputs(&self) -> usize {
        match self.settings.joint_predictions {
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
        let system = self.system(&x);
        let (factor, known) = self.dense(&system);
        let [_, outputs] = self.residual.dims();
        let places = system.places(&x);
        let mean = factor.solve(known).select(0, places.clone());
        // U·√diag(d), with U = (I − B)⁻¹
        let deviations = system.conditionals.variance.sqrt();
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
            let system = self.system(&x);
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let noise = normals([rows, samples, outputs], &mut random, options); // by place
            if x.is_autodiff() {
                return Ok(self.dense_draws(&system, noise));
            }
            // Each sample continues from the same observed values.
            let observed = numbers(self.residual.clone());
            let observed: Vec<f64> = (observed.chunks_exact(outputs))
                .flat_map(|row| row.iter().copied().cycle().take(samples * outputs))
                .collect();
            let noise = numbers(noise);
            let columns = samples * outputs;
            let at = |place: usize, column: usize| noise[place * columns + column];
            let values = system.substitute(&observed, columns, at);
            let draws = TensorData::new(values, [rows, samples, outputs]);
            let draws = Tensor::<3>::from_data(draws, (&x.device(), x.dtype()));
            Ok(draws.permute([1, 2, 0]))
        })
    }
}

impl<K: KernelModule> VecchiaProcess<K> {
    /// Draws `(I − B)⁻¹(known + √d·ε)`, [S, P, T], for normals ε, [T, S, P].
    fn dense_draws(&self, system: &System, noise: Tensor<3>) -> Tensor<3> {
        let [rows, samples, outputs] = noise.dims();
        let (factor, known) = self.dense(system);
        let deviations = system.conditionals.variance.clone().sqrt();
        let noise = noise * deviations.reshape([rows, 1, 1]);
        let right = noise + known.reshape([rows, 1, outputs]);
        let draws = factor.solve(right.reshape([rows, samples * outputs]));
        let places = system.places(&draws);
        let draws = draws.select(0, places);
        draws.reshape([rows, samples, outputs]).permute([1, 2, 0])
    }
}

/// Inputs in a metric, with zero for numbers that are not finite.
fn finite_coordinates(inputs: &Tensor<2>, scales: &[f64]) -> Coordinates {
    coordinates(inputs, scales).unwrap_or_else(|_| {
        let numbers = numbers(inputs.clone().without_autodiff());
        let scaled = numbers
            .iter()
            .zip(scales.iter().cycle())
            .map(|(x, scale)| x * scale);
        let finite = scaled.map(|x| if x.abs() <= 1e150 { x } else { 0.0 });
        match Coordinates::new(finite.collect(), scales.len()) {
            Ok(coordinates) => coordinates,
            Err(_) => unreachable!("all coordinates are finite"),
        }
    })
}

/// Rows as an index, on the device of a tensor.
fn indices(rows: impl Iterator<Item = usize>, like: &Tensor<2>) -> Tensor<1, Int> {
    let rows: Vec<i64> = rows.map(|row| row as i64).collect();
    Tensor::from_data(rows.as_slice(), &like.device())
}

/// Values on the device and in the type of a tensor.
fn on_device(values: Vec<f64>, shape: [usize; 2], like: &Tensor<2>) -> Tensor<2> {
    Tensor::from_data(
        TensorData::new(values, shape),
        (&like.device(), like.dtype()),
    )
}
