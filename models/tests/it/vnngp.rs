//! The variational nearest-neighbor Gaussian process as a ready-made model.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig, SoftmaxConfig},
    ops::Stationary,
    parameter::{ParameterConfig, numbers},
    process::Process,
};
use burn_gp_models::{
    AnyVnngp, Fit, FitModel, Fitted, InitError, ModelDefinition, VecchiaConfig,
    VecchiaLaplaceConfig, VnngpConfig,
    training::{
        FullBatchTraining, MiniBatchTrainer, MiniBatchTraining, Model, Trainer, TrainingData,
        TrainingDefaults, TrainingError, fit,
    },
};
use burn_gp_test_support::likelihood_cases::{in_columns, registry};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use temp_dir::TempDir;

/// Random places, of which every tenth is a copy, and a function.
fn places(count: usize) -> (Vec<[f64; 2]>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut x: Vec<[f64; 2]> = (0..count)
        .map(|_| [random.random::<f64>(), random.random::<f64>()])
        .collect();
    for row in (10..count).step_by(10) {
        x[row] = x[row - 7];
    }
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

fn config(likelihood: impl Into<LikelihoodConfig>) -> VnngpConfig {
    let kernel = StationaryConfig::new(Stationary::Matern32).with_lengthscale(0.4);
    VnngpConfig::new(kernel, likelihood)
}

fn data(config: &VnngpConfig, count: usize, dtype: DType) -> TrainingData {
    let (x, function) = places(count);
    let targets = targets(&config.likelihood, &function);
    let columns = targets.len() / count;
    let device = Device::default();
    let data =
        TrainingData::with_target_columns(x.as_flattened(), &targets, columns, &device, dtype);
    config.arranged(data)
}

fn trainer(
    config: &VnngpConfig,
    count: usize,
    dtype: DType,
    training: MiniBatchTraining,
) -> MiniBatchTrainer<AnyVnngp> {
    let data = data(config, count, dtype);
    let model = config.init(&data).unwrap();
    MiniBatchTrainer::new(model, data, training)
}

fn values(tensor: Tensor<2>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}

/// For every likelihood with one latent function, also those with kinks, the loss falls from that of the prior's means, and
/// the hyperparameters stay.
#[test]
fn every_likelihood_is_trained() {
    for case in registry().into_iter().filter(|case| case.latents == 1) {
        let name = format!("{:?}", case.config);
        let config = config(case.config);
        let data = data(&config, 120, DType::F64);
        let model = config.init(&data).unwrap().with_prior_moments().unwrap();
        let before = model.hyperparameters();
        let training = MiniBatchTraining::new(30).with_batch_size(120);
        let mut trainer = MiniBatchTrainer::new(model, data, training);
        let losses: Vec<f64> = (0..30).map(|_| trainer.step().unwrap().loss).collect();
        assert!(losses[29] < losses[0], "{name}: {losses:?}");
        assert_eq!(trainer.model().hyperparameters(), before, "{name}");
    }
}

/// For Gaussian noise, the means of the best independent posterior are those of the exact posterior on the same
/// neighbors, which the Laplace approximation has for fixed hyperparameters. Mini-batches approach it.
#[test]
fn mini_batches_end_near_the_exact_means() {
    let ours = config(GaussianConfig { noise: 0.05 });
    let data = data(&ours, 200, DType::F64);
    let parameters = ParameterConfig {
        frozen: vec!["kernel".into(), "likelihood".into()],
        ..ParameterConfig::default()
    };
    let exact = VecchiaLaplaceConfig::new(ours.kernel.clone(), ours.likelihood.clone())
        .with_parameters(parameters);
    let (new_x, _) = places(60);
    let new_x = Tensor::<1>::from_data(new_x.as_flattened(), (&Device::default(), DType::F64));
    let new_x: Tensor<2> = new_x.reshape([60, 2]) * 0.9 + 0.05;
    let exact = exact.init(&data).unwrap();
    let exact = exact.condition(data.inputs.clone(), data.targets.clone());
    let exact = exact.unwrap().marginals(new_x.clone());
    let training = MiniBatchTraining::new(6000)
        .with_batch_size(50)
        .with_learning_rate(0.05)
        .with_schedule(TrainingDefaults::SCHEDULE);
    // From the means of the prior, without what a sample predicts.
    let model = ours.init(&data).unwrap().with_prior_moments().unwrap();
    let mut trainer = MiniBatchTrainer::new(model, data, training);
    while !trainer.is_finished() {
        trainer.step().unwrap();
    }
    let found = trainer.model().condition();
    let found = found.marginals(new_x);
    let pairs = values(found.mean).into_iter().zip(values(exact.mean));
    let deviations = values(exact.variance).into_iter().map(f64::sqrt);
    let squares: Vec<f64> = pairs
        .zip(deviations)
        .map(|((found, exact), deviation)| ((found - exact) / deviation).powi(2))
        .collect();
    let error = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    // In standard deviations of the posterior; before training it is above five.
    assert!(error < 0.2, "{error}");
}

/// Training starts near its end: the bound at the means that a sample predicts is much better than at those of the
/// prior, also for rows that are not in the sample.
#[test]
fn training_starts_at_what_a_sample_predicts() {
    for likelihood in [
        LikelihoodConfig::from(GaussianConfig { noise: 0.05 }),
        LikelihoodConfig::poisson(),
    ] {
        let ours = config(likelihood);
        let data = data(&ours, 300, DType::F64);
        let from_some = ours.clone().with_sample(100);
        for config in [ours, from_some] {
            let model = config.init(&data).unwrap();
            let bound = |model: AnyVnngp| -> f64 {
                let bound = model.objective(data.inputs.clone(), data.targets.clone(), 300);
                bound.unwrap().into_scalar()
            };
            let start = bound(model.clone());
            let prior = bound(model.with_prior_moments().unwrap());
            assert!(start > prior + 10.0, "{start}, {prior}");
        }
    }
}

/// With a sample of all rows, the hyperparameters are those of the models that have an evidence.
#[test]
fn hyperparameters_come_from_the_sample() {
    let training = || FullBatchTraining {
        nats: 1e-2,
        ..FullBatchTraining::default()
    };
    let ours = config(GaussianConfig { noise: 0.2 }).with_sample(usize::MAX);
    let data = data(&ours, 90, DType::F64);
    let found = ours.init(&data).unwrap().hyperparameters();
    let vecchia =
        VecchiaConfig::new(ours.kernel.clone()).with_likelihood(GaussianConfig { noise: 0.2 });
    let expected = fit::<_, TrainingError>(
        vecchia.init(&data).unwrap(),
        data.clone(),
        &training().into(),
        &mut [],
    );
    assert_eq!(found, expected.unwrap().model().hyperparameters());
    let start = config(GaussianConfig { noise: 0.2 })
        .init(&data)
        .unwrap()
        .hyperparameters();
    assert_ne!(found, start);

    let ours = config(LikelihoodConfig::poisson()).with_sample(usize::MAX);
    let data = self::data(&ours, 90, DType::F64);
    let found = ours.init(&data).unwrap().hyperparameters();
    let laplace = VecchiaLaplaceConfig::new(ours.kernel.clone(), ours.likelihood.clone());
    let model = laplace.init(&data).unwrap();
    let expected = fit::<_, TrainingError>(model, data, &training().into(), &mut []);
    assert_eq!(found, expected.unwrap().model().hyperparameters());
}

/// A run that is resumed continues bit for bit.
#[test]
fn a_resumed_run_is_the_same() {
    let config = config(LikelihoodConfig::bernoulli_logit());
    let training = || MiniBatchTraining::new(12).with_batch_size(40);
    let mut first = trainer(&config, 150, DType::F32, training());
    let steps = |trainer: &mut MiniBatchTrainer<AnyVnngp>| -> Vec<f64> {
        (0..5).map(|_| trainer.step().unwrap().loss).collect()
    };
    steps(&mut first);
    let folder = TempDir::new().unwrap();
    first.save(folder.path()).unwrap();
    let mut second = trainer(&config, 150, DType::F32, training());
    second.restore(folder.path()).unwrap();
    assert_eq!(steps(&mut second), steps(&mut first));
}

/// A saved model, with fewer inducing values than rows, makes the same predictions, which are probabilities.
#[test]
fn a_saved_model_is_the_same() {
    let (x, function) = places(150);
    let labels = targets(&LikelihoodConfig::bernoulli(), &function);
    let config = config(LikelihoodConfig::bernoulli());
    let training = Fit::adam(0.05).steps(50).batch_size(50);
    let fitted = config.fit(&x, &labels, &training).unwrap();
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
    for sample in [None, Some(10)] {
        let softmax = VnngpConfig {
            sample,
            ..config(SoftmaxConfig::new(3))
        };
        let error = softmax.init(&data).unwrap_err();
        assert!(
            matches!(error, InitError::SeveralFunctions { functions: 3, .. }),
            "{error}"
        );
        let mut none = VnngpConfig {
            sample,
            ..labels.clone()
        };
        none.settings.neighbors = 0;
        assert!(matches!(none.init(&data), Err(InitError::NoNeighbors)));
    }
}
