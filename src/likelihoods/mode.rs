//! The mode of a target density times the Gaussian of a function.

use burn::tensor::Tensor;

use super::{QuadratureCenter, quadrature::SMALLEST_VARIANCE};
use crate::process::Marginals;

/// Number of search steps.
const STEPS: usize = 14;

/// Distances from the mean are clamped to this many standard deviations.
const FARTHEST: f64 = 1e8;

/// The step of finite differences, as a fraction of the width.
const STEP: f64 = 0.1;

/// The smallest width, as a fraction of the distance from the mean, at which single precision
/// resolves differences.
const SMALLEST_WIDTH: f64 = 1e-5;

/// A focus in standard deviations from the mean of the Gaussian. Its tensors are not tracked by
/// autodiff.
pub(super) struct Standardized {
    /// `(c − μ)/σ`, `[N, P]`
    pub center: Tensor<2>,
    /// `d/σ`, `[N, P]`
    pub width: Tensor<2>,
    mean: Tensor<2>,
    deviation: Tensor<2>,
}

impl Standardized {
    pub fn new(marginals: &Marginals, focus: QuadratureCenter) -> Self {
        let mean = marginals.mean.clone().detach();
        let variance = marginals.variance.clone().detach();
        let deviation = variance.clamp_min(SMALLEST_VARIANCE).sqrt();
        let center = (focus.center.detach() - mean.clone()) / deviation.clone();
        let center = center.clamp(-FARTHEST, FARTHEST);
        let smallest = (center.clone().abs() + 1.0) * SMALLEST_WIDTH;
        let width = focus.width.detach() / deviation.clone();
        Self {
            width: width.max_pair(smallest.clamp_max(1.0)),
            center,
            mean,
            deviation,
        }
    }

    /// The mode of `p(y | f)·N(f; μ, σ²)` next to the peak of the density, which is the focus, and
    /// the distance `(−d²/dz² log(…))^(−½)` over which the product falls off around it. Both are in
    /// standard deviations, the mode relative to the mean, `[N, P]`.
    ///
    /// The mode lies between the peak and the mean. The search runs Newton's method from the peak.
    /// It bisects instead if a step leaves the interval in which the slope changes sign, or is more
    /// than half as long as the previous step. Derivatives are finite differences.
    ///
    /// # Shapes
    ///
    /// - `log_density`: from values of `f`, `[S, N, P]`, to `[S, N, P]`
    pub fn mode(&self, log_density: impl Fn(Tensor<3>) -> Tensor<3>) -> (Tensor<2>, Tensor<2>) {
        // Parameterization along the line from the mean to the peak.
        let is_left = self.center.clone().lower_elem(0.0);
        let mut last = self.center.clone().abs();
        let mut first = last.zeros_like();
        let direction = (first.clone() + 1.0).mask_fill(is_left, -1.0);
        let scale = self.width.clone().clamp_max(1.0);
        let derivatives = |place: &Tensor<2>| {
            let step = scale.clone() * STEP;
            let outward = direction.clone() * self.deviation.clone();
            let at = |place: Tensor<2>| (place * outward.clone() + self.mean.clone()).unsqueeze();
            let (before, after) = (place.clone() - step.clone(), place.clone() + step.clone());
            let around = Tensor::cat(vec![at(before), at(place.clone()), at(after)], 0);
            let values = log_density(around).detach();
            let value = |index| values.clone().narrow(0, index, 1).squeeze_dim::<2>(0);
            let (rise, fall) = (value(2) - value(1), value(1) - value(0));
            let slope = (rise.clone() + fall.clone()) / (step.clone() * 2.0) - place.clone();
            (slope, (rise - fall) / step.square() - 1.0)
        };
        let (mut place, mut change) = (last.clone(), last.clone() * 2.0);
        for _ in 0..STEPS {
            let (slope, curvature) = derivatives(&place);
            // Where the density is NaN, the mode is closer to its peak.
            let is_behind = slope.clone().lower_elem(0.0);
            first = place.clone().mask_where(is_behind.clone(), first);
            last = last.mask_where(is_behind, place.clone());
            let newton = place.clone() - slope / curvature.clone();
            let newton_change = (newton.clone() - place.clone()).abs();
            let is_smaller = newton_change.clone().lower_equal(change * 0.5);
            let is_small = newton_change.lower_equal(scale.clone() * STEP);
            let is_within = (newton.clone().greater_equal(first.clone()))
                .bool_and(newton.clone().lower_equal(last.clone()));
            let is_sound = (curvature.lower_elem(0.0))
                .bool_and(is_within)
                .bool_and(is_smaller.bool_or(is_small));
            let middle = (first.clone() + last.clone()) * 0.5;
            let next = middle.mask_where(is_sound, newton);
            change = (next.clone() - place).abs();
            place = next;
        }
        let (_, curvature) = derivatives(&place);
        let is_concave = curvature.clone().lower_elem(0.0);
        let width = curvature.neg().clamp_min(1.0).sqrt().recip();
        (place * direction, scale.mask_where(is_concave, width))
    }
}
