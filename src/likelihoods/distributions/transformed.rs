//! Predictive distributions of targets whose transformed values a likelihood describes.

use burn_gp_transforms::Transform;

use super::{PredictiveDistribution, Support};

/// The range of the logits of probabilities in the quadrature of moments, and the distance of its nodes. The trapezoidal
/// rule converges exponentially, because the integrand decays exponentially on both sides and is smooth.
const LOGITS: i32 = 30;
const LOGIT_STEP: f64 = 0.5;
/// The distance for quantiles with kinks. The error is of second order in it there.
const SHORT_LOGIT_STEP: f64 = 0.02;

/// The intervals of the quadrature of scores on each side of a target. Their number is even.
const INTERVALS: usize = 200;
/// The probability outside of the range of that quadrature, on each side.
const OUTSIDE: f64 = 1e-9;

impl PredictiveDistribution {
    /// The distributions of targets y whose transformed values `g(y)` have these distributions, which convert predictions of
    /// transformed targets to the units of the data. There is one transformation g for each output.
    ///
    /// Quantiles are `g⁻¹(q(p))`, and `P(y ≤ t)` is that of `g(y) ≤ g(t)`. Values below the range of Box-Cox stand for
    /// zero, which then has their probability.
    ///
    /// ```
    /// use burn_gp_core::{likelihoods::PredictiveDistribution, transforms::Transform};
    ///
    /// // log y ~ N(1, 0.5)
    /// let prices = PredictiveDistribution::of_normals(vec![1.0], vec![0.5]).transformed(&[Transform::Log]);
    /// let (means, _) = prices.moments();
    /// assert!((means[0] - 1.25f64.exp()).abs() < 1e-12);
    /// assert!((prices.quantile(0.5)[0] - 1f64.exp()).abs() < 1e-12);
    /// ```
    ///
    /// # Panics
    ///
    /// If the number of transformations does not divide the number of targets, or targets are not on the real line or are
    /// transformed already.
    #[track_caller]
    pub fn transformed(mut self, transforms: &[Transform]) -> Self {
        self.require_untransformed("a transformation");
        let support = self.target_of(0).support();
        assert!(
            support == Support::Reals && self.len().is_multiple_of(transforms.len().max(1)),
            "{} transformations of {} targets on {support:?}",
            transforms.len(),
            self.len()
        );
        self.transforms = transforms.to_vec();
        self
    }

    /// The transformation of a target.
    pub(super) fn transform_of(&self, index: usize) -> Option<&Transform> {
        let outputs = self.transforms.len();
        (outputs > 0).then(|| &self.transforms[index % outputs])
    }

    #[track_caller]
    pub(super) fn require_untransformed(&self, what: &str) {
        assert!(
            self.transforms.is_empty(),
            "transformed targets cannot have {what}"
        );
    }

    /// What the log density of each target y has in addition to that of the target `z = (g(y) − m)/s` of the likelihood:
    /// `log dz/dy = log g′(y) − log s`, with the transformation g, the shift m and the scale s of its output, as far as
    /// there are such. 0 without.
    ///
    /// # Panics
    ///
    /// If the number of targets differs from the number of distributions.
    #[track_caller]
    pub fn log_jacobian(&self, targets: &[f64]) -> Vec<f64> {
        self.check(targets);
        let of_target = |(index, &target): (usize, &f64)| {
            let slope = self.transform_of(index);
            let slope = slope.map_or(0.0, |own| own.log_slope(target));
            slope - self.unit(index).map_or(0.0, |unit| unit.scale.ln())
        };
        targets.iter().enumerate().map(of_target).collect()
    }

    /// The target of the likelihood below which all stand for the lower end of the targets.
    pub(super) fn lowest_within(&self, index: usize) -> f64 {
        let transform = self.transform_of(index);
        let lowest = transform.map_or(f64::NEG_INFINITY, Transform::lowest);
        (self.unit(index)).map_or(lowest, |unit| (lowest - unit.shift) / unit.scale)
    }

    /// The mean and variance of a transformed target, in the units of the data.
    pub(super) fn moments_of_transformed(&self, index: usize) -> (f64, f64) {
        match self.normal_logarithms_of(index) {
            Some(components) => of_exponentials(&components),
            None => self.integrated_moments(index),
        }
    }

    /// The means and variances of the components of the logarithm of a target, if all are normal.
    fn normal_logarithms_of(&self, index: usize) -> Option<Vec<(f64, f64)>> {
        let is_plain = self.recalibration.is_none();
        (is_plain && self.transform_of(index) == Some(&Transform::Log)).then_some(())?;
        let (shift, scale) = (self.unit(index)).map_or((0.0, 1.0), |unit| (unit.shift, unit.scale));
        let components = self.normals_of(index)?.into_iter();
        let rescaled =
            components.map(|(mean, variance)| (shift + scale * mean, scale * scale * variance));
        Some(rescaled.collect())
    }

    /// The moments by quadrature at evenly spaced logits of probabilities.
    fn integrated_moments(&self, index: usize) -> (f64, f64) {
        let has_kinks = self.is_recalibrated()
            || matches!(self.transform_of(index), Some(Transform::Quantile { .. }));
        let step = match has_kinks {
            true => SHORT_LOGIT_STEP,
            false => LOGIT_STEP,
        };
        // Relative to the median, so that the variance does not cancel.
        let center = self.quantile_of(index, 0.5);
        let terms = |logit: f64| {
            let p = 1.0 / (1.0 + (-logit).exp());
            // dp = p(1 − p) d logit, without cancellation
            let weight = p / (1.0 + logit.exp());
            let deviation = self.quantile_of(index, p) - center;
            [weight, weight * deviation, weight * deviation * deviation]
        };
        let most = (f64::from(LOGITS) / step) as i32;
        let nodes = (-most..=most).map(|node| terms(f64::from(node) * step));
        let [weights, sum, squares] = nodes.fold([0.0; 3], |sums, own| {
            [sums[0] + own[0], sums[1] + own[1], sums[2] + own[2]]
        });
        let ends = [-1.0, 1.0].map(|side| {
            let [inner, outer] = [LOGITS - 1, LOGITS].map(|logit| terms(side * f64::from(logit)));
            let grows = |power: usize| {
                outer[power].abs() > inner[power].abs() || outer[power].is_infinite()
            };
            [grows(1), grows(2)]
        });
        let shift = match ends.map(|[mean, _]| mean) {
            [false, false] => sum / weights,
            [true, false] => f64::NEG_INFINITY,
            [false, true] => f64::INFINITY,
            [true, true] => f64::NAN,
        };
        let variance = match ends.iter().flatten().any(|grows| *grows) {
            true => f64::INFINITY,
            false => (squares / weights - shift * shift).max(0.0),
        };
        (center + shift, variance)
    }

    /// The continuous ranked probability score of a transformed target, in steps of equal length of the transformed value.
    pub(super) fn score_of_transformed(&self, index: usize, target: f64) -> f64 {
        let [lowest, highest] = [OUTSIDE, 1.0 - OUTSIDE].map(|p| self.quantile_within(index, p));
        // Between a number below all possible targets and these, the distribution function is 0.
        let (own, outside) = match self.within(index, target) {
            f64::NEG_INFINITY => (lowest, self.in_unit(index, lowest) - target),
            own => (own, 0.0),
        };
        let below = self.side(index, (own, lowest.min(own)), |cdf| cdf);
        let above = self.side(index, (own, highest.max(own)), |cdf| 1.0 - cdf);
        outside + below + above
    }

    /// `∫ h(F(t))² dt` between two targets of the likelihood, in the units of the data. Two step lengths are combined so
    /// that errors of second order cancel (Richardson).
    fn side(&self, index: usize, (from, to): (f64, f64), height: impl Fn(f64) -> f64) -> f64 {
        let node = |node: usize| {
            let place = from + node as f64 / INTERVALS as f64 * (to - from);
            let height = height(self.cdf_within(index, place));
            (self.in_unit(index, place), height * height)
        };
        let nodes: Vec<(f64, f64)> = (0..=INTERVALS).map(node).collect();
        let trapezoids = |step: usize| -> f64 {
            let ends = nodes.iter().step_by(step);
            let pairs = ends.clone().zip(ends.skip(1));
            pairs
                .map(|(a, b)| 0.5 * (a.1 + b.1) * (b.0 - a.0).abs())
                .sum()
        };
        (4.0 * trapezoids(1) - trapezoids(2)) / 3.0
    }
}

/// The mean and variance of the exponential of a mixture of normals with these means m and variances v:
/// `E[y] = mean of exp(m + v/2)`, and the variance is the mean of `exp(m + v/2)²·(e^v − 1)` and the variance of the means.
fn of_exponentials(components: &[(f64, f64)]) -> (f64, f64) {
    let count = components.len() as f64;
    let means: Vec<f64> = components
        .iter()
        .map(|(mean, variance)| (mean + 0.5 * variance).exp())
        .collect();
    let mean = means.iter().sum::<f64>() / count;
    if mean == f64::INFINITY {
        return (mean, f64::INFINITY);
    }
    let squares = components.iter().zip(&means);
    let squares =
        squares.map(|((_, variance), own)| own * own * variance.exp_m1() + (own - mean).powi(2));
    (mean, squares.sum::<f64>() / count)
}
