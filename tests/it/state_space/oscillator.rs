//! Damped oscillators around critical damping and far from it.

use burn::tensor::Tensor;
use burn_gp_core::{
    kernels::{DampedOscillator, Kernel, KernelModule},
    ops::Stationary,
};

use super::{
    golden::{NOISE, TARGETS, TIMES},
    matern,
    regression::{column, markov},
};
use crate::support::{Platform, assert_close, double_precision_platforms, numbers, platforms};

fn oscillator(platform: &Platform, period: f64, quality: f64) -> DampedOscillator {
    DampedOscillator::new(&[period], quality, 0.8, platform.options())
}

/// The log density of the reference series.
fn log_density(platform: &Platform, quality: f64) -> f64 {
    let kernel = oscillator(platform, 4.0, quality);
    let model = markov(platform, kernel.boxed(), 1, NOISE);
    let targets = platform.tensor(&TARGETS, [TARGETS.len(), 1]);
    let objective = model.full_objective(column(platform, &TIMES), targets);
    numbers(objective.unwrap())[0]
}

/// The log density is a smooth function of the quality where the formulas change, at q = ½: it is a parabola through
/// three points far apart, up to the third derivative.
#[test]
fn nothing_jumps_at_critical_damping() {
    for platform in double_precision_platforms() {
        let at = |offset: f64| log_density(&platform, 0.5 * (1.0 + offset));
        let step = 3e-3;
        let (below, center, above) = (at(-step), at(0.0), at(step));
        let slope = (above - below) / (2.0 * step);
        let curvature = (above - 2.0 * center + below) / (step * step);
        for size in [1e-12, 1e-9, 1e-6, 1e-4, 3e-4, 1e-3] {
            for offset in [size, -size] {
                let expected = center + slope * offset + 0.5 * curvature * offset * offset;
                // The third derivative times a sixth of offset·step², and rounding.
                let tolerance = 1e-11 + 30.0 * size * step * step / 6.0;
                let off = (at(offset) - expected).abs();
                assert!(off < tolerance, "{platform}, {offset:e}: {off:e}");
            }
        }
    }
}

/// At q = ½ it is a Matérn-3/2 process.
#[test]
fn critical_damping_is_matern() {
    for platform in platforms() {
        let period = 2.3;
        let lengthscale = 3f64.sqrt() * period / core::f64::consts::TAU;
        let matern = matern(&platform, Stationary::Matern32, lengthscale, 0.8);
        let x = column(&platform, &[0.0, 1e-6, 0.1, 0.8, 3.0, 40.0]);
        let ours = numbers(oscillator(&platform, period, 0.5).matrix_at(x.clone()));
        let expected = numbers(matern.matrix_at(x));
        // Exponentials of GPUs are off by some units in the last place.
        let tolerance = platform.tolerance(1e-14, 1e-5);
        assert_close(&platform.to_string(), &ours, &expected, tolerance);
    }
}

/// Values and gradients are finite for any damping and any distance. GPUs need not have sines of huge numbers.
#[test]
fn extreme_oscillators_are_finite() {
    for platform in platforms().into_iter().filter(Platform::is_host) {
        let platform = platform.autodiff();
        for quality in [1e-5, 1e-2, 0.49999, 0.50001, 30.0, 1e5] {
            let kernel = oscillator(&platform, 0.01, quality);
            let x = column(&platform, &[0.0, 1e-7, 1.0, 1e6, 1e12]).require_grad();
            let matrix: Tensor<2> = kernel.matrix_at(x.clone());
            let values = numbers(matrix.clone());
            let is_possible = |value: &f64| value.abs() <= 0.8 * (1.0 + 1e-5);
            assert!(values.iter().all(is_possible), "{quality}: {values:?}");
            let gradients = matrix.sum().backward();
            let slopes = numbers(x.grad(&gradients).unwrap());
            assert!(
                slopes.iter().all(|slope| slope.is_finite()),
                "{quality}: {slopes:?}"
            );
        }
    }
}
