//! The Laplace approximation on neighbors as a ready-made model.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inference::VecchiaLaplaceSettings,
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig, SoftmaxConfig},
    ops::Stationary,
    parameter::{Parameters, numbers},
};
use burn_gp_models::{
    AnyVecchiaLaplace, ExactConfig, Fit, FitModel, Fitted, InitError, ModelDefinition,
    VecchiaLaplaceConfig,
    training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData},
};
use burn_gp_test_support::likelihood_cases::{in_columns, registry};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use temp_dir::TempDir;

/// Random places, and a function that varies ten times faster in the first input.
fn places(count: usize) -> (Vec<[f64; 2]>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let x: Vec<[f64; 2]> = (0..count)
        .map(|_| [random.random::<f64>(), random.random::<f64>()])
        .collect();
    let function = x.iter().map(|[a, b]| (9.0 * a).sin() + (0.9 * b).cos());
    (x.clone(), function.collect())
}

/// Targets drawn from a likelihood, row-major.
fn targets(config: &LikelihoodConfig, function: &[f64]) -> Vec<f64> {
    let likelihood = config.init((&Device::default(), DType::F64));
    let shape = [1, function.len(), 1];
    let function = Tensor::<1>::from_data(function, (&Device::default(), DType::F64));
    let drawn = likelihood.sample(function.reshape(shape), &mut ChaCha8Rng::seed_from_u64(7));
    let drawn = numbers(drawn);
    in_columns(&*likelihood, drawn)
}

fn config(likelihood: impl Into<LikelihoodConfig>) -> VecchiaLaplaceConfig {
    VecchiaLaplaceConfig::new(StationaryConfig::new(Stationary::Matern32), likelihood)
}

fn data(config: &VecchiaLaplaceConfig, count: usize, dtype: DType) -> TrainingData {
    let (x, function) = places(count);
    let targets = targets(&config.likelihood, &function);
    let columns = targets.len() / count;
    let device = Device::default();
    let data =
        TrainingData::with_target_columns(x.as_flattened(), &targets, columns, &device, dtype);
    config.arranged(data)
}

fn trainer(
    config: &VecchiaLaplaceConfig,
    count: usize,
    dtype: DType,
) -> FullBatchTrainer<AnyVecchiaLaplace> {
    let data = data(config, count, dtype);
    let model = config.init(&data).unwrap();
    FullBatchTrainer::new(model, data, FullBatchTraining::default())
}

/// The loss of every smooth likelihood with one latent function falls; others are refused.
#[test]
fn every_likelihood_is_trained() {
    for case in registry().into_iter().filter(|case| case.latents == 1) {
        let is_smooth = case.is_smooth();
        let likelihood = case.config;
        if !is_smooth {
            let config = config(likelihood);
            let refused = config
                .init(&data(&config, 20, DType::F64))
                .expect_err("a kink");
            assert!(
                matches!(refused, InitError::NoCurvature { .. }),
                "{refused}"
            );
            continue;
        }
        let name = format!("{likelihood:?}");
        let mut trainer = trainer(&config(likelihood), 120, DType::F64);
        let losses: Vec<f64> = (0..6).map(|_| trainer.step().unwrap().loss).collect();
        assert!(losses[5] < losses[0], "{name}: {losses:?}");
    }
}

/// With Gaussian noise and all neighbors, it is exact regression.
#[test]
fn it_agrees_with_exact_regression() {
    let (x, function) = places(120);
    let y = targets(&GaussianConfig { noise: 0.05 }.into(), &function);
    let new_x = [[0.31, 0.5], [0.9, 0.07], [0.02, 0.98]];
    let kernel = StationaryConfig::new(Stationary::Matern32);
    let exact = ExactConfig::new(kernel)
        .fit(&x, &y, &Fit::default())
        .unwrap();
    let exact = exact.predict(new_x).unwrap();
    let mut config = config(GaussianConfig::default());
    config.settings.neighbors = 119;
    config.settings.prediction_neighbors = 480;
    let ours = config.fit(&x, &y, &Fit::default()).unwrap();
    let ours = ours.predict(new_x).unwrap();
    let values = |tensor: Tensor<2>| -> Vec<f64> { tensor.into_data().iter().collect() };
    let pairs = values(ours.mean()).into_iter().zip(values(exact.mean()));
    for ((ours, expected), variance) in pairs.zip(values(exact.variance())) {
        // Both optimizers stop near the optimum, which is flat.
        assert!(
            (ours - expected).abs() < 1e-2 * variance.sqrt(),
            "{ours}, {expected}"
        );
    }
}

/// Beyond the rows with exact log-determinants, training also ends near the same optimum.
#[test]
fn estimates_end_near_the_exact_optimum() {
    let losses = [1000, 0].map(|exact_rows| {
        let estimates = VecchiaLaplaceSettings {
            exact_rows,
            ..VecchiaLaplaceSettings::default()
        };
        let config = config(LikelihoodConfig::poisson()).with_estimates(estimates);
        let mut trainer = trainer(&config, 300, DType::F64);
        while !trainer.is_finished() {
            trainer.step().unwrap();
        }
        let data = data(&config, 300, DType::F64);
        let exact = self::config(LikelihoodConfig::poisson());
        let parameters = trainer.into_model();
        // Both judged by the exact evidence.
        let model = exact.init(&data).unwrap();
        let paths = ["kernel.lengthscale", "kernel.variance"];
        let model = paths.iter().fold(model, |model, path| {
            let values = parameters.parameter(path).unwrap();
            model.with_parameter(path, &values).unwrap()
        });
        let value: f64 = model
            .full_objective(data.inputs, data.targets)
            .unwrap()
            .into_scalar();
        value
    });
    assert!((losses[0] - losses[1]).abs() < 1.0, "{losses:?}");
}

/// A run that is resumed continues bit for bit, with the neighbors that it had. The type is the one in which burn
/// restores L-BFGS.
#[test]
fn a_resumed_run_is_the_same() {
    let estimates = VecchiaLaplaceSettings {
        exact_rows: 0,
        ..VecchiaLaplaceSettings::default()
    };
    let config = config(LikelihoodConfig::bernoulli_logit()).with_estimates(estimates);
    let mut first = trainer(&config, 150, DType::F32);
    let steps = |trainer: &mut FullBatchTrainer<AnyVecchiaLaplace>| -> Vec<f64> {
        (0..3).map(|_| trainer.step().unwrap().loss).collect()
    };
    steps(&mut first);
    let folder = TempDir::new().unwrap();
    first.save(folder.path()).unwrap();
    let mut second = trainer(&config, 150, DType::F32);
    second.restore(folder.path()).unwrap();
    assert_eq!(steps(&mut second), steps(&mut first));
}

/// A saved model makes the same predictions, which are probabilities.
#[test]
fn a_saved_model_is_the_same() {
    let (x, function) = places(150);
    let labels = targets(&LikelihoodConfig::bernoulli(), &function);
    let estimates = VecchiaLaplaceSettings {
        exact_rows: 0,
        ..VecchiaLaplaceSettings::default()
    };
    let config = config(LikelihoodConfig::bernoulli()).with_estimates(estimates);
    let fitted = config.fit(&x, &labels, &Fit::default()).unwrap();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("model");
    fitted.save(&path).unwrap();
    let loaded = Fitted::load(&path, &Device::default()).unwrap();
    let [first, second] = [fitted, loaded].map(|fitted| {
        let predicted = fitted.predict(&x[..20]).unwrap();
        let values: Vec<f64> = predicted.mean().into_data().iter().collect();
        values
    });
    assert_eq!(first, second);
    assert!(
        first.iter().all(|&value| (0.0..=1.0).contains(&value)),
        "{first:?}"
    );
}

#[test]
fn what_it_cannot_do_is_an_error() {
    let labels = config(LikelihoodConfig::bernoulli());
    let data = data(&labels, 20, DType::F64);
    let softmax = config(SoftmaxConfig::new(3));
    let error = softmax.init(&data).unwrap_err();
    assert!(
        matches!(error, InitError::SeveralFunctions { functions: 3, .. }),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "the softmax likelihood has 3 latent functions, but this model takes likelihoods with one; the model svgp \
         takes several"
    );
    let mut none = labels.clone();
    none.settings.neighbors = 0;
    assert!(matches!(none.init(&data), Err(InitError::NoNeighbors)));
    let mut none = labels;
    none.estimates.draws = 0;
    assert!(matches!(none.init(&data), Err(InitError::NoEstimates)));
}
