//! Regression over time, compared with exact regression and with reference values.

use burn::tensor::Tensor;
use burn_gp_core::{
    inference::{Exact, Markov},
    kernels::{AnyKernel, KernelModule, StationaryKernel},
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::Stationary,
    process::Process,
};

use super::{
    golden::{self, GOLDEN, NEW_TIMES, NOISE, TARGETS, TIMES},
    golden_kernel, kernels, matern, season,
};
use crate::support::{
    Platform, Random, assert_close, double_precision_platforms, first_platform, largest, numbers,
    parameter_gradients, platforms,
};

/// Kernels of which the periodic ones miss a billionth of the variance.
pub(super) const APPROXIMATE: [&str; 2] = ["periodic", "quasi-periodic"];

pub(super) fn markov(
    platform: &Platform,
    kernel: AnyKernel,
    outputs: usize,
    noise: f64,
) -> Markov<AnyKernel> {
    let noise = Gaussian::new(noise, platform.options());
    Markov::new(kernel, ZeroMean::new(outputs), noise).unwrap()
}

pub(super) fn exact(
    platform: &Platform,
    kernel: AnyKernel,
    outputs: usize,
    noise: f64,
) -> Exact<AnyKernel> {
    let noise = Gaussian::new(noise, platform.options());
    Exact::new(kernel, ZeroMean::new(outputs), noise)
}

pub(super) fn column(platform: &Platform, values: &[f64]) -> Tensor<2> {
    platform.tensor(values, [values.len(), 1])
}

/// Uneven times in no order, some of them equal, and two outputs.
pub(super) fn series(count: usize) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random::new(7);
    let mut times = random.uniforms(count, 0.0, count as f64 / 20.0);
    for row in (5..count).step_by(9) {
        times[row] = times[row - 3];
    }
    let targets = times.iter().flat_map(|time: &f64| {
        let noise = 0.1 * random.normal();
        [(1.3 * time).sin() + noise, (0.4 * time).cos() - noise]
    });
    let targets = targets.collect();
    (times, targets)
}

/// The origin of the linear kernel of the reference values is two.
fn origin(name: &str) -> f64 {
    if name == "linear" { 2.0 } else { 0.0 }
}

#[test]
fn values_are_the_reference_values() {
    for platform in double_precision_platforms() {
        for case in &GOLDEN {
            let shifted = |times: &[f64]| -> Vec<f64> {
                times.iter().map(|time| time - origin(case.name)).collect()
            };
            let what = |part: &str| format!("{platform}, {}: {part}", case.name);
            let model = markov(&platform, golden_kernel(&platform, case.name), 1, NOISE);
            let x = column(&platform, &shifted(&TIMES));
            let y = column(&platform, &TARGETS);
            let density = numbers(model.full_objective(x.clone(), y.clone()).unwrap());
            assert_close(&what("density"), &density, &[case.log_density], 1e-11);
            let process = model.condition(x.clone(), y.clone()).unwrap();
            let new = column(&platform, &shifted(&NEW_TIMES));
            let marginals = process.marginals(new.clone());
            assert_close(
                &what("mean"),
                &numbers(marginals.mean),
                &case.new_mean,
                1e-10,
            );
            assert_close(
                &what("variance"),
                &numbers(marginals.variance),
                &case.new_variance,
                1e-10,
            );
            let joint = numbers(process.joint(new).covariance);
            assert_close(
                &what("covariance"),
                &[joint[6 * 8 + 7]],
                &[case.new_covariance],
                1e-9,
            );
            let others = model.leave_one_out(x, y.clone()).unwrap().log_density(y);
            let total: f64 = numbers(others).iter().sum();
            assert_close(&what("left out"), &[total], &[case.leave_one_out], 1e-10);
        }
    }
}

#[test]
fn gradients_are_the_reference_values() {
    for platform in double_precision_platforms() {
        let platform = platform.autodiff();
        for case in &GOLDEN {
            let model = markov(&platform, golden_kernel(&platform, case.name), 1, NOISE);
            let times: Vec<f64> = TIMES.iter().map(|time| time - origin(case.name)).collect();
            let density = model
                .full_objective(column(&platform, &times), column(&platform, &TARGETS))
                .unwrap();
            let ours = parameter_gradients(&model, &density.backward()).concat();
            // Parameters are 10⁻⁶ + softplus(raw), whose slope is 1 − e^−(value − 10⁻⁶).
            let raw = |&(value, slope): &(f64, f64)| slope * (1.0 - (1e-6f64 - value).exp());
            let mut expected: Vec<f64> = case.gradient.iter().map(raw).collect();
            if case.name == "matern12_times_cosine" {
                // The cosine has a variance of one, too, in which the density has the same slope per logarithm.
                let (variance, slope) = case.gradient[1];
                expected.insert(3, raw(&(1.0, variance * slope)));
            }
            let what = format!("{platform}, {}", case.name);
            assert_close(&what, &ours, &expected, 1e-9);
        }
    }
}

#[test]
fn matern52_has_the_reference_moments() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        let model = markov(&tracked, golden_kernel(&tracked, "matern52"), 1, NOISE);
        let y = column(&tracked, &TARGETS).require_grad();
        let density = model
            .full_objective(column(&tracked, &TIMES), y.clone())
            .unwrap();
        let slopes = numbers(y.grad(&density.backward()).unwrap());
        assert_close(
            "targets",
            &slopes,
            &golden::MATERN52_GRADIENT_OF_TARGETS,
            1e-10,
        );
        let model = markov(&platform, golden_kernel(&platform, "matern52"), 1, NOISE);
        let (x, y) = (column(&platform, &TIMES), column(&platform, &TARGETS));
        let process = model.condition(x.clone(), y.clone()).unwrap();
        let marginals = process.marginals(x.clone());
        assert_close(
            "mean",
            &numbers(marginals.mean),
            &golden::MATERN52_MEAN,
            1e-10,
        );
        assert_close(
            "variance",
            &numbers(marginals.variance),
            &golden::MATERN52_VARIANCE,
            1e-10,
        );
        let others = model.leave_one_out(x, y).unwrap();
        assert_close(
            "left-out mean",
            &numbers(others.mean),
            &golden::MATERN52_LEFT_OUT_MEAN,
            1e-10,
        );
        let variance = numbers(others.variance);
        assert_close(
            "left-out variance",
            &variance,
            &golden::MATERN52_LEFT_OUT_VARIANCE,
            1e-10,
        );
        let without = |values: &[f64]| [&values[..5], &values[6..]].concat();
        let x = column(&platform, &without(&TIMES));
        let density = model
            .full_objective(x, column(&platform, &without(&TARGETS)))
            .unwrap();
        assert_close(
            "one row less",
            &numbers(density),
            &[golden::MATERN52_WITHOUT_ONE],
            1e-11,
        );
    }
}

#[test]
fn the_periodic_kernel_has_the_reference_value() {
    for platform in double_precision_platforms() {
        let model = markov(&platform, season(&platform, 0.6, 5.0, 0.8), 1, NOISE);
        let (x, y) = (column(&platform, &TIMES), column(&platform, &TARGETS));
        let density = numbers(model.full_objective(x, y).unwrap());
        // The cosines miss a billionth of the variance, 0.8 against a noise of 0.05 in twelve rows.
        assert_close("density", &density, &[golden::PERIODIC], 1e-7);
    }
}

/// The same numbers as exact regression, for every kernel and two outputs.
#[test]
fn it_is_exact_regression() {
    let (times, targets) = series(300);
    let mut random = Random::new(11);
    let mut new_times = random.uniforms(30, -2.0, 18.0);
    new_times.extend([times[0], times[5], times[17], -40.0, 60.0]);
    let Some(platform) = first_platform() else {
        return;
    };
    for (name, kernel) in kernels(&platform) {
        let is_approximate = APPROXIMATE.contains(&name);
        let (x, y) = (
            column(&platform, &times),
            platform.tensor(&targets, [300, 2]),
        );
        let ours = markov(&platform, kernel.clone(), 2, 0.02);
        let expected = exact(&platform, kernel.clone(), 2, 0.02);
        let density = numbers(ours.full_objective(x.clone(), y.clone()).unwrap());
        let reference = numbers(expected.full_objective(x.clone(), y.clone()).unwrap());
        // The sum of 300 rows divides a billionth of the variance by the noise.
        let tolerance = if is_approximate { 1e-6 } else { 1e-9 };
        assert_close(&format!("{name}: density"), &density, &reference, tolerance);
        let new = column(&platform, &new_times);
        let process = ours.condition(x.clone(), y.clone()).unwrap();
        let reference = expected.condition(x.clone(), y.clone()).unwrap();
        let tolerance = if is_approximate { 1e-5 } else { 1e-8 };
        let (found, known) = (
            process.marginals(new.clone()),
            reference.marginals(new.clone()),
        );
        let check = |part: &str, ours: Vec<f64>, expected: Vec<f64>| {
            assert_close(&format!("{name}: {part}"), &ours, &expected, tolerance);
        };
        check("mean", numbers(found.mean), numbers(known.mean));
        check("variance", numbers(found.variance), numbers(known.variance));
        let (found, known) = (process.joint(new.clone()), reference.joint(new.clone()));
        check("joint mean", numbers(found.mean), numbers(known.mean));
        // Far from the data a line's covariances are differences of its prior variances there.
        let prior = numbers(kernel.diagonal_at(new));
        let (found, known) = (numbers(found.covariance), numbers(known.covariance));
        let tolerance = tolerance.max(1e-10 * largest(&prior) / largest(&known));
        assert_close(&format!("{name}: covariance"), &found, &known, tolerance);
        let found = ours.leave_one_out(x.clone(), y.clone()).unwrap();
        let known = expected.leave_one_out(x, y).unwrap();
        check("left-out mean", numbers(found.mean), numbers(known.mean));
        check(
            "left-out variance",
            numbers(found.variance),
            numbers(known.variance),
        );
    }
}

/// Rows in another order, with equal times.
#[test]
fn the_order_of_rows_does_not_matter() {
    let Some(platform) = first_platform() else {
        return;
    };
    let (times, targets) = series(60);
    let model = markov(
        &platform,
        matern(&platform, Stationary::Matern52, 0.7, 1.3),
        2,
        0.02,
    );
    let at = |order: &[usize]| {
        let x: Vec<f64> = order.iter().map(|&row| times[row]).collect();
        let y: Vec<f64> = order
            .iter()
            .flat_map(|&row| targets[2 * row..][..2].to_vec())
            .collect();
        let (x, y) = (column(&platform, &x), platform.tensor(&y, [60, 2]));
        let density = numbers(model.full_objective(x.clone(), y.clone()).unwrap());
        let process = model.condition(x, y).unwrap();
        let marginals = process.marginals(column(&platform, &[0.3, 2.9]));
        [
            density,
            numbers(marginals.mean),
            numbers(marginals.variance),
        ]
        .concat()
    };
    let given: Vec<usize> = (0..60).collect();
    let reversed: Vec<usize> = (0..60).rev().collect();
    assert_close("reversed", &at(&reversed), &at(&given), 1e-11);
}

/// Time in another unit and from another origin, with lengthscales in that unit.
#[test]
fn the_unit_of_time_does_not_matter() {
    let Some(platform) = first_platform() else {
        return;
    };
    let (times, targets) = series(80);
    for kind in [
        Stationary::Matern12,
        Stationary::Matern32,
        Stationary::Matern52,
    ] {
        let at = |scale: f64, shift: f64| {
            let times: Vec<f64> = times.iter().map(|time| time * scale + shift).collect();
            let model = markov(
                &platform,
                matern(&platform, kind, 0.7 * scale, 1.3),
                2,
                0.02,
            );
            let y = platform.tensor(&targets, [80, 2]);
            numbers(model.full_objective(column(&platform, &times), y).unwrap())
        };
        // Times around 10⁹ have absolute roundings of 10⁻⁷, in steps of 10⁴.
        assert_close("scaled", &at(1e6, 1e9), &at(1.0, 0.0), 1e-9);
        assert_close("scaled down", &at(1e-6, 0.0), &at(1.0, 0.0), 1e-11);
    }
}

/// Little noise and small steps, in single precision: the passes are in double precision on the CPU, so that only the
/// parameters are rounded. Times and targets are exact in single precision.
#[test]
fn single_precision_keeps_its_digits() {
    let times: Vec<f64> = (0..200).map(|row| f64::from(row) / 16384.0).collect();
    let targets: Vec<f64> = times
        .iter()
        .map(|time| f64::from((3.0 * time).sin() as f32))
        .collect();
    let density = |platform: &Platform| {
        let model = markov(
            platform,
            matern(platform, Stationary::Matern52, 1.0, 1.0),
            1,
            1e-8,
        );
        let (x, y) = (column(platform, &times), column(platform, &targets));
        numbers(model.full_objective(x, y).unwrap())[0]
    };
    let Some(reference) = first_platform() else {
        return;
    };
    let expected = density(&reference);
    for platform in platforms().iter().filter(|platform| platform.is_host()) {
        let ours = density(platform);
        let off = (ours / expected - 1.0).abs();
        assert!(off < 1e-5, "{platform}: {ours}, {expected}");
    }
}

/// Far ahead and far before, a stationary process is the prior; a constant stays known.
#[test]
fn forecasts_return_to_the_prior() {
    let Some(platform) = first_platform() else {
        return;
    };
    let (times, targets) = series(50);
    let (x, y) = (
        column(&platform, &times),
        platform.tensor(&targets, [50, 2]),
    );
    let far = column(&platform, &[-1e4, 1e4, 1e12]);
    let kernel = matern(&platform, Stationary::Matern52, 0.7, 1.3);
    let process = markov(&platform, kernel, 2, 0.02)
        .condition(x.clone(), y.clone())
        .unwrap();
    let marginals = process.marginals(far.clone());
    assert!(
        numbers(marginals.mean)
            .iter()
            .all(|mean| mean.abs() < 1e-10)
    );
    assert!(
        numbers(marginals.variance)
            .iter()
            .all(|variance| (variance - 1.3).abs() < 1e-10)
    );
    let constant = golden_kernel(&platform, "constant");
    let process = markov(&platform, constant, 2, 0.02)
        .condition(x, y)
        .unwrap();
    let variances = numbers(process.marginals(far).variance);
    let expected = 1.0 / (1.0 / 0.8 + 50.0 / 0.02);
    assert_close("constant", &variances, &[expected; 6], 1e-10);
}

/// Draws have the joint distribution: means and covariances of three times within four standard errors.
#[test]
fn draws_have_the_joint_distribution() {
    let Some(platform) = first_platform() else {
        return;
    };
    let (times, targets) = series(50);
    let (x, y) = (
        column(&platform, &times),
        platform.tensor(&targets, [50, 2]),
    );
    let kernel = matern(&platform, Stationary::Matern32, 0.7, 1.3);
    let process = markov(&platform, kernel, 2, 0.02).condition(x, y).unwrap();
    let new = column(&platform, &[1.23, 3.0, 3.3]);
    let joint = process.joint(new.clone());
    let (mean, covariance) = (numbers(joint.mean), numbers(joint.covariance));
    let samples = 2000;
    let draws = numbers(process.sample(new, samples, 5).unwrap()); // [S, P, N]
    let at = |sample: usize, time: usize| draws[sample * 6 + time] - mean[2 * time];
    for first in 0..3 {
        let average = (0..samples).map(|sample| at(sample, first)).sum::<f64>() / samples as f64;
        let variance = covariance[first * 3 + first];
        assert!(average.abs() < 4.0 * (variance / samples as f64).sqrt());
        for second in 0..3 {
            let products = (0..samples).map(|sample| at(sample, first) * at(sample, second));
            let found = products.sum::<f64>() / samples as f64;
            let expected = covariance[first * 3 + second];
            let other = covariance[second * 3 + second];
            // The variance of a product of normals is σ₁²σ₂² + c².
            let error = ((variance * other + expected * expected) / samples as f64).sqrt();
            assert!(
                (found - expected).abs() < 4.0 * error,
                "{found}, {expected}"
            );
        }
    }
}

/// A constant series, and one far from zero, have finite values.
#[test]
fn unusual_targets_are_finite() {
    let Some(platform) = first_platform() else {
        return;
    };
    let times: Vec<f64> = (0..30).map(f64::from).collect();
    let model = markov(
        &platform,
        matern(&platform, Stationary::Matern52, 3.0, 1.0),
        1,
        0.1,
    );
    for level in [0.0, 5.0, 1e12] {
        let y: Vec<f64> = times.iter().map(|time| level + 0.1 * time.sin()).collect();
        let (x, y) = (column(&platform, &times), column(&platform, &y));
        let density = numbers(model.full_objective(x.clone(), y.clone()).unwrap());
        let process = model.condition(x.clone(), y).unwrap();
        let marginals = process.marginals(x);
        let all = [
            density,
            numbers(marginals.mean),
            numbers(marginals.variance),
        ]
        .concat();
        assert!(
            all.iter().all(|value| value.is_finite()),
            "{level}: {all:?}"
        );
    }
}

/// One observation.
#[test]
fn one_observation_is_enough() {
    for platform in platforms() {
        let kernel = StationaryKernel::new(Stationary::Matern32, &[1.0], 2.0, platform.options());
        let noise = Gaussian::new(1.0, platform.options());
        let model = Markov::new(kernel, ZeroMean::new(1), noise).unwrap();
        let (x, y) = (column(&platform, &[0.5]), column(&platform, &[3.0]));
        let process = model.condition(x.clone(), y).unwrap();
        let marginals = process.marginals(x);
        let tolerance = platform.tolerance(1e-12, 1e-5);
        assert_close("mean", &numbers(marginals.mean), &[2.0], tolerance);
        assert_close(
            "variance",
            &numbers(marginals.variance),
            &[2.0 / 3.0],
            tolerance,
        );
        let none = process.marginals(platform.tensor(&[], [0, 1]));
        assert_eq!(none.mean.dims(), [0, 1]);
    }
}

/// Inputs of two dimensions are a mistake of the caller.
#[test]
#[should_panic(expected = "inputs [2, 2]; expected [N, 1]")]
fn two_inputs_are_refused() {
    let platform = &platforms()[0];
    let model = markov(platform, golden_kernel(platform, "matern12"), 1, 0.1);
    let x = platform.tensor(&[0.0, 1.0, 2.0, 3.0], [2, 2]);
    let _ = model.full_objective(x, column(platform, &[0.0, 1.0]));
}
