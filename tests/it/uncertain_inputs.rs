//! Processes at inputs that are not known exactly.

use std::sync::Arc;

use burn::tensor::Tensor;
use burn_gp_core::{
    inference::Exact,
    kernels::{AnyKernel, Kernel, Linear, StationaryConfig},
    likelihoods::Gaussian,
    means::ZeroMean,
    process::{AnyProcess, Marginals, UncertainInputs},
};

use crate::support::{Dense, Platform, Random, assert_close, numbers, platforms};

const SAMPLES: usize = 32;

/// Regression of a wave of two inputs.
fn process(platform: &Platform, kernel: AnyKernel) -> Arc<dyn AnyProcess + Send + Sync> {
    let x = Random::new(811).points(12, 2);
    let y: Vec<f64> = x
        .values
        .chunks(2)
        .map(|x| x[0].sin() + 0.5 * x[1])
        .collect();
    let (x, y) = (platform.matrix(&x), platform.matrix(&Dense::new(12, 1, y)));
    let likelihood = Gaussian::new(0.05, platform.options());
    let process = Exact::new(kernel, ZeroMean::new(1), likelihood).condition(x, y);
    Arc::new(process.expect("factor"))
}

fn rbf(platform: &Platform) -> AnyKernel {
    let kernel = StationaryConfig::rbf()
        .with_lengthscale(0.8)
        .with_variance(1.3);
    kernel.init(2, platform.options()).boxed()
}

/// Values and standard deviations side by side.
fn points(platform: &Platform, rows: &[[f64; 4]]) -> Tensor<2> {
    platform.matrix(&Dense::new(rows.len(), 4, rows.concat()))
}

fn moments(process: &UncertainInputs, x: Tensor<2>) -> [Vec<f64>; 2] {
    let moments = Marginals::of_mixture(process.components(x)).expect("components");
    [numbers(moments.mean), numbers(moments.variance)]
}

/// Rows without a deviation are predicted by the process, wherever they are among others.
#[test]
fn known_inputs_have_the_moments_of_the_process() {
    for platform in platforms() {
        let process = process(&platform, rbf(&platform));
        let uncertain = UncertainInputs::new(process.clone(), SAMPLES);
        let rows = [
            [0.3, -0.4, 0.0, 0.0],
            [1.0, 0.2, 0.0, 0.3],
            [-0.7, 0.9, 0.0, 0.0],
        ];
        let [mean, variance] = moments(&uncertain, points(&platform, &rows));
        let alone = moments(&uncertain, points(&platform, &[rows[0], rows[2]]));
        let x = platform.matrix(&Dense::new(2, 2, vec![0.3, -0.4, -0.7, 0.9]));
        let expected = process.components(x).remove(0);
        let expected = [numbers(expected.mean), numbers(expected.variance)];
        // The mean of equal numbers has the rounding of their sum.
        let tolerance = platform.tolerance(1e-13, 2e-5);
        let what = platform.to_string();
        for (all, alone, expected) in [
            (mean, &alone[0], &expected[0]),
            (variance, &alone[1], &expected[1]),
        ] {
            assert_close(&what, &[all[0], all[2]], expected, tolerance);
            assert_close(&what, alone, expected, tolerance);
        }
    }
}

/// A linear function of one uncertain input: `E[μ] = μ(x)` and `Var = E[σ²(x + ε)] + (∂μ/∂x·s)²`, in which σ² is a
/// square of the input. The points have the mean and the variance of ε, so both are exact.
#[test]
fn linear_functions_have_exact_moments() {
    for platform in platforms() {
        let kernel = || Linear::new(&[1.2, 0.7], platform.options()).boxed();
        let process = process(&platform, kernel());
        let uncertain = UncertainInputs::new(process.clone(), SAMPLES);
        let deviation = 0.6;
        let [mean, variance] = moments(
            &uncertain,
            points(&platform, &[[0.5, -1.0, deviation, 0.0]]),
        );
        let at = |x: f64| {
            let x = platform.matrix(&Dense::new(1, 2, vec![x, -1.0]));
            let own = process.components(x).remove(0);
            (numbers(own.mean)[0], numbers(own.variance)[0])
        };
        let (below, middle, above) = (at(0.5 - deviation), at(0.5), at(0.5 + deviation));
        let slope = (above.0 - below.0) / 2.0;
        // The mean of a square over ±s is that over ε.
        let expected = (below.1 + above.1) / 2.0 + slope * slope;
        let tolerance = platform.tolerance(1e-12, 1e-4);
        assert_close(&platform.to_string(), &mean, &[middle.0], tolerance);
        assert_close(&platform.to_string(), &variance, &[expected], tolerance);
    }
}

/// Under a squared exponential kernel `E[k(x + ε, x′)]` is a Gaussian with the variances ℓ² + s². The quadrature at 512
/// quantiles has an error of about their squared distance in the tails, 10⁻³.
#[test]
fn expected_means_are_those_of_the_closed_form() {
    let Some(platform) = &platforms().into_iter().find(Platform::is_double) else {
        return;
    };
    let (lengthscale, deviation, at) = (0.8, 0.5, [0.2, -0.3]);
    let kernel = StationaryConfig::rbf().with_lengthscale(lengthscale);
    let kernel: AnyKernel = kernel.init(2, platform.options()).boxed();
    let x = Random::new(811).points(6, 2);
    let y: Vec<f64> = x.values.chunks(2).map(|x| x[0].sin() + x[1]).collect();
    let noise = 0.05;
    let process = Exact::new(
        kernel,
        ZeroMean::new(1),
        Gaussian::new(noise, platform.options()),
    )
    .condition(
        platform.matrix(&x),
        platform.matrix(&Dense::new(6, 1, y.clone())),
    )
    .expect("factor");
    let uncertain = UncertainInputs::new(Arc::new(process), 512);
    let [mean, _] = moments(
        &uncertain,
        points(platform, &[[at[0], at[1], deviation, 0.0]]),
    );
    let rows: Vec<&[f64]> = x.values.chunks(2).collect();
    let covariance = |a: &[f64], b: &[f64]| {
        let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
        (-square / (2.0 * lengthscale * lengthscale)).exp()
    };
    let mut k = Dense::new(6, 6, vec![0.0; 36]);
    for i in 0..6 {
        for j in 0..6 {
            k[(i, j)] = covariance(rows[i], rows[j]) + if i == j { noise } else { 0.0 };
        }
    }
    let weights = k.solve(&Dense::new(6, 1, y));
    let wide = lengthscale * lengthscale + deviation * deviation;
    let expected: f64 = (rows.iter().zip(&weights.values))
        .map(|(row, weight)| {
            let first = -(at[0] - row[0]).powi(2) / (2.0 * wide);
            let second = -(at[1] - row[1]).powi(2) / (2.0 * lengthscale * lengthscale);
            weight * lengthscale / wide.sqrt() * (first + second).exp()
        })
        .sum();
    assert_close("expected mean", &mean, &[expected], 1e-3);
}

/// Draws have the moments of the mixture: the share of the S points in the draws is equal.
#[test]
fn draws_are_at_all_points() {
    let Some(platform) = &platforms().into_iter().find(Platform::is_double) else {
        return;
    };
    let uncertain = UncertainInputs::new(process(platform, rbf(platform)), SAMPLES);
    let x = points(platform, &[[0.4, 0.1, 0.5, 0.2], [-0.6, 0.3, 0.0, 0.0]]);
    let [mean, variance] = moments(&uncertain, x.clone());
    let count = 125 * SAMPLES;
    let draws = uncertain.draws(x.clone(), count, 5).expect("factor");
    assert_eq!(draws.dims(), [count, 1, 2]);
    let draws = numbers(draws);
    for point in 0..2 {
        let own: Vec<f64> = draws.iter().skip(point).step_by(2).copied().collect();
        let center = own.iter().sum::<f64>() / count as f64;
        let spread = own.iter().map(|draw| (draw - center).powi(2)).sum::<f64>() / count as f64;
        // Five standard errors.
        let error = 5.0 * (variance[point] / count as f64).sqrt();
        assert!(
            (center - mean[point]).abs() < error,
            "{point}: {center} for {}",
            mean[point]
        );
        let error = 5.0 * (2.0 / count as f64).sqrt() * variance[point];
        assert!(
            (spread - variance[point]).abs() < error,
            "{point}: {spread} for {}",
            variance[point]
        );
    }
    let few = uncertain.draws(x, 5, 5).expect("factor");
    assert_eq!(few.dims(), [5, 1, 2]);
}
