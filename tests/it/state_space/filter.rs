//! The filter after the last observation.

use burn_gp_core::{inference::UpdateError, ops::Stationary, process::Process};

use super::{
    kernels, matern,
    regression::{column, markov, series},
};
use crate::support::{Platform, assert_close, first_platform, numbers, platforms};

/// Times in order, with targets of two outputs.
fn ordered(count: usize) -> (Vec<f64>, Vec<f64>) {
    let (times, targets) = series(count);
    let mut rows: Vec<usize> = (0..count).collect();
    rows.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
    let sorted = rows.iter().map(|&row| times[row]).collect();
    let targets = rows
        .iter()
        .flat_map(|&row| targets[2 * row..][..2].to_vec());
    (sorted, targets.collect())
}

fn data(platform: &Platform, times: &[f64], targets: &[f64]) -> [burn::tensor::Tensor<2>; 2] {
    [
        column(platform, times),
        platform.tensor(targets, [times.len(), 2]),
    ]
}

/// Ten more rows, in two updates and no order, give the numbers of conditioning on all rows.
#[test]
fn an_update_is_conditioning_on_all_rows() {
    let Some(platform) = first_platform() else {
        return;
    };
    let (times, targets) = ordered(80);
    let last = times[79];
    let new = column(
        &platform,
        &[last, last + 0.3, last + 2.0, last + 2.0, last + 0.01],
    );
    for (name, kernel) in kernels(&platform) {
        let model = markov(&platform, kernel, 2, 0.02);
        let [x, y] = data(&platform, &times, &targets);
        let expected = model.condition(x.clone(), y.clone()).unwrap();
        let evidence = numbers(model.full_objective(x, y).unwrap());
        let [x, y] = data(&platform, &times[..70], &targets[..140]);
        let mut filter = model.filter(x, y).unwrap();
        for rows in [70..74, 74..80] {
            let mut order: Vec<usize> = rows.collect();
            order.reverse();
            let times: Vec<f64> = order.iter().map(|&row| times[row]).collect();
            let targets = order
                .iter()
                .flat_map(|&row| targets[2 * row..][..2].to_vec());
            let [x, y] = data(&platform, &times, &targets.collect::<Vec<f64>>());
            filter = filter.condition_on_observations(x, y).unwrap();
        }
        assert_eq!(filter.process().last_time(), last);
        let density = [filter.process().log_density()];
        assert_close(&format!("{name}: density"), &density, &evidence, 1e-11);
        let (ours, expected) = (filter.joint(new.clone()), expected.joint(new.clone()));
        let check = |part: &str, ours: Vec<f64>, expected: Vec<f64>| {
            assert_close(&format!("{name}: {part}"), &ours, &expected, 1e-11);
        };
        check("mean", numbers(ours.mean), numbers(expected.mean));
        let covariance = numbers(ours.covariance);
        check(
            "covariance",
            covariance.clone(),
            numbers(expected.covariance),
        );
        let variances = numbers(filter.marginals(new.clone()).variance);
        let diagonal: Vec<f64> = (0..10).map(|place| covariance[6 * (place / 2)]).collect();
        check("variance", variances, diagonal);
    }
}

/// Rows before the last observation are refused, and predictions there are not numbers.
#[test]
fn earlier_times_are_refused() {
    for platform in platforms() {
        let kernel = matern(&platform, Stationary::Matern32, 1.0, 1.0);
        let model = markov(&platform, kernel, 2, 0.1);
        let [x, y] = data(&platform, &[0.0, 2.0, 1.0], &[0.1; 6]);
        let filter = model.filter(x, y).unwrap();
        let [x, y] = data(&platform, &[3.0, 1.5], &[0.1; 4]);
        let error = filter.condition_on_observations(x, y).unwrap_err();
        let expected = UpdateError::Earlier {
            row: 1,
            time: 1.5,
            last: 2.0,
        };
        assert_eq!(error, expected);
        let [x, y] = data(&platform, &[3.0], &[f64::NAN, 0.0]);
        let error = filter.condition_on_observations(x, y).unwrap_err();
        assert!(matches!(error, UpdateError::Condition(_)), "{error}");
        let marginals = filter.marginals(column(&platform, &[1.9, 2.1]));
        let means = numbers(marginals.mean);
        assert!(means[0].is_nan() && means[2].is_finite(), "{means:?}");
        let none = filter.marginals(platform.tensor(&[], [0, 1]));
        assert_eq!(none.mean.dims(), [0, 2]);
        let [x, y] = [[0, 1], [0, 2]].map(|shape| platform.tensor(&[], shape));
        let same = filter.condition_on_observations(x, y).unwrap();
        assert_eq!(same.process().last_time(), 2.0);
    }
}
