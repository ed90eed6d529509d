//! The mode of the latent values.

use super::{
    latent_precision::{Columns, LatentPrecision},
    posterior_precision::{PosteriorPrecision, Stop},
    target_density::{Derivatives, TargetDensity},
};

/// The maximum of `log p(y | g) − ½gᵀQg`.
pub struct Mode {
    /// ĝ, `[N]`
    pub latent: Vec<f64>,
    pub derivatives: Derivatives,
    /// W, `[N]`
    pub curvature: Vec<f64>,
    /// `log p(y | ĝ) − ½ĝᵀQĝ`
    pub value: f64,
    /// Whether the last step was small enough.
    pub has_converged: bool,
}

/// The largest number of Newton steps.
const STEPS: usize = 500;
/// The largest number of halvings of a step.
const HALVINGS: usize = 40;
/// The least increase of the objective, relative to that of a linear function.
const LEAST_INCREASE: f64 = 1e-4;
/// The solve of a step ends at this relative residual.
const TOLERANCE: f64 = 1e-4;

/// Newton's method, `(Q + W)p = ∂log p(y | g) − Qg`, with steps that are halved until the objective rises.
pub fn find_mode(
    prior: &LatentPrecision,
    density: &TargetDensity,
    start: Vec<f64>,
    iterations: usize,
) -> Mode {
    let mut latent = start;
    let mut derivatives = density.derivatives(&latent);
    let mut objective = derivatives.value - 0.5 * square(prior, &latent);
    let mut has_converged = false;
    let accuracy = density.accuracy();
    for _ in 0..STEPS {
        let columns: Columns<1> = latent.iter().map(|&value| [value]).collect();
        let gradient: Vec<f64> = (derivatives.first.iter().zip(prior.product(&columns)))
            .map(|(first, [product])| first - product)
            .collect();
        let curvature = derivatives.curvature();
        let system = PosteriorPrecision::new(prior, &curvature);
        let stop = Stop {
            iterations,
            tolerance: TOLERANCE,
        };
        let step = system.solve_with(&curvature, &gradient, stop);
        let slope: f64 = step.iter().zip(&gradient).map(|(p, g)| p * g).sum();
        if !slope.is_finite() {
            break;
        }
        let Some((next, value)) = line_search(prior, density, [&latent, &step], [objective, slope])
        else {
            // No step improves the objective by more than rounding.
            has_converged = slope.abs() <= 1e5 * accuracy.rounding * objective.abs().max(1.0);
            break;
        };
        latent = next;
        objective = value;
        derivatives = density.derivatives(&latent);
        let distance = slope.max(0.0).sqrt();
        // Newton's method squares the distance, and the solve leaves a share of it. Where W is not the curvature,
        // steps only shorten the distance.
        let is_concave = derivatives.second.iter().all(|&second| second <= 0.0);
        let rest = match is_concave {
            true => (TOLERANCE * distance).max(distance.powi(2)),
            false => distance,
        };
        if rest <= accuracy.distance {
            has_converged = true;
            break;
        }
    }
    Mode {
        curvature: derivatives.curvature(),
        latent,
        derivatives,
        value: objective,
        has_converged,
    }
}

/// The first of the steps 1, ½, ¼, … that increases the objective enough, with its value.
fn line_search(
    prior: &LatentPrecision,
    density: &TargetDensity,
    [latent, step]: [&[f64]; 2],
    [objective, slope]: [f64; 2],
) -> Option<(Vec<f64>, f64)> {
    let rounding = density.accuracy().rounding * objective.abs();
    let mut size = 1.0;
    for _ in 0..HALVINGS {
        let next: Vec<f64> = latent.iter().zip(step).map(|(g, p)| g + size * p).collect();
        let value = density.value(&next) - 0.5 * square(prior, &next);
        if value >= objective + LEAST_INCREASE * size * slope - rounding {
            return Some((next, value));
        }
        size *= 0.5;
    }
    None
}

/// `gᵀQg = Σ (Bg)_i²/d_i`
fn square(prior: &LatentPrecision, latent: &[f64]) -> f64 {
    let mut errors: Columns<1> = latent.iter().map(|&value| [value]).collect();
    prior.multiply(&mut errors);
    let terms = errors.iter().zip(prior.variances());
    terms
        .map(|([error], variance)| error * error / variance)
        .sum()
}
