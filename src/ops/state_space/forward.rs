//! The Kalman filter with one observation at a time.

use std::f64::consts::PI;

use super::{
    blocks::{add_scaled, dot, multiply_add, predict},
    series::{CHECKPOINT_EVERY, Event, Failure, Series, StateMoments, states},
};

/// Variances are multiplied up while their product is in this range, so that most need no logarithm.
const PRODUCT_RANGE: core::ops::Range<f64> = 1e-100..1e100;

/// The log density and what the backward pass needs.
#[derive(Clone, Debug, Default)]
pub struct Filtered {
    /// The sum over columns of the log densities.
    pub log_density: f64,
    /// κ of each observation, `[n, s]`.
    pub gains: Vec<f64>,
    /// d of each observation, `[n]`.
    pub variances: Vec<f64>,
    /// e of each observation, `[n, C]`.
    pub errors: Vec<f64>,
    /// The moments before every 256th event.
    pub checkpoints: Vec<StateMoments>,
    /// The moments after the last event.
    pub last: StateMoments,
}

/// The moments of the state on their way through the events, with memory for intermediate results.
pub struct Filter {
    pub moments: StateMoments,
    /// κ, `[s]`
    pub gain: Vec<f64>,
    /// e, `[C]`
    pub errors: Vec<f64>,
    product: Vec<f64>,
    space: Vec<f64>,
}

impl Filter {
    /// The filter at given moments.
    pub fn new(series: &Series<'_>, moments: StateMoments) -> Self {
        let states = series.states();
        Self {
            moments,
            gain: vec![0.0; states],
            errors: vec![0.0; series.columns],
            product: vec![0.0; states],
            space: vec![0.0; states * states],
        }
    }

    /// Moves the moments over the step to the event.
    #[inline(always)]
    pub fn predict<const S: usize, const C: usize, const FUSED: bool>(
        &mut self,
        series: &Series<'_>,
        event: &Event,
    ) {
        if let Some(step) = event.step {
            let packed = series.packed::<S>();
            let (first, last) = (step as usize * packed, (step as usize + 1) * packed);
            predict::<S, FUSED>(
                series.blocks,
                [
                    &series.transitions[first..last],
                    &series.process_noise[first..last],
                ],
                [&mut self.moments.mean, &mut self.moments.covariance],
                series.known_columns::<C>(),
                &mut self.space,
            );
        }
    }

    /// Conditions the moments on the observation of an event, and returns its variance d. The covariance is updated
    /// in Joseph's form, `P ← (I − κhᵀ)P(I − κhᵀ)ᵀ + rκκᵀ`, which rounding does not make indefinite.
    #[inline(always)]
    pub fn observe<const S: usize, const C: usize, const FUSED: bool>(
        &mut self,
        series: &Series<'_>,
        event: &Event,
        targets: &[f64],
    ) -> f64 {
        let size = states::<S>(series.blocks);
        let columns = series.known_columns::<C>();
        let row = series.row::<S>(event);
        let noise = series.noise[event.noise as usize];
        let covariance = &mut self.moments.covariance[..size * size];
        let mean = &mut self.moments.mean[..size * columns];
        let (gain, product) = (&mut self.gain[..size], &mut self.product[..size]);
        let residual = &mut self.space[..size];
        // g = Ph, d = hᵀg + r, κ = g/d
        product.fill(0.0);
        for (&h, p) in row.iter().zip(covariance.chunks_exact(size)) {
            if S > 0 || h != 0.0 {
                add_scaled::<FUSED>(product, h, p);
            }
        }
        let variance = noise + dot::<FUSED>(row, product);
        let precision = variance.recip();
        for (gain, g) in gain.iter_mut().zip(product.iter()) {
            *gain = g * precision;
        }
        // e = y − hᵀm, m ← m + κe
        let errors = &mut self.errors[..columns];
        errors.copy_from_slice(targets);
        for (&h, m) in row.iter().zip(mean.chunks_exact(columns)) {
            add_scaled::<FUSED>(errors, -h, m);
        }
        for (&gain, m) in gain.iter().zip(mean.chunks_exact_mut(columns)) {
            add_scaled::<FUSED>(m, gain, errors);
        }
        // V = P − κgᵀ, and Vh from V itself
        residual.fill(0.0);
        for ((p, &gain), &h) in (covariance.chunks_exact_mut(size))
            .zip(gain.iter())
            .zip(row)
        {
            add_scaled::<FUSED>(p, -gain, product);
            if S > 0 || h != 0.0 {
                add_scaled::<FUSED>(residual, h, p);
            }
        }
        // P ← V − (Vh − rκ)κᵀ
        for ((p, &v), &own) in (covariance.chunks_exact_mut(size))
            .zip(residual.iter())
            .zip(gain.iter())
        {
            add_scaled::<FUSED>(p, multiply_add::<FUSED>(noise, own, -v), gain);
        }
        variance
    }
}

/// The sum of logarithms of variances.
pub struct LogSum {
    product: f64,
    sum: f64,
}

impl LogSum {
    fn new() -> Self {
        Self {
            product: 1.0,
            sum: 0.0,
        }
    }

    #[inline(always)]
    fn add(&mut self, variance: f64) {
        self.product *= variance;
        if !PRODUCT_RANGE.contains(&self.product) {
            self.sum += self.product.ln();
            self.product = 1.0;
        }
    }

    fn total(&self) -> f64 {
        self.sum + self.product.ln()
    }
}

/// `Σ_k log N(y_k | hᵀm, d)` by the filter (R. Kalman, *A New Approach to Linear Filtering and Prediction Problems*,
/// 1960) from moments before the first event, keeping what the backward pass needs if `keeps`.
#[inline(always)]
pub fn filter<const S: usize, const C: usize, const FUSED: bool>(
    series: &Series<'_>,
    first: StateMoments,
    keeps: bool,
) -> Result<Filtered, Failure> {
    let (count, size) = (series.events.len(), states::<S>(series.blocks));
    let columns = series.known_columns::<C>();
    let mut filter = Filter::new(series, first);
    let mut kept = Filtered::default();
    if keeps {
        kept.gains = vec![0.0; count * size];
        kept.variances = vec![0.0; count];
        kept.errors = vec![0.0; count * columns];
    }
    let (mut logs, mut squares, mut observed) = (LogSum::new(), 0.0, 0_usize);
    for (index, event) in series.events.iter().enumerate() {
        if keeps && index % CHECKPOINT_EVERY == 0 {
            kept.checkpoints.push(filter.moments.clone());
        }
        filter.predict::<S, C, FUSED>(series, event);
        if !event.is_observed {
            continue;
        }
        let variance = filter.observe::<S, C, FUSED>(series, event, series.targets_of::<C>(index));
        // With negative noise r, 1/hᵀPh + 1/r is positive if and only if hᵀPh + r is negative.
        let is_proper = (variance > 0.0) == (series.noise[event.noise as usize] >= 0.0);
        if !(is_proper && variance != 0.0 && variance.is_finite()) {
            return Err(Failure {
                event: index,
                variance,
            });
        }
        logs.add(variance.abs());
        let errors = &filter.errors[..columns];
        squares += dot::<FUSED>(errors, errors) / variance;
        observed += 1;
        if keeps {
            kept.gains[index * size..][..size].copy_from_slice(&filter.gain[..size]);
            kept.variances[index] = variance;
            kept.errors[index * columns..][..columns].copy_from_slice(&filter.errors);
        }
    }
    let constant = observed as f64 * (2.0 * PI).ln() + logs.total();
    kept.log_density = -0.5 * (columns as f64 * constant + squares);
    kept.last = filter.moments;
    Ok(kept)
}
