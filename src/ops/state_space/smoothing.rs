//! The filter and its backward pass with all moments kept, for predictions.

use super::{
    backward::{Adjoint, transition_of},
    blocks::{add_scaled, dot},
    forward::{Filter, Filtered},
    series::{Failure, Series, states},
};

/// What the two passes over a series give at its n events. The state at any time follows from it: with m⁺, P⁺ of the
/// event before the time and r⁻, N⁻ of the event after it (P. de Jong, *Smoothing and interpolation with the
/// state-space model*, 1989).
#[derive(Clone, Debug)]
pub struct Smoothed {
    /// The sum over columns of the log densities.
    pub log_density: f64,
    /// κ, `[n, s]`; zero where nothing is observed, as the next three
    pub gains: Vec<f64>,
    /// d, `[n]`: the variance of each observation given those before it
    pub variances: Vec<f64>,
    /// e, `[n, C]`: each observation minus its mean given those before it
    pub errors: Vec<f64>,
    /// `[C⁻¹y]_k`, `[n, C]`, with C the covariance of all observations
    pub weights: Vec<f64>,
    /// `[C⁻¹]_kk`, `[n]`
    pub precisions: Vec<f64>,
    /// The mean of hᵀx at each event given all observations, `[n, C]`
    pub function_means: Vec<f64>,
    /// The variance of hᵀx at each event given all observations, `[n]`
    pub function_variances: Vec<f64>,
    /// m after each event, `[n, s, C]`
    pub means: Vec<f64>,
    /// P after each event, `[n, s, s]`
    pub covariances: Vec<f64>,
    /// r before each event, `[n, s, C]`
    pub vectors: Vec<f64>,
    /// N before each event, `[n, s, s]`
    pub matrices: Vec<f64>,
}

impl Smoothed {
    /// `hᵀ(m + Pr)` and `hᵀPh − (Ph)ᵀNPh` with the moments and r, N after an event.
    #[inline(always)]
    fn add_function<const FUSED: bool>(&mut self, index: usize, row: &[f64], adjoint: &Adjoint) {
        let (size, columns) = (row.len(), adjoint.weights.len());
        let means = &self.means[index * size * columns..][..size * columns];
        let covariance = &self.covariances[index * size * size..][..size * size];
        let product = covariance
            .chunks_exact(size)
            .map(|p| dot::<FUSED>(p, row))
            .collect::<Vec<f64>>(); // Ph
        let places = &mut self.function_means[index * columns..][..columns];
        let rows = means
            .chunks_exact(columns)
            .zip(adjoint.vectors.chunks_exact(columns));
        for ((m, r), (&h, &p)) in rows.zip(row.iter().zip(&product)) {
            add_scaled::<FUSED>(places, h, m);
            add_scaled::<FUSED>(places, p, r);
        }
        let known: f64 = (product.iter())
            .zip(adjoint.matrix.chunks_exact(size))
            .map(|(p, n)| p * dot::<FUSED>(n, &product))
            .sum();
        // Rounding may exceed a variance of zero.
        self.function_variances[index] = (dot::<FUSED>(row, &product) - known).max(0.0);
    }
}

/// Smooths a series.
#[inline(always)]
pub fn smooth<const FUSED: bool>(series: &Series<'_>) -> Result<Smoothed, Failure> {
    let (count, size) = (series.events.len(), states::<0>(series.blocks));
    let columns = series.columns;
    let mut filter = Filter::new(series, series.first());
    let Filtered {
        log_density,
        gains,
        variances,
        errors,
        ..
    } = super::forward::filter::<0, 0, FUSED>(series, series.first(), true)?;
    let mut smoothed = Smoothed {
        log_density,
        gains,
        variances,
        errors,
        weights: vec![0.0; count * columns],
        precisions: vec![0.0; count],
        function_means: vec![0.0; count * columns],
        function_variances: vec![0.0; count],
        means: Vec::with_capacity(count * size * columns),
        covariances: Vec::with_capacity(count * size * size),
        vectors: vec![0.0; count * size * columns],
        matrices: vec![0.0; count * size * size],
    };
    for (index, event) in series.events.iter().enumerate() {
        filter.predict::<0, 0, FUSED>(series, event);
        if event.is_observed {
            filter.observe::<0, 0, FUSED>(series, event, series.targets_of::<0>(index));
        }
        smoothed.means.extend(&filter.moments.mean);
        smoothed.covariances.extend(&filter.moments.covariance);
    }
    let mut adjoint = Adjoint::new(series);
    for (index, event) in series.events.iter().enumerate().rev() {
        smoothed.add_function::<FUSED>(index, series.row::<0>(event), &adjoint);
        if event.is_observed {
            let gain = &smoothed.gains[index * size..][..size];
            let errors = &smoothed.errors[index * columns..][..columns];
            let row = series.row::<0>(event);
            let variance = smoothed.variances[index];
            smoothed.precisions[index] = adjoint.absorb::<0, 0, FUSED>(row, gain, variance, errors);
            smoothed.weights[index * columns..][..columns].copy_from_slice(&adjoint.weights);
        }
        let vectors = &mut smoothed.vectors[index * size * columns..][..size * columns];
        vectors.copy_from_slice(&adjoint.vectors);
        smoothed.matrices[index * size * size..][..size * size].copy_from_slice(&adjoint.matrix);
        if let Some(transition) = transition_of(series, event) {
            adjoint.retreat::<0, FUSED>(series.blocks, transition, columns);
        }
    }
    Ok(smoothed)
}
