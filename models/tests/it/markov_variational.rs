//! Other likelihoods over time as a ready-made model.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{
        BetaConfig, GammaConfig, GaussianConfig, LikelihoodConfig, NegativeBinomialConfig,
        OrdinalConfig, SoftmaxConfig, StudentTConfig,
    },
    parameter::numbers,
};
use burn_gp_models::{
    AnyMarkovVariational, Fit, FitModel, Fitted, InitError, MarkovConfig, MarkovVariationalConfig,
    ModelConfig,
    training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData},
};
use burn_gp_test_support::likelihood_cases::in_columns;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use temp_dir::TempDir;

/// Uneven times in no order, and a wave.
fn rows(count: usize) -> (Vec<[f64; 1]>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let x: Vec<[f64; 1]> = (0..count)
        .map(|_| [12.0 * random.random::<f64>()])
        .collect();
    let function = x.iter().map(|[time]| (1.7 * time).sin()).collect();
    (x, function)
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

fn config(likelihood: impl Into<LikelihoodConfig>) -> MarkovVariationalConfig {
    MarkovVariationalConfig::new(StationaryConfig::matern32(), likelihood)
}

fn trainer(
    config: &MarkovVariationalConfig,
    count: usize,
    dtype: DType,
) -> FullBatchTrainer<AnyMarkovVariational> {
    let (x, function) = rows(count);
    let targets = targets(&config.likelihood, &function);
    let columns = targets.len() / count;
    let device = Device::default();
    let data =
        TrainingData::with_target_columns(x.as_flattened(), &targets, columns, &device, dtype);
    let model = config.init(&data).unwrap();
    FullBatchTrainer::new(model, data, FullBatchTraining::default())
}

/// The loss of every likelihood with one latent function falls, in both precisions.
#[test]
fn every_likelihood_is_trained() {
    let all: Vec<LikelihoodConfig> = vec![
        GaussianConfig::default().into(),
        LikelihoodConfig::fixed_noise(),
        StudentTConfig::default().into(),
        LikelihoodConfig::bernoulli(),
        LikelihoodConfig::bernoulli_logit(),
        OrdinalConfig { classes: 4 }.into(),
        LikelihoodConfig::poisson(),
        NegativeBinomialConfig::default().into(),
        LikelihoodConfig::exponential(),
        GammaConfig::default().into(),
        BetaConfig::default().into(),
    ];
    for likelihood in all {
        for dtype in [DType::F64, DType::F32] {
            let name = format!("{likelihood:?}, {dtype:?}");
            let mut trainer = trainer(&config(likelihood.clone()), 120, dtype);
            let losses: Vec<f64> = (0..6).map(|_| trainer.step().unwrap().loss).collect();
            assert!(losses[5] < losses[0], "{name}: {losses:?}");
        }
    }
}

/// With Gaussian noise, the model `markov`.
#[test]
fn it_agrees_with_exact_regression() {
    let (x, function) = rows(120);
    let y = targets(&GaussianConfig { noise: 0.05 }.into(), &function);
    let new_x = [[-0.5], [3.3], [7.0], [13.5]];
    let exact = MarkovConfig::new(StationaryConfig::matern32())
        .fit(&x, &y, &Fit::default())
        .unwrap();
    let ours = config(GaussianConfig::default())
        .fit(&x, &y, &Fit::default())
        .unwrap();
    let (exact, ours) = (exact.predict(new_x).unwrap(), ours.predict(new_x).unwrap());
    let values = |tensor: Tensor<2>| -> Vec<f64> { tensor.into_data().iter().collect() };
    let pairs = values(ours.mean()).into_iter().zip(values(exact.mean()));
    for ((ours, expected), variance) in pairs.zip(values(exact.variance())) {
        // Both optimizers stop near the optimum, which is flat.
        let off = (ours - expected).abs() / variance.sqrt();
        assert!(off < 1e-3, "{ours}, {expected}");
    }
}

/// Counts of a rate that follows a wave: the model finds it, and a saved one predicts the same.
#[test]
fn a_saved_model_predicts_the_same() {
    let (x, function) = rows(300);
    let rates: Vec<f64> = function.iter().map(|value| 1.0 + 1.5 * value).collect();
    let counts = targets(&LikelihoodConfig::poisson(), &rates);
    let fitted = config(LikelihoodConfig::poisson())
        .fit(&x, &counts, &Fit::default())
        .unwrap();
    let new_x: [[f64; 1]; 3] = [[2.3], [4.6], [6.0]];
    let predict = |fitted: &Fitted| -> Vec<f64> {
        fitted
            .predict(new_x)
            .unwrap()
            .mean()
            .into_data()
            .iter()
            .collect()
    };
    let found = predict(&fitted);
    for (rate, [time]) in found.iter().zip(new_x) {
        let expected = (1.0 + 1.5 * (1.7 * time).sin()).exp();
        // About ten counts lie within a quarter of a wave.
        assert!((rate / expected).ln().abs() < 0.5, "{rate}, {expected}");
    }
    let folder = TempDir::new().unwrap();
    fitted.save(folder.path()).unwrap();
    let loaded = Fitted::load(folder.path(), &Device::default()).unwrap();
    for (one, other) in predict(&loaded).iter().zip(&found) {
        // The parameters are stored exactly; the sites are found again.
        assert!((one - other).abs() < 1e-6 * other, "{one}, {other}");
    }
}

/// A run that is resumed continues bit for bit.
#[test]
fn a_resumed_run_continues() {
    let trainer = || trainer(&config(LikelihoodConfig::poisson()), 60, DType::F32);
    let steps = |trainer: &mut FullBatchTrainer<AnyMarkovVariational>| -> Vec<f64> {
        (0..4).map(|_| trainer.step().unwrap().loss).collect()
    };
    let mut first = trainer();
    steps(&mut first);
    let folder = TempDir::new().unwrap();
    first.save(folder.path()).unwrap();
    let mut second = trainer();
    second.restore(folder.path()).unwrap();
    assert_eq!(steps(&mut second), steps(&mut first));
}

#[test]
fn other_data_kernels_and_likelihoods_are_refused() {
    let data = |inputs: &[f64], targets: &[f64]| {
        TrainingData::new(inputs, targets, &Device::default(), DType::F64)
    };
    let counts = config(LikelihoodConfig::poisson());
    let error = counts
        .init(&data(&[0.0, 1.0, 2.0, 3.0], &[0.0, 1.0]))
        .unwrap_err();
    assert!(matches!(error, InitError::NotTime { inputs: 2 }));
    let error = counts.init(&data(&[0.0, 1.0], &[0.0, -1.0])).unwrap_err();
    assert!(matches!(error, InitError::Target(_)));
    let smooth = MarkovVariationalConfig::new(StationaryConfig::rbf(), LikelihoodConfig::poisson());
    let error = smooth.init(&data(&[0.0, 1.0], &[0.0, 1.0])).unwrap_err();
    assert!(matches!(error, InitError::StateSpace(_)));
    let classes = config(SoftmaxConfig::new(3));
    let error = classes.init(&data(&[0.0, 1.0], &[0.0, 1.0])).unwrap_err();
    assert!(matches!(
        error,
        InitError::SeveralFunctions { functions: 3, .. }
    ));
}

#[test]
fn configurations_are_files() {
    let config = ModelConfig::from(config(StudentTConfig::default()));
    let text = serde_json::to_string(&config).unwrap();
    assert!(text.contains(r#""model":"markov-variational""#), "{text}");
    assert_eq!(serde_json::from_str::<ModelConfig>(&text).unwrap(), config);
}
