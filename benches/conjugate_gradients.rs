//! Compares regression with conjugate gradients to exact regression on the same data: the loss and
//! its gradient for several numbers of preconditioner pivots, and predictions with one solve each
//! or with precomputed variances.
//!
//! `cargo bench --bench conjugate_gradients` prints one line of JSON per case, for Matérn-3/2 with a
//! lengthscale per dimension, 9 dimensions, double precision and generated data with little noise (1e-3 of
//! the variance), where solves take longest. It contains the seconds of a loss and its gradient with no
//! pivots, 64, 256 and the default 8·√N, each with products in double precision and then in single precision
//! (the default); the seconds of exact regression; the ratios; and the difference of the loss from the exact
//! one, per point. Then it prints one line per method for predictive variances: the seconds to condition on
//! the data and to predict, and the largest relative error of a standard deviation, including noise.
//! `-- POINTS` runs another size.

use std::{error::Error, hint::black_box, time::Instant};

use burn::tensor::{DType, Device, Distribution, Tensor};
use burn_gp_core::{
    inference::{ConditionError, ConjugateGradients, ConjugateGradientsSettings, Exact},
    kernels::{StationaryConfig, StationaryKernel},
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{NotPositiveDefinite, Stationary},
    process::Process,
};

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod arguments;

const DIMENSIONS: usize = 9;
const NOISE: f64 = 1e-3;

/// N
const POINTS: usize = 4000;

/// N′
const PREDICTIONS: usize = 400;

/// The number of pivots of precomputed variances, or `None` for one solve each, and the tolerance
/// of the solves.
const VARIANCES: [(Option<usize>, f64); 6] = [
    (None, 1e-4),
    (None, 1e-3),
    (None, 1e-2),
    (Some(128), 1e-4),
    (Some(512), 1e-4),
    (Some(2048), 1e-4),
];

/// The numbers of pivots, with the default last.
const PIVOTS: [Option<usize>; 4] = [Some(0), Some(64), Some(256), None];

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let points = arguments::numbers()?.first().copied().unwrap_or(POINTS);
    let device = Device::flex().autodiff();
    device.seed(0);
    let options = (&device, DType::F64);
    let normal = Distribution::Normal(0.0, 1.0);
    let inputs = Tensor::random([points, DIMENSIONS], normal, options);
    let targets = inputs.clone().sum_dim(1).sin(); // [N, 1]
    let likelihood = || Gaussian::new(NOISE, options);
    let exact = Exact::new(kernel(&device), ZeroMean::new(1), likelihood());
    let (reference, exact_seconds) =
        evaluated(|x, y| exact.full_objective(x, y), &inputs, &targets)?;
    for (rank, mixed_precision) in PIVOTS
        .into_iter()
        .flat_map(|rank| [(rank, false), (rank, true)])
    {
        let settings = ConjugateGradientsSettings {
            rank,
            mixed_precision,
            ..ConjugateGradientsSettings::default()
        };
        let model =
            ConjugateGradients::new(kernel(&device), ZeroMean::new(1), likelihood(), settings);
        let (value, seconds) = evaluated(|x, y| model.full_objective(x, y), &inputs, &targets)?;
        println!(
            "{{\"points\": {points}, \"pivots\": {}, \"mixed_precision\": {mixed_precision}, \
             \"seconds\": {seconds:.2}, \
             \"exact_seconds\": {exact_seconds:.2}, \"of_exact\": {:.2}, \
             \"loss_minus_exact\": {:.4e}}}",
            rank.map_or("\"default\"".to_owned(), |rank| rank.to_string()),
            seconds / exact_seconds,
            (reference - value) / points as f64,
        );
    }
    let new = Tensor::random([PREDICTIONS, DIMENSIONS], normal, options);
    let all = [&inputs, &targets, &new];
    let (reference, [conditioning, prediction]) = predicted(|x, y| exact.condition(x, y), all)?;
    for (cached_variances, tolerance) in VARIANCES {
        let settings = ConjugateGradientsSettings {
            cached_variances,
            tolerance,
            ..ConjugateGradientsSettings::default()
        };
        let model =
            ConjugateGradients::new(kernel(&device), ZeroMean::new(1), likelihood(), settings);
        let (deviations, seconds) = predicted(|x, y| model.condition(x, y), all)?;
        let off = (deviations.iter().zip(&reference))
            .map(|(found, exact)| (found / exact - 1.0).abs())
            .fold(0.0, f64::max);
        println!(
            "{{\"points\": {points}, \"predictions\": {PREDICTIONS}, \"cached_variances\": {}, \
             \"tolerance\": {tolerance:e}, \"conditioning_seconds\": {:.2}, \"prediction_seconds\": {:.2}, \
             \"exact_seconds\": [{conditioning:.2}, {prediction:.2}], \
             \"deviations_off_by\": {off:.1e}}}",
            cached_variances.map_or("null".to_owned(), |rank| rank.to_string()),
            seconds[0],
            seconds[1],
        );
    }
    Ok(())
}

fn kernel(device: &Device) -> StationaryKernel {
    StationaryConfig::new(Stationary::Matern32)
        .with_lengthscale(4.0)
        .init(DIMENSIONS, (device, DType::F64))
}

/// The log evidence, and the seconds for it and its gradient.
fn evaluated(
    objective: impl FnOnce(Tensor<2>, Tensor<2>) -> Result<Tensor<1>, NotPositiveDefinite>,
    inputs: &Tensor<2>,
    targets: &Tensor<2>,
) -> Result<(f64, f64), Box<dyn Error>> {
    let begin = Instant::now();
    let evidence = objective(inputs.clone(), targets.clone())?;
    let value: f64 = evidence.clone().into_scalar();
    black_box(&evidence.backward());
    let seconds = begin.elapsed().as_secs_f64();
    if value.is_finite() {
        Ok((value, seconds))
    } else {
        Err("the log evidence is not finite".into())
    }
}

/// Predictive standard deviations of new targets, with the seconds to condition and to predict.
fn predicted<P: Process>(
    condition: impl FnOnce(Tensor<2>, Tensor<2>) -> Result<P, ConditionError>,
    [inputs, targets, new]: [&Tensor<2>; 3],
) -> Result<(Vec<f64>, [f64; 2]), Box<dyn Error>> {
    let begin = Instant::now();
    let process = condition(inputs.clone(), targets.clone())?;
    let conditioning = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let variances = process.marginals(new.clone().inner()).variance;
    let deviations = (variances.into_data().iter::<f64>())
        .map(|variance| (variance + NOISE).sqrt())
        .collect();
    Ok((deviations, [conditioning, begin.elapsed().as_secs_f64()]))
}
