//! Missing targets, by the recipe of the guide: any number with a huge noise variance.

use burn_gp_core::features::Standardization;

use super::*;

/// 10¹² times the squared range of the targets.
const MISSING: f64 = 1e12 * 900.0;

const KNOWN: f64 = 0.01;

fn target(x: f64) -> f64 {
    20.0 + 3.0 * x.sin()
}

/// Two of three targets of the second output are missing.
fn is_missing(row: usize) -> bool {
    !row.is_multiple_of(3)
}

fn places() -> Vec<f64> {
    (0..60).map(|row| f64::from(row) / 8.0).collect()
}

/// Values and noise variances of one output, with `filler` in the place of missing targets.
fn one_output(filler: f64) -> Vec<[f64; 2]> {
    let row = |(row, x): (usize, &f64)| match is_missing(row) {
        true => [filler, MISSING],
        false => [target(*x), KNOWN],
    };
    places().iter().enumerate().map(row).collect()
}

#[test]
fn fillers_do_not_count_in_the_scaling() {
    let config = svgp(LikelihoodConfig::fixed_noise()).with_inducing(10);
    let known: Vec<f64> = (places().iter().enumerate())
        .filter(|(row, _)| !is_missing(*row))
        .map(|(_, x)| target(*x))
        .collect();
    let expected = Standardization::of_rows(&known, 1);
    let fit = Fit::adam(0.05).steps(2);
    for filler in [0.0, 21.0, -10.0] {
        let gp = config.fit(places(), one_output(filler), &fit).unwrap();
        assert_eq!(gp.scaling().targets.as_ref(), Some(&expected), "{filler}");
    }
    // The same for the second of two outputs; all of the first are there.
    let rows: Vec<[f64; 4]> = (places().iter().zip(one_output(0.0)))
        .map(|(x, [value, noise])| [x.cos(), value, KNOWN, noise])
        .collect();
    let gp = config.fit(places(), rows, &fit).unwrap();
    let first: Vec<f64> = places().iter().map(|x| x.cos()).collect();
    let first = Standardization::of_rows(&first, 1);
    let both = Standardization {
        means: [first.means, expected.means].concat(),
        deviations: [first.deviations, expected.deviations].concat(),
    };
    assert_eq!(gp.scaling().targets, Some(both));
}

/// Noise that is not known to be huge counts, as before.
#[test]
fn measurements_with_noise_count_in_the_scaling() {
    let values: Vec<f64> = places().iter().map(|x| target(*x)).collect();
    let noise = |row: usize| if row.is_multiple_of(2) { 1e-3 } else { 5.0 };
    let rows: Vec<[f64; 2]> = (values.iter().enumerate())
        .map(|(row, value)| [*value, noise(row)])
        .collect();
    let config = svgp(LikelihoodConfig::fixed_noise()).with_inducing(10);
    let gp = config
        .fit(places(), rows, &Fit::adam(0.05).steps(1))
        .unwrap();
    assert_eq!(
        gp.scaling().targets,
        Some(Standardization::of_rows(&values, 1))
    );
    // Without any range there is nothing to tell them apart.
    let same: Vec<[f64; 2]> = values.iter().map(|_| [7.0, 0.5]).collect();
    let gp = config
        .fit(places(), same, &Fit::adam(0.05).steps(1))
        .unwrap();
    assert_eq!(gp.scaling().targets.as_ref().unwrap().means, [7.0]);
}

/// The model predicts missing targets as one that has never seen them. While fillers counted in the
/// scaling, means were wrong by 1 and variances eight times as large.
#[test]
fn predictions_are_those_without_the_missing_rows() {
    // There are enough inducing points for both models to be close to the exact posterior.
    let fit = Fit::adam(0.02).steps(400).natural_gradients(0.5);
    let kernel = StationaryConfig::rbf();
    let config = |count| {
        SvgpConfig::new(kernel.clone(), LikelihoodConfig::fixed_noise()).with_inducing(count)
    };
    let with = config(40).fit(places(), one_output(0.0), &fit).unwrap();
    let (own_x, own_y): (Vec<f64>, Vec<[f64; 2]>) = (places().into_iter())
        .zip(one_output(0.0))
        .enumerate()
        .filter(|(row, _)| !is_missing(*row))
        .map(|(_, pair)| pair)
        .unzip();
    let without = config(20).fit(&own_x, &own_y, &fit).unwrap();
    let [with, without] = [with, without].map(|gp| gp.predict(places()).unwrap());
    let errors =
        (with.predictions().mean.iter().zip(places())).map(|(mean, x)| (mean - target(x)).powi(2));
    let error = (errors.sum::<f64>() / 60.0).sqrt();
    assert!(error < 0.05, "{error}");
    let pairs = |pick: fn(&burn_gp_models::Predictions) -> &Vec<f64>| {
        let values = [&with, &without].map(|predicted| pick(predicted.predictions()).clone());
        values[0].clone().into_iter().zip(values[1].clone())
    };
    for (ours, expected) in pairs(|predictions| &predictions.mean) {
        assert!(
            (ours - expected).abs() < 0.02,
            "mean {ours}, not {expected}"
        );
    }
    for (ours, expected) in pairs(|predictions| &predictions.variance) {
        assert!(
            ours / expected < 1.3 && expected / ours < 1.3,
            "variance {ours}, not {expected}"
        );
    }
}
