//! Leave-one-out predictions, compared with models that are conditioned on all rows but one.

use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, ConditionError, Exact, LeaveOneOut},
    kernels::{KernelConfig, StationaryConfig},
    likelihoods::GaussianConfig,
    means::MeanConfig,
    ops::{Jitter, NotPositiveDefinite},
    process::Process,
};

use crate::support::{Platform, assert_close, numbers, plane, platforms};

const ROWS: usize = 12;

/// Row `row` of a matrix and all other rows.
fn without(matrix: &Tensor<2>, row: usize) -> (Tensor<2>, Tensor<2>) {
    let mut others = Vec::new();
    if row > 0 {
        others.push(matrix.clone().narrow(0, 0, row));
    }
    if row + 1 < ROWS {
        others.push(matrix.clone().narrow(0, row + 1, ROWS - row - 1));
    }
    (matrix.clone().narrow(0, row, 1), Tensor::cat(others, 0))
}

/// Compares with the predictions of the model that has not seen the row.
fn check<P: Process>(
    platform: &Platform,
    condition: impl Fn(Tensor<2>, Tensor<2>) -> Result<P, ConditionError>,
    noise: f64,
    found: impl Fn(Tensor<2>, Tensor<2>) -> Result<LeaveOneOut, NotPositiveDefinite>,
) {
    let (x, y) = plane(platform, ROWS);
    let found = found(x.clone(), y.clone()).expect("positive definite");
    let (mut means, mut variances) = (Vec::new(), Vec::new());
    for row in 0..ROWS {
        let (at, others) = without(&x, row);
        let process = condition(others, without(&y, row).1).expect("a process");
        let marginals = process.marginals(at);
        means.extend(numbers(marginals.mean));
        variances.push(numbers(marginals.variance)[0] + noise);
    }
    // In single precision the differences of covariances lose four digits.
    let tolerance = platform.tolerance(1e-10, 2e-3);
    assert_close(
        &format!("means on {platform}"),
        &numbers(found.mean.clone()),
        &means,
        tolerance,
    );
    assert_close(
        &format!("variances on {platform}"),
        &numbers(found.variance.clone()),
        &variances,
        tolerance,
    );
    let y = numbers(y);
    let expected: Vec<f64> = (0..ROWS)
        .map(|row| {
            let of_output = |output: usize| {
                let error = y[2 * row + output] - means[2 * row + output];
                -0.5 * (error * error / variances[row]
                    + (2.0 * std::f64::consts::PI * variances[row]).ln())
            };
            of_output(0) + of_output(1)
        })
        .collect();
    let densities = found.log_density(platform.tensor(&y, [ROWS, 2]));
    assert_close(
        &format!("densities on {platform}"),
        &numbers(densities),
        &expected,
        tolerance,
    );
}

#[test]
fn each_row_is_predicted_as_by_a_model_of_the_others() {
    for platform in &platforms() {
        let place = platform.options();
        let noise = 0.2;
        let kernel = || KernelConfig::from(StationaryConfig::matern52()).init(2, place);
        let mean = || MeanConfig::constant(0.4).init(2, 2, place);
        let likelihood = || GaussianConfig { noise }.init(place);
        let exact = Exact::new(kernel(), mean(), likelihood());
        let condition = |x, y| exact.condition(x, y);
        check(platform, condition, noise, |x, y| exact.leave_one_out(x, y));
        let z = InducingPoints::new(plane(platform, ROWS).0.narrow(0, 0, 5));
        let sparse = Collapsed::new(kernel(), mean(), likelihood(), z, Jitter::NONE);
        let condition = |x, y| sparse.condition(x, y);
        check(platform, condition, noise, |x, y| {
            sparse.leave_one_out(x, y)
        });
    }
}
