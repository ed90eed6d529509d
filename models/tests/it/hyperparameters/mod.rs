//! Initial values, bounds, priors and freezing in the training of every model.

mod mode;

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    kernels::{KernelConfig, StationaryConfig},
    likelihoods::GaussianConfig,
    ops::Stationary,
    parameter::{Bounds, ParameterConfig, Parameters, Prior},
};
use burn_gp_models::{
    AnyTrained, ExactConfig, InitError, ModelConfig, Precision, SavedModel, SgprConfig, Summary,
    SvgpConfig, Trained,
    training::{
        FullBatchTrainer, FullBatchTraining, MiniBatchTrainer, MiniBatchTraining, Model, Trainer,
        TrainingData,
    },
};

const NOISE: &str = "likelihood.noise";
const LENGTHSCALE: &str = "kernel.lengthscale";

fn types() -> Vec<DType> {
    let device = Device::default();
    [DType::F64, DType::F32]
        .into_iter()
        .filter(|&dtype| device.supports_dtype(dtype))
        .collect()
}

/// A sine with deterministic noise.
fn wave(count: usize, dtype: DType) -> TrainingData {
    let place = |i: usize| -2.0 + 4.0 * i as f64 / count as f64;
    let inputs: Vec<f64> = (0..count).map(place).collect();
    let noise = |i: usize| 0.1 * ((7919 * i) as f64).sin();
    let targets: Vec<f64> = (0..count)
        .map(|i| (3.0 * place(i)).sin() + noise(i))
        .collect();
    TrainingData::new(&inputs, &targets, &Device::default(), dtype)
}

fn full_batch<M: Module + Model>(model: M, data: &TrainingData) -> M {
    let training = FullBatchTraining {
        iterations: 200,
        tolerance: 1e-14,
        ..FullBatchTraining::default()
    };
    let mut trainer = FullBatchTrainer::new(model, data.clone(), training);
    while !trainer.is_finished() {
        trainer.step().expect("a step");
    }
    trainer.into_model()
}

fn mini_batch<M: Module + Model>(
    model: M,
    data: &TrainingData,
    (steps, batch_size): (usize, usize),
) -> M {
    let training = MiniBatchTraining {
        learning_rate: 0.02,
        batch_size,
        ..MiniBatchTraining::new(steps)
    };
    let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
    while !trainer.is_finished() {
        trainer.step().expect("a step");
    }
    trainer.into_model()
}

/// The stored numbers of every parameter.
fn stored(module: &impl Module) -> Vec<Vec<f64>> {
    struct Stored(Vec<Vec<f64>>);
    impl ModuleVisitor for Stored {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0.push(param.val().into_data().iter::<f64>().collect());
        }
    }
    let mut stored = Stored(Vec::new());
    module.visit(&mut stored);
    stored.0
}

/// Asserts that exactly the parameters in the frozen fields are unchanged, to the bit.
fn assert_frozen(what: &str, before: &impl Module, after: &impl Module, frozen: &[&str]) {
    let values = stored(before).into_iter().zip(stored(after));
    for (path, (before, after)) in before.parameter_paths().iter().zip(values) {
        let is_frozen = frozen
            .iter()
            .any(|field| path == field || path.starts_with(&format!("{field}.")));
        assert_eq!(before == after, is_frozen, "{what}: {path}");
    }
}

#[test]
fn frozen_parameters_do_not_move_by_a_bit() {
    let kernel = || StationaryConfig::new(Stationary::Matern52);
    let frozen = [
        "kernel.lengthscale",
        "likelihood",
        "inducing",
        "posterior.inducing",
    ];
    for dtype in types() {
        let data = wave(50, dtype);
        let parameters = |count: usize| ParameterConfig {
            frozen: frozen[..count]
                .iter()
                .map(|path| (*path).to_owned())
                .collect(),
            ..ParameterConfig::default()
        };
        let config = parameters(2);
        let exact = ExactConfig {
            parameters: config.clone(),
            ..ExactConfig::new(kernel()).with_likelihood(GaussianConfig::default())
        };
        let before = exact.init(&data).expect("a model");
        let after = full_batch(before.clone(), &data);
        assert_frozen("exact", &before, &after, &frozen);
        let config = parameters(3);
        let sgpr = SgprConfig {
            parameters: config.clone(),
            ..SgprConfig::new(kernel())
                .with_likelihood(GaussianConfig::default())
                .with_inducing(6)
        };
        let before = sgpr.init(&data).expect("a model");
        let after = full_batch(before.clone(), &data);
        assert_frozen("sgpr", &before, &after, &frozen);
        let mut config = parameters(2);
        config.frozen.push("posterior.inducing".into());
        let svgp = SvgpConfig {
            parameters: config.clone(),
            ..SvgpConfig::new(kernel(), GaussianConfig::default()).with_inducing(6)
        };
        let before = svgp.init(&data).expect("a model");
        let after = mini_batch(before.clone(), &data, (50, 20));
        assert_frozen("svgp", &before, &after, &frozen);
    }
}

/// Bounds that training reaches: the lengthscale of the wave is below one, and the noise is below a
/// half.
fn tight() -> ParameterConfig {
    let mut config = ParameterConfig::default();
    config
        .bounds
        .insert(LENGTHSCALE.into(), Bounds::between(0.9, 1.1));
    config.bounds.insert(NOISE.into(), Bounds::above(0.5));
    config.values.insert(NOISE.into(), vec![0.6]);
    let uniform = Prior::Uniform {
        lower: 0.5,
        upper: 1.5,
    };
    config.priors.0.insert("kernel.variance".into(), uniform);
    config
}

#[track_caller]
fn assert_within(model: &impl Module, dtype: DType) {
    let rounding = if dtype == DType::F64 { 1e-12 } else { 1e-6 };
    for (path, lower, upper) in [
        (LENGTHSCALE, 0.9, 1.1),
        (NOISE, 0.5, f64::INFINITY),
        ("kernel.variance", 0.5, 1.5),
    ] {
        let value = model.parameter(path).expect("a parameter")[0];
        let within = lower - rounding <= value && value <= upper + rounding;
        assert!(within, "{path} is {value} in {dtype:?}");
    }
}

#[test]
fn bounds_are_never_crossed() {
    for dtype in types() {
        let data = wave(50, dtype);
        let parameters = tight();
        let svgp = SvgpConfig {
            parameters: parameters.clone(),
            ..SvgpConfig::new(Stationary::Matern52, GaussianConfig::default()).with_inducing(10)
        };
        let training = MiniBatchTraining {
            learning_rate: 0.1,
            batch_size: 25,
            ..MiniBatchTraining::new(300)
        };
        let model = svgp.init(&data).expect("a model");
        let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
        while !trainer.is_finished() {
            trainer.step().expect("a step");
            assert_within(trainer.model(), dtype);
        }
        let value = |path: &str| trainer.model().parameter(path).expect("a parameter")[0];
        assert!(value(LENGTHSCALE) < 0.92, "{}", value(LENGTHSCALE));
        assert!(value(NOISE) < 0.52, "{}", value(NOISE));
        let exact = ExactConfig {
            parameters: parameters.clone(),
            ..ExactConfig::new(Stationary::Matern52).with_likelihood(GaussianConfig::default())
        };
        let model = exact.init(&data).expect("a model");
        let model = full_batch(model, &data);
        assert_within(&model, dtype);
        assert!(model.parameter(NOISE).expect("noise")[0] < 0.52);
    }
}

/// A configuration with all settings.
fn everything() -> ParameterConfig {
    let mut config = tight();
    config.frozen.push("kernel.variance".into());
    let prior = Prior::LogNormal {
        mean: 0.0,
        deviation: 0.5,
    };
    config.priors.0.insert(NOISE.into(), prior);
    config
}

/// In single precision, the default type, in which burn restores optimizers.
#[test]
fn resumed_training_is_the_same_to_the_bit() {
    let (folder, dtype) = (temp_dir::TempDir::new().expect("a folder"), DType::F32);
    let data = wave(50, dtype);
    let parameters = everything();
    let svgp = SvgpConfig {
        parameters: parameters.clone(),
        ..SvgpConfig::new(Stationary::Matern52, GaussianConfig::default()).with_inducing(10)
    };
    let mini_batch_trainer = || {
        let training = MiniBatchTraining {
            batch_size: 20,
            ..MiniBatchTraining::new(30)
        };
        let model = svgp.init(&data).expect("a model");
        MiniBatchTrainer::new(model, data.clone(), training)
    };
    assert_resumes(folder.path(), &mini_batch_trainer);
    let exact = ExactConfig {
        parameters: parameters.clone(),
        ..ExactConfig::new(Stationary::Matern52).with_likelihood(GaussianConfig::default())
    };
    let full_batch_trainer = || {
        let training = FullBatchTraining {
            iterations: 30,
            tolerance: 0.0,
            ..FullBatchTraining::default()
        };
        let model = exact.init(&data).expect("a model");
        FullBatchTrainer::new(model, data.clone(), training)
    };
    assert_resumes(folder.path(), &full_batch_trainer);
}

fn assert_resumes<T: Trainer<Model: Module>>(folder: &std::path::Path, trainer: &dyn Fn() -> T) {
    let finish = |mut trainer: T| {
        while !trainer.is_finished() {
            trainer.step().expect("a step");
        }
        stored(trainer.model())
    };
    let mut first = trainer();
    first.step().expect("a step");
    first.save(folder).expect("saved");
    let mut second = trainer();
    second.restore(folder).expect("restored");
    let (first, second) = (finish(first), finish(second));
    assert_eq!(first, second);
    assert_ne!(
        first,
        stored(trainer().model()),
        "training changed something"
    );
}

#[test]
fn saved_models_keep_what_was_asked_of_parameters() {
    let (device, dtype) = (Device::default(), DType::F32);
    let data = wave(40, dtype);
    let parameters = everything();
    let exact = ExactConfig {
        parameters: parameters.clone(),
        ..ExactConfig::new(Stationary::Matern52).with_likelihood(GaussianConfig::default())
    };
    let mut sparse = parameters.clone();
    sparse
        .bounds
        .insert("inducing.points".into(), Bounds::between(-3.0, 3.0));
    let sgpr = SgprConfig {
        parameters: sparse,
        ..SgprConfig::new(Stationary::Matern52)
            .with_likelihood(GaussianConfig::default())
            .with_inducing(6)
    };
    let mut variational = parameters.clone();
    variational
        .bounds
        .insert("posterior.inducing.points".into(), Bounds::above(-3.0));
    let svgp = SvgpConfig {
        parameters: variational,
        ..SvgpConfig::new(Stationary::Matern52, GaussianConfig::default()).with_inducing(6)
    };
    let model = exact.init(&data).expect("a model");
    let model = full_batch(model, &data);
    let exact_model = model.trained(&data).unwrap();
    let model = full_batch(sgpr.init(&data).expect("a model"), &data);
    let sgpr_model = model.clone().trained(&data).expect("factored");
    let model = svgp.init(&data).expect("a model");
    let svgp_model = mini_batch(model, &data, (20, 20)).valid().into_trained();
    for (config, model) in [
        (ModelConfig::from(exact), exact_model),
        (ModelConfig::from(sgpr), sgpr_model),
        (ModelConfig::from(svgp), svgp_model),
    ] {
        let folder = temp_dir::TempDir::new().expect("a folder");
        let saved = SavedModel {
            model,
            summary: Summary {
                config,
                target_columns: 1,
                dimensions: 1,
                data_count: data.len(),
                precision: Precision::F32,
            },
            context: (),
        };
        saved.save(folder.path()).expect("saved");
        let loaded = SavedModel::<()>::load(folder.path(), &device).expect("loaded");
        assert_eq!(loaded.summary, saved.summary);
        assert_eq!(stored(&loaded.model), stored(&saved.model));
        let predict = |model: &AnyTrained| {
            let predictor = model.predictor().expect("a predictor");
            predictor.predict(&[-1.0, 0.0, 0.7], 1)
        };
        assert_eq!(predict(&loaded.model), predict(&saved.model));
    }
}

#[test]
fn what_cannot_be_asked_is_an_error() {
    let data = wave(40, DType::F32);
    let mut config = SvgpConfig::new(Stationary::Matern52, GaussianConfig::default());
    config.inducing.count = 6;
    config.parameters.frozen.push("kernel.lengthscales".into());
    match config.init(&data) {
        Err(InitError::Parameter(error)) => {
            let start =
                "there is no parameter kernel.lengthscales; did you mean kernel.lengthscale?";
            assert!(error.to_string().starts_with(start), "{error}");
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("there is no such parameter"),
    }
}
