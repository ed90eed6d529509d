//! The passes over sixteen series at once, one in each lane of the vector registers.

mod backward;
mod values;

use core::f64::consts::PI;

use super::{
    backward::Cotangents,
    series::{CHECKPOINT_EVERY, Event, Series},
};
use crate::ops::cpu::{Lanes, WIDTH};
use backward::backward;
use values::{Matrix, Value, Vector, ZERO, congruence, negative, product, reciprocal};

/// The product of variances is in this range, so that most need no logarithm.
const PRODUCT_RANGE: core::ops::Range<f64> = 1e-100..1e100;

/// Sixteen series with the same events, one block of S states and one column. The values of a part of the model lie
/// next to each other.
struct Interleaved<'a, const S: usize> {
    /// A and Q of each step
    transitions: Vec<Matrix<S>>,
    process_noise: Vec<Matrix<S>>,
    /// P0
    prior: Matrix<S>,
    /// h
    rows: Vec<Vector<S>>,
    /// r
    noise: Vec<Value>,
    /// y
    targets: Vec<Value>,
    events: &'a [Event],
}

/// The moments of the states.
#[derive(Clone, Copy)]
struct Moments<const S: usize> {
    mean: Vector<S>,
    covariance: Matrix<S>,
}

/// What an observation leaves for the backward pass.
#[derive(Clone, Copy)]
struct Kept<const S: usize> {
    gain: Vector<S>,
    variance: Value,
    error: Value,
}

/// One value of each series, which are at most sixteen. Other lanes repeat the last one.
#[inline(always)]
fn gathered<'a>(
    members: &[Series<'a>],
    index: usize,
    part: impl Fn(&Series<'a>) -> &'a [f64],
) -> Value {
    let mut lanes = [0.0; WIDTH];
    for (lane, value) in lanes.iter_mut().enumerate() {
        *value = part(&members[lane.min(members.len() - 1)])[index];
    }
    Lanes(lanes)
}

impl<'a, const S: usize> Interleaved<'a, S> {
    #[inline(always)]
    fn new(members: &[Series<'a>]) -> Self {
        let first = &members[0];
        let matrix = |index: usize, part: fn(&Series<'a>) -> &'a [f64]| -> Matrix<S> {
            let mut matrix = [[ZERO; S]; S];
            for (row, values) in matrix.iter_mut().enumerate() {
                for (column, value) in values.iter_mut().enumerate() {
                    *value = gathered(members, (index * S + row) * S + column, part);
                }
            }
            matrix
        };
        let vector = |index: usize| -> Vector<S> {
            let mut vector = [ZERO; S];
            for (state, value) in vector.iter_mut().enumerate() {
                *value = gathered(members, index * S + state, |series| series.rows);
            }
            vector
        };
        let steps = first.transitions.len() / (S * S);
        Self {
            transitions: (0..steps)
                .map(|step| matrix(step, |series| series.transitions))
                .collect(),
            process_noise: (0..steps)
                .map(|step| matrix(step, |series| series.process_noise))
                .collect(),
            prior: matrix(0, |series| series.prior),
            rows: (0..first.rows.len() / S).map(vector).collect(),
            noise: (0..first.noise.len())
                .map(|index| gathered(members, index, |series| series.noise))
                .collect(),
            targets: (0..first.targets.len())
                .map(|index| gathered(members, index, |series| series.targets))
                .collect(),
            events: first.events,
        }
    }

    fn first(&self) -> Moments<S> {
        Moments {
            mean: [ZERO; S],
            covariance: self.prior,
        }
    }

    #[inline(always)]
    fn predict<const FUSED: bool>(&self, event: &Event, moments: &mut Moments<S>) {
        let Some(step) = event.step else { return };
        let a = &self.transitions[step as usize];
        moments.mean = product::<S, FUSED, false>(a, &moments.mean);
        let mut next = self.process_noise[step as usize];
        congruence::<S, FUSED, false>(a, &moments.covariance, &mut next);
        moments.covariance = next;
    }

    /// As [`Filter::observe`](super::forward::Filter::observe).
    #[inline(always)]
    fn observe<const FUSED: bool>(&self, index: usize, moments: &mut Moments<S>) -> Kept<S> {
        let event = &self.events[index];
        let (h, r) = (
            &self.rows[event.row as usize],
            self.noise[event.noise as usize],
        );
        let Moments { mean, covariance } = moments;
        // g = Ph, d = hᵀg + r, κ = g/d, e = y − hᵀm
        let g = product::<S, FUSED, false>(covariance, h);
        let (mut variance, mut error) = (r, self.targets[index]);
        for state in 0..S {
            variance = h[state].multiply_add::<FUSED>(g[state], variance);
            error = negative(h[state]).multiply_add::<FUSED>(mean[state], error);
        }
        let precision = reciprocal(variance);
        let mut gain = g;
        for state in 0..S {
            gain[state] = g[state].times(precision);
            mean[state] = gain[state].multiply_add::<FUSED>(error, mean[state]);
        }
        // V = P − κgᵀ, P ← V − (Vh − rκ)κᵀ
        for row in 0..S {
            let own = negative(gain[row]);
            let mut rest = r.times(gain[row]);
            for column in 0..S {
                let value = own.multiply_add::<FUSED>(g[column], covariance[row][column]);
                covariance[row][column] = value;
                rest = negative(h[column]).multiply_add::<FUSED>(value, rest);
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
struct LogSums {
    products: Value,
    sums: [f64; WIDTH],
}

impl LogSums {
    #[inline(always)]
    fn add(&mut self, variance: Value) {
        self.products = self.products.times(variance);
        if self
            .products
            .0
            .iter()
            .any(|product| !PRODUCT_RANGE.contains(product))
        {
            self.collect();
        }
    }

    #[inline(never)]
    fn collect(&mut self) {
        for (sum, product) in self.sums.iter_mut().zip(&mut self.products.0) {
            *sum += product.ln();
            *product = 1.0;
        }
    }
}

/// The log densities, and what the backward pass needs.
struct Filtered<const S: usize> {
    log_densities: [f64; WIDTH],
    kept: Vec<Kept<S>>,
    checkpoints: Vec<Moments<S>>,
}

/// The filter over all events, or none if a variance is not positive and finite.
#[inline(always)]
fn filter<const S: usize, const FUSED: bool>(
    series: &Interleaved<'_, S>,
    keeps: bool,
) -> Option<Filtered<S>> {
    let mut moments = series.first();
    let mut logs = LogSums {
        products: Lanes::splat(1.0),
        sums: [0.0; WIDTH],
    };
    let (mut squares, mut observed) = (ZERO, 0_usize);
    let (mut kept, mut checkpoints) = (Vec::new(), Vec::new());
    for (index, event) in series.events.iter().enumerate() {
        if keeps && index % CHECKPOINT_EVERY == 0 {
            checkpoints.push(moments);
        }
        series.predict::<FUSED>(event, &mut moments);
        let mut own = Kept {
            gain: [ZERO; S],
            variance: ZERO,
            error: ZERO,
        };
        if event.is_observed {
            own = series.observe::<FUSED>(index, &mut moments);
            if !own
                .variance
                .0
                .iter()
                .all(|variance| *variance > 0.0 && variance.is_finite())
            {
                return None;
            }
            logs.add(own.variance);
            let scaled = own.error.times(reciprocal(own.variance));
            squares = own.error.multiply_add::<FUSED>(scaled, squares);
            observed += 1;
        }
        if keeps {
            kept.push(own);
        }
    }
    logs.collect();
    let constant = observed as f64 * (2.0 * PI).ln();
    let mut log_densities = [0.0; WIDTH];
    for (lane, density) in log_densities.iter_mut().enumerate() {
        *density = -0.5 * (constant + logs.sums[lane] + squares.0[lane]);
    }
    Some(Filtered {
        log_densities,
        kept,
        checkpoints,
    })
}

/// The log densities of up to sixteen series with the same events, one block of S states and one column, with their
/// derivatives if they are wanted. None if a variance, that of a noise included, is not positive and finite.
#[inline(always)]
pub fn passes<const S: usize, const FUSED: bool>(
    members: &[Series<'_>],
    wants_gradient: bool,
) -> Option<Vec<(f64, Cotangents)>> {
    let mut noise = members.iter().flat_map(|series| series.noise);
    if !noise.all(|&variance| variance >= 0.0) {
        return None;
    }
    let series = Interleaved::<S>::new(members);
    let filtered = filter::<S, FUSED>(&series, wants_gradient)?;
    let slopes = wants_gradient.then(|| backward::<S, FUSED>(&series, &filtered));
    let of_lane = |lane: usize| {
        let slopes = slopes
            .as_ref()
            .map_or_else(Cotangents::default, |slopes| slopes.of(lane));
        (filtered.log_densities[lane], slopes)
    };
    Some((0..members.len()).map(of_lane).collect())
}
