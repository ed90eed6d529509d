//! Up to [`WIDTH`] rows with their neighbors, one row in each lane.

use core::ops::Range;

use super::problem::{Failure, Problem};
use crate::ops::{
    cpu::{Lanes, Scalar, WIDTH},
    neighbor_conditional::{Attempts, factor, failed_pivot, solve, solve_transposed, triangle},
    stationary::Profile,
};

/// A conditional variance below this many units of rounding of the prior variance counts as lost.
const LEAST_VARIANCE: f64 = 10.0;

/// A group of rows. Neighbors come first, the row itself is the last of `q = m + 1` places.
pub struct Group<T> {
    pub rows: Range<usize>,
    /// The number of neighbors of each row.
    pub counts: [usize; WIDTH],
    pub attempts: Attempts,
    dimensions: usize,
    /// Differences to the row itself, in lengthscales, [q, D].
    points: Vec<Lanes<T>>,
    /// [q, P], zero at padded places.
    targets: Vec<Lanes<T>>,
    /// The covariance, then its factor.
    tile: Vec<Lanes<T>>,
    /// `σ²·φ′(r²)`, below the diagonal.
    rates: Vec<Lanes<T>>,
    /// b, then v, [q].
    pub weights: Vec<Lanes<T>>,
    /// d
    pub variance: Lanes<T>,
    /// `Σ_p e_p²/d`
    pub fit: Lanes<T>,
    /// `γ = Σ_p (e_p/d)·α_p`, and zero for the row itself, [q].
    gamma: Vec<Lanes<T>>,
    /// d̄
    pub slope: Lanes<T>,
    /// `tr K̄` without padded places
    pub trace: Lanes<T>,
    /// `Σ 2K̄_jk·σ²φ′·(x_j − x_k)²` over pairs j > k, `[D]`
    pub squares: Vec<Lanes<T>>,
    /// `Σ_k 2K̄_jk·σ²φ′·(x_j − x_k)`, [q, D], or empty.
    pub pulls: Vec<Lanes<T>>,
}

impl<T: Scalar> Group<T> {
    /// Room for the rows of a problem.
    pub fn new(problem: &Problem<'_, T>) -> Self {
        let (size, dimensions) = (problem.request.rows.width() + 1, problem.inverse.len());
        let [of_inputs, of_others] = problem.request.wanted;
        let zero = Lanes::splat(T::default());
        let zeros = |wanted, count| vec![zero; if wanted { count } else { 0 }];
        Self {
            rows: 0..0,
            counts: [0; WIDTH],
            attempts: Attempts::new(problem.request.jitter.attempts(T::EPSILON).collect()),
            dimensions,
            points: zeros(true, size * dimensions),
            targets: zeros(true, size * problem.outputs),
            tile: zeros(true, triangle(size)),
            rates: zeros(of_others, triangle(size)),
            weights: zeros(true, size),
            variance: zero,
            fit: zero,
            gamma: zeros(true, size),
            slope: zero,
            trace: zero,
            squares: zeros(true, dimensions),
            pulls: zeros(of_inputs, size * dimensions),
        }
    }

    /// The number of neighbors that fit, m.
    pub fn width(&self) -> usize {
        self.weights.len() - 1
    }

    /// Reads the points and the targets of some rows and their neighbors. The last row fills the lanes beyond
    /// the others.
    #[inline(always)]
    pub fn gather(&mut self, problem: &Problem<'_, T>, rows: Range<usize>) {
        let (width, dimensions, outputs) = (self.width(), self.dimensions, problem.outputs);
        for lane in 0..WIDTH {
            let row = (rows.start + lane).min(rows.end - 1);
            let count = problem.request.rows.counts[row] as usize;
            let own = problem.request.rows.own[row] as usize;
            let origin = &problem.inputs[own * dimensions..][..dimensions];
            self.counts[lane] = count;
            for place in 0..=width {
                let is_padded = (count..width).contains(&place);
                let from = match place < count {
                    true => problem.request.rows.neighbors[row * width + place] as usize,
                    false => own,
                };
                let point = &problem.inputs[from * dimensions..][..dimensions];
                for d in 0..dimensions {
                    self.points[place * dimensions + d].0[lane] =
                        (point[d] - origin[d]) * problem.inverse[d];
                }
                let targets = &problem.residual[from * outputs..][..outputs];
                for (p, &target) in targets.iter().enumerate() {
                    self.targets[place * outputs + p].0[lane] =
                        if is_padded { T::default() } else { target };
                }
            }
        }
        self.rows = rows;
        self.attempts.reset();
    }

    /// Computes b and d.
    ///
    /// # Errors
    ///
    /// For the first row that has none even with the largest jitter.
    #[inline(always)]
    pub fn condition<P: Profile<T>, const FUSED: bool>(
        &mut self,
        problem: &Problem<'_, T>,
    ) -> Result<(), Failure> {
        let width = self.width();
        loop {
            self.fill::<P, FUSED>(problem);
            factor::<T, FUSED>(&mut self.tile, width + 1);
            if !self.escalated(problem)? {
                break;
            }
        }
        let own = &self.tile[triangle(width)..];
        self.variance = own[width];
        self.weights[..width].copy_from_slice(&own[..width]);
        solve_transposed::<T, FUSED>(&self.tile, &mut self.weights[..width]);
        Ok(())
    }

    /// Raises the jitter of the rows without a factor; `false` if all rows have one.
    fn escalated(&mut self, problem: &Problem<'_, T>) -> Result<bool, Failure> {
        let width = self.width();
        let prior = (problem.variance + problem.noise).to_f64();
        let least = LEAST_VARIANCE * T::EPSILON * prior;
        let mut again = false;
        for (lane, row) in self.rows.clone().enumerate() {
            let is_known = self.tile[triangle(width) + width].0[lane].to_f64() > least;
            let failed = failed_pivot(&self.tile, width, lane);
            let Some(pivot) = failed.or((!is_known).then_some(width)) else {
                continue;
            };
            let jitter = self.attempts.jitter(lane);
            if !prior.is_finite() || !self.attempts.escalate(lane) {
                return Err(Failure {
                    row: problem.request.rows.own[row] as usize,
                    pivot: pivot.min(self.counts[lane]),
                    jitter,
                });
            }
            again = true;
        }
        Ok(again)
    }

    /// Computes the covariances, and their rates of change if needed.
    #[inline(always)]
    fn fill<P: Profile<T>, const FUSED: bool>(&mut self, problem: &Problem<'_, T>) {
        let variance = Lanes::splat(problem.variance);
        let prior = problem.variance + problem.noise;
        let mut diagonal = Lanes::splat(prior);
        for lane in 0..WIDTH {
            let jitter = self.attempts.jitter(lane);
            diagonal.0[lane] += T::from_f64(jitter) * prior;
        }
        for row in 0..=self.width() {
            let first = triangle(row);
            for column in 0..row {
                let mut value = self.squared_distance::<FUSED>(row, column);
                if self.rates.is_empty() {
                    for value in &mut value.0 {
                        *value = P::value::<FUSED>(*value);
                    }
                } else {
                    let mut rate = value;
                    for lane in 0..WIDTH {
                        (value.0[lane], rate.0[lane]) = P::value_and_slope::<FUSED>(value.0[lane]);
                    }
                    self.rates[first + column] = rate.times(variance);
                }
                self.tile[first + column] = value.times(variance);
            }
            self.tile[first + row] = diagonal;
        }
        if self.counts.iter().any(|&count| count < self.width()) {
            self.pad();
        }
    }

    /// Gives padded places variance one and no covariances.
    fn pad(&mut self) {
        let width = self.width();
        for lane in 0..WIDTH {
            for place in self.counts[lane]..width {
                for other in 0..place {
                    self.tile[triangle(place) + other].0[lane] = T::default();
                }
                self.tile[triangle(place) + place].0[lane] = T::from_f64(1.0);
                for other in place + 1..=width {
                    self.tile[triangle(other) + place].0[lane] = T::default();
                }
            }
        }
    }

    #[inline(always)]
    fn difference(&self, place: usize, other: usize, d: usize) -> Lanes<T> {
        let at = |place| self.points[place * self.dimensions + d];
        at(place).minus(at(other))
    }

    #[inline(always)]
    fn squared_distance<const FUSED: bool>(&self, place: usize, other: usize) -> Lanes<T> {
        let mut sum = Lanes::splat(T::default());
        for d in 0..self.dimensions {
            let difference = self.difference(place, other, d);
            sum = difference.multiply_add::<FUSED>(difference, sum);
        }
        sum
    }

    /// Prepares the sums over outputs that [`residual`](Self::residual) adds to.
    pub fn clear_residuals(&mut self) {
        self.fit = Lanes::splat(T::default());
        self.gamma.fill(self.fit);
    }

    /// `e/d` for one of the outputs. Adds `e²/d` and `(e/d)·r_c`.
    #[inline(always)]
    pub fn residual<const FUSED: bool>(&mut self, output: usize, outputs: usize) -> Lanes<T> {
        let width = self.width();
        let mut error = self.targets[width * outputs + output];
        for place in 0..width {
            let target = self.targets[place * outputs + output];
            error = error.minus(self.weights[place].times(target));
        }
        let mut scaled = error;
        for lane in 0..WIDTH {
            scaled.0[lane] = error.0[lane] / self.variance.0[lane];
        }
        self.fit = error.multiply_add::<FUSED>(scaled, self.fit);
        if !self.rates.is_empty() {
            for place in 0..width {
                let target = self.targets[place * outputs + output];
                self.gamma[place] = scaled.multiply_add::<FUSED>(target, self.gamma[place]);
            }
        }
        scaled
    }

    /// Computes γ, d̄ and the sums over pairs of K̄.
    #[inline(always)]
    pub fn differentiate<const FUSED: bool>(&mut self, outputs: usize) {
        let (width, zero) = (self.width(), Lanes::splat(T::default()));
        solve::<T, FUSED>(&self.tile, &mut self.gamma[..width]);
        solve_transposed::<T, FUSED>(&self.tile, &mut self.gamma[..width]);
        // d̄ = ½·Σ_p (e_p²/d² − 1/d); lanes beyond the last row count nothing.
        self.slope = zero;
        for lane in 0..self.rows.len() {
            let twice = self.fit.0[lane] - T::from_f64(outputs as f64);
            self.slope.0[lane] = T::from_f64(0.5) * twice / self.variance.0[lane];
        }
        for lane in self.rows.len()..WIDTH {
            self.gamma
                .iter_mut()
                .for_each(|gamma| gamma.0[lane] = T::default());
        }
        for weight in &mut self.weights[..width] {
            *weight = zero.minus(*weight);
        }
        self.weights[width] = Lanes::splat(T::from_f64(1.0));
        self.trace = zero;
        for (&v, &gamma) in self.weights.iter().zip(&self.gamma) {
            let entry = v.times(self.slope.multiply_add::<FUSED>(v, gamma));
            self.trace = self.trace.plus(entry);
        }
        self.add_pairs::<FUSED>();
    }

    /// Adds up all pairs.
    #[inline(always)]
    fn add_pairs<const FUSED: bool>(&mut self) {
        let zero = Lanes::splat(T::default());
        self.squares.fill(zero);
        self.pulls.fill(zero);
        let twice = self.slope.plus(self.slope);
        for row in 0..=self.width() {
            let v = self.weights[row];
            let own = twice.multiply_add::<FUSED>(v, self.gamma[row]);
            for column in 0..row {
                // 2K̄ = (2d̄·v_j + γ_j)·v_k + v_j·γ_k
                let entry = v.times(self.gamma[column]);
                let entry = own.multiply_add::<FUSED>(self.weights[column], entry);
                self.pull::<FUSED>(row, column, entry.times(self.rates[triangle(row) + column]));
            }
        }
    }

    /// Adds `w·(x_j − x_k)²`, and `w·(x_j − x_k)` for both points if needed.
    #[inline(always)]
    fn pull<const FUSED: bool>(&mut self, place: usize, other: usize, weight: Lanes<T>) {
        let dimensions = self.dimensions;
        for d in 0..dimensions {
            let difference = self.difference(place, other, d);
            let pull = weight.times(difference);
            self.squares[d] = pull.multiply_add::<FUSED>(difference, self.squares[d]);
            if !self.pulls.is_empty() {
                let [own, others] = [place, other].map(|place| place * dimensions + d);
                self.pulls[own] = self.pulls[own].plus(pull);
                self.pulls[others] = self.pulls[others].minus(pull);
            }
        }
    }
}
