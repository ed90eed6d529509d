//! The continuous ranked probability score of predictive distributions.

use core::f64::consts::{FRAC_PI_2, PI};

use super::{PredictiveDistribution, Support};
use crate::{likelihoods::bernoulli_logit::logistic, ops::special::functions::normal_cdf};

/// The probability in each tail of a distribution of counts that is left out. Its square enters the score.
const TAIL: f64 = 1e-10;

/// The counts at the lower end of a distribution that are summed one by one. Further up, one count stands for
/// those around it, whose number grows in proportion to the distance from the lower end.
const SINGLE_COUNTS: f64 = 1024.0;

/// The distance between the nodes of double exponential quadrature.
const STEP: f64 = 1.0 / 12.0;

/// The largest number of components between whose locations the integral is divided.
const PIECES: usize = 8;

impl PredictiveDistribution {
    /// The continuous ranked probability score of every target y,
    /// `∫ (P(Y ≤ t) − 1[t ≥ y])² dt = E|Y − y| − ½E|Y − Y′|`, in the units of the targets. It is the absolute
    /// error of a certain prediction; smaller is better
    /// (T. Gneiting, A. E. Raftery, *Strictly Proper Scoring Rules, Prediction, and Estimation*, 2007).
    ///
    /// Mixtures of normal distributions have a closed form; other distributions are integrated or summed, with a
    /// relative error below 1e-6.
    ///
    /// # Panics
    ///
    /// If the number of targets differs from the number of distributions.
    #[track_caller]
    pub fn continuous_ranked_probability_score(&self, targets: &[f64]) -> Vec<f64> {
        self.check(targets);
        self.each(|index| {
            let scale = self.unit(index).map_or(1.0, |unit| unit.scale);
            scale * self.score_within(index, self.within(index, targets[index]))
        })
    }

    /// The score of one target of the likelihood, before rescaling.
    fn score_within(&self, index: usize, target: f64) -> f64 {
        if let Some(components) = self.normals_of(index) {
            return of_normals(target, &components);
        }
        let cdf = |at: f64| self.cdf_within(index, at);
        if self.target_of(index).support().is_discrete() {
            let [low, high] = [TAIL, 1.0 - TAIL].map(|p| self.quantile_within(index, p));
            return of_whole_numbers(target, (low, high), cdf);
        }
        let support = self.target_of(index).support();
        of_density(target, support, &self.places_of(index), cdf)
    }
}

/// The score of a mixture of normal distributions, from their means and variances:
/// `Σ_s A(y − μ_s, σ_s²)/S − Σ_st A(μ_s − μ_t, σ_s² + σ_t²)/(2S²)`
/// (E. P. Grimit and others, *The continuous ranked probability score for circular variables*, 2006).
fn of_normals(target: f64, components: &[(f64, f64)]) -> f64 {
    let count = components.len() as f64;
    let to_target: f64 = (components.iter())
        .map(|&(mean, variance)| mean_absolute(target - mean, variance))
        .sum();
    let mut between = 0.0;
    for (index, &(mean, variance)) in components.iter().enumerate() {
        // Each pair of different components occurs twice.
        between += 0.5 * mean_absolute(0.0, 2.0 * variance);
        for &(other, other_variance) in &components[..index] {
            between += mean_absolute(mean - other, variance + other_variance);
        }
    }
    to_target / count - between / (count * count)
}

/// `A(μ, σ²) = E|N(μ, σ²)| = μ·(2Φ(μ/σ) − 1) + 2σ·φ(μ/σ)`.
fn mean_absolute(mean: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return mean.abs();
    }
    let deviation = variance.sqrt();
    let ratio = mean / deviation;
    let density = (-0.5 * ratio * ratio).exp() / (2.0 * PI).sqrt();
    mean * (2.0 * normal_cdf(ratio) - 1.0) + 2.0 * deviation * density
}

/// `Σ_k (P(Y ≤ k) − 1[k ≥ y])²`, whose terms outside of `low` to `high` are 0 or 1.
fn of_whole_numbers(target: f64, (low, high): (f64, f64), cdf: impl Fn(f64) -> f64) -> f64 {
    if !(low.is_finite() && high.is_finite() && target.is_finite()) {
        return f64::NAN;
    }
    // All numbers between the target and the range have an error of 1.
    let outside = (low - target).max(0.0) + (target - high - 1.0).max(0.0);
    let sum = |first: f64, last: f64, certain: f64| {
        let (mut sum, mut next) = (0.0, first);
        while next <= last {
            let width = 2.0 * ((next - low) / SINGLE_COUNTS).floor() + 1.0;
            // The last numbers may be fewer.
            let width = width.min(last - next + 1.0);
            let middle = next + ((width - 1.0) / 2.0).floor();
            sum += width * (cdf(middle) - certain).powi(2);
            if next + width == next {
                // From here on, consecutive whole numbers cannot be represented.
                return f64::NAN;
            }
            next += width;
        }
        sum
    };
    outside + sum(low, high.min(target - 1.0), 0.0) + sum(low.max(target), high, 1.0)
}

/// `∫_{−∞}^y P(Y ≤ t)² dt + ∫_y^∞ P(Y > t)² dt`, for components with the given locations and scales on the real
/// line to which the support is mapped. The integral is divided at the target and at the locations, where the
/// distribution function may rise steeply.
fn of_density(
    target: f64,
    support: Support,
    places: &[(f64, f64)],
    cdf: impl Fn(f64) -> f64,
) -> f64 {
    let mut locations: Vec<f64> = places.iter().map(|&(location, _)| location).collect();
    locations.sort_by(f64::total_cmp);
    let scale = (places.iter()).fold(0.0, |widest: f64, &(_, scale)| widest.max(scale));
    let (count, highest) = (locations.len(), locations[locations.len() - 1]);
    let place = |at: f64| match support {
        Support::Positive | Support::NonNegative => at.exp(),
        Support::Within(lower, upper) => at.clamp(lower, upper),
        Support::UnitInterval => logistic(at),
        _ => at,
    };
    let square = |at: f64| match at <= target {
        true => cdf(at).powi(2),
        false => (1.0 - cdf(at)).powi(2),
    };
    let pieces = count.min(PIECES);
    let chosen = (0..pieces).map(|piece| locations[piece * (count - 1) / (pieces - 1).max(1)]);
    let (least, most) = support.ends();
    let finite_ends = [least, most].into_iter().filter(|end| end.is_finite());
    let mut ends: Vec<f64> = (chosen.map(place))
        .chain([target])
        .chain(finite_ends)
        .collect();
    ends.sort_by(f64::total_cmp);
    let between = ends.windows(2);
    let mut total: f64 = (between.map(|pair| finite(pair[0], pair[1], square))).sum();
    let (first, last) = (ends[0], ends[ends.len() - 1]);
    if most == f64::INFINITY {
        let width = match support.is_on_real_line() {
            true => scale,
            false => place(highest + scale) - place(highest),
        };
        total += infinite(width, |distance| square(last + distance));
    }
    if least == f64::NEG_INFINITY {
        total += infinite(scale, |distance| square(first - distance));
    }
    total
}

/// `∫ f` between two numbers by the substitution `tanh(π/2·sinh t)`.
fn finite(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let half = 0.5 * (to - from);
    if half == 0.0 {
        return 0.0;
    }
    let reach = (3.0 / STEP) as i32;
    let term = |step: i32| {
        let t = STEP * f64::from(step);
        let angle = FRAC_PI_2 * t.sinh();
        let slope = FRAC_PI_2 * t.cosh() / angle.cosh().powi(2);
        // The distance from the nearer end, without cancellation: `1 − |tanh a| = 2/(e^{2|a|} + 1)`.
        let distance = 2.0 * half / ((2.0 * angle.abs()).exp() + 1.0);
        let at = match step < 0 {
            true => from + distance,
            false => to - distance,
        };
        slope * f(at)
    };
    half * STEP * (-reach..=reach).map(term).sum::<f64>()
}

/// `∫₀^∞ f` by the substitution `scale·exp(π/2·sinh t)`.
fn infinite(scale: f64, f: impl Fn(f64) -> f64) -> f64 {
    let reach = (3.5 / STEP) as i32;
    let term = |step: i32| {
        let t = STEP * f64::from(step);
        let distance = scale * (FRAC_PI_2 * t.sinh()).exp();
        distance * FRAC_PI_2 * t.cosh() * f(distance)
    };
    STEP * (-reach..=reach).map(term).sum::<f64>()
}
