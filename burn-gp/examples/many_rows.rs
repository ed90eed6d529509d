//! Computation-aware regression on many rows without inducing points and without an N×N matrix:
//! `cargo run --release -p burn-gp --example many_rows`. It takes a few minutes; the time grows
//! with the square of the number of rows, which `BURN_GP_ROWS` sets.

use burn_gp::{
    ActionRows, ActionsConfig,
    inference::ActionStart,
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

fn data(rows: usize, seed: u64) -> (Vec<[f64; 2]>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut row = |_| {
        let x: [f64; 2] = [
            random.random_range(-3.0..3.0),
            random.random_range(-3.0..3.0),
        ];
        let noise: f64 = random.random_range(-0.35..0.35);
        (x, (1.5 * x[0]).sin() * x[1].cos() + noise)
    };
    (0..rows).map(&mut row).unzip()
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = match std::env::var("BURN_GP_ROWS") {
        Ok(rows) => rows.parse()?,
        // The test of the examples uses fewer rows to save time.
        Err(_) if cfg!(test) => 2000,
        Err(_) => 100_000,
    };
    let ((x, y), (new_x, new_y)) = (data(rows, 1), data(500, 2));
    let actions = ActionsConfig::Blocks {
        count: 64,
        at_most: false,
        start: ActionStart::default(),
        seed: 0,
        rows: ActionRows::Near,
    };
    let start = std::time::Instant::now();
    let fit = Fit::adam(0.1).steps(30);
    let gp = ComputationAwareConfig::new(StationaryConfig::rbf())
        .with_actions(actions)
        .fit(&x, &y, &fit.on((&Device::default(), DType::F32)))?;
    let predicted = gp.predict(&new_x)?;

    let means = predicted.predictions().mean.iter();
    let squares = means.zip(&new_y).map(|(mean, y)| (mean - y).powi(2));
    let rmse = (squares.sum::<f64>() / 500.0).sqrt();
    let density = predicted.log_density(&new_y)?.mean().into_scalar::<f64>();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{rows} rows in {seconds:.1} s: RMSE {rmse:.3} (noise 0.2, targets 0.5), {density:.2}"
    );
    assert!(rmse < 0.35);
    // What the actions leave out counts as uncertainty, so that the model is not overconfident.
    assert!(density > -0.4);
    Ok(())
}
