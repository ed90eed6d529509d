//! Forecasts a series with a trend and a season, with a sum of kernels:
//! `cargo run --release -p burn-gp --example time_series`

use burn_gp::{
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// Monthly values: 100, rising by 2 a year, with a season of height 5.
fn series() -> Vec<(f64, f64)> {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut month = |month: i32| {
        let year = f64::from(month) / 12.0;
        let phase = std::f64::consts::TAU * year;
        let season = 4.0 * phase.sin() + 2.0 * (2.0 * phase).cos();
        (
            year,
            100.0 + 2.0 * year + season + random.random_range(-1.0..1.0),
        )
    };
    (0..12 * 14).map(&mut month).collect()
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (past, future): (Vec<_>, Vec<_>) = series().into_iter().partition(|(year, _)| *year < 10.0);
    let (x, y): (Vec<f64>, Vec<f64>) = past.into_iter().unzip();
    let (new_x, new_y): (Vec<f64>, Vec<f64>) = future.into_iter().unzip();

    let season = StationaryConfig::rbf().periodic(1.0);
    let change = StationaryConfig::matern32()
        .with_lengthscale(20.0)
        .with_variance(0.1);
    let kernel = season
        .plus(LinearConfig {
            variance: 0.01,
            ..Default::default()
        })
        .plus(change);
    // The period is in years, so the inputs are not scaled.
    let gp = ExactConfig::new(kernel)
        .with_mean(MeanConfig::constant(0.0))
        .fit(&x, &y, &Fit::new().scale_inputs(false))?;
    let predicted = gp.predict(&new_x)?;

    let count = new_x.len() as f64;
    let means = predicted.predictions().mean.iter();
    let squares = means.zip(&new_y).map(|(mean, y)| (mean - y).powi(2));
    let rmse = (squares.sum::<f64>() / count).sqrt();
    let interval = predicted.predictions().interval(0.95).ok_or("quantiles")?;
    let ends = interval.lower.iter().zip(&interval.upper);
    let inside = ends
        .zip(&new_y)
        .filter(|((a, b), y)| (**a..=**b).contains(*y))
        .count();
    println!("four years ahead: RMSE {rmse:.2} (the noise has 0.58), {inside} of {count} inside");
    for parameter in gp.hyperparameters() {
        println!("{parameter:?}");
    }
    assert!(rmse < 1.2);
    assert!(inside as f64 > 0.85 * count);
    Ok(())
}
