//! Measures a model for each of many data sets against a loop over them.
//!
//! `cargo bench -p burn-gp-models --bench many_data_sets` prints one line of JSON for 200 data sets of 50 rows of two
//! inputs: the seconds for exact regression in a loop and with `fit_each`, and `speedup`, the first over the second.
//! `-- SETS ROWS` runs another size.

use std::{error::Error, time::Instant};

use burn_gp_core::{
    kernels::StationaryConfig,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};
use burn_gp_models::{ExactConfig, Fit, FitModel, Fitted, fit_each};

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod arguments;
mod median;

const SETS: usize = 200;
const ROWS: usize = 50;

/// Repetitions by turns, of which the median counts.
const REPETITIONS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let given = arguments::numbers()?;
    let [sets, rows] =
        [(0, SETS), (1, ROWS)].map(|(place, usual)| given.get(place).copied().unwrap_or(usual));
    let data_sets: Vec<(Vec<[f64; 2]>, Vec<f64>)> =
        (0..sets).map(|set| data(rows, set as u64)).collect();
    let config = ExactConfig::new(StationaryConfig::matern52());
    let fit = Fit::new();
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for _ in 0..REPETITIONS {
        let begin = Instant::now();
        for (x, y) in &data_sets {
            config.fit(x, y, &fit)?;
        }
        alone.push(begin.elapsed());
        let begin = Instant::now();
        let models = fit_each(&config, data_sets.iter().map(|(x, y)| (x, y)), &fit);
        let _models: Vec<Fitted> = models.into_iter().collect::<Result<_, _>>()?;
        together.push(begin.elapsed());
    }
    let [alone, together] = [alone, together].map(|times| median::median(times).as_secs_f64());
    println!(
        r#"{{"data_sets": {sets}, "rows": {rows}, "loop": {alone:.3}, "fit_each": {together:.3}, "speedup": {:.2}}}"#,
        alone / together
    );
    Ok(())
}

/// A wave of two inputs with a length of its own.
fn data(rows: usize, seed: u64) -> (Vec<[f64; 2]>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let length = 0.5 + random.random::<f64>();
    let x: Vec<[f64; 2]> = (0..rows)
        .map(|_| [random.random::<f64>() * 3.0, random.random::<f64>() * 3.0])
        .collect();
    let noise = |random: &mut ChaCha8Rng| 0.2 * (random.random::<f64>() - 0.5);
    let y = x
        .iter()
        .map(|row| (row[0] / length).sin() + 0.5 * row[1] + noise(&mut random))
        .collect();
    (x, y)
}
