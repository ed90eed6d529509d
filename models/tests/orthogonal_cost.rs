//! The cost of orthogonal inducing points: a step with two sets of M points, compared with a step
//! with one set of 2M points (arXiv:1910.10596, section 3.2).

use std::time::Instant;

use burn::tensor::{DType, Device};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    ops::Stationary,
    process::CovarianceShape,
    variational::{Coordinates, OrthogonalConfig, PosteriorConfig, UnwhitenedConfig},
};
use burn_gp_models::{
    AnySvgp, SvgpConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};

/// The number of points in each of two sets.
const POINTS: usize = 500;
const ROWS: usize = 1500;
const STEPS: usize = 6;

fn trainer(posterior: PosteriorConfig, sets: [usize; 2]) -> MiniBatchTrainer<AnySvgp> {
    let number = |at: usize| (12.9 * at as f64).sin();
    let inputs: Vec<f64> = (0..3 * ROWS).map(number).collect();
    let targets: Vec<f64> = (0..ROWS).map(|row| (3.0 * inputs[3 * row]).cos()).collect();
    let device = Device::default().autodiff();
    let data = TrainingData::new(&inputs, &targets, &device, DType::F32);
    let kernel = StationaryConfig::new(Stationary::Matern32);
    let config = SvgpConfig::new(kernel, GaussianConfig::default())
        .with_inducing(sets[0])
        .with_orthogonal(sets[1])
        .with_posterior(posterior);
    let training = MiniBatchTraining {
        batch_size: 512,
        ..MiniBatchTraining::new(STEPS)
    };
    MiniBatchTrainer::new(config.init(&data).unwrap(), data, training)
}

/// The test compares minima of several times, because other load on the machine only adds time.
#[test]
fn two_sets_are_faster_than_one_of_twice_the_size() {
    let covariance = CovarianceShape::Full;
    let coordinates = Coordinates::Unwhitened;
    let mut trainers = [
        trainer(
            PosteriorConfig::Solve(OrthogonalConfig {
                covariance,
                coordinates,
            }),
            [POINTS, POINTS],
        ),
        trainer(
            PosteriorConfig::Unwhitened(UnwhitenedConfig { covariance }),
            [2 * POINTS, 0],
        ),
    ];
    let mut least = [f64::INFINITY; 2];
    for _ in 0..STEPS {
        for (trainer, least) in trainers.iter_mut().zip(&mut least) {
            let start = Instant::now();
            trainer.step().unwrap();
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    assert!(least[0] < least[1], "{} and {} s", least[0], least[1]);
}
