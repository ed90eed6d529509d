//! Regression on nearest neighbors.

use burn_gp_core::{
    inference::{Vecchia, VecchiaSettings},
    kernels::LinearConfig,
};

use super::*;
use crate::reference::{central_differences, gradients, scalar};

fn plain(platform: &Platform, noise: f64, neighbors: usize) -> Vecchia<AnyKernel> {
    let settings = VecchiaSettings {
        neighbors,
        prediction_neighbors: 4 * ROWS,
    };
    let noise = Gaussian::new(noise, platform.options());
    Vecchia::new(kernel(platform), ZeroMean::new(OUTPUTS), noise, 2, settings)
}

/// The nearest of the rows before a row, in the order of their distances.
fn neighbors(x: &[[f64; 2]], row: usize, count: usize) -> Vec<usize> {
    let distance = |other: usize| -> f64 {
        let squares = (0..2).map(|d| (x[row][d] - x[other][d]).powi(2));
        squares.sum()
    };
    let mut before: Vec<usize> = (0..row).collect();
    before.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    before.truncate(count);
    before
}

/// `Σ_p Σ_i log N(y_ip | bᵀy_cp, d)` with dense solves, where the covariance of a row and its neighbors has D.
fn density(count: usize) -> f64 {
    let (x, y) = points();
    let covariance = with_diagonal(&covariances(&x, &x), &total());
    let block = |rows: &[usize], columns: &[usize]| {
        Dense::from_function(rows.len(), columns.len(), |i, j| {
            covariance[(rows[i], columns[j])]
        })
    };
    let of_row = |row: usize| {
        let given = neighbors(&x, row, count);
        let weights = match given.is_empty() {
            true => Dense::from_function(0, 1, |_, _| 0.0),
            false => block(&given, &given)
                .inverse()
                .times(&block(&given, &[row])),
        };
        let known = |values: &dyn Fn(usize) -> f64| -> f64 {
            let terms = given.iter().enumerate();
            terms
                .map(|(place, &other)| weights[(place, 0)] * values(other))
                .sum()
        };
        let variance = covariance[(row, row)] - known(&|other| covariance[(other, row)]);
        let squares =
            |output: usize| (y[(row, output)] - known(&|other| y[(other, output)])).powi(2);
        let fit: f64 = (0..OUTPUTS).map(squares).sum();
        -0.5 * (fit / variance + OUTPUTS as f64 * (2.0 * PI * variance).ln())
    };
    (0..ROWS).map(of_row).sum()
}

#[test]
fn objectives_are_those_of_dense_algebra() {
    let (x, y) = points();
    let evidence = log_density(&with_diagonal(&covariances(&x, &x), &total()), &y);
    // With all rows before a row, it is the exact evidence.
    assert!((density(ROWS) - evidence).abs() < 1e-9);
    for platform in &platforms() {
        for count in [1, 4, ROWS] {
            let model = plain(platform, NOISE, count).with_row_noise();
            let (inputs, rows) = (plane(platform, ROWS).0, rows(platform));
            let found = model.full_objective(inputs.clone(), rows.clone());
            let found = found.expect("positive definite");
            assert_density("density", platform, found, density(count));
            // All rows as one batch.
            let each: Vec<usize> = (0..ROWS).collect();
            let found = model.batch_objective(inputs, rows, &each);
            assert_density(
                "batch",
                platform,
                found.expect("positive definite"),
                density(count),
            );
        }
    }
}

/// With all rows as neighbors, predictions are the exact ones, by themselves and together.
#[test]
fn predictions_are_those_of_dense_algebra() {
    let expected = exact_moments(&total());
    for platform in &platforms() {
        for is_joint in [false, true] {
            let model = plain(platform, NOISE, ROWS).with_row_noise();
            let model = model.with_joint_predictions(is_joint);
            let process = model.condition(plane(platform, ROWS).0, rows(platform));
            let process = process.expect("a process");
            let found = moments(process.marginals(new(platform)));
            let tolerance = platform.tolerance(1e-9, 1e-3);
            let what = format!("joint {is_joint} on {platform}");
            assert_close(&what, &found, &expected, tolerance);
        }
    }
}

/// `β = (HᵀC⁻¹H)⁻¹HᵀC⁻¹y` with `C = K + D`.
#[test]
fn least_squares_are_those_of_dense_algebra() {
    let (x, y) = points();
    let design = Dense::from_function(ROWS, 2, |row, column| match column {
        0 => 1.0,
        _ => x[row][0],
    });
    let inverse = with_diagonal(&covariances(&x, &x), &total()).inverse();
    let weighted = design.transposed().times(&inverse);
    let covariance = weighted.times(&design).inverse();
    let expected = covariance.times(&weighted.times(&y)).values;
    for platform in &platforms() {
        let model = plain(platform, NOISE, ROWS).with_row_noise();
        let inputs = plane(platform, ROWS).0;
        let found = model.least_squares(inputs, rows(platform), platform.matrix(&design));
        let found = numbers(found.expect("positive definite").coefficients);
        let tolerance = platform.tolerance(1e-9, 1e-3);
        assert_close(
            &format!("coefficients on {platform}"),
            &found,
            &expected,
            tolerance,
        );
    }
}

/// The model without noise of rows is computed at once where the kernel is stationary, and the other tile by tile.
#[test]
fn equal_noise_is_trained_noise() {
    let values = |platform: &Platform, noise, own: Option<&[f64]>| {
        let (inputs, targets) = plane(platform, ROWS);
        let model = plain(platform, noise, 4);
        let (model, targets) = match own {
            Some(own) => (model.with_row_noise(), rows_with(platform, own)),
            None => (model, targets),
        };
        let objective = model.full_objective(inputs.clone(), targets.clone());
        let process = model.condition(inputs, targets).expect("a process");
        let mut found = numbers(objective.expect("positive definite"));
        found.extend(moments(process.marginals(new(platform))));
        found
    };
    check_equal_noise(values, (1e-10, 1e-3));
}

/// With a stationary kernel, which has a fused operation without noise of rows, and with another one. The differences
/// have a relative error of about 1e-9. The metric of neighbors has no gradient: it is the last parameter.
#[test]
fn gradients_are_those_of_central_differences() {
    for is_sum in [false, true] {
        let mut reference: Option<Vec<f64>> = None;
        for platform in platforms() {
            let platform = platform.autodiff();
            let stationary =
                KernelConfig::from(StationaryConfig::rbf().with_lengthscale(LENGTHSCALE));
            let config = match is_sum {
                true => stationary.plus(LinearConfig::default()),
                false => stationary,
            };
            let kernel = config.init(2, platform.options());
            let settings = VecchiaSettings {
                neighbors: 4,
                prediction_neighbors: 4,
            };
            let noise = Gaussian::new(NOISE, platform.options());
            let model = Vecchia::new(kernel, ZeroMean::new(OUTPUTS), noise, 2, settings);
            let model = model.with_row_noise();
            let objective = |model: &Vecchia<AnyKernel>| {
                let found = model.full_objective(plane(&platform, ROWS).0, rows(&platform));
                found.expect("positive definite")
            };
            let found = gradients(&model, &objective(&model).backward());
            let what = format!("sum {is_sum} on {platform}");
            match &reference {
                Some(expected) => {
                    let tolerance = platform.tolerance(1e-9, 1e-2);
                    assert_close(&what, &found, expected, tolerance);
                }
                None => {
                    assert!(platform.is_double());
                    let each = central_differences(&model, 1e-5, |own| scalar(objective(own)));
                    assert_close(&what, &found, &each[..found.len()], 1e-7);
                    reference = Some(found);
                }
            }
        }
    }
}
