//! Variational models on all rows: L-BFGS and Adam without mini-batches.

use burn::tensor::{DType, Device};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig},
    ops::Stationary,
    variational::{LSvgpConfig, PosteriorConfig, SolveGpConfig, UnwhitenedConfig, WhitenedConfig},
};
use burn_gp_models::{
    AnySvgp, SgprConfig, SvgpConfig,
    training::{
        FullBatchOptimizer, FullBatchTrainer, FullBatchTraining, Schedule, Trainer, TrainingData,
    },
};

const ROWS: usize = 40;
const INDUCING: usize = 6;

/// A wave, or the sign of it.
fn data(labels: bool) -> TrainingData {
    let inputs: Vec<f64> = (0..ROWS).map(|row| row as f64 / 8.0).collect();
    let wave = |x: &f64| (1.7 * x).sin() + 0.1 * (7919.0 * x).sin();
    let targets = inputs.iter().map(|x| match labels {
        true => f64::from(wave(x) > 0.0),
        false => wave(x),
    });
    let targets: Vec<f64> = targets.collect();
    TrainingData::new(&inputs, &targets, &Device::default(), DType::F64)
}

fn model(
    data: &TrainingData,
    likelihood: impl Into<LikelihoodConfig>,
    posterior: PosteriorConfig,
) -> AnySvgp {
    let kernel = StationaryConfig::new(Stationary::SquaredExponential);
    let config = SvgpConfig::new(kernel, likelihood).with_inducing(INDUCING);
    let config = match posterior.has_orthogonal_set() {
        true => config.with_orthogonal(4),
        false => config,
    };
    config
        .with_posterior(posterior)
        .init(data)
        .expect("there are enough rows")
}

fn training(iterations: usize, optimizer: FullBatchOptimizer) -> FullBatchTraining {
    FullBatchTraining {
        iterations,
        optimizer,
        ..FullBatchTraining::default()
    }
}

fn finished<T: Trainer>(mut trainer: T) -> T {
    while !trainer.is_finished() {
        trainer.step().expect("the step is sound");
    }
    trainer
}

/// The best bound over `q(u)` is the collapsed bound, so that both optima are the same.
#[test]
fn l_bfgs_finds_the_optimum_of_the_collapsed_bound() {
    let data = data(false);
    let kernel = StationaryConfig::new(Stationary::SquaredExponential);
    let config = SgprConfig::new(kernel).with_inducing(INDUCING);
    let collapsed = config.init(&data).expect("there are enough rows");
    let l_bfgs = || training(2000, FullBatchOptimizer::L_BFGS);
    let expected = finished(FullBatchTrainer::new(collapsed, data.clone(), l_bfgs()));
    let expected = expected.loss().expect("it is sound");
    for posterior in [
        PosteriorConfig::from(WhitenedConfig::default()),
        UnwhitenedConfig::default().into(),
    ] {
        let svgp = model(&data, GaussianConfig::default(), posterior.clone());
        let trainer = finished(FullBatchTrainer::new(svgp, data.clone(), l_bfgs()));
        let actual = trainer.loss().expect("it is sound");
        // The stopping rule leaves a small part of the way.
        let close = (actual - expected).abs() < 2e-3;
        assert!(close, "{posterior:?}: {actual} against {expected}");
    }
}

/// With any posterior, and labels: iterations of L-BFGS never raise the loss, and reach a lower one
/// than as many steps of Adam on all rows.
#[test]
fn l_bfgs_needs_fewer_iterations_than_adam() {
    let data = data(true);
    let adam = FullBatchOptimizer::Adam {
        learning_rate: 0.01,
        schedule: Schedule::Constant,
    };
    for posterior in [
        PosteriorConfig::from(WhitenedConfig::default()),
        SolveGpConfig::default().into(),
        LSvgpConfig::default().into(),
    ] {
        let start = || model(&data, LikelihoodConfig::bernoulli(), posterior.clone());
        let other = finished(FullBatchTrainer::new(
            start(),
            data.clone(),
            training(60, adam),
        ));
        let l_bfgs = training(60, FullBatchOptimizer::L_BFGS);
        let mut trainer = FullBatchTrainer::new(start(), data.clone(), l_bfgs);
        let mut last = f64::INFINITY;
        while !trainer.is_finished() {
            let loss = trainer.step().expect("the step is sound").loss;
            assert!(loss <= last, "{posterior:?}: {loss} after {last}");
            last = loss;
        }
        let others = other.loss().expect("it is sound");
        assert!(last < others, "{posterior:?}: {last} against {others}");
    }
}
