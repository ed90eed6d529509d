//! Noise that depends on the input, and predictive intervals whose width follows it:
//! `cargo run --release -p burn-gp --example heteroskedastic`

use std::f64::consts::TAU;

use burn_gp::{
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// The standard deviation of the noise: largest in the middle, and an eighth of that at both ends.
fn deviation(x: f64) -> f64 {
    0.05 + 0.4 * (-0.5 * x * x).exp()
}

/// `y = sin 2x + s(x)·ε` with standard normal noise.
fn data(rows: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut row = |_| {
        let x: f64 = random.random_range(-3.0..3.0);
        // The Box–Muller method.
        let (u, v): (f64, f64) = (random.random(), random.random());
        let normal = (-2.0 * (1.0 - u).ln()).sqrt() * (TAU * v).cos();
        (x, (2.0 * x).sin() + deviation(x) * normal)
    };
    (0..rows).map(&mut row).unzip()
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ((x, y), (new_x, new_y)) = (data(1000, 1), data(1000, 2));
    let grid: Vec<f64> = (0..=50).map(|i| -2.5 + 0.1 * f64::from(i)).collect();

    let mut scores = Vec::new();
    for likelihood in [
        LikelihoodConfig::from(GaussianConfig::default()),
        HeteroskedasticConfig::default().into(),
    ] {
        let gp = SvgpConfig::new(StationaryConfig::rbf(), likelihood)
            .with_inducing(20)
            .fit(&x, &y, &Fit::adam(0.05).steps(1500).batch_size(250))?;
        let predicted = gp.predict(&grid)?;
        let interval = predicted.predictions().interval(0.9).ok_or("quantiles")?;
        // 90 % of a normal distribution lies within 1.645 standard deviations.
        let ends = interval.lower.iter().zip(&interval.upper).zip(&grid);
        let ratios = ends.map(|((a, b), x)| (b - a) / (2.0 * 1.645 * deviation(*x)));
        let (least, most) = ratios.fold((f64::MAX, 0.0_f64), |(least, most), ratio| {
            (least.min(ratio), most.max(ratio))
        });
        let density = gp.predict(&new_x)?.log_density(&new_y)?;
        let density = density.mean().into_scalar::<f64>();
        println!("widths are {least:.2} to {most:.2} of the true ones, log density {density:.3}");
        scores.push((least, most, density));
    }

    let [(_, widest, constant), (least, most, growing)] = scores[..] else {
        return Err("two models".into());
    };
    assert!(least > 0.8 && most < 1.25, "the width follows the noise");
    assert!(widest > 3.0, "one width for all is wrong somewhere");
    assert!(growing > constant + 0.3);
    Ok(())
}
