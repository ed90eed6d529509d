//! Predictions in the units of the data of models of transformed targets, by quadrature.

use burn_gp_core::likelihoods::PredictiveDistribution;
use burn_gp_datasets::Standardizer;

/// The range of the logits of probabilities in the quadrature of moments, and the distance of its nodes. The trapezoidal
/// rule converges exponentially, because the integrand decays exponentially on both sides and is smooth.
const LOGITS: i32 = 30;
const LOGIT_STEP: f64 = 0.5;
/// The distance for recalibrated distributions, whose quantiles have kinks. The error is of second order in it there.
const SHORT_LOGIT_STEP: f64 = 0.02;

/// The intervals of the quadrature of scores on each side of a target.
const INTERVALS: usize = 200;
/// The probability outside of the range of that quadrature, on each side.
const OUTSIDE: f64 = 1e-9;

/// The distributions of targets whose transformed and standardized values have the given predictive distributions.
pub struct Transformed<'a> {
    distribution: &'a PredictiveDistribution,
    standardizer: &'a Standardizer,
}

impl<'a> Transformed<'a> {
    /// Targets by their `distribution`, `[N]`, after transformation and standardization.
    pub fn new(distribution: &'a PredictiveDistribution, standardizer: &'a Standardizer) -> Self {
        Self {
            distribution,
            standardizer,
        }
    }

    /// The means and the variances of the targets in the units of the data, `[N]` each: with the quantiles q(p) of the
    /// transformed targets, `E[y] = ∫₀¹ g⁻¹(q(p)) dp`, at evenly spaced logits of p.
    pub fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let count = self.distribution.len();
        let center = self
            .standardizer
            .inverse_targets(&self.distribution.quantile(0.5));
        let (mut weights, mut sums, mut squares) = (0.0, vec![0.0; count], vec![0.0; count]);
        let step = match self.distribution.is_recalibrated() {
            true => SHORT_LOGIT_STEP,
            false => LOGIT_STEP,
        };
        let most = (f64::from(LOGITS) / step) as i32;
        for node in -most..=most {
            let logit = f64::from(node) * step;
            let p = 1.0 / (1.0 + (-logit).exp());
            // dp = p(1 − p) d logit, without cancellation
            let weight = p / (1.0 + logit.exp());
            let values = self
                .standardizer
                .inverse_targets(&self.distribution.quantile(p));
            weights += weight;
            for (row, value) in values.into_iter().enumerate() {
                // Relative to the median, so that the variance does not cancel.
                let deviation = value - center[row];
                sums[row] += weight * deviation;
                squares[row] += weight * deviation * deviation;
            }
        }
        let rows = sums.iter().zip(&squares).zip(&center);
        rows.map(|((sum, square), center)| {
            let shift = sum / weights;
            (center + shift, (square / weights - shift * shift).max(0.0))
        })
        .unzip()
    }

    /// The continuous ranked probability score of each target in the units of the data, from its transformed and
    /// standardized value, `[N]`: `∫ (F(t) − 1[t ≥ y])² dt`, in steps of equal length of the transformed value. Two
    /// step lengths are combined so that errors of second order cancel (Richardson).
    pub fn continuous_ranked_probability_score(&self, transformed: &[f64]) -> Vec<f64> {
        let [lowest, highest] = [OUTSIDE, 1.0 - OUTSIDE].map(|p| self.distribution.quantile(p));
        let below = self.side(transformed, &lowest, |end, y| end.min(y), |cdf| cdf);
        let above = self.side(transformed, &highest, |end, y| end.max(y), |cdf| 1.0 - cdf);
        below
            .iter()
            .zip(&above)
            .map(|(below, above)| below + above)
            .collect()
    }

    /// `∫ h(F(t))² dt` between each target and the end on one side, which is beyond the target.
    fn side(
        &self,
        targets: &[f64],
        ends: &[f64],
        beyond: impl Fn(f64, f64) -> f64,
        height: impl Fn(f64) -> f64,
    ) -> Vec<f64> {
        let count = targets.len();
        let ends: Vec<f64> = ends
            .iter()
            .zip(targets)
            .map(|(&end, &y)| beyond(end, y))
            .collect();
        let at = |node: usize| -> (Vec<f64>, Vec<f64>) {
            let share = node as f64 / INTERVALS as f64;
            let places = targets.iter().zip(&ends);
            let places: Vec<f64> = places.map(|(y, end)| y + share * (end - y)).collect();
            let heights = self
                .distribution
                .cdf(&places)
                .into_iter()
                .map(|cdf| height(cdf).powi(2));
            (
                self.standardizer.inverse_targets(&places),
                heights.collect(),
            )
        };
        let (mut fine, mut coarse) = (vec![0.0; count], vec![0.0; count]);
        let mut previous = at(0);
        let mut even = previous.clone();
        for node in 1..=INTERVALS {
            let next = at(node);
            add_trapezoids(&mut fine, &previous, &next);
            if node % 2 == 0 {
                add_trapezoids(&mut coarse, &even, &next);
                even = next.clone();
            }
            previous = next;
        }
        fine.iter()
            .zip(&coarse)
            .map(|(fine, coarse)| (4.0 * fine - coarse) / 3.0)
            .collect()
    }
}

/// Adds the areas of trapezoids between places with heights.
fn add_trapezoids(sums: &mut [f64], from: &(Vec<f64>, Vec<f64>), to: &(Vec<f64>, Vec<f64>)) {
    for (row, sum) in sums.iter_mut().enumerate() {
        *sum += 0.5 * (from.1[row] + to.1[row]) * (to.0[row] - from.0[row]).abs();
    }
}

#[cfg(test)]
mod tests {
    use burn_gp_datasets::{TargetTransform, Transform};

    use super::*;

    /// `log y = 0.5 + 2z`, and others.
    fn standardizer(transform: Transform) -> Standardizer {
        Standardizer {
            target_mean: 0.5,
            target_scale: 2.0,
            target_transform: Some(TargetTransform {
                transform,
                data_mean: 3.0,
                data_scale: 4.0,
            }),
            ..Standardizer::identity(1)
        }
    }

    #[test]
    fn moments_of_log_normals() {
        let log = standardizer(Transform::Log);
        let distribution =
            PredictiveDistribution::of_normals(vec![0.2, -0.4, 1.0], vec![0.09, 0.01, 1e-6]);
        let (means, variances) = Transformed::new(&distribution, &log).moments();
        for (row, (mean, variance)) in [(0.2, 0.09), (-0.4, 0.01), (1.0, 1e-6)]
            .into_iter()
            .enumerate()
        {
            let (location, spread): (f64, f64) = (0.5 + 2.0 * mean, 4.0 * variance);
            let expected = (location + 0.5 * spread).exp();
            let square = expected * expected * spread.exp_m1();
            // The tails beyond logits of 30 have a probability of 1e-13, and e^{2·7.4·0.6} there.
            assert!(
                (means[row] / expected - 1.0).abs() < 1e-9,
                "{} {expected}",
                means[row]
            );
            assert!(
                (variances[row] / square - 1.0).abs() < 1e-7,
                "{} {square}",
                variances[row]
            );
        }
    }

    #[test]
    fn scores_of_log_normals() {
        // Closed form (Jordan et al., 2019) with location 0.4 and spread 0.6 at y = 2.2, and numerically elsewhere.
        let log = standardizer(Transform::Log);
        let spread = 0.6;
        let distribution =
            PredictiveDistribution::of_normals(vec![-0.05], vec![0.25 * spread * spread]);
        let own = Transformed::new(&distribution, &log);
        for y in [0.2, 1.0, 2.2, 9.0, 400.0] {
            let z = log.transform_targets(&[y]);
            let found = own.continuous_ranked_probability_score(&z)[0];
            // ∫ (F(t) − 1[t ≥ y])² dt by a midpoint rule with a million nodes of t.
            let (nodes, end) = (200_000, f64::max(60.0, 1.01 * y));
            let step = end / f64::from(nodes);
            let expected: f64 = (0..nodes)
                .map(|node| {
                    let t = step * (f64::from(node) + 0.5);
                    let cdf = distribution.cdf(&log.transform_targets(&[t]))[0];
                    (cdf - f64::from(u8::from(t >= y))).powi(2) * step
                })
                .sum();
            // The midpoint rule errs by up to half a step at the jump.
            assert!(
                (found - expected).abs() < step,
                "{found}, {expected} at {y}"
            );
        }
    }

    /// A power of one is no transformation.
    #[test]
    fn a_power_of_one_changes_nothing() {
        let own = standardizer(Transform::YeoJohnson { power: 1.0 });
        let distribution = PredictiveDistribution::of_normals(vec![0.3, -2.0], vec![0.5, 2.0]);
        let (means, variances) = Transformed::new(&distribution, &own).moments();
        let targets = [1.1, -0.4];
        let scores =
            Transformed::new(&distribution, &own).continuous_ranked_probability_score(&targets);
        let expected = distribution.continuous_ranked_probability_score(&targets);
        for (row, (mean, variance)) in [(0.3, 0.5), (-2.0, 2.0)].into_iter().enumerate() {
            assert!((means[row] - (0.5 + 2.0 * mean)).abs() < 1e-10);
            assert!((variances[row] - 4.0 * variance).abs() < 1e-9);
            // Errors of fourth order in steps of six deviations over 200.
            assert!(
                (scores[row] - 2.0 * expected[row]).abs() < 1e-6,
                "{scores:?}, {expected:?}"
            );
        }
    }
}
