//! The log density of a series over time and its gradient, as ratios of times in the same run.
//!
//! `dense` is the same filter in a plain loop over full matrices, with one product `APAᵀ` a step. `exact` is exact
//! regression on 2000 rows, whose time per row is given for comparison.
//!
//! ```sh
//! cargo bench --bench state_space
//! cargo bench --bench state_space -- matern52:100000   # its milliseconds alone, for comparisons with other programs
//! cargo bench --bench state_space -- batch:1000        # that many series of 200 rows in one call, and in a loop
//! ```

use std::{error::Error, hint::black_box, time::Instant};

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::{
    inference::{Exact, Markov},
    kernels::{AnyKernel, Kernel, Linear, StationaryKernel, Sum},
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Event, LinearSystem, Stationary, numbers, state_space_log_density},
};

const REPETITIONS: usize = 5;
const EXACT_ROWS: usize = 2000;
/// Rows of each of many series.
const BATCH_ROWS: usize = 200;
const NOISE: f64 = 0.1;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::default();
    let case = std::env::args().skip(1).find(|word| word.contains(':'));
    if let Some((name, count)) = case.as_deref().and_then(|case| case.split_once(':')) {
        return match name {
            "batch" => batch(count.parse()?, &device),
            _ => one(name, count.parse()?, &device),
        };
    }
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
        let [density, gradient] = seconds(name, [&times, &targets], &device)?;
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

/// The seconds of the log density, and with its gradient.
fn seconds(
    name: &str,
    [times, targets]: [&[f64]; 2],
    device: &Device,
) -> Result<[f64; 2], Box<dyn Error>> {
    let (plain, (x, y)) = regression(name, [times, targets], device)?;
    plain.full_objective(x.clone(), y.clone())?; // puts the times in order
    let density = fastest(|| {
        let value = plain.full_objective(x.clone(), y.clone())?;
        Ok(black_box(value.into_scalar::<f64>()))
    })?;
    let tracked = device.clone().autodiff();
    let (trained, (x, y)) = regression(name, [times, targets], &tracked)?;
    trained.full_objective(x.clone(), y.clone())?;
    let gradient = fastest(|| {
        let value = trained.full_objective(x.clone(), y.clone())?;
        black_box(&value.backward());
        Ok(0.0)
    })?;
    Ok([density, gradient])
}

type Data = (Tensor<2>, Tensor<2>);

/// A model with its data.
fn regression(
    name: &str,
    [times, targets]: [&[f64]; 2],
    device: &Device,
) -> Result<(Markov<AnyKernel>, Data), Box<dyn Error>> {
    let place = (device, DType::F64);
    let tensor = |values: &[f64]| {
        Tensor::<2>::from_data(TensorData::new(values.to_vec(), [values.len(), 1]), place)
    };
    let model = Markov::new(
        kernel(name, device),
        ZeroMean::new(1),
        Gaussian::new(NOISE, place),
    )?;
    Ok((model, (tensor(times), tensor(targets))))
}

/// The milliseconds of one case.
fn one(name: &str, rows: usize, device: &Device) -> Result<(), Box<dyn Error>> {
    let (times, targets) = series(rows, name.ends_with("uneven"));
    let (model, (x, y)) = regression(name, [&times, &targets], device)?;
    let log_density: f64 = model.full_objective(x, y)?.into_scalar();
    let [density, gradient] = seconds(name, [&times, &targets], device)?;
    println!(
        "{{\"log_density\": {log_density}, \"density_ms\": {:.4}, \"gradient_ms\": {:.4}}}",
        1e3 * density,
        1e3 * gradient
    );
    Ok(())
}

/// The milliseconds of many series with parameters of their own in one call, and in one call for each.
fn batch(count: usize, device: &Device) -> Result<(), Box<dyn Error>> {
    let (times, targets) = series(BATCH_ROWS * count, false);
    let events: Vec<Event> = (0..BATCH_ROWS)
        .map(|row| Event {
            step: (row > 0).then_some(0),
            row: 0,
            noise: 0,
            is_observed: true,
        })
        .collect();
    for name in ["matern12", "matern32", "matern52"] {
        let call = |first: usize, count: usize| -> Result<f64, Box<dyn Error>> {
            let tracked = device.clone().autodiff();
            let form = kernel(name, &tracked).state_space()?;
            let (place, dtype) = form.place();
            let place = (&place, dtype);
            let step = Tensor::<1>::from_data([times[1] - times[0]], place);
            let states = form.row().len();
            let own = &targets[first * BATCH_ROWS..(first + count) * BATCH_ROWS];
            let own = TensorData::new(own.to_vec(), [count, BATCH_ROWS, 1]);
            let noise = Tensor::<2>::full([count, 1], NOISE, place).require_grad();
            let system = LinearSystem {
                blocks: form.blocks(),
                transitions: form
                    .transitions(step.clone())
                    .unsqueeze::<3>()
                    .repeat_dim(0, count),
                process_noise: form
                    .process_noise(step.clone())
                    .unsqueeze::<3>()
                    .repeat_dim(0, count),
                prior: form.prior(step).repeat_dim(0, count),
                rows: Tensor::<1>::from_data(form.row().as_slice(), device)
                    .cast(dtype)
                    .reshape([1, 1, states]),
                noise,
            };
            let targets = Tensor::<3>::from_data(own, place);
            let value = state_space_log_density(system, targets, &events)?;
            black_box(&value.backward());
            Ok(value.into_scalar())
        };
        let together = fastest(|| call(0, count))?;
        let apart = fastest(|| (0..count).map(|first| call(first, 1)).sum())?;
        println!(
            "{{\"kernel\": \"{name}\", \"series\": {count}, \"together_ms\": {:.3}, \"loop_ms\": {:.3}}}",
            1e3 * together,
            1e3 * apart
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
        "matern32" => matern(Stationary::Matern32, 1.0).boxed(),
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
