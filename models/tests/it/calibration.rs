//! Calibrated predictors: their predictions, log densities and draws agree, for numbers, counts and labels.

use burn::tensor::{DType, Device};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig, PoissonConfig, SoftmaxConfig},
    parameter::numbers,
};
use burn_gp_models::{
    Calibration, CalibrationError, ExactConfig, Fit, FitModel, Fitted, Predictions, Predictor,
    SvgpConfig, Temperature,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

const PRECISIONS: [DType; 2] = [DType::F64, DType::F32];

/// Inputs from 0 to 6, not in order.
fn inputs(rows: usize) -> Vec<f64> {
    (0..rows)
        .map(|row| ((37 * row) % rows) as f64 * 6.0 / rows as f64)
        .collect()
}

/// A model without training, which takes the data as they are.
fn untrained(config: impl FitModel, x: &[f64], y: &[f64], dtype: DType) -> Fitted {
    let fit = Fit::new()
        .steps(0)
        .scale_inputs(false)
        .scale_targets(false)
        .on((&Device::default(), dtype));
    config.fit(x, y, &fit).expect("a model")
}

fn predictor(fitted: &Fitted) -> Predictor {
    fitted.model().predictor().expect("a predictor")
}

/// Exact regression with too little noise.
fn of_numbers(dtype: DType) -> (Fitted, Vec<f64>, Vec<f64>) {
    let x = inputs(120);
    let noise = |row: usize| 0.4 * (((53 * row) % 17) as f64 / 8.0 - 1.0);
    let y: Vec<f64> = (0..120).map(|row| x[row].sin() + noise(row)).collect();
    let config = ExactConfig::new(StationaryConfig::rbf());
    let config = config.with_likelihood(GaussianConfig::new(0.01));
    (untrained(config, &x[..60], &y[..60], dtype), x, y)
}

/// Counts and a model that knows nothing of them.
fn of_counts(dtype: DType) -> (Fitted, Vec<f64>, Vec<f64>) {
    let x = inputs(120);
    let y: Vec<f64> = (0..120).map(|row| ((53 * row) % 11) as f64).collect();
    let config = SvgpConfig::new(
        StationaryConfig::rbf(),
        LikelihoodConfig::from(PoissonConfig {}),
    );
    let config = config.with_inducing(8);
    (untrained(config, &x[..60], &y[..60], dtype), x, y)
}

fn of_labels(dtype: DType) -> (Fitted, Vec<f64>, Vec<f64>) {
    let x = inputs(120);
    let label = |row: usize| match (53 * row) % 4 {
        0 => (x[row] as usize + 1) % 3,
        _ => (x[row] / 2.0) as usize,
    };
    let y: Vec<f64> = (0..120).map(|row| label(row) as f64).collect();
    let config = SvgpConfig::new(StationaryConfig::rbf(), SoftmaxConfig::new(3)).with_inducing(12);
    let fit = Fit::adam(0.1).steps(200).on((&Device::default(), dtype));
    (config.fit(&x[..60], &y[..60], &fit).expect("a model"), x, y)
}

#[test]
fn densities_of_numbers_and_counts_are_those_of_the_distribution() {
    let cases = PRECISIONS.map(|dtype| [(of_numbers(dtype), false), (of_counts(dtype), true)]);
    for ((fitted, x, y), is_discrete) in cases.into_iter().flatten() {
        let plain = predictor(&fitted);
        let calibration = plain
            .fit_calibration(&x[60..], 1, &y[60..])
            .expect("60 rows");
        assert_eq!(calibration.rows(), 60);
        let calibrated = predictor(&fitted).calibrated(calibration);
        let (new, targets) = (&x[60..], &y[60..]);
        let (predictions, densities) = calibrated.score(new, 1, targets).expect("densities");
        assert_eq!(predictions, calibrated.predict(new, 1));
        let own = predictions.distribution.as_ref().expect("numbers");
        let shifted = |shift: f64| -> Vec<f64> {
            let moved: Vec<f64> = targets.iter().map(|target| target + shift).collect();
            own.cdf(&moved)
        };
        let expected: Vec<f64> = match is_discrete {
            true => shifted(0.0)
                .iter()
                .zip(shifted(-1.0))
                .map(|(at, below)| at - below)
                .collect(),
            false => {
                let pairs = shifted(1e-6).into_iter().zip(shifted(-1e-6));
                pairs.map(|(above, below)| (above - below) / 2e-6).collect()
            }
        };
        let mut total = 0.0;
        for (density, expected) in densities.iter().zip(&expected) {
            // Differences of 1e-6 of numbers accurate to 1e-12; far in a tail they vanish. The density before the
            // calibration has the precision of the device.
            if *expected > 1e-4 {
                let tolerance = match plain.dtype() {
                    DType::F64 => 1e-4,
                    _ => 1e-3,
                };
                assert!(
                    (density[0].exp() / expected - 1.0).abs() < tolerance,
                    "{density:?}, {expected}"
                );
            }
            total += density[0];
        }
        let alone = calibrated.log_density(new, 1, targets).expect("densities");
        assert!((alone.iter().sum::<f64>() - total).abs() < 1e-9);
        let before = plain.log_density(new, 1, targets).expect("densities");
        // The rows that it was fitted on are predicted far better.
        assert!(total > before.iter().sum::<f64>() + 20.0, "{total}");
        let moments = own.moments();
        assert_eq!(
            (&predictions.mean, &predictions.variance),
            (&moments.0, &moments.1)
        );
    }
}

#[test]
fn labels_get_a_temperature() {
    for dtype in PRECISIONS {
        check_temperature(dtype);
    }
}

fn check_temperature(dtype: DType) {
    let (fitted, x, y) = of_labels(dtype);
    let plain = predictor(&fitted);
    let calibration = plain
        .fit_calibration(&x[60..], 1, &y[60..])
        .expect("60 rows");
    let Calibration::Temperature(own) = &calibration else {
        panic!("{calibration:?}");
    };
    let expected = own.apply(&plain.predict(&x[60..], 1).probabilities);
    let calibrated = predictor(&fitted).calibrated(calibration.clone());
    let (predictions, densities) = calibrated.score(&x[60..], 1, &y[60..]).expect("densities");
    assert_eq!(predictions.probabilities, expected);
    assert_eq!(predictions.mean, expected);
    for (row, density) in densities.iter().enumerate() {
        let p = expected[3 * row + y[60 + row] as usize];
        // The log density of a label is by other quadrature than its probability.
        assert!((density[0] - p.ln()).abs() < 1e-2, "{density:?}, {p}");
    }
    let better = |predictor: &Predictor| {
        let own = predictor
            .log_density(&x[60..], 1, &y[60..])
            .expect("densities");
        own.iter().sum::<f64>()
    };
    assert!(better(&calibrated) > better(&plain));
}

/// The share of targets in central intervals.
fn coverage(predictions: &Predictions, targets: &[f64], level: f64) -> f64 {
    let interval = predictions.interval(level).expect("numbers");
    let ends = interval.lower.iter().zip(&interval.upper);
    let inside = targets
        .iter()
        .zip(ends)
        .filter(|(y, (low, high))| low <= y && y <= high);
    inside.count() as f64 / targets.len() as f64
}

/// Gaussian noise of the wrong size in place of skewed noise, half and twice its standard deviation.
#[test]
fn intervals_of_wrong_models_get_their_coverage() {
    const HELD_OUT: usize = 400;
    const NEW: usize = 4000;
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let mut rows = |count: usize| -> (Vec<f64>, Vec<f64>) {
        let x: Vec<f64> = (0..count).map(|_| random.random_range(0.0..6.0)).collect();
        // Exponential noise with mean zero and a standard deviation of one half.
        let noise = |uniform: f64| -0.5 * (1.0 + uniform.ln());
        let y = x
            .iter()
            .map(|x: &f64| x.sin() + noise(random.random_range(1e-12..1.0)));
        let y = y.collect();
        (x, y)
    };
    let ((x, y), (held_out, known), (new, targets)) = (rows(150), rows(HELD_OUT), rows(NEW));
    for (dtype, noise) in [
        (DType::F64, 0.0625),
        (DType::F32, 0.0625),
        (DType::F64, 1.0),
    ] {
        let config = ExactConfig::new(StationaryConfig::rbf());
        let config = config.with_likelihood(GaussianConfig::new(noise));
        let plain = predictor(&untrained(config, &x, &y, dtype));
        let before = plain.predict(&new, 1);
        let calibration = plain.fit_calibration(&held_out, 1, &known).expect("rows");
        let after = plain.calibrated(calibration).predict(&new, 1);
        for level in [0.5, 0.8, 0.95] {
            let [before, after] = [&before, &after].map(|own| coverage(own, &targets, level));
            let what = format!("{level} with noise {noise}: {before} before, {after} after");
            // Of the held-out rows that the ends of intervals come from, and of the new rows.
            let variance = level * (1.0 - level);
            let error = (variance / HELD_OUT as f64 + variance / NEW as f64).sqrt();
            assert!((after - level).abs() < 4.0 * error, "{what}");
            assert!(
                (before - level).abs() > 6.0 * error || level > 0.9,
                "{what}"
            );
            assert!((after - level).abs() < (before - level).abs(), "{what}");
        }
    }
}

/// The calibration of predictions is that of the predictor.
#[test]
fn predictions_in_other_units_have_the_same_calibration() {
    let (fitted, x, y) = of_numbers(DType::F64);
    let plain = predictor(&fitted).predict(&x[60..], 1);
    let calibrated = Calibration::fit(&plain, &y[60..])
        .expect("60 rows")
        .apply(plain.clone());
    let scaled = plain.in_units(&[10.0], &[3.0]);
    let targets: Vec<f64> = y[60..].iter().map(|y| 10.0 + 3.0 * y).collect();
    let other = Calibration::fit(&scaled, &targets)
        .expect("60 rows")
        .apply(scaled);
    for (own, expected) in other.mean.iter().zip(&calibrated.mean) {
        assert!(
            (own - 10.0 - 3.0 * expected).abs() < 1e-9,
            "{own}, {expected}"
        );
    }
    for (own, expected) in other.variance.iter().zip(&calibrated.variance) {
        assert!(
            (own / (9.0 * expected) - 1.0).abs() < 1e-9,
            "{own}, {expected}"
        );
    }
}

#[test]
fn draws_have_the_calibrated_moments() {
    for (fitted, x, y) in [of_numbers(DType::F32), of_labels(DType::F64)] {
        let plain = predictor(&fitted);
        let calibration = plain
            .fit_calibration(&x[60..], 1, &y[60..])
            .expect("60 rows");
        let calibrated = plain.calibrated(calibration);
        let new = [0.7, 2.9, 4.4];
        let predictions = calibrated.predict(&new, 1);
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let draws = calibrated.sample_targets(calibrated.inputs(&new, 1), 8000, &mut random);
        let draws = numbers(draws.expect("draws"));
        for row in 0..3 {
            let own: Vec<f64> = draws.iter().copied().skip(row).step_by(3).collect();
            let mean = own.iter().sum::<f64>() / 8000.0;
            match predictions.probabilities.get(3 * row..3 * row + 3) {
                None => {
                    let deviation = predictions.variance[row].sqrt();
                    // Five standard errors.
                    let error = (mean - predictions.mean[row]).abs();
                    assert!(error < 5.0 * deviation / 8000f64.sqrt(), "{mean}");
                }
                Some(expected) => {
                    for (label, p) in expected.iter().enumerate() {
                        let share = own.iter().filter(|&&own| own == label as f64).count();
                        let error = (share as f64 / 8000.0 - p).abs();
                        // Five standard errors, and the draws of the quadrature of a softmax.
                        assert!(
                            error < 0.03 + 5.0 * (p * (1.0 - p) / 8000.0).sqrt(),
                            "{share}, {p}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn few_rows_and_several_columns_are_refused() {
    let (fitted, x, y) = of_numbers(DType::F64);
    let own = predictor(&fitted);
    let error = own
        .fit_calibration(&x[..19], 1, &y[..19])
        .expect_err("too few");
    assert_eq!(
        error.to_string(),
        "there are 19 held-out rows, but a recalibration needs at least 20"
    );
    let error = own
        .fit_calibration(&x[..30], 1, &y[..60])
        .expect_err("two columns");
    assert!(
        matches!(error, CalibrationError::Columns { columns: 2 }),
        "{error}"
    );
    let mut wrong = y[..30].to_vec();
    wrong[3] = f64::NAN;
    let error = own
        .fit_calibration(&x[..30], 1, &wrong)
        .expect_err("no number");
    assert!(matches!(error, CalibrationError::Target(_)), "{error}");
}

/// In 50 digits from the definition.
#[test]
fn golden_temperature() {
    let probabilities = [
        0.7, 0.2, 0.1, 0.6, 0.3, 0.1, 0.8, 0.1, 0.1, 0.2, 0.5, 0.3, 0.1, 0.2, 0.7, 0.5, 0.4, 0.1,
    ];
    let labels = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0];
    let found = Temperature::of_highest_likelihood(&probabilities, 3, &labels);
    // The slope is zero within 1e-15, and its derivative is of order one.
    assert!(
        (found.value - 1.2907026772081764).abs() < 1e-12,
        "{found:?}"
    );
    let mean_loss = |probabilities: &[f64]| {
        let each = probabilities.chunks_exact(3).zip(labels);
        each.map(|(row, label)| -row[label as usize].ln())
            .sum::<f64>()
            / 6.0
    };
    let calibrated = found.apply(&probabilities);
    for (found, expected) in [
        (mean_loss(&probabilities), 0.9493023841678373),
        (mean_loss(&calibrated), 0.9380398415124326),
    ] {
        assert!((found - expected).abs() < 1e-14, "{found}, {expected}");
    }
}

#[test]
fn files_with_impossible_temperatures_are_refused() {
    let read = |value: &str, classes: usize| {
        let text = format!(
            "{{\"temperature\": {{\"rows\": 30, \"classes\": {classes}, \"value\": {value}}}}}"
        );
        serde_json::from_str::<Calibration>(&text)
    };
    let own = read("1.5", 3).unwrap();
    assert!(own.suits(Some(3)) && !own.suits(Some(2)) && !own.suits(None));
    for (value, classes) in [("0.0", 3), ("-1.0", 3), ("1.5", 1)] {
        assert!(read(value, classes).is_err(), "{value}, {classes}");
    }
}

#[test]
fn one_changes_nothing_and_the_order_of_classes_stays() {
    let probabilities = [0.5, 0.2, 0.3, 0.0, 1.0, 0.0];
    let at = |value| {
        let own = Temperature {
            rows: 1,
            classes: 3,
            value,
        };
        own.apply(&probabilities)
    };
    for (same, own) in at(1.0).iter().zip(probabilities) {
        assert!((same - own).abs() < 1e-15);
    }
    for value in [0.05, 0.7, 3.0, 20.0] {
        let own = at(value);
        assert!(own[0] > own[2] && own[2] > own[1] && own[4] > own[3]);
        for row in own.chunks_exact(3) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        }
    }
}

#[test]
fn a_model_that_is_always_right_gets_the_least_temperature() {
    let of = Temperature::of_highest_likelihood;
    let found = of(&[0.6, 0.4, 0.3, 0.7], 2, &[0.0, 1.0]);
    assert!((found.value / 0.05 - 1.0).abs() < 1e-12, "{found:?}");
    let wrong = of(&[0.0, 1.0, 0.3, 0.7], 2, &[0.0, 0.0]);
    assert!((wrong.value / 20.0 - 1.0).abs() < 1e-12, "{wrong:?}");
}

/// A few rows that the model is right about say little about others.
#[test]
fn a_model_that_is_right_about_few_rows_keeps_its_doubts() {
    let of_rows = |rows: usize| Temperature::fit(&[0.95, 0.05].repeat(rows), 2, &vec![0.0; rows]);
    let few = of_rows(36).value;
    assert!((0.5..0.8).contains(&few), "{few}");
    // 1/T is where the slope of the sum, 36·[log p − Σ p(T)·log p] + 2·(T − 1), is zero.
    let powers = [0.95f64, 0.05].map(|p| p.powf(1.0 / few));
    let mean: f64 = (powers.iter().zip([0.95f64, 0.05]))
        .map(|(power, p)| power * p.ln() / (powers[0] + powers[1]))
        .sum();
    let slope = 36.0 * (0.95f64.ln() - mean) + 2.0 * (few - 1.0);
    assert!(slope.abs() < 1e-9, "{slope}");
    let many = of_rows(100_000).value;
    assert!(many < 0.5 * few, "{many}");
}
