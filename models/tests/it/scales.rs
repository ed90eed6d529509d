//! The unit of the targets does not affect training.

use burn::{
    module::Module,
    tensor::{DType, Device},
};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    metrics::{negative_log_density, root_mean_squared_error},
    ops::Stationary,
    parameter::{AtFloor, Bounds, Parameters, at_floor},
};
use burn_gp_models::{
    ExactConfig, SgprConfig, SvgpConfig, Trained, load_module,
    training::{
        FullBatchTrainer, FullBatchTraining, MiniBatchTrainer, MiniBatchTraining, Model as _,
        Trainer, TrainingData,
    },
};

const ROWS: usize = 60;
const KERNEL: Stationary = Stationary::Matern52;

fn place(row: usize) -> f64 {
    -2.0 + 4.0 * row as f64 / ROWS as f64
}

/// A wave with deterministic noise.
fn target(row: usize, noise: f64) -> f64 {
    (2.5 * place(row)).sin() + noise * (7919.0 * row as f64).sin()
}

/// Even rows for training or odd rows for testing, with targets multiplied by `scale`.
fn rows(first: usize, scale: f64, noise: f64) -> (Vec<f64>, Vec<f64>) {
    let rows = (first..ROWS).step_by(2);
    rows.map(|row| (place(row), scale * target(row, noise)))
        .unzip()
}

fn data(scale: f64, noise: f64, dtype: DType) -> TrainingData {
    let (inputs, targets) = rows(0, scale, noise);
    TrainingData::new(&inputs, &targets, &Device::default(), dtype)
}

#[derive(Clone, Copy, Debug)]
enum Model {
    Exact,
    Sgpr,
    Svgp,
}

fn finished<T: Trainer>(mut trainer: T) -> T {
    while !trainer.is_finished() {
        trainer.step().unwrap();
    }
    trainer
}

fn full_batch() -> FullBatchTraining {
    FullBatchTraining {
        iterations: 200,
        ..FullBatchTraining::default()
    }
}

/// The RMSE in units of `scale`, and the NLPD minus the logarithm of `scale`.
fn scores(model: Model, scale: f64, dtype: DType) -> [f64; 2] {
    let data = data(scale, 0.2, dtype);
    let noise = GaussianConfig::default();
    let trained = match model {
        Model::Exact => {
            let config = ExactConfig::new(KERNEL).with_likelihood(noise);
            let model = config.init(&data).unwrap();
            let trainer = finished(FullBatchTrainer::new(model, data.clone(), full_batch()));
            assert_eq!(trainer.at_floor(), [], "{scale:e}");
            trainer.into_model().trained(&data).unwrap()
        }
        Model::Sgpr => {
            let config = SgprConfig::new(KERNEL)
                .with_likelihood(noise)
                .with_inducing(10);
            let model = config.init(&data).unwrap();
            let trainer = finished(FullBatchTrainer::new(model, data.clone(), full_batch()));
            assert_eq!(trainer.at_floor(), [], "{scale:e}");
            trainer.into_model().trained(&data).unwrap()
        }
        Model::Svgp => {
            let config = SvgpConfig::new(KERNEL, noise).with_inducing(10);
            let training = MiniBatchTraining {
                learning_rate: 0.03,
                ..MiniBatchTraining::new(600)
            };
            let trainer = MiniBatchTrainer::new(config.init(&data).unwrap(), data, training);
            let trainer = finished(trainer);
            assert_eq!(trainer.at_floor(), [], "{scale:e}");
            trainer.into_model().valid().into_trained()
        }
    };
    let (inputs, targets) = rows(1, scale, 0.2);
    let (predictions, densities) = trained
        .predictor()
        .unwrap()
        .score(&inputs, 1, &targets)
        .unwrap();
    let densities: Vec<f64> = densities.iter().map(|own| own[0]).collect();
    [
        root_mean_squared_error(&targets, &predictions.mean) / scale,
        negative_log_density(&densities) - scale.ln(),
    ]
}

/// Training is the same at every power of ten except for rounding, which line searches amplify. In
/// single precision a bound is flat within about 1e-3 of its optimum.
#[test]
fn scores_do_not_depend_on_the_unit_of_the_targets() {
    for model in [Model::Exact, Model::Sgpr, Model::Svgp] {
        for dtype in [DType::F64, DType::F32] {
            let expected = scores(model, 1.0, dtype);
            assert!(expected[0] < 0.25, "{model:?}, {dtype:?}: {expected:?}");
            let tolerance = if dtype == DType::F64 { 1e-3 } else { 1e-2 };
            for scale in [1e-4, 1e4] {
                let found = scores(model, scale, dtype);
                println!("{model:?} {dtype:?} {scale:e}: {found:?}, at one {expected:?}");
                for (found, expected) in found.into_iter().zip(expected) {
                    assert!(
                        (found - expected).abs() < tolerance,
                        "{model:?}, {dtype:?}, targets times {scale:e}: {found}, not {expected}"
                    );
                }
            }
        }
    }
}

/// If the unit is not a power of ten, training starts from another point and reaches the same
/// optimum.
#[test]
fn units_between_powers_of_ten_have_the_same_optimum() {
    for model in [Model::Exact, Model::Sgpr] {
        let expected = scores(model, 1.0, DType::F64);
        for scale in [3e-5, 2.5e6] {
            let found = scores(model, scale, DType::F64);
            for (found, expected) in found.into_iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 5e-3,
                    "{model:?}, targets times {scale:e}: {found}, not {expected}"
                );
            }
        }
    }
}

/// For a wave without noise, the noise variance reaches its floor, which is relative to the
/// variance of the targets and is reported.
#[test]
fn floors_are_in_the_unit_of_the_targets_and_reported() {
    for scale in [1e-4, 1.0, 1e4] {
        let data = data(scale, 0.0, DType::F64);
        let config = ExactConfig::new(Stationary::SquaredExponential)
            .with_likelihood(GaussianConfig::default());
        let model = config.init(&data).unwrap();
        let trainer = finished(FullBatchTrainer::new(model, data, full_batch()));
        let reached = trainer.at_floor();
        let [AtFloor { path, value, floor }] = &reached[..] else {
            panic!("targets times {scale:e}: {reached:?}");
        };
        assert_eq!(path, "likelihood.noise");
        let (value, floor, expected) = (*value, *floor, 1e-6 * scale.powi(2));
        let error = (floor / expected - 1.0).abs();
        assert!(error < 1e-12, "{floor:e}, not {expected:e}");
        assert!(value > 0.999 * floor && value < 2.0 * floor, "{value:e}");
    }
}

/// Initial values that match the targets do not change, and neither do frozen ones.
#[test]
fn first_values_that_are_meant_stay() {
    let scale = 1e-4;
    let targets = data(scale, 0.2, DType::F64);
    let trainer = |config: &ExactConfig| {
        let model = config.init(&targets).unwrap();
        FullBatchTrainer::new(model, targets.clone(), full_batch())
    };
    let kernel = StationaryConfig::new(KERNEL).with_variance(scale.powi(2));
    let noise = GaussianConfig { noise: 1e-9 };
    let own = trainer(&ExactConfig::new(kernel).with_likelihood(noise));
    let value = |path: &str| own.model().parameter(path).unwrap()[0];
    assert!((value("kernel.variance") / 1e-8 - 1.0).abs() < 1e-9);
    assert!((value("likelihood.noise") / 1e-9 - 1.0).abs() < 1e-9);

    let mut config = ExactConfig::new(KERNEL).with_likelihood(GaussianConfig::default());
    config.parameters.frozen.push("likelihood.noise".into());
    (config.parameters.bounds).insert("kernel.variance".into(), Bounds::above(0.01));
    let kept = trainer(&config);
    let value = |path: &str| kept.model().parameter(path).unwrap()[0];
    assert!((value("kernel.variance") - 1.0).abs() < 1e-9);
    assert!((value("likelihood.noise") - 0.1).abs() < 1e-9);
}

/// Small initial values are accepted. Values that are not positive and finite are an error.
#[test]
fn first_values_may_be_small() {
    let data = data(1.0, 0.2, DType::F64);
    for noise in [1e-6, 1e-12, 1e-20, 1e12] {
        let config = ExactConfig::new(KERNEL).with_likelihood(GaussianConfig { noise });
        let model = config.init(&data).unwrap();
        let found = model.parameter("likelihood.noise").unwrap()[0];
        assert!(
            (found / noise - 1.0).abs() < 1e-9,
            "{found:e}, not {noise:e}"
        );
        let least = model.parameter_bounds("likelihood.noise").unwrap().lower;
        assert!(least.is_some_and(|least| least < 1e-5 * noise), "{least:?}");
    }
    for noise in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let config = GaussianConfig { noise };
        let text = |error: &dyn std::error::Error| error.to_string();
        let errors = [
            ExactConfig::new(KERNEL)
                .with_likelihood(config.clone())
                .init(&data)
                .map_err(|e| text(&e))
                .err(),
            SgprConfig::new(KERNEL)
                .with_likelihood(config.clone())
                .init(&data)
                .map_err(|e| text(&e))
                .err(),
            SvgpConfig::new(KERNEL, config)
                .init(&data)
                .map_err(|e| text(&e))
                .err(),
        ];
        for error in errors {
            let error = error.unwrap_or_else(|| panic!("a noise variance of {noise}"));
            assert!(error.starts_with("likelihood.noise is "), "{error}");
        }
    }
}

/// Files contain the units of parameters.
#[test]
fn units_are_part_of_files() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path().join("model.bpk");
    let data = data(1.0, 0.2, DType::F64);
    let init = |noise| {
        let config = ExactConfig::new(KERNEL).with_likelihood(GaussianConfig { noise });
        config.init(&data).unwrap()
    };
    let small = init(3e-11);
    small.clone().save_file(&path).unwrap();
    let loaded = load_module(init(0.1), &path).unwrap();
    let noise = |model: &burn_gp_models::AnyExact| model.parameter("likelihood.noise").unwrap();
    assert_eq!(noise(&loaded), noise(&small));
    assert_eq!(at_floor(&loaded), []);
}
