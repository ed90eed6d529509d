//! Nearest-neighbor (Vecchia) regression on many rows of a rough surface, and joint draws where there are no data:
//! `cargo run --release -p burn-gp --example neighbors`. The time is proportional to the number of rows, which
//! `BURN_GP_ROWS` sets: 100,000 take a quarter of a minute, a million some minutes.

use std::error::Error;

use burn_gp::{
    prelude::*,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

const NOISE: f64 = 0.3;

/// There are no data in the square around the middle with half this side.
const HOLE: f64 = 0.03;

fn normal(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// A function as a sum of waves, with the spectrum of a Matérn-3/2 process of variance one and lengthscale 0.05.
struct Surface(Vec<([f64; 2], f64)>);

impl Surface {
    fn new(waves: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let wave = |_| {
            // Frequencies have a t distribution with 2ν = 3 degrees of freedom.
            let chi: f64 = (0..3).map(|_| normal(&mut random).powi(2)).sum();
            let scale = (3.0 / chi).sqrt() / 0.05;
            let frequency = [scale * normal(&mut random), scale * normal(&mut random)];
            (frequency, random.random_range(0.0..std::f64::consts::TAU))
        };
        Self((0..waves).map(wave).collect())
    }

    fn value(&self, [a, b]: [f64; 2]) -> f64 {
        let wave = |([u, v], phase): &([f64; 2], f64)| (u * a + v * b + phase).cos();
        let sum: f64 = self.0.iter().map(wave).sum();
        sum * (2.0 / self.0.len() as f64).sqrt()
    }
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let rows = match std::env::var("BURN_GP_ROWS") {
        Ok(rows) => rows.parse()?,
        // The test of the examples uses fewer rows to save time.
        Err(_) if cfg!(test) => 4000,
        Err(_) => 100_000,
    };
    let surface = Surface::new(200);
    let is_outside = |x: &[f64; 2]| x.iter().any(|value| (value - 0.5).abs() > HOLE);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut measure = |count: usize| -> (Vec<[f64; 2]>, Vec<f64>) {
        let places = std::iter::repeat_with(|| [random.random(), random.random()]);
        let places: Vec<[f64; 2]> = places.filter(is_outside).take(count).collect();
        let measured = places
            .iter()
            .map(|&x| surface.value(x) + NOISE * normal(&mut random));
        let measured = measured.collect();
        (places, measured)
    };
    let ((x, y), (new_x, new_y)) = (measure(rows), measure(1000));
    let config = VecchiaConfig::new(StationaryConfig::matern32());
    let gp = config.fit(&x, &y, &Fit::new().steps(20))?;
    let predicted = gp.predict(&new_x)?;

    let means = predicted.predictions().mean.iter();
    let squares = means.zip(&new_y).map(|(mean, y)| (mean - y).powi(2));
    let rmse = (squares.sum::<f64>() / 1000.0).sqrt();
    let interval = predicted.predictions().interval(0.95).ok_or("quantiles")?;
    let ends = interval.lower.iter().zip(&interval.upper).zip(&new_y);
    let inside = ends.filter(|((low, high), y)| *low <= *y && *y <= *high);
    let coverage = inside.count() as f64 / 1000.0;
    println!("{rows} rows: RMSE {rmse:.3} (noise {NOISE}), {coverage:.3} in 95 % intervals");
    assert!(rmse < 1.5 * NOISE, "{rmse}");
    assert!((0.92..=0.98).contains(&coverage), "{coverage}");

    // The mean over the hole. Its error is that of the surface there, which neighboring points share.
    let side = |step: usize| 0.5 - HOLE + 2.0 * HOLE * (step as f64 + 0.5) / 15.0;
    let grid: Vec<[f64; 2]> = (0..225).map(|i| [side(i % 15), side(i / 15)]).collect();
    let truth = grid.iter().map(|&x| surface.value(x)).sum::<f64>() / 225.0;
    let inside = gp.predict(&grid)?;
    let means: Vec<f64> = inside
        .samples(400, 5)?
        .mean_dim(1)
        .into_data()
        .iter()
        .collect();
    let mean = means.iter().sum::<f64>() / 400.0;
    let joint = (means.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
    let apart = (inside.predictions().variance.iter().sum::<f64>()).sqrt() / 225.0;
    println!(
        "mean over the hole: {mean:.3} ± {joint:.3}, really {truth:.3}; as if independent ± {apart:.3}"
    );
    assert!((mean - truth).abs() < 3.0 * joint && joint > 1.5 * apart);
    Ok(())
}
