//! A function far from zero and in large units, with noise.

use rand::{SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};

/// The standard deviation of the noise.
pub const NOISE: f64 = 20.0;

/// The function.
fn function(x: f64) -> f64 {
    300.0 + 150.0 * x.sin()
}

/// Inputs from 0 to 10.
pub fn inputs(rows: usize) -> Vec<f64> {
    let of_unit = rows as f64 / 10.0;
    (0..rows).map(|row| row as f64 / of_unit).collect()
}

/// The function at the inputs with noise.
pub fn values(rows: usize, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let value = |x: &f64| {
        let standard: f64 = StandardNormal.sample(&mut random);
        function(*x) + NOISE * standard
    };
    inputs(rows).iter().map(value).collect()
}

/// The root mean squared error of `found` at the inputs.
pub fn error(found: &[f64]) -> f64 {
    let errors = found.iter().zip(inputs(found.len()));
    let squares = errors.map(|(found, x)| (found - function(x)).powi(2));
    (squares.sum::<f64>() / found.len() as f64).sqrt()
}
