//! Regression over time as a ready-made model.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    kernels::{KernelConfig, KernelDefinition, LinearConfig, StationaryConfig},
    likelihoods::GaussianConfig,
};
use burn_gp_models::{
    AnyMarkov, ExactConfig, Fit, FitModel, InitError, MarkovConfig, ModelConfig,
    training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData},
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use temp_dir::TempDir;

/// A wave with a trend and noise at uneven times in no order.
fn rows(count: usize) -> (Vec<[f64; 1]>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let x: Vec<[f64; 1]> = (0..count)
        .map(|_| [12.0 * random.random::<f64>()])
        .collect();
    let y = x.iter().map(|[time]| {
        let noise = 0.2 * (random.random::<f64>() - 0.5);
        (1.7 * time).sin() + 0.1 * time + noise
    });
    let y = y.collect();
    (x, y)
}

fn kernels() -> [KernelConfig; 3] {
    let season = StationaryConfig::rbf().periodic(3.7);
    [
        StationaryConfig::matern52().into(),
        StationaryConfig::matern32().plus(LinearConfig::default()),
        season
            .times(StationaryConfig::matern32())
            .plus(StationaryConfig::matern12()),
    ]
}

fn data(count: usize, dtype: DType) -> TrainingData {
    let (x, y) = rows(count);
    TrainingData::new(x.as_flattened(), &y, &Device::default(), dtype)
}

fn values(tensor: Tensor<2>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}

/// The objective of the same configuration is that of exact regression.
#[test]
fn the_objective_is_that_of_exact_regression() {
    for kernel in kernels() {
        let data = data(120, DType::F64);
        let ours = MarkovConfig::new(kernel.clone()).init(&data).unwrap();
        let exact = ExactConfig::new(kernel.clone()).init(&data).unwrap();
        let (x, y) = (data.inputs.clone(), data.targets.clone());
        let ours: f64 = ours
            .full_objective(x.clone(), y.clone())
            .unwrap()
            .into_scalar();
        let expected: f64 = exact.full_objective(x, y).unwrap().into_scalar();
        // The cosines of a periodic kernel miss a billionth of its variance.
        let off = (ours - expected).abs() / expected.abs();
        assert!(off < 1e-6, "{kernel:?}: {ours}, {expected}");
    }
}

/// After training, too.
#[test]
fn predictions_are_those_of_exact_regression() {
    let (x, y) = rows(120);
    let new_x = [[-0.5], [3.3], [7.0], [13.5]];
    let kernel = || StationaryConfig::matern52();
    let ours = MarkovConfig::new(kernel())
        .fit(&x, &y, &Fit::default())
        .unwrap();
    let exact = ExactConfig::new(kernel())
        .fit(&x, &y, &Fit::default())
        .unwrap();
    let (ours, exact) = (ours.predict(new_x).unwrap(), exact.predict(new_x).unwrap());
    let pairs = values(ours.mean()).into_iter().zip(values(exact.mean()));
    for ((ours, expected), variance) in pairs.zip(values(exact.variance())) {
        // Both optimizers stop within 1e-9 of the optimum, which is flat.
        let off = (ours - expected).abs() / variance.sqrt();
        assert!(off < 1e-3, "{ours}, {expected}");
    }
}

/// A run that is resumed continues bit for bit.
#[test]
fn a_resumed_run_continues() {
    let trainer = || -> FullBatchTrainer<AnyMarkov> {
        let data = data(60, DType::F32);
        let model = MarkovConfig::default().init(&data).unwrap();
        FullBatchTrainer::new(model, data, FullBatchTraining::default())
    };
    let steps = |trainer: &mut FullBatchTrainer<AnyMarkov>| -> Vec<f64> {
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
fn other_inputs_and_kernels_are_refused() {
    let two = TrainingData::new(
        &[0.0, 1.0, 2.0, 3.0],
        &[0.0, 1.0],
        &Device::default(),
        DType::F64,
    );
    let error = MarkovConfig::default().init(&two).unwrap_err();
    assert!(matches!(error, InitError::NotTime { inputs: 2 }));
    assert_eq!(
        error.to_string(),
        "a model over time takes one input, but the data have 2"
    );
    let smooth = MarkovConfig::new(StationaryConfig::rbf());
    let error = smooth.init(&data(10, DType::F64)).unwrap_err();
    assert!(matches!(error, InitError::StateSpace(_)));
    assert!(
        error
            .to_string()
            .starts_with("rbf has no finite state; use matern52")
    );
}

#[test]
fn configurations_are_files() {
    let config = ModelConfig::from(
        MarkovConfig::new(kernels()[2].clone()).with_likelihood(GaussianConfig::new(0.02)),
    );
    let text = serde_json::to_string(&config).unwrap();
    assert!(text.contains(r#""model":"markov""#), "{text}");
    assert_eq!(serde_json::from_str::<ModelConfig>(&text).unwrap(), config);
}
