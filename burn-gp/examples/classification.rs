//! Three classes, with probabilities that are uncertain where the data are ambiguous:
//! `cargo run --release -p burn-gp --example classification`

use burn_gp::{
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// Points on three arms of a spiral, with noise.
fn spiral(count: usize, seed: u64) -> (Vec<[f64; 2]>, Vec<usize>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut point = |index: usize| {
        let (arm, radius) = (index % 3, random.random_range(0.2..2.0));
        let angle = 2.1 * arm as f64 + 1.5 * radius + random.random_range(-0.35..0.35);
        ([radius * angle.cos(), radius * angle.sin()], arm)
    };
    (0..count).map(&mut point).unzip()
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ((x, labels), (new_x, new_labels)) = (spiral(600, 1), spiral(300, 2));
    let gp = SvgpConfig::new(StationaryConfig::matern52(), SoftmaxConfig::new(3))
        .with_inducing(32)
        .fit(&x, &labels, &Fit::adam(0.05).steps(200).batch_size(100))?;
    let predicted = gp.predict(&new_x)?;

    // [N, 3], row by row
    let probabilities = &predicted.predictions().probabilities;
    let of_label = |(row, label): (&[f64], &usize)| row[*label];
    let rows = || probabilities.chunks(3).zip(&new_labels).map(of_label);
    let right = rows().filter(|p| *p > 0.5).count() as f64 / 300.0;
    let density = predicted
        .log_density(&new_labels)?
        .mean()
        .into_scalar::<f64>();
    println!("{right:.3} are right; mean log probability of the label {density:.3}");
    assert!(right > 0.9);
    // Guessing gives −log 3 = −1.1.
    assert!(density > -0.35);

    // At the center, between the arms, the model should be uncertain.
    let center = gp.predict([[0.0, 0.0]])?;
    let largest = (center.predictions().probabilities.iter()).fold(0.0, |a: f64, &b| a.max(b));
    println!("largest probability at the center: {largest:.2}");
    assert!(largest < 0.8);
    Ok(())
}
