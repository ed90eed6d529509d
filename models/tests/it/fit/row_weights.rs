//! Weights of rows in regression.

use super::row_noise::{COUNT, double, error, predictions, takers, x, y};
use super::*;

/// A tenth of a percent for rows that are wild.
fn weights() -> Vec<f64> {
    let weight = |row: usize| if row % 5 == 2 { 0.001 } else { 1.0 };
    (0..COUNT).map(weight).collect()
}

/// The wild rows lift the function by 0.6 on average if they count like others.
#[test]
fn rows_with_little_weight_count_little() {
    for (name, config, fit) in takers().into_iter().take(7) {
        let plain = config.fit(x(), y(), &double(fit.clone())).expect("a model");
        let fit = double(fit).row_weights(weights());
        let weighted = config.fit(x(), y(), &fit).expect("a model");
        let (error, before) = (error(&weighted), error(&plain));
        assert!(
            error < 0.2 && before > 0.5,
            "{name}: {error}, {before} before"
        );
    }
}

/// The weights are in the objective of every model, and models are saved with them.
#[test]
fn every_model_that_takes_weights_uses_and_keeps_them() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    for (name, config, fit) in takers() {
        assert!(config.takes_row_columns().weights, "{name}");
        let fit = double(fit.steps(2));
        let plain = config.fit(x(), y(), &fit.clone()).expect("a model");
        let ones = fit.clone().row_weights(vec![1.0; COUNT]);
        let ones = config.fit(x(), y(), &ones).expect("a model");
        // Two forms of the same computation differ by rounding.
        let (found, expected) = (predictions(&ones), predictions(&plain));
        assert_close(&found.mean, &expected.mean, 1e-6);
        assert_close(&found.variance, &expected.variance, 1e-6);
        let both = fit.row_weights(weights()).row_noise(vec![0.1; COUNT]);
        let model = config.fit(x(), y(), &both).expect("a model");
        let found = predictions(&model);
        let changes = found.mean.iter().zip(&expected.mean);
        let largest = changes.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Two steps with small learning rates, far above rounding.
        assert!(largest > 1e-5, "{name}: {largest}");
        let path = folder.path().join(name);
        model.save(&path).expect("files");
        let again = Fitted::load(&path, &Device::default()).expect("a model");
        assert_eq!(found, predictions(&again), "{name}");
    }
}

/// Rows of weight zero are as if they were not there: with the same scaling, the fit is that to the others.
#[test]
fn rows_of_weight_zero_do_not_count() {
    let unscaled = |fit: Fit| {
        let fit = double(fit).scale_inputs(false).scale_targets(false);
        fit.default_priors(false)
    };
    let kept: Vec<usize> = (0..COUNT).filter(|row| row % 5 != 2).collect();
    let others = |values: Vec<f64>| -> Vec<f64> { kept.iter().map(|&row| values[row]).collect() };
    let zero: Vec<f64> = (0..COUNT)
        .map(|row| if row % 5 == 2 { 0.0 } else { 1.0 })
        .collect();
    for (name, config, fit) in takers().into_iter().take(6) {
        let fit = unscaled(fit.steps(3));
        let expected = config.fit(others(x()), others(y()), &fit);
        let expected = predictions(&expected.expect("a model"));
        let fit = fit.row_weights(zero.clone());
        let model = config.fit(x(), y(), &fit).expect("a model");
        let found = predictions(&model);
        assert_close(&found.mean, &expected.mean, 1e-6);
        assert_close(&found.variance, &expected.variance, 1e-6);
        if let Some(rows) = model.model().observations() {
            assert_eq!(rows.targets.dims(), [kept.len(), 1], "{name}");
        }
    }
}

/// Rows that are added have the weight one.
#[test]
fn further_rows_count_once() {
    let config = ExactConfig::new(StationaryConfig::rbf());
    let fit = double(Fit::new().steps(10)).row_weights(weights());
    let model = config.fit(x(), y(), &fit).expect("a model");
    let more = model.condition_on_observations([7.0, 8.0], [11.0, 12.0]);
    let more = more.expect("a model");
    let at = |model: &Fitted| predictions_at(model, 7.5);
    assert!((at(&more) - 11.5).abs() < (at(&model) - 11.5).abs());
    let same = more.retain_observations(|x| x[0] < 6.0).expect("a model");
    assert_close(&predictions(&same).mean, &predictions(&model).mean, 1e-8);
}

fn predictions_at(model: &Fitted, x: f64) -> f64 {
    let predicted = model.predict([x]).expect("predictions");
    predicted.predictions().mean[0]
}

#[test]
fn weights_of_other_models_are_refused() {
    let fit = Fit::new().steps(2).row_weights(weights());
    let refused = |result: Result<Fitted, Error>| {
        let error = result.expect_err("an error").to_string();
        assert!(error.contains("take weights of rows"), "{error}");
    };
    let two: Vec<[f64; 2]> = y().iter().map(|y| [*y, 0.1]).collect();
    refused(ExactConfig::new(StationaryConfig::rbf()).fit(x(), &two, &fit));
    let kernel = StationaryConfig::matern32;
    refused(burn_gp_models::VifConfig::new(kernel()).fit(x(), y(), &fit));
}
