//! Three quantities at the same places, one of which is hardly ever measured:
//! `cargo run --release -p burn-gp --example several_outputs`

use burn_gp::{
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

/// The quantities at a place: all depend on the same two functions.
fn quantities(x: f64) -> [f64; 3] {
    let (slow, fast) = ((0.7 * x).sin(), (2.3 * x).cos());
    [slow, 10.0 + 4.0 * fast, 100.0 * (0.8 * slow - 0.5 * fast)]
}

/// Places from 0 to 10, and what was measured there; NaN is a hole. The third quantity is known at every eighth place.
fn data() -> (Vec<f64>, Vec<[f64; 3]>) {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut row = |index: u32| {
        let x = f64::from(index) / 8.0;
        let [first, second, third] = quantities(x);
        // Each quantity has its own noise.
        let mut noise = |width: f64| random.random_range(-width..width);
        let (first, second, third) = (first + noise(0.05), second + noise(0.6), third + noise(2.0));
        let second = if index.is_multiple_of(5) {
            f64::NAN
        } else {
            second
        };
        let third = if index % 8 == 1 { third } else { f64::NAN };
        (x, [first, second, third])
    };
    (0..80).map(&mut row).unzip()
}

/// The root mean squared error of the third quantity, the last column of `means`, at the places.
fn error(x: &[f64], means: &[f64]) -> f64 {
    let columns = means.len() / x.len();
    let squares = x.iter().zip(means.chunks(columns)).map(|(x, row)| {
        let difference = row[columns - 1] - quantities(*x)[2];
        difference * difference
    });
    (squares.sum::<f64>() / x.len() as f64).sqrt()
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (x, y) = data();
    let config = ExactConfig::new(StationaryConfig::matern52());
    let together = config.fit(&x, &y, &Fit::new())?;

    // The third quantity alone, where it is known.
    let known = x.iter().zip(&y).filter(|(_, row)| !row[2].is_nan());
    let (places, values): (Vec<f64>, Vec<f64>) = known.map(|(x, row)| (*x, row[2])).unzip();
    let alone = config.fit(&places, &values, &Fit::new())?;

    let of_all = error(&x, &together.predict(&x)?.predictions().mean);
    let of_one = error(&x, &alone.predict(&x)?.predictions().mean);
    println!("error of the third quantity: {of_one:.1} alone, {of_all:.1} with the others");
    assert!(of_all < 0.2 * of_one);

    // At a new place, two of the three are measured.
    let x = 10.6;
    let [first, second, third] = quantities(x);
    let given = together.predict_given([x], [[first, second, f64::NAN]])?;
    println!("{given}; the third is {third:.1}");
    assert!((given.predictions().mean[2] - third).abs() < 15.0);
    Ok(())
}
