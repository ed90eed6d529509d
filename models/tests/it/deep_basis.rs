//! Deep basis kernels: full-batch and mini-batch training, the variants in the paper, likelihoods
//! and saving.

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    features::{PerceptronConfig, ResidualNetworkConfig},
    kernels::KernelModule,
    likelihoods::{GaussianConfig, LikelihoodConfig, SoftmaxConfig},
    optim::NaturalGradient,
    process::{PredictedVariance, Process, VarianceCorrection},
    variational::WeightSpace,
};
use burn_gp_models::{
    AnySvdbk, BasisConfig, DbkConfig, ModelConfig, Precision, SavedModel, Summary, SvdbkConfig,
    training::{
        FullBatchTrainer, FullBatchTraining, MiniBatchTrainer, MiniBatchTraining, Model, Trainer,
        TrainingData,
    },
};
use temp_dir::TempDir;

const ROWS: usize = 80;

fn inputs() -> Vec<f64> {
    (0..ROWS)
        .map(|i| -1.0 + 2.0 * i as f64 / ROWS as f64)
        .collect()
}

/// A step plus a wave.
fn function(x: f64) -> f64 {
    if x < 0.1 {
        0.8
    } else {
        -0.5 + 0.3 * (6.0 * x).sin()
    }
}

fn data(targets: impl Fn(usize, f64) -> f64, dtype: DType) -> TrainingData {
    let x = inputs();
    let y: Vec<f64> = x.iter().enumerate().map(|(i, &x)| targets(i, x)).collect();
    TrainingData::new(&x, &y, &Device::default().autodiff(), dtype)
}

fn regression_data(dtype: DType) -> TrainingData {
    data(|i, x| function(x) + 0.05 * (i as f64 * 1.7).sin(), dtype)
}

fn basis(rank: usize) -> BasisConfig {
    let network = ResidualNetworkConfig {
        width: 16,
        ..ResidualNetworkConfig::default()
    };
    BasisConfig::new(network, rank)
}

fn dbk(rank: usize, correction: VarianceCorrection) -> DbkConfig {
    DbkConfig {
        basis: basis(rank),
        correction,
        ..DbkConfig::default()
    }
}

/// Training with all data in each batch.
fn training(steps: usize) -> MiniBatchTraining {
    MiniBatchTraining {
        batch_size: ROWS,
        weight_decay: 1e-4,
        ..MiniBatchTraining::new(steps)
    }
}

/// The first loss, the last loss and the trained model.
fn train<T: Trainer>(mut trainer: T) -> (f64, f64, T) {
    let first = trainer.step().unwrap().loss;
    let mut last = first;
    while !trainer.is_finished() {
        last = trainer.step().unwrap().loss;
    }
    (first, last, trainer)
}

/// The variants in the paper: with and without correction, of full rank and of rank one. The losses
/// fall, and corrected predictions are never more certain than those of the features alone.
#[test]
fn every_variant_trains_on_all_data() {
    let features_alone = VarianceCorrection {
        prediction: PredictedVariance::Features,
        ..VarianceCorrection::default()
    };
    for dtype in [DType::F64, DType::F32] {
        let data = regression_data(dtype);
        for rank in [12, 1] {
            for correction in [
                VarianceCorrection::default(),
                VarianceCorrection::NONE,
                features_alone,
            ] {
                let config = dbk(rank, correction);
                let model = config.init(&data).unwrap();
                let trainer = MiniBatchTrainer::new(model, data.clone(), training(80));
                let (first, last, trainer) = train(trainer);
                assert!(last < first, "{config:?}: {first} to {last}");
                let model = trainer.into_model();
                let process = model.condition(data.inputs.clone(), data.targets.clone());
                let marginals = process.unwrap().marginals(data.inputs.clone().inner());
                let error = (marginals.mean - data.targets.clone().inner())
                    .square()
                    .mean();
                assert!(error.into_scalar::<f64>() < 0.1, "{config:?}");
            }
        }
    }
}

#[test]
fn line_searches_train_it_too() {
    let data = regression_data(DType::F64);
    let config = dbk(6, VarianceCorrection::default());
    let model = config.init(&data).unwrap();
    let training = FullBatchTraining {
        iterations: 60,
        ..FullBatchTraining::default()
    };
    let (first, last, _) = train(FullBatchTrainer::new(model, data, training));
    assert!(last < first, "{first} to {last}");
}

/// A model trained on all data makes the same predictions after saving and loading.
#[test]
fn saved_models_predict_the_same() {
    for (dtype, precision, tolerance) in [
        (DType::F64, Precision::F64, 1e-9),
        // Its weights are rounded to single precision.
        (DType::F32, Precision::F32, 2e-3),
    ] {
        let data = regression_data(dtype);
        let config = dbk(12, VarianceCorrection::default());
        let model = config.init(&data).unwrap();
        let (_, _, trainer) = train(MiniBatchTrainer::new(model, data.clone(), training(40)));
        let model = trainer.into_model();
        let process = model
            .condition(data.inputs.clone(), data.targets.clone())
            .unwrap();
        let x = data.inputs.clone().inner();
        let expected = process.marginals(x);
        let saved = SavedModel {
            model: model.clone().trained(&data).unwrap(),
            summary: Summary {
                config: ModelConfig::from(config),
                dimensions: 1,
                target_columns: 1,
                data_count: ROWS,
                precision,
            },
            context: (),
        };
        let folder = TempDir::new().unwrap();
        let loaded = saved_and_loaded(&saved, &folder);
        let actual = loaded.model.predictor().unwrap().predict(&inputs(), 1);
        let same = saved.model.predictor().unwrap().predict(&inputs(), 1);
        assert_eq!(actual.function_mean, same.function_mean);
        assert_eq!(actual.function_variance, same.function_variance);
        close(&actual.function_mean, expected.mean, tolerance);
        close(&actual.function_variance, expected.variance, tolerance);
        assert_eq!(loaded.summary, saved.summary);
    }
}

/// Saves and loads a model. The values are read from the folder lazily, on first use.
fn saved_and_loaded(saved: &SavedModel<()>, folder: &TempDir) -> SavedModel<()> {
    saved.save(folder.path()).unwrap();
    SavedModel::load(folder.path(), &Device::default()).unwrap()
}

#[track_caller]
fn close(actual: &[f64], expected: Tensor<2>, tolerance: f64) {
    let expected: Vec<f64> = expected.into_data().iter::<f64>().collect();
    let scale = expected
        .iter()
        .fold(0.0, |scale: f64, value| scale.max(value.abs()));
    for (actual, expected) in actual.iter().zip(&expected) {
        let error = (actual - expected).abs();
        assert!(error <= tolerance * scale, "{actual}, expected {expected}");
    }
}

/// Mini-batches with real targets, classes and counts, with Adam alone and with natural gradients
/// for the weights. Saved and loaded models make the same predictions, with the level of all
/// training inputs.
#[test]
fn batches_train_it_with_any_likelihood() {
    type Target = fn(usize, f64) -> f64;
    let likelihoods: [(LikelihoodConfig, Target); 4] = [
        (GaussianConfig { noise: 1e-2 }.into(), |_, x| function(x)),
        (LikelihoodConfig::bernoulli(), |_, x| f64::from(x > 0.1)),
        (SoftmaxConfig::new(3).into(), |_, x| {
            (1.5 * (x + 1.0)).floor()
        }),
        (LikelihoodConfig::poisson(), |i, x| {
            (i % 2) as f64 + if x < 0.1 { 4.0 } else { 0.0 }
        }),
    ];
    for (likelihood, targets) in likelihoods {
        for natural_gradient in [None, Some(NaturalGradient::new(0.1).with_warm_up(1e-3, 20))] {
            let data = data(targets, DType::F32);
            let network = PerceptronConfig {
                hidden: vec![16],
                ..PerceptronConfig::default()
            };
            let config = SvdbkConfig {
                basis: BasisConfig::new(network, 8),
                ..SvdbkConfig::new(likelihood.clone())
            };
            let training = MiniBatchTraining {
                batch_size: 32,
                natural_gradient,
                weight_decay: 1e-4,
                ..MiniBatchTraining::new(120)
            };
            let model = config.init(&data).unwrap();
            let (first, last, trainer) =
                train(MiniBatchTrainer::new(model, data.clone(), training));
            assert!(last < first, "{config:?}: {first} to {last}");
            let model = trainer.into_model();
            let trained = model.clone().trained(&data).unwrap();
            let leveled = trained.downcast_ref::<AnySvdbk>().unwrap();
            let weights = leveled.posterior().downcast_ref::<WeightSpace>();
            let level = weights.expect("a posterior over weights").level();
            assert!(level.into_scalar::<f64>() > 0.0);
            let saved = SavedModel {
                model: trained,
                summary: Summary {
                    config: ModelConfig::from(config),
                    dimensions: 1,
                    target_columns: 1,
                    data_count: ROWS,
                    precision: Precision::F32,
                },
                context: (),
            };
            let folder = TempDir::new().unwrap();
            let loaded = saved_and_loaded(&saved, &folder);
            let [actual, expected] = [&loaded, &saved]
                .map(|saved| saved.model.predictor().unwrap().predict(&inputs(), 1));
            assert_eq!(actual.mean, expected.mean);
            assert_eq!(actual.variance, expected.variance);
        }
    }
}

/// The first Adam step is the learning rate times the opposite sign of the gradient. With a large
/// decay that is the sign of the weight for network weights, and unchanged for all other
/// parameters.
#[test]
fn weights_of_networks_decay_alone() {
    let data = regression_data(DType::F64);
    let config = dbk(4, VarianceCorrection::default());
    let model = config.init(&data).unwrap();
    let stepped = |weight_decay: f64| {
        let training = MiniBatchTraining {
            weight_decay,
            ..training(1)
        };
        let (_, _, trainer) = train(MiniBatchTrainer::new(model.clone(), data.clone(), training));
        values(&trainer.into_model())
    };
    let (plain, decayed) = (stepped(0.0), stepped(1e9));
    let mut networks = 0;
    for ((path, first), (plain, decayed)) in values(&model)
        .into_iter()
        .zip(plain.into_iter().zip(decayed))
    {
        if path.contains("network") {
            networks += 1;
            for ((first, plain), decayed) in first.iter().zip(&plain.1).zip(&decayed.1) {
                // The shifts of normalizations start at zero, where weight decay has no effect.
                let expected = match *first {
                    0.0 => *plain,
                    first => first - 0.01 * first.signum(),
                };
                assert!((decayed - expected).abs() < 1e-6, "{path}");
            }
        } else {
            assert_eq!(plain.1, decayed.1, "{path}");
        }
    }
    assert_eq!(networks, 12);
}

/// The parameters of a module with their paths.
fn values<M: Module>(module: &M) -> Vec<(String, Vec<f64>)> {
    #[derive(Default)]
    struct Values {
        path: Vec<String>,
        found: Vec<(String, Vec<f64>)>,
    }
    impl ModuleVisitor for Values {
        fn enter_module(&mut self, name: &str, _container_type: &str) {
            self.path.push(name.to_owned());
        }
        fn exit_module(&mut self, _name: &str, _container_type: &str) {
            self.path.pop();
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let numbers = param.val().into_data().iter::<f64>().collect();
            self.found.push((self.path.join("."), numbers));
        }
    }
    let mut values = Values::default();
    module.visit(&mut values);
    values.found
}

/// The initial prior variance is of order one for any number of basis functions. The penalty of the
/// correction grows with the variance, so training would first have to reduce it.
#[test]
fn first_variances_do_not_grow_with_the_rank() {
    let data = regression_data(DType::F64);
    for rank in [1, 16, 256] {
        let model = dbk(rank, VarianceCorrection::default())
            .init(&data)
            .unwrap();
        let norms = model.kernel().diagonal_at(data.inputs.clone().inner());
        let mean: f64 = norms.mean().into_scalar();
        assert!((0.01..3.0).contains(&mean), "rank {rank}: {mean}");
    }
}
