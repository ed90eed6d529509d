//! A curve hidden in five measurements, and what is missing of a new row:
//! `cargo run --release -p burn-gp --example latent_variables`

use burn_gp::{
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// Five measurements that all follow from one unknown number.
fn measurements(t: f64) -> [f64; 5] {
    let arch = (t + 2.0) * (t + 2.0);
    [
        t.sin(),
        2.0 * (0.5 * t).sin(),
        0.5 * t,
        t.sin() + 0.2 * t,
        3.0 + 0.3 * arch,
    ]
}

/// Rows of measurements with errors. The number behind each row is not known to the model.
fn data(count: u32) -> Vec<[f64; 5]> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let row = |row| {
        let t = -2.0 + 4.0 * (f64::from(row) + 0.5) / f64::from(count);
        measurements(t).map(|y| y + random.random_range(-0.08..0.08))
    };
    (0..count).map(row).collect()
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = data(50);
    let gplvm = GplvmConfig::new(4).with_inducing(12).fit(&rows)?;

    // The model may use four latent dimensions, and needs one.
    let relevance = gplvm.relevance();
    let largest = relevance.iter().copied().fold(0.0, f64::max);
    let shares: Vec<f64> = relevance.iter().map(|own| own / largest).collect();
    println!("bound {:.1}, relevance {shares:.3?}", gplvm.bound());
    assert_eq!(shares.iter().filter(|share| **share > 0.02).count(), 1);

    // A new row with two measurements. The others follow from its latent input.
    let truth = measurements(1.1);
    let partly = [truth[0], f64::NAN, truth[2], f64::NAN, f64::NAN];
    let imputed = gplvm.impute([partly])?;
    for column in [1, 3, 4] {
        let (mean, deviation) = (imputed.means[0][column], imputed.deviations[0][column]);
        println!(
            "column {column}: {mean:.2} ± {deviation:.2}, is {:.2}",
            truth[column]
        );
        assert!((mean - truth[column]).abs() < 0.2);
    }
    Ok(())
}
