//! Integrals and sums of functions of targets over their range, such as of distribution functions.

use core::f64::consts::FRAC_PI_2;

use super::{PredictiveDistribution, Support};
use crate::likelihoods::bernoulli_logit::logistic;

/// The distance between the nodes of double exponential quadrature.
const STEP: f64 = 1.0 / 12.0;

/// The largest number of components between whose locations the integral is divided.
const PIECES: usize = 8;

/// The counts at the lower end of a distribution that are summed one by one. Further up, one count stands for
/// those around it, whose number grows in proportion to the distance from the lower end.
const SINGLE_COUNTS: f64 = 1024.0;

/// The range of the targets of a distribution, and where its distribution function may rise steeply.
pub(super) struct Range {
    /// The set of possible targets.
    support: Support,
    /// The locations and scales of the components on the real line to which the support is mapped.
    places: Vec<(f64, f64)>,
    /// The targets where the slope of the distribution function jumps.
    kinks: Vec<f64>,
}

impl PredictiveDistribution {
    /// The range of one target of the likelihood, before rescaling.
    pub(super) fn range_of(&self, index: usize) -> Range {
        Range {
            support: self.target_of(index).support(),
            places: self.places_of(index),
            kinks: self.kinks_of(index),
        }
    }
}

impl Range {
    /// `∫ f(t) dt` over the range of K functions, which may jump at `target`. The integral is divided at the target, at
    /// the locations and at the kinks.
    pub fn integral<const K: usize>(&self, target: f64, f: impl Fn(f64) -> [f64; K]) -> [f64; K] {
        let (support, places) = (self.support, &self.places);
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
        let pieces = count.min(PIECES);
        let chosen = (0..pieces).map(|piece| locations[piece * (count - 1) / (pieces - 1).max(1)]);
        let (least, most) = support.ends();
        let finite_ends = [least, most].into_iter().filter(|end| end.is_finite());
        let mut ends: Vec<f64> = (chosen.map(place))
            .chain([target])
            .chain(self.kinks.iter().copied())
            .chain(finite_ends)
            .collect();
        ends.sort_by(f64::total_cmp);
        let between = ends.windows(2);
        let mut total = total(between.map(|pair| finite(pair[0], pair[1], &f)));
        let (first, last) = (ends[0], ends[ends.len() - 1]);
        if most == f64::INFINITY {
            let width = match support.is_on_real_line() {
                true => scale,
                false => place(highest + scale) - place(highest),
            };
            add(&mut total, infinite(width, |distance| f(last + distance)));
        }
        if least == f64::NEG_INFINITY {
            add(&mut total, infinite(scale, |distance| f(first - distance)));
        }
        total
    }
}

fn add<const K: usize>(total: &mut [f64; K], more: [f64; K]) {
    total
        .iter_mut()
        .zip(more)
        .for_each(|(own, more)| *own += more);
}

fn total<const K: usize>(terms: impl Iterator<Item = [f64; K]>) -> [f64; K] {
    terms.fold([0.0; K], |mut sum, term| {
        add(&mut sum, term);
        sum
    })
}

fn scaled<const K: usize>(values: [f64; K], factor: f64) -> [f64; K] {
    values.map(|value| factor * value)
}

/// `∫ f` between two numbers by the substitution `tanh(π/2·sinh t)`.
fn finite<const K: usize>(from: f64, to: f64, f: &impl Fn(f64) -> [f64; K]) -> [f64; K] {
    let half = 0.5 * (to - from);
    if half == 0.0 {
        return [0.0; K];
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
        scaled(f(at), slope)
    };
    scaled(total((-reach..=reach).map(term)), half * STEP)
}

/// `∫₀^∞ f` by the substitution `scale·exp(π/2·sinh t)`.
fn infinite<const K: usize>(scale: f64, f: impl Fn(f64) -> [f64; K]) -> [f64; K] {
    let reach = (3.5 / STEP) as i32;
    let term = |step: i32| {
        let t = STEP * f64::from(step);
        let distance = scale * (FRAC_PI_2 * t.sinh()).exp();
        scaled(f(distance), distance * FRAC_PI_2 * t.cosh())
    };
    scaled(total((-reach..=reach).map(term)), STEP)
}

/// `Σ_k f(k)` over the whole numbers from `first` to `last` of a distribution whose lower end is `low`, for K functions.
/// NaN if there are too many numbers.
pub(super) fn sum<const K: usize>(
    (first, last): (f64, f64),
    low: f64,
    f: impl Fn(f64) -> [f64; K],
) -> [f64; K] {
    let (mut sum, mut next) = ([0.0; K], first);
    while next <= last {
        let width = 2.0 * ((next - low) / SINGLE_COUNTS).floor() + 1.0;
        // The last numbers may be fewer.
        let width = width.min(last - next + 1.0);
        let middle = next + ((width - 1.0) / 2.0).floor();
        add(&mut sum, scaled(f(middle), width));
        if next + width == next {
            // From here on, consecutive whole numbers cannot be represented.
            return [f64::NAN; K];
        }
        next += width;
    }
    sum
}
