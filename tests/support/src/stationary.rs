//! Stationary correlations by their formulas (C. Rasmussen and C. Williams, *Gaussian Processes for
//! Machine Learning*, 2006, §4.2.1).

use burn_gp_core::ops::Stationary;

pub const KINDS: [Stationary; 4] = [
    Stationary::SquaredExponential,
    Stationary::Matern12,
    Stationary::Matern32,
    Stationary::Matern52,
];

/// `φ(r)` for `r²`.
pub fn profile_of_square(kind: Stationary, square: f64) -> f64 {
    let r = square.sqrt();
    let (third, fifth) = (3f64.sqrt() * r, 5f64.sqrt() * r);
    match kind {
        Stationary::SquaredExponential => (-0.5 * square).exp(),
        Stationary::Matern12 => (-r).exp(),
        Stationary::Matern32 => (1.0 + third) * (-third).exp(),
        Stationary::Matern52 => (1.0 + fifth + fifth * fifth / 3.0) * (-fifth).exp(),
    }
}

/// `φ` between two points, with one lengthscale or one for each dimension.
pub fn profile(kind: Stationary, a: &[f64], b: &[f64], lengthscales: &[f64]) -> f64 {
    let scale = |d: usize| lengthscales[if lengthscales.len() == 1 { 0 } else { d }];
    let squares = (0..a.len()).map(|d| ((a[d] - b[d]) / scale(d)).powi(2));
    profile_of_square(kind, squares.sum())
}
