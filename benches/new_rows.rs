//! Measures an update of exact regression by new rows against conditioning on all rows.
//!
//! `cargo bench -p burn-gp-models --bench new_rows` prints one line of JSON for 500 and for 2000 rows of four inputs and
//! 100 new ones, in double precision: the milliseconds for a model of all rows without training and for
//! `condition_on_observations`, and `speedup`, the first over the second. `-- ROWS NEW` runs another size.

use std::{error::Error, time::Instant};

use burn_gp_core::{
    kernels::StationaryConfig,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};
use burn_gp_models::{ExactConfig, Fit, FitModel};

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod arguments;
mod median;

const SIZES: [usize; 2] = [500, 2000];
const NEW: usize = 100;
const INPUTS: usize = 4;

/// Repetitions by turns, of which the median counts.
const REPETITIONS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let given = arguments::numbers()?;
    let sizes = given.first().map_or(SIZES.to_vec(), |&rows| vec![rows]);
    let new = given.get(1).copied().unwrap_or(NEW);
    let config = ExactConfig::new(StationaryConfig::matern52());
    let fit = Fit::new().steps(0);
    for rows in sizes {
        let (x, y) = data(rows + new);
        let first = config.fit(&x[..rows], &y[..rows], &fit)?;
        let (mut all, mut update) = (Vec::new(), Vec::new());
        for _ in 0..REPETITIONS {
            let begin = Instant::now();
            let _whole = config.fit(&x, &y, &fit)?;
            all.push(begin.elapsed());
            let begin = Instant::now();
            let _updated = first.condition_on_observations(&x[rows..], &y[rows..])?;
            update.push(begin.elapsed());
        }
        let [all, update] = [all, update].map(|times| 1e3 * median::median(times).as_secs_f64());
        println!(
            r#"{{"rows": {rows}, "new": {new}, "all_rows_ms": {all:.2}, "update_ms": {update:.2}, "speedup": {:.2}}}"#,
            all / update
        );
    }
    Ok(())
}

/// Waves with noise.
fn data(rows: usize) -> (Vec<[f64; INPUTS]>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(rows as u64);
    let x: Vec<[f64; INPUTS]> = (0..rows)
        .map(|_| core::array::from_fn(|_| random.random::<f64>()))
        .collect();
    let noise = |random: &mut ChaCha8Rng| 0.2 * (random.random::<f64>() - 0.5);
    let y = x
        .iter()
        .map(|row| (6.0 * row[0]).sin() + row[1] * row[2] + noise(&mut random))
        .collect();
    (x, y)
}
