//! Known noise of rows besides the trained one.

use burn_gp_core::{
    features::PerceptronConfig,
    inference::{RowColumns, VecchiaSettings},
    ops::number,
    transforms::TransformName,
};
use burn_gp_models::{
    BasisConfig, ConjugateGradientsConfig, DbkConfig, DeepKernelConfig, LastLayerConfig,
    MarkovConfig, Predictions, SvdbkConfig, VecchiaConfig, VifConfig,
    training::{Model, TrainingData},
};
use temp_dir::TempDir;

use super::*;

/// The number of rows; every fifth has much noise.
pub(super) const COUNT: usize = 40;

pub(super) fn x() -> Vec<f64> {
    (0..COUNT).map(|row| row as f64 / 8.0).collect()
}

/// Wild targets where the noise is known to be large.
pub(super) fn y() -> Vec<f64> {
    let wild = |row: usize| if row % 5 == 2 { 3.0 } else { 0.0 };
    let each = x().into_iter().enumerate();
    each.map(|(row, x)| 10.0 + 2.0 * x.sin() + 0.1 * (2.9 * row as f64).cos() + wild(row))
        .collect()
}

fn variances() -> Vec<f64> {
    let variance = |row: usize| if row % 5 == 2 { 9.0 } else { 0.01 };
    (0..COUNT).map(variance).collect()
}

fn basis() -> BasisConfig {
    let network = PerceptronConfig::default().with_hidden(vec![8]);
    BasisConfig::integrated(network, 6)
}

/// The models that take noise of rows. Those of networks have few steps.
pub(super) fn takers() -> Vec<(&'static str, ModelConfig, Fit)> {
    let kernel = StationaryConfig::rbf;
    let settings = VecchiaSettings {
        neighbors: 8,
        ..VecchiaSettings::default()
    };
    let svgp = SvgpConfig::new(kernel(), GaussianConfig::default()).with_inducing(15);
    let adam = |steps| Fit::adam(0.02).steps(steps);
    let mut svdbk = SvdbkConfig::new(GaussianConfig::default());
    svdbk.basis = basis();
    let layers = DeepGpConfig::new(
        LayerConfig::new(kernel()).with_inducing(10),
        GaussianConfig::default(),
    );
    let sgpr = SgprConfig::new(kernel()).with_inducing(15);
    let actions = ComputationAwareConfig::new(kernel());
    let dbk = DbkConfig {
        basis: basis(),
        ..DbkConfig::default()
    };
    let last = LastLayerConfig {
        basis: basis(),
        ..LastLayerConfig::default()
    };
    vec![
        ("exact", ExactConfig::new(kernel()).into(), Fit::new()),
        ("sgpr", sgpr.clone().into(), Fit::new()),
        (
            "conjugate gradients",
            ConjugateGradientsConfig::new(kernel()).into(),
            Fit::new(),
        ),
        ("computation-aware", actions.into(), Fit::new().steps(100)),
        (
            "vecchia",
            VecchiaConfig::new(kernel()).with_settings(settings).into(),
            Fit::new(),
        ),
        (
            "markov",
            MarkovConfig::new(StationaryConfig::matern52()).into(),
            Fit::new(),
        ),
        (
            "svgp",
            svgp.clone().into(),
            adam(300).natural_gradients(0.3),
        ),
        ("deep-gp", layers.into(), adam(30)),
        ("dbk", dbk.into(), adam(30)),
        ("svdbk", svdbk.into(), adam(30)),
        ("last-layer", last.into(), adam(30)),
        (
            "dkl",
            DeepKernelConfig::new(ExactConfig::new(kernel())).into(),
            adam(10),
        ),
        ("sdkl", DeepKernelConfig::new(sgpr).into(), adam(10)),
        ("svdkl", DeepKernelConfig::new(svgp).into(), adam(10)),
    ]
}

pub(super) fn double(fit: Fit) -> Fit {
    fit.on((&Device::default(), DType::F64))
}

pub(super) fn predictions(model: &Fitted) -> Predictions {
    let predicted = model.predict(x()).expect("predictions");
    predicted.predictions().clone()
}

/// The mean error against the function without noise.
pub(super) fn error(model: &Fitted) -> f64 {
    let found = predictions(model).mean;
    let squares = x()
        .into_iter()
        .zip(found)
        .map(|(x, mean)| (10.0 + 2.0 * x.sin() - mean).powi(2));
    (squares.sum::<f64>() / COUNT as f64).sqrt()
}

/// The wild rows lift the function by 0.6 on average if nothing says that they are noisy. Their noise has a standard
/// deviation of 3, so that they count for little.
#[test]
fn noisy_rows_count_less() {
    for (name, config, fit) in takers().into_iter().take(7) {
        let plain = config.fit(x(), y(), &double(fit.clone())).expect("a model");
        let fit = double(fit).row_noise(variances());
        let noisy = config.fit(x(), y(), &fit).expect("a model");
        let (error, before) = (error(&noisy), error(&plain));
        assert!(
            error < 0.2 && before > 0.5,
            "{name}: {error}, {before} before"
        );
    }
}

/// Two steps are enough to see whether the noise reaches the objective.
#[test]
fn every_model_that_takes_noise_of_rows_uses_it() {
    for (name, config, fit) in takers() {
        assert!(config.takes_row_columns().noise, "{name}");
        let fit = double(fit.steps(2));
        let plain = config.fit(x(), y(), &fit.clone()).expect("a model");
        let none = fit.clone().row_noise(vec![0.0; COUNT]);
        let none = config.fit(x(), y(), &none).expect("a model");
        // Two forms of the same computation differ by rounding.
        let (found, expected) = (predictions(&none), predictions(&plain));
        assert_close(&found.mean, &expected.mean, 1e-6);
        assert_close(&found.variance, &expected.variance, 1e-6);
        let noisy = config.fit(x(), y(), &fit.row_noise(variances()));
        let noisy = predictions(&noisy.expect("a model"));
        let changes = noisy.mean.iter().zip(&expected.mean);
        let largest = changes.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Two steps with small learning rates, far above rounding.
        assert!(largest > 1e-5, "{name}: {largest}");
    }
}

/// With the hyperparameters that they start with, rows of the noise c are those of a model with the noise σ² + c.
/// Targets are not standardized, so that variances have their units.
#[test]
fn variances_are_in_squared_units_of_the_targets() {
    let fit = || {
        let fit = double(Fit::l_bfgs().steps(0));
        fit.default_priors(false).scale_inputs(false)
    };
    let mut y = y();
    let mean = y.iter().sum::<f64>() / COUNT as f64;
    let variance = y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / COUNT as f64;
    for scaled in [false, true] {
        let config = |noise| {
            ExactConfig::new(StationaryConfig::rbf()).with_likelihood(GaussianConfig { noise })
        };
        let fit = || fit().scale_targets(scaled);
        let unit = if scaled { variance } else { 1.0 };
        if !scaled {
            y.iter_mut().for_each(|y| *y -= mean);
        }
        let noisy = fit().row_noise(vec![0.3 * unit; COUNT]);
        let noisy = config(0.1).fit(x(), &y, &noisy).expect("a model");
        let plain = config(0.4).fit(x(), &y, &fit()).expect("a model");
        let (found, expected) = (predictions(&noisy), predictions(&plain));
        assert_close(&found.mean, &expected.mean, 1e-9);
        // Predictions of new targets have the trained noise alone.
        let difference = expected.variance[0] - found.variance[0];
        assert!(
            (difference - 0.3 * unit).abs() < 1e-9 * unit,
            "{difference}"
        );
        y = self::y();
    }
}

/// Rows with equal inputs and equal noise are one row in the computation, and those with different noise are not.
#[test]
fn rows_with_equal_inputs_keep_their_noise() {
    let nudged = |nudge: f64| -> Vec<f64> {
        (0..4 * COUNT)
            .map(|row| (row % 10) as f64 / 3.0 + nudge * row as f64)
            .collect()
    };
    let y: Vec<f64> = (0..4 * COUNT)
        .map(|row| (0.3 * (row % 10) as f64).sin() + 0.3 * (2.9 * row as f64).cos())
        .collect();
    let own: Vec<f64> = (0..4 * COUNT).map(|row| 0.2 * (row / 80) as f64).collect();
    let config = ExactConfig::new(StationaryConfig::rbf());
    let fit = || double(Fit::l_bfgs().steps(3)).row_noise(own.clone());
    let merged = config.fit(nudged(0.0), &y, &fit()).expect("a model");
    let each = config.fit(nudged(1e-11), &y, &fit()).expect("a model");
    let [found, expected] = [merged, each].map(|model| {
        let predicted = model.predict([0.1, 1.2, 3.3]).expect("predictions");
        predicted.predictions().clone()
    });
    // The steps multiply rounding.
    assert_close(&found.mean, &expected.mean, 1e-6);
    assert_close(&found.variance, &expected.variance, 1e-6);
}

#[test]
fn models_are_saved_with_the_noise_of_their_rows() {
    let folder = TempDir::new().expect("a folder");
    for (name, config, fit) in takers() {
        let fit = fit.steps(2).row_noise(variances());
        let model = config.fit(x(), y(), &fit).expect("a model");
        let path = folder.path().join(name);
        model.save(&path).expect("files");
        let again = Fitted::load(&path, &Device::default()).expect("a model");
        assert_eq!(predictions(&model), predictions(&again), "{name}");
    }
}

/// Rows that are added have the trained noise alone; the others keep theirs.
#[test]
fn further_rows_have_the_trained_noise() {
    for (name, config, fit) in takers().into_iter().take(6) {
        let fit = double(fit.steps(10)).row_noise(variances());
        let model = config.fit(x(), y(), &fit).expect("a model");
        let more = model.condition_on_observations([7.0, 8.0], [11.0, 12.0]);
        let more = match more {
            Ok(more) => more,
            // Trained actions belong to their rows.
            Err(Error::NoFurtherData) if name == "computation-aware" => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        let at = |model: &Fitted| {
            model
                .predict([7.5])
                .expect("predictions")
                .predictions()
                .mean[0]
        };
        assert!(
            (at(&more) - 11.5).abs() < (at(&model) - 11.5).abs(),
            "{name}"
        );
        if let Some(rows) = more.model().observations() {
            assert_eq!(rows.targets.dims(), [COUNT + 2, 1], "{name}");
            let same = more.retain_observations(|x| x[0] < 6.0).expect("a model");
            assert_close(&predictions(&same).mean, &predictions(&model).mean, 1e-8);
        }
    }
}

/// Weights, errors of inputs and early stopping go with noise of rows.
#[test]
fn noise_of_rows_goes_with_other_options() {
    let svgp = SvgpConfig::new(StationaryConfig::rbf(), GaussianConfig::default());
    let svgp = svgp.with_inducing(10);
    let device = Device::default().autodiff();
    let data = TrainingData::new(&[0.0, 1.0], &[0.5, -0.5], &device, DType::F64);
    let mut model = svgp
        .clone()
        .with_inducing(2)
        .init(&data)
        .expect("a model")
        .boxed();
    assert!(model.use_row_columns(RowColumns::ALL));
    let both = data
        .with_row_values(&[2.0, 1.0])
        .with_row_values(&[0.3, 0.1]);
    let found = model
        .objective(both.inputs, both.targets, 2)
        .expect("factors");
    // Twice the first row.
    let twice = TrainingData::new(&[0.0, 0.0, 1.0], &[0.5, 0.5, -0.5], &device, DType::F64);
    let twice = twice.with_row_values(&[0.3, 0.3, 0.1]);
    let mut model = svgp
        .clone()
        .with_inducing(2)
        .init(&data)
        .expect("a model")
        .boxed();
    assert!(model.use_row_columns(RowColumns {
        noise: true,
        ..RowColumns::default()
    }));
    let expected = model
        .objective(twice.inputs, twice.targets, 3)
        .expect("factors");
    let [found, expected] = [found, expected].map(|terms| number(terms.value()));
    assert!((found - expected).abs() < 1e-12, "{found}, {expected}");

    let fit = || Fit::new().steps(10).row_noise(variances());
    let with_weights = fit().row_weights(vec![1.0; COUNT]);
    assert!(svgp.fit(x(), y(), &with_weights).is_ok());
    for config in [ModelConfig::from(exact()), svgp.clone().into()] {
        let model = config
            .fit(x(), y(), &fit().input_errors([0.1]))
            .expect("a model");
        assert!(model.input_noise().is_some_and(|noise| noise.rounds > 0));
        let exactly = config
            .fit(x(), y(), &fit().input_errors([0.0]))
            .expect("a model");
        let plain = config.fit(x(), y(), &fit()).expect("a model");
        assert_eq!(predictions(&exactly), predictions(&plain));
        assert_ne!(predictions(&model).mean, predictions(&plain).mean);
    }
    let dkl = DeepKernelConfig::new(exact());
    let stopping = Fit::adam(0.02).steps(20).row_noise(variances());
    let stopping = stopping.early_stopping([0.1, 0.9], [10.2, 11.5], 3);
    let model = dkl.fit(x(), y(), &stopping).expect("a model");
    assert!(model.best_step().is_some());
}

#[test]
fn noise_that_cannot_be_is_refused() {
    let fit = || Fit::new().steps(2);
    let config = exact();
    let error = |fit: Fit| {
        config
            .fit(x(), y(), &fit)
            .expect_err("an error")
            .to_string()
    };
    assert_eq!(
        error(fit().row_noise([0.1, 0.2])),
        "the number of noise variances of rows is 2; expected one for each of 40 training rows"
    );
    let mut negative = variances();
    negative[3] = -0.5;
    assert_eq!(
        error(fit().row_noise(negative)),
        "a noise variance of a row is -0.5; it must not be negative"
    );
    assert!(error(fit().row_noise([f64::NAN; COUNT])).contains("NaN"));
    assert!(error(fit().row_noise(variances()).restarts(2)).contains("restarts has no effect"));
    let log = fit()
        .row_noise(variances())
        .transform_targets(TransformName::Log);
    assert!(error(log).contains("not known noise of its transformed value"));
    let fit = fit().row_noise(variances());
    let unused = |result: Result<Fitted, Error>| {
        matches!(
            result,
            Err(Error::Unused {
                option: "row_noise",
                ..
            })
        )
    };
    let kernel = StationaryConfig::matern32;
    assert!(unused(VifConfig::new(kernel()).fit(x(), y(), &fit)));
    let collapsed = SolveCollapsedConfig::new(kernel());
    assert!(unused(collapsed.fit(x(), y(), &fit)));
    assert!(unused(svgp(StudentTConfig::default()).fit(x(), y(), &fit)));
    let two: Vec<[f64; 2]> = y().iter().map(|y| [*y, 0.1]).collect();
    assert!(unused(config.fit(x(), &two, &fit)));
    let known = svgp(LikelihoodConfig::fixed_noise());
    assert!(unused(known.fit(x(), &two, &fit)));
}
