//! Compares a deep Gaussian process with three layers and one with a single layer on a function
//! with a jump, which no stationary kernel fits well:
//! `cargo run --release -p burn-gp --example deep_gp`

use burn_gp::{
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// A step from −1 to 1 at zero, with noise of standard deviation 0.05.
fn data(rows: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut row = |_| {
        let x: f64 = random.random_range(-1.0..1.0);
        (x, x.signum() + random.random_range(-0.087..0.087))
    };
    (0..rows).map(&mut row).unzip()
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ((x, y), (new_x, new_y)) = (data(200, 1), data(500, 2));
    let layer = LayerConfig::new(StationaryConfig::rbf()).with_inducing(20);
    // Hidden layers start close to the identity, so that the model starts as one layer.
    let hidden = (layer.clone())
        .with_mean(MeanConfig::identity())
        .with_deviation(0.01);
    let shallow = DeepGpConfig::new(layer.clone(), GaussianConfig::new(0.01));
    let deep = (shallow.clone())
        .with_hidden(1, hidden.clone())
        .with_hidden(1, hidden);

    let mut scores = Vec::new();
    for (name, config) in [("one layer", shallow), ("three layers", deep)] {
        let gp = config.fit(&x, &y, &Fit::adam(0.02).steps(800).batch_size(200))?;
        let density = gp.predict(&new_x)?.log_density(&new_y)?;
        scores.push(density.mean().into_scalar::<f64>());
        println!(
            "{name}: mean log density of new data {:.2}",
            scores[scores.len() - 1]
        );
    }
    assert!(scores[1] > scores[0] + 0.2);
    Ok(())
}
