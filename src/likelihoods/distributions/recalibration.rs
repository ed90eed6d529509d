//! A monotone map of predictive distribution functions, fitted on rows that the model has not seen.

use serde::{Deserialize, Serialize};

use super::PredictiveDistribution;
use crate::ops::special::functions::{normal_cdf, normal_quantile};

/// The number of rows for every two knots more, and the largest number of knots. A number costs about 1/(2n) nats a row.
const ROWS_OF_TWO_KNOTS: usize = 100;
const MOST_KNOTS: usize = 9;

/// The normal score of a probability of 0 or 1 in double precision, within rounding.
const LARGEST_SCORE: f64 = 8.2;

/// The smallest distance of two knots.
const SMALLEST_STEP: f64 = 1e-6;

/// The largest slope of a tail, and the inverse of the smallest.
const LARGEST_SLOPE: f64 = 1e3;

/// The places that stand for a target with a positive probability.
const PLACES: usize = 8;

/// A map R of distribution functions F that makes `R(F(y))` uniform on the rows it was fitted on:
/// `R(p) = Φ(g(Φ⁻¹(p)))`, where g is increasing and linear between knots.
///
/// The knots are quantiles of the normal scores `z = Φ⁻¹(F(y))` of the rows, and their values are the quantiles of a
/// standard normal distribution: 1 knot, the median, from 20 rows on, 3 from 100, 9 from 400. The line beyond the last
/// knot has the slope of the highest likelihood, `Σ_i [log b − ½(w + b·d_i)²]`, with the distances `d_i` of the scores from
/// the knot and its value w. For a normal prediction, the map with one knot moves the median and scales the standard
/// deviation below and above it.
///
/// Quantiles are `F⁻¹(R⁻¹(p))`, densities `R′(F(y))·f(y)` and probabilities of numbers `R(F(y)) − R(F(y⁻))`.
///
/// Kuleshov, Fenner and Ermon, *Accurate uncertainties for deep learning using calibrated regression*, 2018, map F by the
/// empirical distribution function of `F(y)`. Its slope varies from row to row, so that log densities of new targets lose
/// about 0.4 nats; few knots keep the density.
///
/// ```
/// use burn_gp_core::likelihoods::{PredictiveDistribution, Recalibration};
///
/// // Predictions with half of the right standard deviation.
/// let targets: Vec<f64> = (1..100).map(|row| 2.0 * (f64::from(row) / 50.0 - 1.0)).collect();
/// let normal = PredictiveDistribution::of_normals(vec![0.0; 99], vec![0.3; 99]);
/// let map = Recalibration::fit(&normal, &targets)?;
/// let wider = normal.clone().recalibrated(&map);
/// assert!(wider.quantile(0.9)[0] > 2.0 * normal.quantile(0.9)[0]);
/// # Ok::<(), burn_gp_core::likelihoods::RecalibrationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recalibration {
    /// The number of rows that it was fitted on.
    pub rows: usize,
    /// Normal scores and their values, both ascending.
    knots: Vec<(f64, f64)>,
    /// The slopes below the first knot and above the last.
    slopes: (f64, f64),
}

/// The reason why there is no recalibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecalibrationError {
    /// There are too few rows.
    #[error(
        "there are {rows} held-out rows, but a recalibration needs at least {}",
        Recalibration::FEWEST_ROWS
    )]
    TooFewRows {
        /// The number of rows.
        rows: usize,
    },
    /// A prediction or a target is NaN.
    #[error("the prediction of held-out row {row} is not a number")]
    NotANumber {
        /// The zero-based row.
        row: usize,
    },
}

impl Recalibration {
    /// The fewest rows: the smallest map has three numbers.
    pub const FEWEST_ROWS: usize = 20;

    /// Fits the map to the targets of rows that the model has not seen, and their predictive distributions. A target with
    /// a positive probability, such as a count, stands for eight evenly spaced probabilities between `P(Y < y)` and
    /// `P(Y ≤ y)` (Czado, Gneiting and Held, *Predictive model assessment for count data*, 2009).
    ///
    /// # Errors
    ///
    /// If there are fewer than 20 rows, or a distribution function is NaN at its target.
    ///
    /// # Panics
    ///
    /// If the number of targets differs from the number of distributions.
    #[track_caller]
    pub fn fit(
        distribution: &PredictiveDistribution,
        targets: &[f64],
    ) -> Result<Self, RecalibrationError> {
        distribution.check(targets);
        let rows = targets.len();
        if rows < Self::FEWEST_ROWS {
            return Err(RecalibrationError::TooFewRows { rows });
        }
        let mut scores = Vec::new();
        for (row, &target) in targets.iter().enumerate() {
            let own = distribution.scores_of(row, target);
            if own.iter().any(|score| score.is_nan()) {
                return Err(RecalibrationError::NotANumber { row });
            }
            scores.extend(own);
        }
        Ok(Self::of_scores(rows, scores))
    }

    /// The map of the normal scores of targets, of which there may be several for each row.
    fn of_scores(rows: usize, mut scores: Vec<f64>) -> Self {
        scores.sort_by(f64::total_cmp);
        let count = (1 + 2 * (rows / ROWS_OF_TWO_KNOTS)).min(MOST_KNOTS);
        let mut knots: Vec<(f64, f64)> = Vec::with_capacity(count);
        for knot in 1..=count {
            let p = knot as f64 / (count + 1) as f64;
            let place = (quantile_of(&scores, p), normal_quantile(p));
            if (knots.last()).is_none_or(|last| place.0 - last.0 > SMALLEST_STEP) {
                knots.push(place);
            }
        }
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        let below = scores.iter().map(|score| first.0 - score);
        let above = scores.iter().map(|score| score - last.0);
        let slopes = (slope_of_tail(-first.1, below), slope_of_tail(last.1, above));
        Self {
            rows,
            knots,
            slopes,
        }
    }

    /// The knots and slopes around a score, or around a value if `of_values`: a point of the line and its slope.
    fn line(&self, at: f64, of_values: bool) -> ((f64, f64), f64) {
        let place = |knot: &(f64, f64)| if of_values { knot.1 } else { knot.0 };
        let knots = &self.knots;
        match knots.partition_point(|knot| place(knot) <= at) {
            0 => (knots[0], self.slopes.0),
            after if after == knots.len() => (knots[after - 1], self.slopes.1),
            after => {
                let (from, to) = (knots[after - 1], knots[after]);
                (from, (to.1 - from.1) / (to.0 - from.0))
            }
        }
    }

    /// `g(z)`.
    pub(super) fn value(&self, score: f64) -> f64 {
        let ((from, value), slope) = self.line(score, false);
        value + slope * (score - from)
    }

    /// `g⁻¹(w)`.
    pub(super) fn inverse(&self, value: f64) -> f64 {
        let ((score, from), slope) = self.line(value, true);
        score + (value - from) / slope
    }

    /// `R(p) = Φ(g(z))` for the normal score z of p.
    pub(super) fn probability(&self, score: f64) -> f64 {
        normal_cdf(self.value(score))
    }

    /// `log R′(p) = log g′(z) + ½(z² − g(z)²)` for the normal score z of p.
    pub(super) fn log_slope(&self, score: f64) -> f64 {
        let score = match score.is_infinite() {
            true => score.signum() * LARGEST_SCORE,
            false => score,
        };
        let (_, slope) = self.line(score, false);
        let value = self.value(score);
        slope.ln() + 0.5 * (score - value) * (score + value)
    }

    /// The normal scores and values of the knots.
    pub(super) fn knots(&self) -> &[(f64, f64)] {
        &self.knots
    }
}

/// The quantile of sorted numbers, whose k-th of n has the probability `k/(n + 1)`.
fn quantile_of(sorted: &[f64], p: f64) -> f64 {
    let place = (p * (sorted.len() + 1) as f64 - 1.0).clamp(0.0, (sorted.len() - 1) as f64);
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    sorted[low] + (place - place.floor()) * (sorted[high] - sorted[low])
}

/// The slope b with the largest `Σ_i [log b − ½(w + b·d_i)²]` over positive distances:
/// `b²·Σd² + b·w·Σd = n`. 1 if there are no distances.
fn slope_of_tail(value: f64, distances: impl Iterator<Item = f64>) -> f64 {
    let none = (0.0, 0.0, 0.0);
    let (count, sum, squares) = (distances.filter(|distance| *distance > 0.0)).fold(
        none,
        |(count, sum, squares), distance| {
            (count + 1.0, sum + distance, squares + distance * distance)
        },
    );
    if count == 0.0 {
        return 1.0;
    }
    let linear = value * sum;
    let root = (linear * linear + 4.0 * count * squares).sqrt();
    // Without cancellation: 2c/(b + √(b² + 4ac)).
    (2.0 * count / (linear + root)).clamp(LARGEST_SLOPE.recip(), LARGEST_SLOPE)
}

impl PredictiveDistribution {
    /// The normal scores that stand for a target, clamped to those of double precision.
    fn scores_of(&self, index: usize, target: f64) -> Vec<f64> {
        let own = self.within(index, target);
        let clamped = |score: f64| score.clamp(-LARGEST_SCORE, LARGEST_SCORE);
        match self.step_at(index, own) {
            None => {
                let score = self.normal_score(index, own);
                vec![if score.is_infinite() {
                    clamped(score)
                } else {
                    score
                }]
            }
            Some((below, at)) => {
                let place = |place: usize| (place as f64 + 0.5) / PLACES as f64;
                let places = (0..PLACES).map(|own| below + place(own) * (at - below));
                places.map(|p| clamped(score_of(p))).collect()
            }
        }
    }
}

/// `Φ⁻¹(p)`, infinite for 0 and 1.
pub(super) fn score_of(p: f64) -> f64 {
    match p {
        p if p <= 0.0 => f64::NEG_INFINITY,
        p if p >= 1.0 => f64::INFINITY,
        p => normal_quantile(p),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of normal predictions whose standard deviation is half of the right one.
    fn map(rows: usize) -> Recalibration {
        let scores = (0..rows).map(|row| 2.0 * normal_quantile((row as f64 + 0.5) / rows as f64));
        Recalibration::of_scores(rows, scores.collect())
    }

    #[test]
    fn a_factor_of_the_deviation_is_found() {
        for (rows, knots) in [(20, 1), (99, 1), (100, 3), (250, 5), (5000, 9)] {
            let own = map(rows);
            assert_eq!(own.knots().len(), knots, "{rows}");
            for score in [-5.0, -1.3, 0.0, 0.4, 2.2, 6.0] {
                let error = (own.value(score) - 0.5 * score).abs();
                // The quantiles of n rows, and a tail of a few of them.
                let tolerance = 4.0 / rows as f64 * (1.0 + score.abs());
                assert!(error < tolerance, "{rows} rows, {score}: {error}");
            }
        }
    }

    #[test]
    fn the_inverse_inverts_and_the_slope_is_the_derivative() {
        let scores: Vec<f64> = (0..450).map(|row| f64::from((row * 37) % 450)).collect();
        let scores = scores
            .iter()
            .map(|own| (own / 90.0).powi(2) - 2.0)
            .collect();
        let own = Recalibration::of_scores(450, scores);
        assert_eq!(own.knots().len(), 9);
        let mut previous = f64::NEG_INFINITY;
        for step in -40..=40 {
            let score = 0.2 * f64::from(step) + 0.013;
            let value = own.value(score);
            assert!(value > previous, "{score}");
            previous = value;
            // A few roundings.
            assert!((own.inverse(value) - score).abs() < 1e-12, "{score}");
            let (p, h) = (normal_cdf(score), 1e-6);
            let around = [-h, h].map(|shift| own.probability(score + shift));
            let numeric = (around[1] - around[0]) / (normal_cdf(score + h) - normal_cdf(score - h));
            let slope = own.log_slope(score).exp();
            // Differences of probabilities near zero or one lose digits.
            if p > 1e-6 && p < 1.0 - 1e-6 && around.iter().all(|p| (1e-6..1.0 - 1e-6).contains(p)) {
                assert!(
                    (numeric / slope - 1.0).abs() < 1e-3,
                    "{score}: {numeric}, {slope}"
                );
            }
        }
    }

    #[test]
    fn the_slope_of_a_tail_has_the_highest_likelihood() {
        let distances = [0.1, 0.7, 0.3, 1.9, 0.02];
        for value in [0.0, 0.4, 1.3] {
            let likelihood = |slope: f64| -> f64 {
                let each = distances.iter();
                each.map(|d| slope.ln() - 0.5 * (value + slope * d).powi(2))
                    .sum()
            };
            let found = slope_of_tail(value, distances.into_iter().chain([-0.5, 0.0]));
            for factor in [0.99, 1.01] {
                assert!(likelihood(found) > likelihood(factor * found), "{value}");
            }
        }
        assert_eq!(slope_of_tail(1.0, [-1.0].into_iter()), 1.0);
    }

    #[test]
    fn equal_scores_are_one_knot() {
        let own = Recalibration::of_scores(300, vec![0.5; 300]);
        assert_eq!(own.knots().len(), 1);
        assert!(own.value(0.6) > own.value(0.5));
    }
}
