//! Measures exact and collapsed regression on rows with equal inputs, merged into one row and one by one.
//!
//! `cargo bench --bench replicates` prints a line of JSON for each model, for rows of which many have equal inputs and for
//! rows that all differ: the seconds of an objective with its gradient `one_by_one` and `merged`, measured by turns, and
//! `speedup`, the first over the second. `-- ROWS DISTINCT` runs another size.

use std::{error::Error, time::Instant};

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, Exact},
    kernels::{AnyKernel, KernelConfig, StationaryConfig},
    likelihoods::Gaussian,
    means::MeanConfig,
    ops::{Jitter, NotPositiveDefinite},
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod arguments;
mod median;

const ROWS: usize = 1000;
const DISTINCT: usize = 200;
const INPUTS: usize = 4;
const INDUCING: usize = 64;

/// Repetitions by turns, of which the median counts.
const REPETITIONS: usize = 5;

/// An objective of the inputs and targets of rows.
type Objective<'a> = &'a dyn Fn(Tensor<2>, Tensor<2>) -> Result<Tensor<1>, NotPositiveDefinite>;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let given = arguments::numbers()?;
    let rows = given.first().copied().unwrap_or(ROWS);
    let repeated = given.get(1).copied().unwrap_or(DISTINCT);
    let device = Device::default().autodiff();
    let place = (&device, DType::F64);
    for distinct in [repeated, rows] {
        let (x, y) = data(rows, distinct, place);
        let kernel = || -> AnyKernel {
            KernelConfig::from(StationaryConfig::matern52()).init(INPUTS, place)
        };
        let mean = || MeanConfig::zero().init(INPUTS, 1, place);
        let exact = Exact::new(kernel(), mean(), Gaussian::new(0.1, place));
        let merged = exact.clone().with_merged_replicates();
        let time = |objective: Objective<'_>| -> Result<_, NotPositiveDefinite> {
            let begin = Instant::now();
            let gradients = objective(x.clone(), y.clone())?.backward();
            let time = begin.elapsed();
            drop(gradients);
            Ok(time)
        };
        let report = |name: &str, each: Objective<'_>, merged: Objective<'_>| {
            let (mut alone, mut together) = (Vec::new(), Vec::new());
            time(merged)?;
            for _ in 0..REPETITIONS {
                alone.push(time(each)?);
                together.push(time(merged)?);
            }
            let [alone, together] =
                [alone, together].map(|times| median::median(times).as_secs_f64());
            println!(
                r#"{{"model": "{name}", "rows": {rows}, "distinct": {distinct}, "one_by_one": {alone:.5}, "merged": {together:.5}, "speedup": {:.2}}}"#,
                alone / together
            );
            Ok::<_, NotPositiveDefinite>(())
        };
        report("exact", &|x, y| exact.full_objective(x, y), &|x, y| {
            merged.full_objective(x, y)
        })?;
        let z = InducingPoints::new(x.clone().narrow(0, 0, INDUCING.min(distinct)));
        let jitter = Jitter::relative(1e-8);
        let sparse = Collapsed::new(kernel(), mean(), Gaussian::new(0.1, place), z, jitter);
        let merged = sparse.clone().with_merged_replicates();
        report("sgpr", &|x, y| sparse.full_objective(x, y), &|x, y| {
            merged.full_objective(x, y)
        })?;
    }
    Ok(())
}

/// Rows that repeat `distinct` inputs in turn, with noise.
fn data(rows: usize, distinct: usize, place: (&Device, DType)) -> (Tensor<2>, Tensor<2>) {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let points: Vec<f64> = (0..distinct * INPUTS).map(|_| random.random()).collect();
    let rows = (0..rows).map(|row| &points[row % distinct * INPUTS..][..INPUTS]);
    let targets: Vec<[f64; 1]> = (rows.clone())
        .map(|row| [(5.0 * row[0]).sin() + row[1] * row[2] + 0.3 * random.random::<f64>()])
        .collect();
    let inputs: Vec<f64> = rows.flatten().copied().collect();
    let tensor = |values: &[f64], columns: usize| {
        Tensor::<1>::from_data(values, place).reshape([values.len() / columns, columns])
    };
    (tensor(&inputs, INPUTS), tensor(targets.as_flattened(), 1))
}
