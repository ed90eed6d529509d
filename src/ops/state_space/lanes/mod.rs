//! The passes over a series of few states in registers, or over sixteen series at once, one in each lane of the vector
//! registers.

mod backward;
mod values;

use core::f64::consts::PI;
use std::borrow::Cow;

use super::{
    backward::Cotangents,
    series::{CHECKPOINT_EVERY, Event, Series},
};
use backward::backward;
use values::{Matrix, Vector, congruence, product};

pub use values::Value;

/// The product of variances is in this range, so that most need no logarithm.
const PRODUCT_RANGE: core::ops::Range<f64> = 1e-100..1e100;

/// One series, or sixteen with the same events, with one block of S states and one column. The values of a part of the
/// model lie next to each other.
struct Interleaved<'a, V: Value, const S: usize> {
    /// A and Q of each step, `[U, S, S]`
    transitions: Cow<'a, [V]>,
    process_noise: Cow<'a, [V]>,
    /// P0, `[S, S]`
    prior: Cow<'a, [V]>,
    /// h, `[O, S]`
    rows: Cow<'a, [V]>,
    /// r
    noise: Cow<'a, [V]>,
    /// y
    targets: Cow<'a, [V]>,
    events: &'a [Event],
}

/// One of several matrices.
#[inline(always)]
fn matrix<V, const S: usize>(values: &[V], index: usize) -> &Matrix<V, S> {
    &values.as_chunks::<S>().0.as_chunks::<S>().0[index]
}

/// The moments of the states.
#[derive(Clone, Copy)]
struct Moments<V, const S: usize> {
    mean: Vector<V, S>,
    covariance: Matrix<V, S>,
}

/// What an observation leaves for the backward pass.
#[derive(Clone, Copy)]
struct Kept<V, const S: usize> {
    gain: Vector<V, S>,
    variance: V,
    error: V,
}

impl<'a, V: Value, const S: usize> Interleaved<'a, V, S> {
    #[inline(always)]
    fn new(members: &[Series<'a>]) -> Self {
        let interleaved = |part: fn(&Series<'a>) -> &'a [f64]| -> Cow<'a, [V]> {
            let parts: Vec<&[f64]> = members.iter().map(part).collect();
            V::interleaved(&parts)
        };
        Self {
            transitions: interleaved(|series| series.transitions),
            process_noise: interleaved(|series| series.process_noise),
            prior: interleaved(|series| series.prior),
            rows: interleaved(|series| series.rows),
            noise: interleaved(|series| series.noise),
            targets: interleaved(|series| series.targets),
            events: members[0].events,
        }
    }

    fn first(&self) -> Moments<V, S> {
        Moments {
            mean: [V::zero(); S],
            covariance: *matrix(&self.prior, 0),
        }
    }

    #[inline(always)]
    fn predict<const FUSED: bool>(&self, event: &Event, moments: &mut Moments<V, S>) {
        let Some(step) = event.step else { return };
        let a = matrix(&self.transitions, step as usize);
        moments.mean = product::<V, S, FUSED, false>(a, &moments.mean);
        let mut next = *matrix(&self.process_noise, step as usize);
        congruence::<V, S, FUSED, false>(a, &moments.covariance, &mut next);
        moments.covariance = next;
    }

    /// As [`Filter::observe`](super::forward::Filter::observe).
    #[inline(always)]
    fn observe<const FUSED: bool>(&self, index: usize, moments: &mut Moments<V, S>) -> Kept<V, S> {
        let event = &self.events[index];
        let (h, r) = (
            &self.rows.as_chunks::<S>().0[event.row as usize],
            self.noise[event.noise as usize],
        );
        let Moments { mean, covariance } = moments;
        // g = Ph, d = hᵀg + r, κ = g/d, e = y − hᵀm
        let g = product::<V, S, FUSED, false>(covariance, h);
        let (mut variance, mut error) = (r, self.targets[index]);
        for state in 0..S {
            variance = h[state].multiply_add::<FUSED>(g[state], variance);
            error = h[state]
                .negative()
                .multiply_add::<FUSED>(mean[state], error);
        }
        let precision = variance.reciprocal();
        let mut gain = g;
        for state in 0..S {
            gain[state] = g[state].times(precision);
            mean[state] = gain[state].multiply_add::<FUSED>(error, mean[state]);
        }
        // V = P − κgᵀ, P ← V − (Vh − rκ)κᵀ
        for row in 0..S {
            let own = gain[row].negative();
            let mut rest = r.times(gain[row]);
            for column in 0..S {
                let value = own.multiply_add::<FUSED>(g[column], covariance[row][column]);
                covariance[row][column] = value;
                rest = h[column].negative().multiply_add::<FUSED>(value, rest);
            }
            for column in 0..S {
                covariance[row][column] =
                    rest.multiply_add::<FUSED>(gain[column], covariance[row][column]);
            }
        }
        Kept {
            gain,
            variance,
            error,
        }
    }
}

/// The sum of logarithms of variances of each series.
struct LogSums<V> {
    products: V,
    sums: V,
}

impl<V: Value> LogSums<V> {
    #[inline(always)]
    fn add(&mut self, variance: V) {
        self.products = self.products.times(variance);
        if !self
            .products
            .all(|product| PRODUCT_RANGE.contains(&product))
        {
            self.collect();
        }
    }

    #[inline(never)]
    fn collect(&mut self) {
        let (sums, products) = (self.sums, self.products);
        self.sums = V::of(|series| sums.lane(series) + products.lane(series).ln());
        self.products = V::splat(1.0);
    }
}

/// The log densities, and what the backward pass needs.
struct Filtered<V, const S: usize> {
    log_densities: V,
    kept: Vec<Kept<V, S>>,
    checkpoints: Vec<Moments<V, S>>,
}

/// The filter over all events, or none if a variance is not positive and finite.
#[inline(always)]
fn filter<V: Value, const S: usize, const FUSED: bool>(
    series: &Interleaved<'_, V, S>,
    keeps: bool,
) -> Option<Filtered<V, S>> {
    let mut moments = series.first();
    let mut logs = LogSums {
        products: V::splat(1.0),
        sums: V::zero(),
    };
    let (mut squares, mut observed) = (V::zero(), 0_usize);
    let events = if keeps { series.events.len() } else { 0 };
    let (mut kept, mut checkpoints) = (Vec::with_capacity(events), Vec::new());
    for (index, event) in series.events.iter().enumerate() {
        if keeps && index % CHECKPOINT_EVERY == 0 {
            checkpoints.push(moments);
        }
        series.predict::<FUSED>(event, &mut moments);
        let mut own = Kept {
            gain: [V::zero(); S],
            variance: V::zero(),
            error: V::zero(),
        };
        if event.is_observed {
            own = series.observe::<FUSED>(index, &mut moments);
            let is_proper = |variance: f64| variance > 0.0 && variance.is_finite();
            if !own.variance.all(is_proper) {
                return None;
            }
            logs.add(own.variance);
            let scaled = own.error.times(own.variance.reciprocal());
            squares = own.error.multiply_add::<FUSED>(scaled, squares);
            observed += 1;
        }
        if keeps {
            kept.push(own);
        }
    }
    logs.collect();
    let (sums, constant) = (logs.sums, observed as f64 * (2.0 * PI).ln());
    let log_densities =
        V::of(|series| -0.5 * (constant + sums.lane(series) + squares.lane(series)));
    Some(Filtered {
        log_densities,
        kept,
        checkpoints,
    })
}

/// The log densities of one series, or of up to sixteen with the same events, one block of S states and one column, with their
/// derivatives if they are wanted. None if a variance, that of a noise included, is not positive and finite.
#[inline(always)]
pub fn passes<V: Value, const S: usize, const FUSED: bool>(
    members: &[Series<'_>],
    wants_gradient: bool,
) -> Option<Vec<(f64, Cotangents)>> {
    let mut noise = members.iter().flat_map(|series| series.noise);
    if !noise.all(|&variance| variance >= 0.0) {
        return None;
    }
    let series = Interleaved::<V, S>::new(members);
    let filtered = filter::<V, S, FUSED>(&series, wants_gradient)?;
    let slopes = match wants_gradient {
        true => backward::<V, S, FUSED>(&series, &filtered).separated(),
        false => (0..V::SERIES).map(|_| Cotangents::default()).collect(),
    };
    let densities = (0..members.len()).map(|lane| filtered.log_densities.lane(lane));
    Some(densities.zip(slopes).collect())
}
