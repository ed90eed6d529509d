//! How the time of a training step grows with the data and the inducing points.
//!
//! `cargo bench --bench step_growth` prints one line of JSON per case, with the milliseconds of two
//! steps of the same run, which alternate, and their ratio:
//!
//! - deep basis kernels on all data, eight times as many rows: linear time would be a ratio of 8;
//! - their stochastic version on batches, eight times as many rows: the ratio should be 1;
//! - two sets of 500 orthogonal inducing points against one set of 1000 (arXiv:1910.10596, section
//!   3.2): the ratio should be below 1.

use std::{error::Error, time::Duration, time::Instant};

use burn::{
    module::Module,
    tensor::{DType, Device},
};
use burn_gp_core::{
    features::PerceptronConfig,
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    ops::Stationary,
    process::{CovarianceShape, VarianceCorrection},
    variational::{Parameterization, PosteriorConfig, SolveGpConfig, UnwhitenedConfig},
};
use burn_gp_models::{
    AnyDbk, AnySvgp, BasisConfig, DbkConfig, SvdbkConfig, SvgpConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Model, Trainer, TrainingData},
};
use median::median;

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod median;

/// N of the smaller and of the larger data.
const ROWS: [usize; 2] = [8_000, 64_000];

/// M of each of the two sets of inducing points.
const POINTS: usize = 500;

/// Steps of each kind, whose median is reported.
const STEPS: usize = 25;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    for correction in [VarianceCorrection::default(), VarianceCorrection::NONE] {
        let name = if correction == VarianceCorrection::NONE {
            "dbk, eight times the rows"
        } else {
            "dbk with corrected variance, eight times the rows"
        };
        let [few, many] = ROWS.map(|rows| deep_basis(rows, correction));
        report(name, [&mut many?, &mut few?])?;
    }
    let [few, many] = ROWS.map(|rows| {
        let data = data(rows, 1);
        let config = SvdbkConfig {
            basis: basis(),
            ..SvdbkConfig::new(GaussianConfig { noise: 1e-2 })
        };
        let training = MiniBatchTraining::new(STEPS);
        (config.init(&data)).map(|model| MiniBatchTrainer::new(model, data, training))
    });
    report(
        "svdbk on batches, eight times the rows",
        [&mut many?, &mut few?],
    )?;
    let covariance = CovarianceShape::Full;
    let parameterization = Parameterization::Unwhitened;
    let solve = PosteriorConfig::from(SolveGpConfig {
        covariance,
        parameterization,
    });
    let one = PosteriorConfig::from(UnwhitenedConfig { covariance });
    let mut two_sets = sparse(solve, [POINTS, POINTS])?;
    let mut one_set = sparse(one, [2 * POINTS, 0])?;
    report(
        "two sets of inducing points, one of twice the size",
        [&mut two_sets, &mut one_set],
    )
}

/// Prints the medians of both steps and the ratio of the first to the second.
fn report<M: Module + Model>(
    name: &str,
    mut trainers: [&mut MiniBatchTrainer<M>; 2],
) -> Result<(), Box<dyn Error>> {
    let mut times: [Vec<Duration>; 2] = [const { Vec::new() }; 2];
    for _ in 0..STEPS {
        for (trainer, times) in trainers.iter_mut().zip(&mut times) {
            let start = Instant::now();
            trainer.step()?;
            times.push(start.elapsed());
        }
    }
    let [first, second] = times.map(|times| 1e3 * median(times).as_secs_f64());
    println!(
        "{{\"case\": \"{name}\", \"ms\": {first:.2}, \"reference_ms\": {second:.2}, \"ratio\": {:.2}}}",
        first / second
    );
    Ok(())
}

/// Inputs, with the sine of the first one as target.
fn data(rows: usize, dimensions: usize) -> TrainingData {
    let number = |at: usize| (12.9 * at as f64).sin();
    let inputs: Vec<f64> = (0..dimensions * rows).map(number).collect();
    let first = inputs.iter().step_by(dimensions);
    let targets: Vec<f64> = first.map(|x| (5.0 * x).sin()).collect();
    TrainingData::new(&inputs, &targets, &Device::flex().autodiff(), DType::F32)
}

fn basis() -> BasisConfig {
    let network = PerceptronConfig {
        hidden: vec![32, 32],
        ..PerceptronConfig::default()
    };
    BasisConfig::new(network, 32)
}

/// A deep basis kernel that is trained on all data.
fn deep_basis(
    rows: usize,
    correction: VarianceCorrection,
) -> Result<MiniBatchTrainer<AnyDbk>, Box<dyn Error>> {
    let data = data(rows, 1);
    let config = DbkConfig {
        basis: basis(),
        correction,
        ..DbkConfig::default()
    };
    let training = MiniBatchTraining {
        batch_size: rows,
        ..MiniBatchTraining::new(STEPS)
    };
    Ok(MiniBatchTrainer::new(config.init(&data)?, data, training))
}

/// Sparse variational regression with one or two sets of inducing points.
fn sparse(
    posterior: PosteriorConfig,
    [inducing, orthogonal]: [usize; 2],
) -> Result<MiniBatchTrainer<AnySvgp>, Box<dyn Error>> {
    let data = data(3 * POINTS, 3);
    let kernel = StationaryConfig::new(Stationary::Matern32);
    let config = SvgpConfig::new(kernel, GaussianConfig::default())
        .with_inducing(inducing)
        .with_orthogonal(orthogonal)
        .with_posterior(posterior);
    let training = MiniBatchTraining {
        batch_size: 512,
        ..MiniBatchTraining::new(STEPS)
    };
    Ok(MiniBatchTrainer::new(config.init(&data)?, data, training))
}
