//! The Laplace approximation of the log evidence, with its derivatives.

use super::{
    latent_precision::{Columns, LatentPrecision},
    log_determinant::LogDeterminant,
    mode::Mode,
    posterior_precision::{PosteriorPrecision, Stop},
    precision_slopes::PrecisionSlopes,
};

/// The tolerance of the solve for the derivatives through the mode.
const TOLERANCE: f64 = 1e-8;

/// `log p(y | ĝ) − ½ĝᵀQĝ − ½Σ log d − ½log|Q + W|`
pub fn log_evidence(prior: &LatentPrecision, mode: &Mode, determinant: &LogDeterminant) -> f64 {
    let normalizer: f64 = prior.variances().iter().map(|variance| variance.ln()).sum();
    mode.value - 0.5 * (normalizer + determinant.value)
}

/// The derivatives of the log evidence. The mode moves with the parameters.
pub struct Slopes {
    /// With respect to b and d.
    pub prior: PrecisionSlopes,
    /// With respect to the mean of each latent value, `[N]`.
    pub mean: Vec<f64>,
    /// The factors of `log p(y_i | f_i)` and its first and second derivative in f, of whose sum the parameters of the
    /// likelihood have the same derivatives: 1, u and half the variances where the log density is concave.
    pub of_density: [Vec<f64>; 3],
}

impl Slopes {
    /// Only W moves with the mode: `s = ∂/∂ĝ(−½log|Q + W|) = ½diag((Q + W)⁻¹)·∂³log p`. From
    /// `∂log p(y | ĝ) = Qĝ`, `∂ĝ = (Q − ∂²log p)⁻¹(∂(∂log p) − ∂Q·ĝ)`, so that all derivatives through the mode
    /// need `u = (Q − ∂²log p)⁻¹s` only.
    pub fn new(
        system: &PosteriorPrecision<'_>,
        mode: &Mode,
        determinant: &LogDeterminant,
        iterations: usize,
    ) -> Self {
        let prior = system.prior();
        let derivatives = &mode.derivatives;
        let variances = determinant.of_curvature.iter();
        // Half the variance, where W is −∂²log p.
        let halves: Vec<f64> = (variances.zip(&derivatives.second))
            .map(|(variance, &second)| if second < 0.0 { 0.5 * variance } else { 0.0 })
            .collect();
        let right: Vec<f64> = (halves.iter().zip(&derivatives.third))
            .map(|(half, third)| half * third)
            .collect(); // s
        let curvature: Vec<f64> = derivatives.second.iter().map(|second| -second).collect();
        let stop = Stop {
            iterations,
            tolerance: TOLERANCE,
        };
        let moved = system.solve_with(&curvature, &right, stop); // u
        let [latent, columns] =
            [&mode.latent, &moved].map(|v| v.iter().map(|&value| [value]).collect::<Columns<1>>());
        let mut slopes = PrecisionSlopes::zero(prior);
        slopes.add_normalizer(prior);
        slopes.add(prior, -0.5, [&latent, &latent]);
        slopes.add(prior, -1.0, [&columns, &latent]);
        determinant.add_slopes(system, -0.5, &mut slopes);
        // m̄ = ∂log p + s + ∂²log p·u
        let mean = (0..right.len())
            .map(|row| derivatives.first[row] + right[row] + derivatives.second[row] * moved[row]);
        Self {
            prior: slopes,
            mean: mean.collect(),
            of_density: [vec![1.0; right.len()], moved, halves],
        }
    }
}
