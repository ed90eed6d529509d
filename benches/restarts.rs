//! Measures training from several initial values side by side against one training after the other.
//!
//! `cargo bench --bench restarts` prints one line of JSON for 100 and for 500 rows of four inputs: the seconds for one
//! exact regression with a squared-exponential kernel in double precision, for eight side by side, and `speedup`, eight
//! times the first over the second. Each training makes the same number of steps of Adam, with one evaluation each.
//! `-- ROWS STARTS` runs another size.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use burn::tensor::{DType, Device};
use burn_gp_core::{
    kernels::StationaryConfig,
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};
use burn_gp_models::{
    ExactConfig, ModelConfig, restarts,
    training::{FullBatchOptimizer, FullBatchTraining, Schedule, Training, TrainingData},
};

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod arguments;
mod median;

const SIZES: [usize; 2] = [100, 500];
const STARTS: usize = 8;
const INPUTS: usize = 4;

/// Steps of every training.
const STEPS: usize = 30;

/// Repetitions by turns, of which the median counts.
const REPETITIONS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let given = arguments::numbers()?;
    let sizes = given.first().map_or(SIZES.to_vec(), |&rows| vec![rows]);
    let starts = given.get(1).copied().unwrap_or(STARTS);
    let adam = FullBatchOptimizer::Adam {
        learning_rate: 0.01,
        schedule: Schedule::default(),
    };
    let training = FullBatchTraining::default()
        .with_iterations(STEPS)
        .with_optimizer(adam);
    for rows in sizes {
        let config = ModelConfig::from(ExactConfig::new(StationaryConfig::rbf()));
        let (data, training) = (data(rows), Training::from(training));
        let time = |count: usize| -> Duration {
            let begin = Instant::now();
            let found = restarts(&config, &data, &training, (count, 0), || ());
            assert!(
                found.losses.iter().all(Option::is_some),
                "a training failed"
            );
            begin.elapsed()
        };
        let (mut alone, mut together) = (Vec::new(), Vec::new());
        time(starts - 1);
        for _ in 0..REPETITIONS {
            alone.push(time(0));
            together.push(time(starts - 1));
        }
        let [alone, together] = [alone, together].map(|times| median::median(times).as_secs_f64());
        println!(
            r#"{{"rows": {rows}, "starts": {starts}, "alone": {alone:.4}, "together": {together:.4}, "speedup": {:.2}}}"#,
            starts as f64 * alone / together
        );
    }
    Ok(())
}

fn data(rows: usize) -> TrainingData {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let inputs: Vec<f64> = (0..rows * INPUTS).map(|_| random.random()).collect();
    let wave = |row: &[f64]| (5.0 * row[0]).sin() + row[1] * row[2];
    let targets: Vec<f64> = inputs.chunks(INPUTS).map(wave).collect();
    TrainingData::new(&inputs, &targets, &Device::flex().autodiff(), DType::F64)
}
