//! Censored targets: limits in the units of the data, whatever the model's targets are.

use burn_gp_core::{
    likelihoods::{Censored, CensoredConfig},
    parameter::numbers,
};
use burn_gp_models::{Error, Fit, FitModel, Fitted, VecchiaLaplaceConfig};
use burn_gp_test_support::formulas::normal_cdf;

use super::{exact, svgp, wave};

const ROWS: usize = 120;

/// The detection limit. A third of the targets are below it.
const LIMIT: f64 = 230.0;

fn inputs() -> Vec<f64> {
    wave::inputs(ROWS)
}

/// The function with noise, cut off at the limit.
fn targets() -> Vec<f64> {
    let values = wave::values(ROWS, 41).into_iter();
    values.map(|value| value.max(LIMIT)).collect()
}

fn config() -> CensoredConfig {
    CensoredConfig {
        lower: Some(LIMIT),
        ..Default::default()
    }
}

fn fitted() -> Fitted {
    let fit = Fit::adam(0.05).epochs(300);
    let fitted = svgp(config()).fit(inputs(), targets(), &fit);
    fitted.expect("a model of censored targets")
}

/// The function goes on below the limit, where a Gaussian model follows the recorded limit: on average, the function is
/// off by 37 there.
#[test]
fn the_function_goes_on_below_the_limit() {
    let censored = fitted().predict(inputs()).expect("predictions");
    let censored = wave::error(&numbers(censored.function_mean()));
    let gaussian = (exact().fit(inputs(), targets(), &Fit::new())).expect("a Gaussian model");
    let gaussian = gaussian.predict(inputs()).expect("predictions");
    let gaussian = wave::error(&numbers(gaussian.function_mean()));
    assert!(
        censored < 15.0 && gaussian > 25.0,
        "{censored}, {gaussian} without limits"
    );
}

/// Log densities in the units of the data, at the limit and above, from the marginals of the function.
#[test]
fn densities_are_those_of_the_data() {
    let fitted = fitted();
    let predictions = fitted.predict(inputs()).expect("predictions");
    let (means, variances) = (
        numbers(predictions.function_mean()),
        numbers(predictions.function_variance()),
    );
    let scale = fitted
        .scaling()
        .targets
        .as_ref()
        .expect("scaled")
        .deviations[0];
    let noise = (fitted.hyperparameters().into_iter())
        .find(|parameter| parameter.path == "likelihood.noise")
        .map(|parameter| parameter.values[0] * scale * scale);
    let noise = noise.expect("a noise variance");
    // The standard deviation of the noise is 20; that of the model also covers what twelve inducing points leave.
    assert!((15.0..40.0).contains(&noise.sqrt()), "{}", noise.sqrt());
    let targets = targets();
    let found = numbers(predictions.log_density(&targets).expect("possible targets"));
    assert!(targets.iter().filter(|y| **y == LIMIT).count() > ROWS / 5);
    for row in 0..ROWS {
        let variance = variances[row] + noise;
        let expected = match targets[row] == LIMIT {
            true => normal_cdf((LIMIT - means[row]) / variance.sqrt()).ln(),
            false => {
                let square = (targets[row] - means[row]).powi(2) / variance;
                -0.5 * (square + (2.0 * std::f64::consts::PI * variance).ln())
            }
        };
        // The naive logarithm of a probability has no more digits far in its tail.
        assert!(
            (found[row] - expected).abs() < 1e-6 * (1.0 + expected.abs()),
            "row {row}: {}, {expected}",
            found[row]
        );
    }
    // Predictions of targets do not go below the limit.
    let (lower, _) = predictions.interval(0.95).expect("intervals");
    let lowest = numbers(lower).into_iter().fold(f64::INFINITY, f64::min);
    assert!((lowest - LIMIT).abs() < 1e-9, "{lowest}");
    let means = numbers(predictions.mean());
    assert!(means.iter().all(|mean| *mean >= LIMIT), "{means:?}");
}

/// The limits are stored with the model in the units of the data.
#[test]
fn limits_survive_saving() {
    let fitted = fitted();
    let folder = temp_dir::TempDir::new().expect("a folder");
    fitted.save(folder.path()).expect("saved");
    let (device, _) = fitted.place();
    let loaded = Fitted::load(folder.path(), &device).expect("loaded");
    let [before, after] = [&fitted, &loaded].map(|own| {
        let predictions = own.predict(inputs()).expect("predictions");
        numbers(predictions.log_density(targets()).expect("possible"))
    });
    assert_eq!(before, after);
    let config = loaded.config().likelihood();
    let config = config.downcast_ref::<CensoredConfig>().expect("censored");
    assert_eq!((config.lower, config.upper), (Some(LIMIT), None));
    assert_eq!((config.shifts.len(), config.scales.len()), (1, 1));
}

/// Targets beyond a limit are refused in training and in scoring, by their value in the data.
#[test]
fn targets_beyond_the_limit_are_named() {
    let expected = "target 229.5 in row 7, column 0 is not possible under the censored likelihood, which takes \
                    numbers from 230";
    let mut wrong = targets();
    wrong[7] = 229.5;
    let refused = svgp(config()).fit(inputs(), wrong.clone(), &Fit::adam(0.05).epochs(1));
    assert_eq!(
        refused.map(|_| ()).expect_err("an error").to_string(),
        expected
    );
    let predictions = fitted().predict(inputs()).expect("predictions");
    let refused = predictions.log_density(wrong);
    assert_eq!(
        refused.map(|_| ()).expect_err("an error").to_string(),
        expected
    );
    let none = CensoredConfig {
        lower: None,
        ..config()
    };
    let refused = svgp(none).fit(inputs(), targets(), &Fit::adam(0.05).epochs(1));
    let Some(Error::Init(error)) = refused.err() else {
        panic!("a likelihood without limits");
    };
    assert!(error.to_string().contains("give a limit"), "{error}");
}

/// Each output is standardized on its own, and has its own limit on the scale of the model.
#[test]
fn outputs_have_limits_of_their_own() {
    let both: Vec<[f64; 2]> = (targets().into_iter())
        .map(|y| [y, LIMIT + 1e-3 * (y - LIMIT)])
        .collect();
    let fit = Fit::adam(0.05).epochs(200);
    let fitted = svgp(config()).fit(inputs(), &both, &fit).expect("a model");
    let likelihood = fitted.predictor().likelihood();
    let likelihood = likelihood.downcast_ref::<Censored>().expect("censored");
    assert_eq!(numbers(likelihood.noise()).len(), 1);
    let predictions = fitted.predict(inputs()).expect("predictions");
    let means = numbers(predictions.mean());
    let worst = (means.chunks_exact(2))
        .map(|pair| (pair[0] - LIMIT - 1e3 * (pair[1] - LIMIT)).abs())
        .fold(0.0, f64::max);
    // The same targets in other units; the functions of both outputs are trained separately.
    assert!(worst < 1.0, "{worst}");
    let densities = predictions.log_density(&both).expect("possible");
    assert!(numbers(densities).iter().all(|density| density.is_finite()));
}

/// The Laplace approximation takes censored targets, too.
#[test]
fn censored_targets_on_neighbors() {
    let config = VecchiaLaplaceConfig::new(
        burn_gp_core::kernels::StationaryConfig::matern52(),
        config(),
    );
    let fitted = config.fit(inputs(), targets(), &Fit::new());
    let predictions = (fitted.expect("a model").predict(inputs())).expect("predictions");
    let error = wave::error(&numbers(predictions.function_mean()));
    assert!(error < 15.0, "{error}");
}
