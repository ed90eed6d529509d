//! Gaussian processes over time as linear state-space models.

mod filter;
mod forms;
mod golden;
mod gradients;
mod operation;
mod oscillator;
mod regression;
mod variational;

use burn_gp_core::{
    kernels::{
        AnyKernel, Constant, Cosine, DampedOscillator, Kernel, Linear, Periodic, Product, Scaled,
        StationaryKernel, Sum,
    },
    ops::Stationary,
};

use crate::support::Platform;

fn matern(platform: &Platform, kind: Stationary, lengthscale: f64, variance: f64) -> AnyKernel {
    StationaryKernel::new(kind, &[lengthscale], variance, platform.options()).boxed()
}

/// A periodic squared exponential.
fn season(platform: &Platform, lengthscale: f64, period: f64, variance: f64) -> AnyKernel {
    let base = matern(
        platform,
        Stationary::SquaredExponential,
        lengthscale,
        variance,
    );
    Periodic::new(base, &[period], platform.options()).boxed()
}

/// A damped oscillator with the angular frequency 1.4 of the reference values.
fn oscillator(platform: &Platform, quality: f64) -> AnyKernel {
    let period = core::f64::consts::TAU / 1.4;
    DampedOscillator::new(&[period], quality, 0.8, platform.options()).boxed()
}

/// The kernel with reference values.
fn golden_kernel(platform: &Platform, name: &str) -> AnyKernel {
    let place = platform.options();
    match name {
        "matern12" => matern(platform, Stationary::Matern12, 1.3, 0.8),
        "matern32" => matern(platform, Stationary::Matern32, 1.3, 0.8),
        "matern52" => matern(platform, Stationary::Matern52, 1.3, 0.8),
        "cosine" => Cosine::new(&[4.0], 0.8, place).boxed(),
        "damped_oscillator" => oscillator(platform, 2.0),
        "damped_oscillator_critical" => oscillator(platform, 0.5),
        "damped_oscillator_over" => oscillator(platform, 0.3),
        "constant" => Constant::new(0.8, place).boxed(),
        "linear" => Linear::new(&[0.3], place).boxed(),
        "matern12_times_cosine" => Product::new(
            matern(platform, Stationary::Matern12, 3.0, 0.8),
            Cosine::new(&[4.0], 1.0, place),
        )
        .boxed(),
        other => panic!("no kernel {other}"),
    }
}

/// Kernels of every form, with their names.
fn kernels(platform: &Platform) -> Vec<(&'static str, AnyKernel)> {
    let place = platform.options();
    let of = |kind| matern(platform, kind, 0.7, 1.3);
    let trend = || Sum::new(Linear::new(&[0.05], place), Constant::new(2.0, place));
    vec![
        ("matern12", of(Stationary::Matern12)),
        ("matern32", of(Stationary::Matern32)),
        ("matern52", of(Stationary::Matern52)),
        ("cosine", Cosine::new(&[1.9], 0.6, place).boxed()),
        ("underdamped", oscillator(platform, 6.0)),
        ("critical", oscillator(platform, 0.5)),
        ("overdamped", oscillator(platform, 0.2)),
        ("constant", Constant::new(0.8, place).boxed()),
        ("linear", Linear::new(&[0.3], place).boxed()),
        ("periodic", season(platform, 0.8, 1.7, 0.9)),
        (
            "scaled",
            Scaled::new(of(Stationary::Matern32), 2.5, place).boxed(),
        ),
        (
            "trend and matern",
            Sum::new(trend(), of(Stationary::Matern52)).boxed(),
        ),
        (
            "two rates",
            Sum::new(
                of(Stationary::Matern52),
                matern(platform, Stationary::Matern12, 5.0, 0.4),
            )
            .boxed(),
        ),
        (
            "quasi-periodic",
            Product::new(
                season(platform, 0.8, 1.7, 0.9),
                matern(platform, Stationary::Matern32, 4.0, 1.0),
            )
            .boxed(),
        ),
        (
            "oscillator and matern",
            Product::new(oscillator(platform, 2.0), of(Stationary::Matern32)).boxed(),
        ),
        (
            "product of two",
            Product::new(
                of(Stationary::Matern12),
                matern(platform, Stationary::Matern52, 2.0, 0.9),
            )
            .boxed(),
        ),
        (
            "scaled trend",
            Product::new(Constant::new(0.7, place), trend()).boxed(),
        ),
    ]
}
