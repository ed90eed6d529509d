//! The backward pass in lanes.

// Loops over indices are unrolled into registers; iterators over rows of lanes are not.
#![allow(clippy::needless_range_loop)]

use core::ops::Range;

use super::{
    Cotangents, Filtered, Interleaved, Kept, Moments, matrix,
    values::{Matrix, Value, Vector, congruence, product},
};
use crate::ops::state_space::series::CHECKPOINT_EVERY;

/// The derivatives of each series, in the order of its tensors.
pub struct Slopes<V, const S: usize> {
    transitions: Vec<Matrix<V, S>>,
    process_noise: Vec<Matrix<V, S>>,
    prior: Matrix<V, S>,
    noise: Vec<V>,
    targets: Vec<V>,
}

/// The backward pass at an event.
struct Pass<V, const S: usize> {
    slopes: Slopes<V, S>,
    /// r
    vector: Vector<V, S>,
    /// N
    matrix: Matrix<V, S>,
    /// The moments before the step to each event of a segment.
    before: Vec<Moments<V, S>>,
}

impl<V: Value, const S: usize> Pass<V, S> {
    fn new(series: &Interleaved<'_, V, S>) -> Self {
        let steps = vec![[[V::zero(); S]; S]; series.transitions.len() / (S * S)];
        Self {
            slopes: Slopes {
                transitions: steps.clone(),
                process_noise: steps,
                prior: [[V::zero(); S]; S],
                noise: vec![V::zero(); series.noise.len()],
                targets: vec![V::zero(); series.targets.len()],
            },
            vector: [V::zero(); S],
            matrix: [[V::zero(); S]; S],
            before: Vec::with_capacity(CHECKPOINT_EVERY),
        }
    }

    /// The moments of all events of a segment, from those at its start.
    #[inline(always)]
    fn recompute<const FUSED: bool>(
        &mut self,
        series: &Interleaved<'_, V, S>,
        mut moments: Moments<V, S>,
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
        series: &Interleaved<'_, V, S>,
        index: usize,
        kept: &Kept<V, S>,
    ) {
        let event = &series.events[index];
        let h = &series.rows.as_chunks::<S>().0[event.row as usize];
        let precision = kept.variance.reciprocal();
        let v = product::<V, S, FUSED, false>(&self.matrix, &kept.gain);
        // u = e/d − κᵀr, D = 1/d + κᵀv
        let (mut u, mut diagonal) = (kept.error.times(precision), precision);
        for state in 0..S {
            u = kept.gain[state]
                .negative()
                .multiply_add::<FUSED>(self.vector[state], u);
            diagonal = kept.gain[state].multiply_add::<FUSED>(v[state], diagonal);
        }
        self.slopes.targets[index] = u.negative();
        let change = u.multiply_add::<FUSED>(u, diagonal.negative());
        let noise = &mut self.slopes.noise[event.noise as usize];
        *noise = V::splat(0.5).multiply_add::<FUSED>(change, *noise);
        // r ← r + hu, N ← N + hxᵀ + xhᵀ with x = ½Dh − v
        let half = V::splat(0.5).times(diagonal);
        let mut x = v;
        for state in 0..S {
            self.vector[state] = h[state].multiply_add::<FUSED>(u, self.vector[state]);
            x[state] = half.multiply_add::<FUSED>(h[state], v[state].negative());
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
        series: &Interleaved<'_, V, S>,
        step: usize,
        moments: &Moments<V, S>,
    ) {
        let a = matrix(&series.transitions, step);
        let g = self.gradient::<FUSED>();
        let mut ap = [[V::zero(); S]; S];
        for (row, values) in ap.iter_mut().enumerate() {
            *values = product::<V, S, FUSED, true>(&moments.covariance, &a[row]);
        }
        for row in 0..S {
            for column in 0..S {
                let noise = &mut self.slopes.process_noise[step][row][column];
                *noise = V::splat(0.5).multiply_add::<FUSED>(g[row][column], *noise);
                let mut value = self.slopes.transitions[step][row][column];
                value = self.vector[row].multiply_add::<FUSED>(moments.mean[column], value);
                for k in 0..S {
                    value = g[row][k].multiply_add::<FUSED>(ap[k][column], value);
                }
                self.slopes.transitions[step][row][column] = value;
            }
        }
        self.vector = product::<V, S, FUSED, true>(a, &self.vector);
        let mut next = [[V::zero(); S]; S];
        congruence::<V, S, FUSED, true>(a, &self.matrix, &mut next);
        self.matrix = next;
    }

    /// `G = rrᵀ − N`
    #[inline(always)]
    fn gradient<const FUSED: bool>(&self) -> Matrix<V, S> {
        let mut g = self.matrix;
        for row in 0..S {
            for column in 0..S {
                let own = self.matrix[row][column].negative();
                g[row][column] = self.vector[row].multiply_add::<FUSED>(self.vector[column], own);
            }
        }
        g
    }
}

/// The backward pass, as [`backward`](crate::ops::state_space::backward::backward).
#[inline(always)]
pub fn backward<V: Value, const S: usize, const FUSED: bool>(
    series: &Interleaved<'_, V, S>,
    filtered: &Filtered<V, S>,
) -> Slopes<V, S> {
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
            pass.slopes.prior[row][column] = V::splat(0.5).times(*value);
        }
    }
    pass.slopes
}

impl<V: Value, const S: usize> Slopes<V, S> {
    /// Those of each series.
    pub fn separated(self) -> Vec<Cotangents> {
        let packed = |matrices: Vec<Matrix<V, S>>| {
            let values = matrices.into_iter().flatten().flatten();
            V::separated(values.collect()).into_iter()
        };
        let of_steps = packed(self.transitions).zip(packed(self.process_noise));
        let of_data = V::separated(self.noise)
            .into_iter()
            .zip(V::separated(self.targets));
        let all = of_steps.zip(packed(vec![self.prior])).zip(of_data);
        all.map(
            |(((transitions, process_noise), prior), (noise, targets))| Cotangents {
                transitions,
                process_noise,
                prior,
                rows: Vec::new(),
                noise,
                targets,
            },
        )
        .collect()
    }
}
