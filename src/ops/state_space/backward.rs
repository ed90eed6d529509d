//! The backward pass of the filter: the smoother's recursions, which are also its derivatives.

use core::ops::Range;

use super::{
    blocks::{add_scaled, congruence, dot, multiply, multiply_add},
    forward::{Filter, Filtered},
    series::{CHECKPOINT_EVERY, Event, Series, StateMoments, states},
};

/// The derivatives of the log density.
#[derive(Clone, Debug, Default)]
pub struct Cotangents {
    /// Ā, `[U, Σb²]`
    pub transitions: Vec<f64>,
    /// Q̄, `[U, Σb²]`
    pub process_noise: Vec<f64>,
    /// P̄0, `[Σb²]`
    pub prior: Vec<f64>,
    /// h̄, `[O, s]`, or nothing if it is not wanted
    pub rows: Vec<f64>,
    /// r̄, `[R]`
    pub noise: Vec<f64>,
    /// ȳ, `[n, C]`
    pub targets: Vec<f64>,
}

/// The vector r and the matrix N of P. de Jong, *Smoothing and interpolation with the state-space model*, 1989: the
/// smoothed state is `m + Pr` with covariance `P − PNP`. They are the derivatives of the log density,
/// `∂ℓ/∂m = r` and `∂ℓ/∂P = ½(rrᵀ − N)` (S. Koopman and N. Shephard, *Exact score for time series models in state
/// space form*, 1992).
pub struct Adjoint {
    /// r of each column, `[s, C]`
    pub vectors: Vec<f64>,
    /// N, `[s, s]`
    pub matrix: Vec<f64>,
    /// u = `[C⁻¹y]_k` of each column, with C the covariance of all observations
    pub weights: Vec<f64>,
    /// v = Nκ
    product: Vec<f64>,
    space: Vec<f64>,
}

impl Adjoint {
    /// Zero, after the last event.
    pub fn new(series: &Series<'_>) -> Self {
        let states = series.states();
        Self {
            vectors: vec![0.0; states * series.columns],
            matrix: vec![0.0; states * states],
            weights: vec![0.0; series.columns],
            product: vec![0.0; states],
            space: vec![0.0; states * states],
        }
    }

    /// Goes back over the observation with κ, d and e. Computes u, and returns D = `[C⁻¹]_kk`.
    #[inline(always)]
    pub fn absorb<const S: usize, const C: usize, const FUSED: bool>(
        &mut self,
        row: &[f64],
        gain: &[f64],
        variance: f64,
        errors: &[f64],
    ) -> f64 {
        let size = states_of::<S>(row);
        let (row, gain) = (&row[..size], &gain[..size]);
        let columns = match C {
            0 => errors.len(),
            known => known,
        };
        let precision = variance.recip();
        let product = &mut self.product[..size];
        // v = Nκ
        product.fill(0.0);
        for (&gain, n) in gain.iter().zip(self.matrix.chunks_exact(size)) {
            add_scaled::<FUSED>(product, gain, n);
        }
        // u = e/d − κᵀr, D = 1/d + κᵀv
        let weights = &mut self.weights[..columns];
        for (weight, error) in weights.iter_mut().zip(errors) {
            *weight = error * precision;
        }
        for (&gain, r) in gain.iter().zip(self.vectors.chunks_exact(columns)) {
            add_scaled::<FUSED>(weights, -gain, r);
        }
        let diagonal = precision + dot::<FUSED>(gain, product);
        // r ← r + hu
        for (&h, r) in row.iter().zip(self.vectors.chunks_exact_mut(columns)) {
            add_scaled::<FUSED>(r, h, weights);
        }
        // N ← N − hvᵀ − vhᵀ + Dhhᵀ = N + hxᵀ + xhᵀ with x = ½Dh − v
        let change = &mut self.space[..size];
        for ((x, &h), v) in change.iter_mut().zip(row).zip(product.iter()) {
            *x = multiply_add::<FUSED>(0.5 * diagonal, h, -v);
        }
        let rows = self.matrix.chunks_exact_mut(size);
        for ((n, &h), &x) in rows.zip(row).zip(change.iter()) {
            if S > 0 || h != 0.0 {
                add_scaled::<FUSED>(n, h, change);
            }
            add_scaled::<FUSED>(n, x, row);
        }
        diagonal
    }

    /// Goes back over a step: `r ← Aᵀr`, `N ← AᵀNA`.
    #[inline(always)]
    pub fn retreat<const S: usize, const FUSED: bool>(
        &mut self,
        blocks: &[usize],
        transition: &[f64],
        columns: usize,
    ) {
        multiply::<S, FUSED, true>(blocks, transition, &mut self.vectors, columns);
        congruence::<S, FUSED, true>(blocks, transition, &mut self.matrix, &mut self.space);
    }

    /// `G_ij = Σ_c r_ic r_jc − C·N_ij` of one row i, for columns j of a range.
    #[inline(always)]
    fn gradient_row<const S: usize, const FUSED: bool>(
        &self,
        row: usize,
        first: usize,
        columns: usize,
        result: &mut [f64],
    ) {
        let size = states_of::<S>(&self.product);
        let own = &self.vectors[row * columns..][..columns];
        let others = &self.vectors[first * columns..];
        let matrix = &self.matrix[row * size + first..];
        for (offset, place) in result.iter_mut().enumerate() {
            let mut value = -(columns as f64) * matrix[offset];
            for (column, r) in own.iter().enumerate() {
                value = multiply_add::<FUSED>(*r, others[offset * columns + column], value);
            }
            *place = value;
        }
    }
}

#[inline(always)]
fn states_of<const S: usize>(row: &[f64]) -> usize {
    match S {
        0 => row.len(),
        known => known,
    }
}

/// The moments at the events of a segment.
struct Segment {
    /// m, `[256, s, C]`
    means: Vec<f64>,
    /// P, `[256, s, s]`
    covariances: Vec<f64>,
}

impl Segment {
    fn new(series: &Series<'_>) -> Self {
        let (states, count) = (series.states(), CHECKPOINT_EVERY.min(series.events.len()));
        Self {
            means: vec![0.0; count * states * series.columns],
            covariances: vec![0.0; count * states * states],
        }
    }

    #[inline(always)]
    fn keep(&mut self, place: usize, filter: &Filter) {
        let (mean, covariance) = (&filter.moments.mean, &filter.moments.covariance);
        self.means[place * mean.len()..][..mean.len()].copy_from_slice(mean);
        self.covariances[place * covariance.len()..][..covariance.len()]
            .copy_from_slice(covariance);
    }
}

/// The derivatives of the log density with respect to A, Q, P0, r and y, and to h if wanted. The moments are computed
/// again from the checkpoints.
#[inline(always)]
pub fn backward<const S: usize, const C: usize, const FUSED: bool>(
    series: &Series<'_>,
    kept: &Filtered,
    wants_rows: bool,
) -> Cotangents {
    let mut pass = Pass::new(series, wants_rows);
    for (segment, checkpoint) in kept.checkpoints.iter().enumerate().rev() {
        let first = segment * CHECKPOINT_EVERY;
        let events = first..(first + CHECKPOINT_EVERY).min(series.events.len());
        pass.recompute::<S, C, FUSED>(series, checkpoint, events.clone());
        for index in events.rev() {
            let event = &series.events[index];
            if event.is_observed {
                pass.absorb::<S, C, FUSED>(series, kept, index);
            }
            if let Some(step) = event.step {
                pass.retreat::<S, C, FUSED>(series, step as usize, index);
            }
        }
    }
    pass.finish::<S, C, FUSED>(series)
}

/// The backward pass at an event.
struct Pass {
    cotangents: Cotangents,
    adjoint: Adjoint,
    /// The moments before the step to each event of a segment.
    before: Segment,
    /// The moments after the step, if the derivatives of h are wanted.
    after: Option<Segment>,
    steps: StepSpace,
}

impl Pass {
    fn new(series: &Series<'_>, wants_rows: bool) -> Self {
        let states = series.states();
        Self {
            cotangents: Cotangents {
                transitions: vec![0.0; series.transitions.len()],
                process_noise: vec![0.0; series.process_noise.len()],
                prior: vec![0.0; series.prior.len()],
                rows: vec![0.0; if wants_rows { series.rows.len() } else { 0 }],
                noise: vec![0.0; series.noise.len()],
                targets: vec![0.0; series.targets.len()],
            },
            adjoint: Adjoint::new(series),
            before: Segment::new(series),
            after: wants_rows.then(|| Segment::new(series)),
            steps: StepSpace {
                product: vec![0.0; states * states],
                gradient: vec![0.0; states],
            },
        }
    }

    /// The moments of all events of a segment, from those at its start.
    #[inline(always)]
    fn recompute<const S: usize, const C: usize, const FUSED: bool>(
        &mut self,
        series: &Series<'_>,
        checkpoint: &StateMoments,
        events: Range<usize>,
    ) {
        let mut filter = Filter::new(series, checkpoint.clone());
        for index in events.clone() {
            let (event, place) = (&series.events[index], index % CHECKPOINT_EVERY);
            self.before.keep(place, &filter);
            filter.predict::<S, C, FUSED>(series, event);
            if let Some(after) = &mut self.after {
                after.keep(place, &filter);
            }
            if event.is_observed && index + 1 < events.end {
                filter.observe::<S, C, FUSED>(series, event, series.targets_of::<C>(index));
            }
        }
    }

    /// `ȳ = −u`, `r̄ = ½Σ_c(u² − D)`, and h̄.
    #[inline(always)]
    fn absorb<const S: usize, const C: usize, const FUSED: bool>(
        &mut self,
        series: &Series<'_>,
        kept: &Filtered,
        index: usize,
    ) {
        let (size, columns) = (states::<S>(series.blocks), series.known_columns::<C>());
        let event = &series.events[index];
        let gain = &kept.gains[index * size..][..size];
        let errors = &kept.errors[index * columns..][..columns];
        let row = series.row::<S>(event);
        let variance = kept.variances[index];
        let diagonal = (self.adjoint).absorb::<S, C, FUSED>(row, gain, variance, errors);
        let targets = &mut self.cotangents.targets[index * columns..][..columns];
        let mut square = 0.0;
        for (place, u) in targets.iter_mut().zip(&self.adjoint.weights) {
            *place = -u;
            square = multiply_add::<FUSED>(*u, *u, square);
        }
        self.cotangents.noise[event.noise as usize] += 0.5 * (square - columns as f64 * diagonal);
        if let Some(after) = &self.after {
            let rows = &mut self.cotangents.rows[event.row as usize * size..][..size];
            let place = index % CHECKPOINT_EVERY;
            row_cotangent::<FUSED>(&self.adjoint, after, place, row, diagonal, rows);
        }
    }

    /// Q̄ and Ā of a step, and back over it.
    #[inline(always)]
    fn retreat<const S: usize, const C: usize, const FUSED: bool>(
        &mut self,
        series: &Series<'_>,
        step: usize,
        index: usize,
    ) {
        let (size, columns) = (states::<S>(series.blocks), series.known_columns::<C>());
        let (packed, place) = (series.packed::<S>(), index % CHECKPOINT_EVERY);
        let range = step * packed..(step + 1) * packed;
        let transition = &series.transitions[range.clone()];
        let gradients = [
            &mut self.cotangents.transitions[range.clone()],
            &mut self.cotangents.process_noise[range],
        ];
        let moments = [
            &self.before.means[place * size * columns..][..size * columns],
            &self.before.covariances[place * size * size..][..size * size],
        ];
        (self.steps).add::<S, C, FUSED>(series, &self.adjoint, transition, moments, gradients);
        (self.adjoint).retreat::<S, FUSED>(series.blocks, transition, columns);
    }

    /// `P̄0 = ½(Σ_c rrᵀ − C·N)` at the first event.
    #[inline(always)]
    fn finish<const S: usize, const C: usize, const FUSED: bool>(
        mut self,
        series: &Series<'_>,
    ) -> Cotangents {
        let mut start = 0;
        let mut places = self.cotangents.prior.iter_mut();
        for &block in series.blocks {
            for row in start..start + block {
                let gradient = &mut self.steps.gradient[..block];
                let columns = series.known_columns::<C>();
                (self.adjoint).gradient_row::<S, FUSED>(row, start, columns, gradient);
                for (value, place) in gradient.iter().zip(&mut places) {
                    *place = 0.5 * value;
                }
            }
            start += block;
        }
        self.cotangents
    }
}

/// `h̄ += Σ_c u(m⁻ + P⁻r⁻) − C·P⁻(Dh − v)` with r⁻ before the observation and `v = N⁺κ`.
#[inline(always)]
fn row_cotangent<const FUSED: bool>(
    adjoint: &Adjoint,
    after: &Segment,
    place: usize,
    row: &[f64],
    diagonal: f64,
    cotangent: &mut [f64],
) {
    let (size, columns) = (row.len(), adjoint.weights.len());
    let mean = &after.means[place * size * columns..][..size * columns];
    let covariance = &after.covariances[place * size * size..][..size * size];
    for (state, (h, m)) in cotangent
        .iter_mut()
        .zip(mean.chunks_exact(columns))
        .enumerate()
    {
        *h += dot::<FUSED>(m, &adjoint.weights);
        for (other, p) in covariance[state * size..][..size].iter().enumerate() {
            let r = &adjoint.vectors[other * columns..][..columns];
            let change = diagonal * row[other] - adjoint.product[other];
            *h += p * (dot::<FUSED>(r, &adjoint.weights) - columns as f64 * change);
        }
    }
}

/// Memory for the derivatives of a step.
struct StepSpace {
    /// AP, `[s, s]`
    product: Vec<f64>,
    /// A row of G, `[s]`
    gradient: Vec<f64>,
}

impl StepSpace {
    /// `Q̄ += ½G` and `Ā += Σ_c r mᵀ + GAP` with `G = Σ_c rrᵀ − C·N` and the moments before the step, on the diagonal
    /// blocks.
    #[inline(always)]
    fn add<const S: usize, const C: usize, const FUSED: bool>(
        &mut self,
        series: &Series<'_>,
        adjoint: &Adjoint,
        transition: &[f64],
        [mean, covariance]: [&[f64]; 2],
        [of_transition, of_noise]: [&mut [f64]; 2],
    ) {
        let (size, columns) = (states::<S>(series.blocks), series.known_columns::<C>());
        let product = &mut self.product[..size * size];
        let gradient = &mut self.gradient[..size];
        product.copy_from_slice(covariance);
        multiply::<S, FUSED, false>(series.blocks, transition, product, size);
        let (mut start, mut place) = (0, 0);
        for &block in series.blocks {
            let block = match S {
                1..=4 => S,
                _ => block,
            };
            for row in start..start + block {
                adjoint.gradient_row::<S, FUSED>(row, 0, columns, gradient);
                let noise = &mut of_noise[place..][..block];
                add_scaled::<FUSED>(noise, 0.5, &gradient[start..][..block]);
                let own = &mut of_transition[place..][..block];
                let r = &adjoint.vectors[row * columns..][..columns];
                for (offset, value) in own.iter_mut().enumerate() {
                    for (column, r) in r.iter().enumerate() {
                        let m = mean[(start + offset) * columns + column];
                        *value = multiply_add::<FUSED>(*r, m, *value);
                    }
                }
                for (&g, p) in gradient.iter().zip(product.chunks_exact(size)) {
                    add_scaled::<FUSED>(own, g, &p[start..][..block]);
                }
                place += block;
            }
            start += block;
        }
    }
}

/// A of the step to an event.
#[inline(always)]
pub fn transition_of<'a>(series: &Series<'a>, event: &Event) -> Option<&'a [f64]> {
    let packed = series.packed::<0>();
    let step = event.step? as usize;
    Some(&series.transitions[step * packed..][..packed])
}
