//! Targets of which an interval is known: in the units of the data, with limits that may be missing.

use burn_gp_core::{
    likelihoods::{GaussianConfig, IntervalCensoredConfig},
    parameter::numbers,
    transforms::TransformName,
};
use burn_gp_models::{
    Error, Fit, FitModel, Fitted, MarkovVariationalConfig, VecchiaLaplaceConfig, VnngpConfig,
};
use burn_gp_test_support::formulas::normal_cdf;

use super::{
    exact, svgp,
    wave::{self, NOISE},
};

const ROWS: usize = 160;

fn inputs() -> Vec<f64> {
    wave::inputs(ROWS)
}

/// The function with noise.
fn values() -> Vec<f64> {
    wave::values(ROWS, 43)
}

/// The time at which the observation of a row ends: between 200 and 500, by turns.
fn end(row: usize) -> f64 {
    200.0 + 300.0 * ((row * 37) % 100) as f64 / 100.0
}

/// Times to an event that are observed until an end that differs from row to row.
fn right_censored() -> Vec<[f64; 2]> {
    let each = values().into_iter().enumerate();
    each.map(|(row, value)| match value > end(row) {
        true => [end(row), f64::INFINITY],
        false => [value, value],
    })
    .collect()
}

/// Values of which only the multiples of `step` around them are known.
fn binned(step: f64) -> Vec<[f64; 2]> {
    let below = |value: &f64| (value / step).floor() * step;
    let each = values().into_iter();
    each.map(|value| [below(&value), below(&value) + step])
        .collect()
}

/// All kinds of rows by turns: exact, binned, without an upper and without a lower limit.
fn mixed() -> Vec<[f64; 2]> {
    let each = values().into_iter().zip(binned(40.0)).enumerate();
    each.map(|(row, (value, bin))| match row % 4 {
        0 => [value, value],
        1 => bin,
        2 => [bin[0], f64::INFINITY],
        _ => [f64::NEG_INFINITY, bin[1]],
    })
    .collect()
}

fn fitted(targets: &[[f64; 2]]) -> Fitted {
    let fit = Fit::adam(0.05).epochs(600);
    let config = svgp(IntervalCensoredConfig::default()).with_inducing(30);
    let fitted = config.fit(inputs(), targets, &fit);
    fitted.expect("a model of intervals")
}

/// The root mean squared error of the predicted function.
fn error_of(fitted: &Fitted) -> f64 {
    let predictions = fitted.predict(inputs()).expect("predictions");
    wave::error(&numbers(predictions.function_mean()))
}

/// The noise variance in squared units of the data.
fn noise_of(fitted: &Fitted) -> f64 {
    let scale = fitted.scaling().targets.as_ref().expect("scaled");
    let mut parameters = fitted.hyperparameters().into_iter();
    let noise = parameters.find(|parameter| parameter.path == "likelihood.noise");
    noise.expect("a noise variance").values[0] * scale.deviations[0].powi(2)
}

/// Half of the times are censored. With the limits the function and the noise are found; a Gaussian model of the censored
/// times is biased towards early ends, and one of the exact rows alone, too.
#[test]
fn a_right_censored_function_is_recovered() {
    let targets = right_censored();
    let censored = targets.iter().filter(|row| row[1] == f64::INFINITY).count();
    assert!((ROWS / 4..ROWS * 3 / 4).contains(&censored), "{censored}");
    let fitted = fitted(&targets);
    let found = error_of(&fitted);
    let limits: Vec<f64> = targets.iter().map(|row| row[0]).collect();
    let gaussian = exact()
        .fit(inputs(), &limits, &Fit::new())
        .expect("a model");
    let biased = error_of(&gaussian);
    assert!(
        found < NOISE && biased > 2.5 * NOISE,
        "{found}, {biased} without limits"
    );
    // Noise is the last to settle, from above.
    let deviation = noise_of(&fitted).sqrt();
    assert!(
        (0.7 * NOISE..1.7 * NOISE).contains(&deviation),
        "{deviation}"
    );
}

/// The function is found from bins that are four standard deviations of the noise wide, and from rows of all kinds.
#[test]
fn binned_and_mixed_rows_are_as_good_as_values() {
    for targets in [binned(80.0), mixed()] {
        let error = error_of(&fitted(&targets));
        assert!(error < 0.8 * NOISE, "{error}");
    }
}

/// Log densities in the units of the data: a probability for an interval, and a density for an exact value. Predictions and
/// draws are those of the value.
#[test]
fn densities_are_those_of_the_data() {
    let targets = mixed();
    let fitted = fitted(&targets);
    let predictions = fitted.predict(inputs()).expect("predictions");
    let (means, variances) = (
        numbers(predictions.mean()),
        numbers(predictions.function_variance()),
    );
    assert_eq!(means, numbers(predictions.function_mean()));
    let found = numbers(predictions.log_density(&targets).expect("possible"));
    let noise = noise_of(&fitted);
    for (row, [lower, upper]) in targets.into_iter().enumerate() {
        let variance = variances[row] + noise;
        let below = |limit: f64| normal_cdf((limit - means[row]) / variance.sqrt());
        let expected = match lower == upper {
            false => (below(upper) - below(lower)).ln(),
            true => {
                let square = (lower - means[row]).powi(2) / variance;
                -0.5 * (square + (2.0 * std::f64::consts::PI * variance).ln())
            }
        };
        assert!(
            (found[row] - expected).abs() < 1e-6 * (1.0 + expected.abs()),
            "row {row}: {}, {expected}",
            found[row]
        );
    }
    let draws = numbers(predictions.samples(400, 3).expect("draws"));
    let mean = draws.iter().sum::<f64>() / draws.len() as f64;
    let expected = means.iter().sum::<f64>() / ROWS as f64;
    assert!((mean - expected).abs() < NOISE, "{mean}, {expected}");
}

/// If all rows are exact, the model is that of Gaussian noise, and its scaling, too.
#[test]
fn exact_rows_are_those_of_a_gaussian_model() {
    let values = values();
    let points: Vec<[f64; 2]> = values.iter().map(|&value| [value, value]).collect();
    // By default, the noise of the Gaussian likelihood has a prior.
    let fit = || Fit::adam(0.05).epochs(40).default_priors(false);
    let gaussian = svgp(GaussianConfig::default()).fit(inputs(), &values, &fit());
    let gaussian = gaussian.expect("a Gaussian model");
    let own = svgp(IntervalCensoredConfig::default()).fit(inputs(), &points, &fit());
    let own = own.expect("a model of intervals");
    assert_eq!(own.scaling().targets, gaussian.scaling().targets);
    let [first, second] = [&own, &gaussian].map(|fitted| {
        let predictions = fitted.predict(inputs()).expect("predictions");
        [numbers(predictions.mean()), numbers(predictions.variance())].concat()
    });
    for (own, gaussian) in first.iter().zip(&second) {
        // Forty steps multiply rounding errors of densities that are computed in another order.
        assert!(
            (own - gaussian).abs() < 1e-7 * gaussian.abs(),
            "{own}, {gaussian}"
        );
    }
}

/// The scale of the likelihood is stored with the model.
#[test]
fn models_of_intervals_survive_saving() {
    let targets = mixed();
    let fitted = fitted(&targets);
    let folder = temp_dir::TempDir::new().expect("a folder");
    fitted.save(folder.path()).expect("saved");
    let (device, _) = fitted.place();
    let loaded = Fitted::load(folder.path(), &device).expect("loaded");
    let [before, after] = [&fitted, &loaded].map(|own| {
        let predictions = own.predict(inputs()).expect("predictions");
        numbers(predictions.log_density(&targets).expect("possible"))
    });
    assert_eq!(before, after);
}

/// Other models of any likelihood take intervals, too.
#[test]
fn every_approximation_takes_intervals() {
    let (targets, likelihood) = (right_censored(), IntervalCensoredConfig::default);
    let kernel = burn_gp_core::kernels::StationaryConfig::matern52;
    let fits = [
        VecchiaLaplaceConfig::new(kernel(), likelihood()).fit(inputs(), &targets, &Fit::new()),
        MarkovVariationalConfig::new(kernel(), likelihood()).fit(inputs(), &targets, &Fit::new()),
        VnngpConfig::new(kernel(), likelihood()).fit(
            inputs(),
            &targets,
            &Fit::adam(0.05).epochs(150),
        ),
    ];
    for fitted in fits {
        let error = error_of(&fitted.expect("a model of intervals"));
        assert!(error < 1.2 * NOISE, "{error}");
    }
}

/// Reversed limits are named with their row and value, and transformations are refused.
#[test]
fn impossible_intervals_are_refused() {
    let mut wrong = mixed();
    wrong[9] = [310.0, 290.0];
    let refused = |targets: &[[f64; 2]], fit: &Fit| -> Error {
        let fitted = svgp(IntervalCensoredConfig::default()).fit(inputs(), targets, fit);
        fitted.map(|_| ()).expect_err("an error")
    };
    let fit = || Fit::adam(0.05).epochs(1);
    let error = refused(&wrong, &fit()).to_string();
    assert!(
        error.starts_with(
            "target 310 in row 9, column 0 is not possible under the interval-censored"
        ),
        "{error}"
    );
    let error = refused(&mixed(), &fit().transform_targets(TransformName::Log));
    assert!(matches!(error, Error::TransformOption { .. }), "{error}");
    let values = values();
    let one = svgp(IntervalCensoredConfig::default()).fit(inputs(), &values, &fit());
    let error = one.map(|_| ()).expect_err("one column").to_string();
    assert!(error.contains('2'), "{error}");
}
