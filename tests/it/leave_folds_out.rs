//! Exact regression without each fold of its rows, compared with models that are conditioned on the other rows.

use burn::tensor::{Int, Tensor};
use burn_gp_core::{
    inference::Exact,
    kernels::{AnyKernel, KernelConfig, StationaryConfig},
    likelihoods::GaussianConfig,
    means::MeanConfig,
    process::Process,
};

use crate::support::{Platform, assert_close, numbers, plane, platforms};

const ROWS: usize = 11;
const NOISE: f64 = 0.2;

fn model(platform: &Platform) -> Exact<AnyKernel> {
    let place = platform.options();
    Exact::new(
        KernelConfig::from(StationaryConfig::matern52()).init(2, place),
        MeanConfig::constant(0.4).init(2, 2, place),
        GaussianConfig { noise: NOISE }.init(place),
    )
}

fn rows(matrix: &Tensor<2>, rows: &[i64]) -> Tensor<2> {
    let rows = Tensor::<1, Int>::from_data(rows, &matrix.device());
    matrix.clone().select(0, rows)
}

/// Compares all results with those of a model of the other rows, for each fold.
fn check(platform: &Platform, folds: &[usize]) {
    let model = model(platform);
    let (x, y) = plane(platform, ROWS);
    let new = platform.tensor(&[0.3, -0.7, 1.1, 0.2, -1.4, 0.9], [3, 2]);
    let found = (model.leave_folds_out(x.clone(), y.clone(), folds)).expect("positive definite");
    let at = found.at(new.clone());
    let (means, variances) = (numbers(at.mean.clone()), numbers(at.variance.clone()));
    let densities = numbers(found.log_density());
    let (own_means, own_variances) = (
        numbers(found.targets().mean.clone()),
        numbers(found.targets().variance.clone()),
    );
    let count = folds.iter().max().unwrap() + 1;
    assert_eq!(at.mean.dims(), [3, count, 2]);
    assert_eq!(at.variance.dims(), [3, count]);
    let all = numbers(model.full_objective(x.clone(), y.clone()).unwrap())[0];
    // In single precision, differences of covariances and of log densities lose four digits.
    let tolerance = platform.tolerance(1e-10, 3e-3);
    assert_eq!(densities.len(), count);
    for (fold, density) in densities.into_iter().enumerate() {
        let (left_out, others): (Vec<i64>, Vec<i64>) =
            (0..ROWS as i64).partition(|&row| folds[row as usize] == fold);
        let (other_x, other_y) = (rows(&x, &others), rows(&y, &others));
        let process = (model.condition(other_x.clone(), other_y.clone())).expect("a process");
        let what = |name: &str| format!("{name} without fold {fold} of {count} on {platform}");
        let expected = process.marginals(new.clone());
        let own = |values: &[f64], width: usize| -> Vec<f64> {
            let place = |row: usize| (row * count + fold) * width;
            (0..3)
                .flat_map(|row| values[place(row)..place(row) + width].to_vec())
                .collect()
        };
        assert_close(
            &what("means"),
            &own(&means, 2),
            &numbers(expected.mean),
            tolerance,
        );
        let noisy = numbers(expected.variance.narrow(1, 0, 1) + NOISE);
        assert_close(&what("variances"), &own(&variances, 1), &noisy, tolerance);
        let targets = process.marginals(rows(&x, &left_out));
        let of_fold = |values: &[f64], width: usize| -> Vec<f64> {
            let each = left_out.iter().map(|&row| row as usize * width);
            each.flat_map(|place| values[place..place + width].to_vec())
                .collect()
        };
        let (mean, variance) = (targets.mean, targets.variance.narrow(1, 0, 1) + NOISE);
        assert_close(
            &what("targets"),
            &of_fold(&own_means, 2),
            &numbers(mean),
            tolerance,
        );
        let found = of_fold(&own_variances, 1);
        assert_close(&what("noise"), &found, &numbers(variance), tolerance);
        // log p(y_I | y_−I) = log p(y) − log p(y_−I)
        let rest = numbers(model.full_objective(other_x, other_y).unwrap())[0];
        assert_close(&what("densities"), &[density], &[all - rest], tolerance);
    }
}

#[test]
fn each_fold_is_predicted_as_by_a_model_of_the_others() {
    for platform in &platforms() {
        check(platform, &[2, 0, 1, 1, 0, 2, 2, 1, 0, 0, 1]);
        let each: Vec<usize> = (0..ROWS).collect();
        check(platform, &each);
        // Rows one by one, in another order.
        let reversed: Vec<usize> = each.into_iter().rev().collect();
        check(platform, &reversed);
    }
}

#[test]
#[should_panic(expected = "3 numbers of folds for 11 rows")]
fn a_number_for_each_row() {
    let platform = &platforms()[0];
    let (x, y) = plane(platform, ROWS);
    let _ = model(platform).leave_folds_out(x, y, &[0, 1, 2]);
}
