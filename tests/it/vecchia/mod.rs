//! Nearest-neighbor (Vecchia) regression compared with exact regression and dense algebra.

mod devices;
mod joint_predictions;
mod objective;
mod prediction;
mod reference_values;

use crate::reference::Problem;
use burn::tensor::{DType, Device};
use burn_gp_core::{
    inference::{Vecchia, VecchiaSettings},
    kernels::{
        AnyKernel, GneitingConfig, KernelConfig, LinearConfig, MaternConfig, PeriodicConfig,
        StationaryConfig, StationaryKernel, WhiteConfig,
    },
    likelihoods::Gaussian,
    means::{AnyMean, ZeroMean},
    ops::Stationary,
};

/// The device and the type of a model.
pub type Options<'a> = (&'a Device, DType);

/// The numbers of neighbors in training and in predictions.
pub fn settings(neighbors: usize, prediction_neighbors: usize) -> VecchiaSettings {
    VecchiaSettings {
        neighbors,
        prediction_neighbors,
    }
}

/// The kernel of a problem.
pub fn kernel(problem: &Problem, options: Options<'_>) -> StationaryKernel {
    StationaryKernel::new(
        problem.kind,
        &problem.lengthscales,
        problem.variance,
        options,
    )
}

/// A model that predicts each row by itself.
fn model(
    problem: &Problem,
    mean: AnyMean,
    settings: VecchiaSettings,
    options: Options<'_>,
) -> Vecchia<StationaryKernel> {
    let noise = Gaussian::new(problem.noise, options);
    Vecchia::new(kernel(problem, options), mean, noise, 2, settings).with_joint_predictions(false)
}

fn zero(outputs: usize) -> AnyMean {
    ZeroMean::new(outputs).into()
}

/// Kernels of every structure: stationary, scaled, sums, with other lengthscales, and not stationary.
pub fn kernels(options: Options<'_>) -> Vec<(&'static str, AnyKernel)> {
    let matern = || KernelConfig::from(StationaryConfig::matern32().with_lengthscale(0.8));
    let trained_smoothness = || MaternConfig {
        lengthscale: Some(0.7),
        smoothness: 0.8,
        ..MaternConfig::default()
    };
    let configs: Vec<(&'static str, KernelConfig)> = vec![
        ("stationary", matern()),
        ("sum", matern().plus(StationaryConfig::rbf().isotropic())),
        ("white", matern().plus(WhiteConfig::default())),
        ("linear", matern().plus(LinearConfig::default())),
        ("smoothness", trained_smoothness().into()),
        ("space and time", GneitingConfig::default().into()),
        ("product", matern().times(PeriodicConfig::default())),
    ];
    let init = |(name, config): (_, KernelConfig)| (name, config.init(2, options));
    configs.into_iter().map(init).collect()
}

/// The 12 rows, in the plane, of the reference values.
pub fn golden() -> Problem {
    let x = [
        0.103, 0.217, 0.911, 0.793, 0.154, 0.958, 0.862, 0.109, 0.497, 0.542, 0.289, 0.613, 0.718,
        0.346, 0.052, 0.571, 0.947, 0.438, 0.405, 0.063, 0.623, 0.887, 0.337, 0.324,
    ];
    let y = [
        0.31, 1.12, -0.45, 0.87, 0.62, 0.05, 0.93, -0.21, 1.30, 0.48, 0.77, 0.29,
    ];
    Problem {
        lengthscales: vec![0.6, 1.1],
        variance: 1.7,
        noise: 0.05,
        x: x.chunks(2).map(<[f64]>::to_vec).collect(),
        y: y.iter().map(|&value| vec![value]).collect(),
        new_x: vec![
            vec![0.45, 0.42],
            vec![0.48, 0.47],
            vec![1.6, 1.4],
            vec![1.5, 1.55],
        ],
        ..Problem::plane(Stationary::Matern32)
    }
}
