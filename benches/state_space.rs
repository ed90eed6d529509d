//! The log density of a series over time and its gradient, as ratios of times in the same run.
//!
//! `dense` is the same filter in a plain loop over full matrices, with one product `APAᵀ` a step. `exact` is exact
//! regression on 2000 rows, whose time per row is given for comparison.
//!
//! ```sh
//! cargo bench --bench state_space
//! ```

use std::{error::Error, hint::black_box, time::Instant};

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::{
    inference::{Exact, Markov},
    kernels::{AnyKernel, Kernel, Linear, StationaryKernel, Sum},
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Stationary, numbers},
};

const REPETITIONS: usize = 3;
const EXACT_ROWS: usize = 2000;
const NOISE: f64 = 0.1;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::default();
    let exact = exact_seconds_per_row(&device)?;
    for (name, rows) in [
        ("matern12", 1_000_000),
        ("matern52", 1_000_000),
        ("matern52-uneven", 100_000),
        ("two-matern52", 300_000),
        ("trend-and-matern32", 300_000),
    ] {
        let is_uneven = name.ends_with("uneven");
        let (times, targets) = series(rows, is_uneven);
        let shape = [rows, 1];
        let data = |device: &Device| {
            let place = (device, DType::F64);
            let tensor = |values: &Vec<f64>| {
                Tensor::<2>::from_data(TensorData::new(values.clone(), shape), place)
            };
            (tensor(&times), tensor(&targets))
        };
        let model = |device: &Device| -> Result<_, Box<dyn Error>> {
            let noise = Gaussian::new(NOISE, (device, DType::F64));
            Ok(Markov::new(kernel(name, device), ZeroMean::new(1), noise)?)
        };
        let (plain, (x, y)) = (model(&device)?, data(&device));
        plain.full_objective(x.clone(), y.clone())?; // puts the times in order
        let density = fastest(|| {
            let value = plain.full_objective(x.clone(), y.clone())?;
            Ok(black_box(value.into_scalar::<f64>()))
        })?;
        let tracked = device.clone().autodiff();
        let (trained, (x, y)) = (model(&tracked)?, data(&tracked));
        trained.full_objective(x.clone(), y.clone())?;
        let gradient = fastest(|| {
            let value = trained.full_objective(x.clone(), y.clone())?;
            black_box(&value.backward());
            Ok(0.0)
        })?;
        let dense = dense_seconds(&kernel(name, &device), &targets)?;
        println!(
            "{{\"kernel\": \"{name}\", \"rows\": {rows}, \"density_seconds\": {density:.4}, \
             \"gradient_seconds\": {gradient:.4}, \"density_of_dense\": {:.3}, \"gradient_of_dense\": {:.3}, \
             \"gradient_of_exact_per_row\": {:.2e}}}",
            density / dense,
            gradient / dense,
            gradient / rows as f64 / exact,
        );
    }
    Ok(())
}

fn kernel(name: &str, device: &Device) -> AnyKernel {
    let place = (device, DType::F64);
    let matern = |kind, lengthscale: f64| StationaryKernel::new(kind, &[lengthscale], 1.0, place);
    let smooth = || matern(Stationary::Matern52, 1.0);
    match name {
        "matern12" => matern(Stationary::Matern12, 1.0).boxed(),
        "two-matern52" => Sum::new(smooth(), matern(Stationary::Matern52, 10.0)).boxed(),
        "trend-and-matern32" => Sum::new(
            Linear::new(&[1e-8], place),
            matern(Stationary::Matern32, 1.0),
        )
        .boxed(),
        _ => smooth().boxed(),
    }
}

/// Times with equal or uneven steps, and targets.
fn series(rows: usize, is_uneven: bool) -> (Vec<f64>, Vec<f64>) {
    let mut state = 1_u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut time = 0.0;
    let times: Vec<f64> = (0..rows)
        .map(|_| {
            time += 0.05 * if is_uneven { 0.5 + uniform() } else { 1.0 };
            time
        })
        .collect();
    let targets = times
        .iter()
        .map(|time| time.sin() + 0.3 * (uniform() - 0.5))
        .collect();
    (times, targets)
}

/// The seconds of the fastest of several repetitions.
fn fastest(run: impl Fn() -> Result<f64, Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let begin = Instant::now();
        run()?;
        best = best.min(begin.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// The seconds of exact regression's objective and gradient for each row.
fn exact_seconds_per_row(device: &Device) -> Result<f64, Box<dyn Error>> {
    let device = device.clone().autodiff();
    let place = (&device, DType::F64);
    let model = Exact::new(
        kernel("matern52", &device),
        ZeroMean::new(1),
        Gaussian::new(NOISE, place),
    );
    let (times, targets) = series(EXACT_ROWS, false);
    let tensor =
        |values: Vec<f64>| Tensor::<2>::from_data(TensorData::new(values, [EXACT_ROWS, 1]), place);
    let (x, y) = (tensor(times), tensor(targets));
    let seconds = fastest(|| {
        let value = model.full_objective(x.clone(), y.clone())?;
        black_box(&value.backward());
        Ok(0.0)
    })?;
    Ok(seconds / EXACT_ROWS as f64)
}

/// The seconds of the filter with full matrices, on steps of 0.05.
fn dense_seconds(kernel: &AnyKernel, targets: &[f64]) -> Result<f64, Box<dyn Error>> {
    let form = kernel.state_space()?;
    let (device, dtype) = form.place();
    let step = Tensor::<1>::from_data([0.05], (&device, dtype));
    let blocks = form.blocks();
    let full = |packed: Vec<f64>| {
        let states: usize = blocks.iter().sum();
        let mut matrix = vec![vec![0.0; states]; states];
        let (mut first, mut values) = (0, packed.into_iter());
        for &size in &blocks {
            for row in &mut matrix[first..first + size] {
                row[first..first + size].fill_with(|| values.next().unwrap_or(0.0));
            }
            first += size;
        }
        matrix
    };
    let transition = full(numbers(form.transitions(step.clone())));
    let noise = full(numbers(form.process_noise(step.clone())));
    let prior = full(numbers(form.prior(step)));
    let row = form.row();
    fastest(|| {
        Ok(black_box(dense_filter(
            &transition,
            &noise,
            &prior,
            &row,
            targets,
        )))
    })
}

type Matrix = Vec<Vec<f64>>;

/// The log density by a filter with full matrices.
fn dense_filter(
    transition: &Matrix,
    noise: &Matrix,
    prior: &Matrix,
    row: &[f64],
    targets: &[f64],
) -> f64 {
    let states = row.len();
    let (mut mean, mut covariance) = (vec![0.0; states], prior.clone());
    let mut product = covariance.clone();
    let mut density = 0.0;
    for target in targets {
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        mean = transition.iter().map(|row| dot(row, &mean)).collect();
        for i in 0..states {
            for j in 0..states {
                product[i][j] = (0..states)
                    .map(|k| transition[i][k] * covariance[k][j])
                    .sum();
            }
        }
        for i in 0..states {
            for j in 0..states {
                covariance[i][j] = noise[i][j] + dot(&product[i], &transition[j]);
            }
        }
        let gain: Vec<f64> = covariance.iter().map(|p| dot(p, row)).collect();
        let variance = dot(row, &gain) + NOISE;
        let error = target - dot(row, &mean);
        density -= 0.5 * (variance.ln() + error * error / variance);
        for i in 0..states {
            mean[i] += gain[i] * error / variance;
            for j in 0..states {
                covariance[i][j] -= gain[i] * gain[j] / variance;
            }
        }
    }
    density
}
