//! A monotone map of predictive distribution functions, fitted on rows that the model has not seen.

mod fit;

use core::f64::consts::PI;

use serde::{Deserialize, Serialize};

use crate::ops::special::functions::{normal_cdf, normal_quantile};

/// The normal score of a probability of 0 or 1 in double precision, within rounding.
const LARGEST_SCORE: f64 = 8.2;

/// A map R of distribution functions F that makes `R(F(y))` uniform on the rows it was fitted on:
/// `R(p) = Φ(g(Φ⁻¹(p)))`, where g is increasing and linear between knots.
///
/// The knots are quantiles of the normal scores `z = Φ⁻¹(F(y))` of the rows, and their values are the quantiles of a
/// standard normal distribution: 1 knot, the median, from 20 rows on, 3 from 100, 9 from 400. The line beyond the last
/// knot has the slope of the highest likelihood, `Σ_i [log b − ½(w + b·d_i)²]`, with the distances `d_i` of the scores from
/// the knot and its value w, each at most five times their median, so that one wild target changes little. For a normal prediction, the map with one knot moves the median and scales the standard
/// deviation below and above it.
///
/// Quantiles are `F⁻¹(R⁻¹(p))`, densities `R′(F(y))·f(y)` and probabilities of numbers `R(F(y)) − R(F(y⁻))`.
///
/// Kuleshov, Fenner and Ermon, *Accurate uncertainties for deep learning using calibrated regression*, 2018, map F by the
/// empirical distribution function of `F(y)`. Its slope varies from row to row, which log densities of new targets suffer
/// from; few knots keep the density smooth.
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
#[serde(try_from = "Unchecked")]
pub struct Recalibration {
    /// The number of rows that it was fitted on.
    pub rows: usize,
    /// Normal scores and their values, both ascending.
    knots: Vec<(f64, f64)>,
    /// The slopes below the first knot and above the last.
    slopes: (f64, f64),
}

/// The contents of a [`Recalibration`] in a file.
#[derive(Deserialize)]
struct Unchecked {
    rows: usize,
    knots: Vec<(f64, f64)>,
    slopes: (f64, f64),
}

impl TryFrom<Unchecked> for Recalibration {
    type Error = String;

    fn try_from(file: Unchecked) -> Result<Self, String> {
        let is_number = |&(score, value): &(f64, f64)| score.is_finite() && value.is_finite();
        let ascends = |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1;
        if file.knots.is_empty()
            || !file.knots.iter().all(is_number)
            || !file.knots.windows(2).all(ascends)
        {
            return Err("the knots of a recalibration must be ascending numbers".to_owned());
        }
        let (below, above) = file.slopes;
        if ![below, above]
            .iter()
            .all(|slope| *slope > 0.0 && slope.is_finite())
        {
            return Err(format!(
                "the slopes of a recalibration are {below} and {above}; expected positive and finite numbers"
            ));
        }
        Ok(Self {
            rows: file.rows,
            knots: file.knots,
            slopes: file.slopes,
        })
    }
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

    /// `R⁻¹(p)`, above 0 and below 1.
    pub(super) fn inverse_probability(&self, p: f64) -> f64 {
        let own = normal_cdf(self.inverse(score_of(p)));
        own.clamp(f64::MIN_POSITIVE, 1.0 - 0.5 * f64::EPSILON)
    }

    /// The mean and the variance of `g⁻¹(W)` for a standard normal W, which are those of a standard normal prediction
    /// after the map. On a line `α + β·w` from a to b, the moments of W are `Φ(b) − Φ(a)`, `φ(a) − φ(b)` and
    /// `Φ(b) − Φ(a) + a·φ(a) − b·φ(b)`.
    pub(super) fn moments_of_standard_normal(&self) -> (f64, f64) {
        let density = |w: f64| (-0.5 * w * w).exp() / (2.0 * PI).sqrt();
        let edge = |w: f64| if w.is_finite() { w * density(w) } else { 0.0 };
        let ends: Vec<f64> = ([f64::NEG_INFINITY].into_iter())
            .chain(self.knots.iter().map(|&(_, value)| value))
            .chain([f64::INFINITY])
            .collect();
        let (mut mean, mut square) = (0.0, 0.0);
        for (piece, pair) in ends.windows(2).enumerate() {
            let (low, high) = (pair[0], pair[1]);
            // A knot of the piece, and the slope of g after the first or before the last.
            let (score, value) = self.knots[piece.min(self.knots.len() - 1)];
            let inside = if piece == 0 { value - 1.0 } else { low };
            let (_, slope) = self.line(inside, true);
            let (shift, factor) = (score - value / slope, slope.recip());
            let own = normal_cdf(high) - normal_cdf(low);
            let first = density(low) - density(high);
            let second = own + edge(low) - edge(high);
            mean += shift * own + factor * first;
            square += shift * shift * own + 2.0 * shift * factor * first + factor * factor * second;
        }
        (mean, square - mean * mean)
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

    #[test]
    fn files_with_impossible_maps_are_refused() {
        let read = |knots: &str, slopes: &str| {
            let text = format!("{{\"rows\": 30, \"knots\": {knots}, \"slopes\": {slopes}}}");
            serde_json::from_str::<Recalibration>(&text)
        };
        let own = read("[[-0.3, 0.0], [0.5, 1.0]]", "[0.5, 2.0]").expect("a map");
        let written = serde_json::to_string(&own).expect("text");
        assert_eq!(
            serde_json::from_str::<Recalibration>(&written).expect("a map"),
            own
        );
        for (knots, slopes) in [
            ("[]", "[0.5, 2.0]"),
            ("[[0.5, 0.0], [0.5, 1.0]]", "[0.5, 2.0]"),
            ("[[-0.3, 1.0], [0.5, 0.0]]", "[0.5, 2.0]"),
            ("[[-0.3, 0.0], [0.5, 1.0]]", "[0.0, 2.0]"),
        ] {
            assert!(read(knots, slopes).is_err(), "{knots}, {slopes}");
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

    /// By the midpoint rule.
    #[test]
    fn moments_are_those_of_the_inverse() {
        let own = Recalibration {
            rows: 300,
            knots: vec![(-1.3, -0.67), (0.2, 0.0), (0.5, 0.67)],
            slopes: (0.7, 1.9),
        };
        let (step, mut sums) = (1e-4, [0.0; 3]);
        for node in -100_000..100_000 {
            let w = step * (f64::from(node) + 0.5);
            let weight = step * (-0.5 * w * w).exp() / (2.0 * PI).sqrt();
            let place = own.inverse(w);
            sums[0] += weight;
            sums[1] += weight * place;
            sums[2] += weight * place * place;
        }
        let (mean, variance) = own.moments_of_standard_normal();
        // The rule errs by the square of its step.
        assert!((sums[0] - 1.0).abs() < 1e-8);
        assert!((mean - sums[1]).abs() < 1e-7, "{mean}, {}", sums[1]);
        let expected = sums[2] - sums[1] * sums[1];
        assert!((variance - expected).abs() < 1e-7, "{variance}, {expected}");
    }
}
