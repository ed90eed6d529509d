//! Kernels with sample paths.

use crate::support::stationary::KINDS;
use burn_gp_core::{
    kernels::{
        ConstantConfig, CosineConfig, KernelConfig, PeriodicConfig, RationalQuadraticConfig,
        SpectralMixtureConfig, StationaryConfig,
    },
    ops::Stationary,
};

pub fn stationary(kind: Stationary, lengthscale: f64, variance: f64) -> KernelConfig {
    StationaryConfig::new(kind)
        .with_lengthscale(lengthscale)
        .with_variance(variance)
        .into()
}

pub fn rational_quadratic(ard: bool, shape: f64) -> KernelConfig {
    KernelConfig::from(RationalQuadraticConfig {
        ard,
        lengthscale: Some(0.9),
        variance: 1.2,
        shape,
    })
}

/// Kernels with composite spectra: scale mixtures, waves and lines.
pub fn mixtures_and_lines() -> Vec<KernelConfig> {
    let [rbf, rough, _, smooth] = KINDS.map(|kind| stationary(kind, 0.8, 1.3));
    let waves = KernelConfig::from(CosineConfig {
        ard: true,
        period: 1.7,
        variance: 0.6,
    });
    let mixture = KernelConfig::from(SpectralMixtureConfig {
        components: 3,
        highest_frequency: 0.7,
        lengthscale: 1.2,
        variance: 0.9,
    });
    let constant = KernelConfig::from(ConstantConfig { variance: 0.7 });
    let one_period = KernelConfig::from(PeriodicConfig {
        base: rational_quadratic(true, 0.8),
        ard: false,
        period: 1.9,
    });
    vec![
        rational_quadratic(true, 0.7),
        rational_quadratic(false, 5.0),
        waves.clone(),
        waves.clone().times(rbf.clone()),
        mixture.clone(),
        mixture.plus(waves).scaled(0.5),
        rbf.clone().periodic(2.3),
        stationary(Stationary::SquaredExponential, 0.1, 1.0).periodic(2.3),
        rough.clone().periodic(1.1),
        one_period,
        smooth.clone().plus(constant).scaled(0.8).periodic(2.3),
        rbf.clone().times(smooth.clone()).periodic(2.3),
        smooth.periodic(0.9).times(rbf.clone()),
        rbf.on_dimensions(vec![1]).periodic(2.3).plus(rough),
    ]
}

/// Every kernel with a spectrum.
pub fn kernels() -> Vec<KernelConfig> {
    let constant = KernelConfig::from(ConstantConfig { variance: 0.7 });
    let [rbf, rough, _, smooth] = KINDS.map(|kind| stationary(kind, 0.8, 1.3));
    vec![
        rbf.clone(),
        rough.clone(),
        stationary(Stationary::Matern32, 1.7, 0.4),
        smooth.clone(),
        constant.clone(),
        smooth.clone().scaled(2.5),
        rbf.clone().on_dimensions(vec![1]),
        rbf.clone().plus(constant).plus(rough.clone()),
        rbf.clone().times(smooth.clone()),
        rbf.clone().plus(rough).times(smooth.on_dimensions(vec![0])),
    ]
    .into_iter()
    .chain(mixtures_and_lines())
    .collect()
}
