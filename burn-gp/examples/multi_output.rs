//! Two outputs as mixtures of shared functions. One is measured often; the other is measured at nine
//! inputs and learns from the first: `cargo run --release -p burn-gp --example multi_output`

use burn_gp::{
    CoregionalizationConfig,
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// The known variance of the noise.
const NOISE: f64 = 0.01;

/// A missing target has a noise variance so large that its value does not matter.
const MISSING: f64 = 1e8;

/// The first output, and the second, which is the first one inverted plus a linear trend.
fn outputs(x: f64) -> [f64; 2] {
    let wave = (1.9 * x).sin() + 0.5 * (4.1 * x).cos();
    [wave, 0.15 * (x - 5.0) - 0.8 * wave]
}

/// Inputs from 0 to 10 and rows of both values with both noise variances.
fn data() -> (Vec<f64>, Vec<[f64; 4]>) {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    // Uniform noise of variance 0.01.
    let mut noisy = |value: f64| value + random.random_range(-0.173..0.173);
    let mut row = |index: u32| {
        let x = f64::from(index) / 10.0;
        let [first, second] = outputs(x).map(&mut noisy);
        let (second, noise) = match index % 12 == 2 {
            true => (second, NOISE),
            false => (0.0, MISSING),
        };
        (x, [first, second, NOISE, noise])
    };
    (0..100).map(&mut row).unzip()
}

/// The root mean squared error of the second output, which is in the last column of `means`.
fn error(x: &[f64], means: &[f64]) -> f64 {
    let columns = means.len() / x.len();
    let rows = x.iter().zip(means.chunks(columns));
    let squares = rows.map(|(x, row)| (row[columns - 1] - outputs(*x)[1]).powi(2));
    (squares.sum::<f64>() / x.len() as f64).sqrt()
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (x, y) = data();
    // Placeholders for missing values must not count in means and standard deviations.
    let fit = Fit::adam(0.05)
        .steps(600)
        .batch_size(100)
        .scale_targets(false);
    let independent = SvgpConfig::new(
        StationaryConfig::matern52(),
        LikelihoodConfig::fixed_noise(),
    );
    let mixed = SvgpConfig {
        coregionalization: Some(CoregionalizationConfig::new(2)),
        ..independent.clone().with_inducing(30)
    };
    let together = mixed.fit(&x, &y, &fit)?;

    // Only the second output, in the rows that have it.
    let own = x.iter().zip(&y).filter(|(_, row)| row[3] == NOISE);
    let (own_x, own_y): (Vec<f64>, Vec<[f64; 2]>) =
        own.map(|(x, row)| (*x, [row[1], row[3]])).unzip();
    let alone = independent.fit(&own_x, &own_y, &fit)?;

    let new_x: Vec<f64> = (0..390).map(|i| f64::from(i) / 40.0 + 0.013).collect();
    let of_both = together.predict(&new_x)?;
    let error_together = error(&new_x, &of_both.predictions().mean);
    let error_alone = error(&new_x, &alone.predict(&new_x)?.predictions().mean);
    println!(
        "error of the output with {} data: {error_together:.3} together, {error_alone:.3} alone",
        own_x.len()
    );
    assert_eq!(of_both.mean().dims(), [390, 2]);
    assert!(error_together < 0.5 * error_alone);
    Ok(())
}
