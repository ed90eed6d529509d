//! The backward pass in lanes.

// Loops over indices are unrolled into registers; iterators over rows of lanes are not.
#![allow(clippy::needless_range_loop)]

use core::ops::Range;

use super::{
    Cotangents, Filtered, Interleaved, Kept, Moments,
    values::{Matrix, Value, Vector, ZERO, congruence, negative, product, reciprocal},
};
use crate::ops::{cpu::Lanes, state_space::series::CHECKPOINT_EVERY};

/// The derivatives of each series, in the order of its tensors.
pub struct Slopes<const S: usize> {
    transitions: Vec<Matrix<S>>,
    process_noise: Vec<Matrix<S>>,
    prior: Matrix<S>,
    noise: Vec<Value>,
    targets: Vec<Value>,
}

/// The backward pass at an event.
struct Pass<const S: usize> {
    slopes: Slopes<S>,
    /// r
    vector: Vector<S>,
    /// N
    matrix: Matrix<S>,
    /// The moments before the step to each event of a segment.
    before: Vec<Moments<S>>,
}

impl<const S: usize> Pass<S> {
    fn new(series: &Interleaved<'_, S>) -> Self {
        let steps = vec![[[ZERO; S]; S]; series.transitions.len()];
        Self {
            slopes: Slopes {
                transitions: steps.clone(),
                process_noise: steps,
                prior: [[ZERO; S]; S],
                noise: vec![ZERO; series.noise.len()],
                targets: vec![ZERO; series.targets.len()],
            },
            vector: [ZERO; S],
            matrix: [[ZERO; S]; S],
            before: Vec::with_capacity(CHECKPOINT_EVERY),
        }
    }

    /// The moments of all events of a segment, from those at its start.
    #[inline(always)]
    fn recompute<const FUSED: bool>(
        &mut self,
        series: &Interleaved<'_, S>,
        mut moments: Moments<S>,
        events: Range<usize>,
    ) {
        self.before.clear();
        for index in events.clone() {
            self.before.push(moments);
            if index + 1 < events.end {
                series.predict::<FUSED>(&series.events[index], &mut moments);
                if series.events[index].is_observed {
                    series.observe::<FUSED>(index, &mut moments);
                }
            }
        }
    }

    /// As [`Adjoint::absorb`](crate::ops::state_space::backward::Adjoint::absorb), with `ȳ = −u` and `r̄ = ½(u² − D)`.
    #[inline(always)]
    fn absorb<const FUSED: bool>(
        &mut self,
        series: &Interleaved<'_, S>,
        index: usize,
        kept: &Kept<S>,
    ) {
        let event = &series.events[index];
        let h = &series.rows[event.row as usize];
        let precision = reciprocal(kept.variance);
        let v = product::<S, FUSED, false>(&self.matrix, &kept.gain);
        // u = e/d − κᵀr, D = 1/d + κᵀv
        let (mut u, mut diagonal) = (kept.error.times(precision), precision);
        for state in 0..S {
            u = negative(kept.gain[state]).multiply_add::<FUSED>(self.vector[state], u);
            diagonal = kept.gain[state].multiply_add::<FUSED>(v[state], diagonal);
        }
        self.slopes.targets[index] = negative(u);
        let change = u.multiply_add::<FUSED>(u, negative(diagonal));
        let noise = &mut self.slopes.noise[event.noise as usize];
        *noise = Lanes::splat(0.5).multiply_add::<FUSED>(change, *noise);
        // r ← r + hu, N ← N + hxᵀ + xhᵀ with x = ½Dh − v
        let half = Lanes::splat(0.5).times(diagonal);
        let mut x = v;
        for state in 0..S {
            self.vector[state] = h[state].multiply_add::<FUSED>(u, self.vector[state]);
            x[state] = half.multiply_add::<FUSED>(h[state], negative(v[state]));
        }
        for row in 0..S {
            for column in 0..S {
                let value = h[row].multiply_add::<FUSED>(x[column], self.matrix[row][column]);
                self.matrix[row][column] = x[row].multiply_add::<FUSED>(h[column], value);
            }
        }
    }

    /// `Q̄ += ½G` and `Ā += rmᵀ + GAP` with `G = rrᵀ − N` and the moments before the step, and back over it.
    #[inline(always)]
    fn retreat<const FUSED: bool>(
        &mut self,
        series: &Interleaved<'_, S>,
        step: usize,
        moments: &Moments<S>,
    ) {
        let a = &series.transitions[step];
        let g = self.gradient::<FUSED>();
        let mut ap = [[ZERO; S]; S];
        for (row, values) in ap.iter_mut().enumerate() {
            *values = product::<S, FUSED, true>(&moments.covariance, &a[row]);
        }
        for row in 0..S {
            for column in 0..S {
                let noise = &mut self.slopes.process_noise[step][row][column];
                *noise = Lanes::splat(0.5).multiply_add::<FUSED>(g[row][column], *noise);
                let mut value = self.slopes.transitions[step][row][column];
                value = self.vector[row].multiply_add::<FUSED>(moments.mean[column], value);
                for k in 0..S {
                    value = g[row][k].multiply_add::<FUSED>(ap[k][column], value);
                }
                self.slopes.transitions[step][row][column] = value;
            }
        }
        self.vector = product::<S, FUSED, true>(a, &self.vector);
        let mut next = [[ZERO; S]; S];
        congruence::<S, FUSED, true>(a, &self.matrix, &mut next);
        self.matrix = next;
    }

    /// `G = rrᵀ − N`
    #[inline(always)]
    fn gradient<const FUSED: bool>(&self) -> Matrix<S> {
        let mut g = self.matrix;
        for row in 0..S {
            for column in 0..S {
                let own = negative(self.matrix[row][column]);
                g[row][column] = self.vector[row].multiply_add::<FUSED>(self.vector[column], own);
            }
        }
        g
    }
}

/// The backward pass, as [`backward`](crate::ops::state_space::backward::backward).
#[inline(always)]
pub fn backward<const S: usize, const FUSED: bool>(
    series: &Interleaved<'_, S>,
    filtered: &Filtered<S>,
) -> Slopes<S> {
    let mut pass = Pass::new(series);
    for (segment, checkpoint) in filtered.checkpoints.iter().enumerate().rev() {
        let first = segment * CHECKPOINT_EVERY;
        let events = first..(first + CHECKPOINT_EVERY).min(series.events.len());
        pass.recompute::<FUSED>(series, *checkpoint, events.clone());
        for index in events.rev() {
            let event = &series.events[index];
            if event.is_observed {
                pass.absorb::<FUSED>(series, index, &filtered.kept[index]);
            }
            if let Some(step) = event.step {
                let moments = pass.before[index - first];
                pass.retreat::<FUSED>(series, step as usize, &moments);
            }
        }
    }
    let g = pass.gradient::<FUSED>();
    for (row, values) in g.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            pass.slopes.prior[row][column] = Lanes::splat(0.5).times(*value);
        }
    }
    pass.slopes
}

impl<const S: usize> Slopes<S> {
    /// Those of one series.
    pub fn of(&self, lane: usize) -> Cotangents {
        let packed = |matrices: &[Matrix<S>]| -> Vec<f64> {
            let values = matrices.iter().flatten().flatten();
            values.map(|value| value.0[lane]).collect()
        };
        let each = |values: &[Value]| values.iter().map(|value| value.0[lane]).collect();
        Cotangents {
            transitions: packed(&self.transitions),
            process_noise: packed(&self.process_noise),
            prior: packed(&[self.prior]),
            rows: Vec::new(),
            noise: each(&self.noise),
            targets: each(&self.targets),
        }
    }
}
