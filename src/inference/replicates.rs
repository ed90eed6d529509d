//! Rows with equal inputs, counted as one row.

use std::f64::consts::PI;

use burn::tensor::{Int, Tensor};

use crate::{inducing::first_equal_rows, ops::numbers};

/// The largest share of distinct rows for which rows are merged: with more of them, little time is saved.
const LARGEST_SHARE: f64 = 0.9;

/// Rows with equal inputs and equal noise variance d, of which the i-th of n kinds occurs `a_i` times, with the mean
/// target `ȳ_i` and the sum of squares `S_i = Σ(y − ȳ_i)²`. With `K = E·K̃·Eᵀ`, where E repeats the rows,
///
/// ```text
/// log N(y; K + D) = log N(ȳ; K̃ + D̃A⁻¹) − ½Σ_i [(a_i − 1)·log 2πd_i + log a_i + S_i/d_i]
/// ```
///
/// (M. Binois, R. Gramacy and M. Ludkovski, *Practical Heteroscedastic Gaussian Process Modeling for Large Simulation
/// Experiments*, 2018). The same holds for the low-rank covariance of sparse regression.
pub(super) struct Replicates {
    /// The first row of each kind, `[n]`.
    first: Tensor<1, Int>,
    /// The kind of each row, `[N]`.
    kinds: Tensor<1, Int>,
    /// a, `[n]`
    counts: Tensor<1>,
    /// ȳ, `[n, P]`
    means: Tensor<2>,
    /// S, summed over outputs, `[n]`.
    squares: Tensor<1>,
    /// y, `[N, P]`
    targets: Tensor<2>,
    /// `Σ_i log a_i`
    log_counts: f64,
}

impl Replicates {
    /// Finds equal rows of `keys`, `[N, ·]`, the inputs and noise variances. `None` if there are too few to save time, or
    /// gradients with respect to the data are wanted, which differ between equal rows.
    pub fn among(keys: &Tensor<2>, targets: &Tensor<2>) -> Option<Self> {
        if keys.is_tracked() || targets.is_tracked() {
            return None;
        }
        let (first, kinds) = few_kinds(keys)?;
        let [_, outputs] = targets.dims();
        let totals = Totals::of(&kinds, first.len(), &numbers(targets.clone()), outputs);
        let place = (&targets.device(), targets.dtype());
        let vector = |values: &[f64]| Tensor::<1>::from_data(values, place);
        Some(Self {
            first: indices(&first, targets),
            kinds: indices(&kinds, targets),
            counts: vector(&totals.counts),
            means: vector(&totals.means).reshape([first.len(), outputs]),
            squares: vector(&totals.squares),
            targets: targets.clone(),
            log_counts: totals.counts.iter().map(|count| count.ln()).sum(),
        })
    }

    /// The first row of each kind, `[n, …]`.
    pub fn distinct<const D: usize>(&self, values: Tensor<D>) -> Tensor<D> {
        values.select(0, self.first.clone())
    }

    /// The value of the kind of each row, `[N, …]`.
    pub fn repeated<const D: usize>(&self, values: Tensor<D>) -> Tensor<D> {
        values.select(0, self.kinds.clone())
    }

    /// a, `[n]`
    pub fn counts(&self) -> Tensor<1> {
        self.counts.clone()
    }

    /// ȳ, `[n, P]`
    pub fn means(&self) -> Tensor<2> {
        self.means.clone()
    }

    /// y, `[N, P]`
    pub fn targets(&self) -> Tensor<2> {
        self.targets.clone()
    }

    /// What the log density of all rows has besides that of the means, `[1]`, for d, `[n]` or `[1]`.
    pub fn log_density(&self, noise: Tensor<1>) -> Tensor<1> {
        let [_, outputs] = self.targets.dims();
        let log_noise = (noise.clone() * (2.0 * PI)).log();
        let repeated = ((self.counts() - 1.0) * log_noise).sum() + self.log_counts;
        let squares = (self.squares.clone() / noise).sum();
        (repeated * outputs as f64 + squares) * -0.5
    }

    /// `α = (y − ȳ)/d + α̃/a`, the solution of `(K + D)α = y` at each row, `[N, P]`, from that of the means, `[n, P]`,
    /// with d, `[n]` or `[1]`.
    pub fn weights(&self, of_means: Tensor<2>, noise: Tensor<1>) -> Tensor<2> {
        let residual = self.targets() - self.repeated(self.means());
        let noise = self.repeated(noise.expand(self.counts.dims()));
        let counts = self.counts().unsqueeze_dim(1);
        residual / noise.unsqueeze_dim(1) + self.repeated(of_means / counts)
    }

    /// `(a − 1)/(a·d) + C̃_ii/a²`, the diagonal of `(K + D)⁻¹` at each row, `[N]`, from that of the means, `[n]`, with d,
    /// `[n]` or `[1]`.
    pub fn precision(&self, of_means: Tensor<1>, noise: Tensor<1>) -> Tensor<1> {
        let counts = self.counts();
        let own = (counts.clone() - 1.0) / (counts.clone() * noise);
        self.repeated(own + of_means / counts.square())
    }

    /// `(I_ij − [i and j are of one kind]/a)/d` for some of the rows, `[m]`: what the inverse covariance of rows has
    /// besides that of the means, `[m, m]`.
    pub fn within(&self, rows: Tensor<1, Int>, noise: Tensor<1>) -> Tensor<2> {
        let [count] = rows.dims();
        let kinds = self.kinds.clone().select(0, rows);
        let rank = |values: Tensor<1>| values.select(0, kinds.clone());
        let noise = rank(noise.expand(self.counts.dims()));
        let options = (&noise.device(), noise.dtype());
        let same = (kinds.clone().unsqueeze_dim::<2>(1)).equal(kinds.clone().unsqueeze_dim(0));
        let same = same.float().cast(options.1) / rank(self.counts()).unsqueeze_dim(1);
        let identity = Tensor::<2>::eye(count, options.0).cast(options.1);
        (identity - same) / noise.unsqueeze_dim(1)
    }
}

/// Whether so many rows have equal inputs that it saves time to count them as one row, as
/// [`Exact::with_merged_replicates`](super::Exact::with_merged_replicates) does.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::inference::has_replicates;
///
/// let device = Device::default();
/// assert!(has_replicates(&Tensor::from_data([[0.0], [1.0], [0.0]], &device)));
/// assert!(!has_replicates(&Tensor::from_data([[0.0], [1.0], [2.0]], &device)));
/// ```
///
/// # Shapes
///
/// - `inputs`: `[N, D]`
pub fn has_replicates(inputs: &Tensor<2>) -> bool {
    few_kinds(inputs).is_some()
}

/// The first row of each kind of equal rows, and the kind of each row. `None` if there are too many kinds to save time.
fn few_kinds(keys: &Tensor<2>) -> Option<(Vec<usize>, Vec<usize>)> {
    let [rows, columns] = keys.dims();
    if rows * columns == 0 {
        return None;
    }
    let mut kinds = first_equal_rows(&numbers(keys.clone()), columns);
    let mut first = Vec::new();
    for row in 0..rows {
        kinds[row] = match kinds[row] == row {
            true => first.len(),
            // An earlier row, whose kind is known.
            false => kinds[kinds[row]],
        };
        if kinds[row] == first.len() {
            first.push(row);
        }
    }
    let are_few = first.len() as f64 <= LARGEST_SHARE * rows as f64;
    are_few.then_some((first, kinds))
}

/// Sums of targets, in double precision.
struct Totals {
    counts: Vec<f64>,
    /// `[n, P]`
    means: Vec<f64>,
    squares: Vec<f64>,
}

impl Totals {
    /// From the kind of each row, of `count` kinds, and the targets, `[N, P]`.
    fn of(kinds: &[usize], count: usize, targets: &[f64], outputs: usize) -> Self {
        let mut totals = Self {
            counts: vec![0.0; count],
            means: vec![0.0; count * outputs],
            squares: vec![0.0; count],
        };
        let rows = || kinds.iter().zip(targets.chunks_exact(outputs.max(1)));
        for (&kind, row) in rows() {
            totals.counts[kind] += 1.0;
            let sums = &mut totals.means[kind * outputs..][..outputs];
            sums.iter_mut().zip(row).for_each(|(sum, y)| *sum += y);
        }
        let means = totals.means.chunks_exact_mut(outputs.max(1));
        for (sums, count) in means.zip(&totals.counts) {
            sums.iter_mut().for_each(|sum| *sum /= count);
        }
        for (&kind, row) in rows() {
            let means = &totals.means[kind * outputs..][..outputs];
            let squares = means.iter().zip(row).map(|(mean, y)| (y - mean).powi(2));
            totals.squares[kind] += squares.sum::<f64>();
        }
        totals
    }
}

fn indices(rows: &[usize], like: &Tensor<2>) -> Tensor<1, Int> {
    let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    Tensor::from_data(rows.as_slice(), &like.device())
}
