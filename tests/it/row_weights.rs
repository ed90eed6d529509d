//! Weights of rows in regression: a row of weight two is there twice.

use std::f64::consts::PI;

use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::{InducingPoints, Nystrom},
    inference::{
        Collapsed, ComputationAware, ConjugateGradients, ConjugateGradientsSettings, Exact,
        IterationRule, Iterations, LeaveOneOut, LowRankRegression, Markov, RowColumns, Vecchia,
        VecchiaSettings,
    },
    kernels::{AnyKernel, KernelConfig, StationaryConfig},
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::Jitter,
    process::{Process, VarianceCorrection},
};

use crate::support::{Platform, assert_close, check_module_gradients, numbers, plane, platforms};

const ROWS: usize = 8;
const OUTPUTS: usize = 2;
const NOISE: f64 = 0.2;
const INDUCING: usize = 4;

/// Known noise besides σ².
fn variances() -> [f64; ROWS] {
    std::array::from_fn(|row| 0.1 * (row % 3) as f64)
}

/// How often each row is there.
const COUNTS: [usize; ROWS] = [1, 2, 1, 3, 1, 2, 1, 1];

/// Weights that are not whole.
const WEIGHTS: [f64; ROWS] = [1.0, 0.3, 2.5, 1.0, 0.05, 4.0, 1.7, 0.9];

fn inputs(platform: &Platform) -> Tensor<2> {
    plane(platform, ROWS).0
}

/// Targets with these columns.
fn beside(platform: &Platform, columns: &[&[f64]]) -> Tensor<2> {
    let columns = columns.iter().map(|own| platform.tensor(own, [ROWS, 1]));
    let targets = std::iter::once(plane(platform, ROWS).1);
    Tensor::cat(targets.chain(columns).collect(), 1)
}

/// Each row as often as its count says.
fn repeated(rows: &Tensor<2>) -> Tensor<2> {
    let each = (0..ROWS).flat_map(|row| std::iter::repeat_n(row, COUNTS[row]));
    let each = each.map(|row| rows.clone().narrow(0, row, 1));
    Tensor::cat(each.collect(), 0)
}

fn counts() -> Vec<f64> {
    COUNTS.iter().map(|&count| count as f64).collect()
}

fn kernel(platform: &Platform) -> AnyKernel {
    let config = StationaryConfig::rbf().with_lengthscale(0.8);
    KernelConfig::from(config).init(2, platform.options())
}

fn noise(platform: &Platform) -> Gaussian {
    Gaussian::new(NOISE, platform.options())
}

fn points(platform: &Platform) -> InducingPoints {
    InducingPoints::new(inputs(platform).narrow(0, 0, INDUCING))
}

fn exact(platform: &Platform) -> Exact<AnyKernel> {
    Exact::new(kernel(platform), ZeroMean::new(OUTPUTS), noise(platform))
}

fn collapsed(platform: &Platform) -> Collapsed {
    let mean = ZeroMean::new(OUTPUTS);
    let (noise, points) = (noise(platform), points(platform));
    Collapsed::new(kernel(platform), mean, noise, points, Jitter::NONE)
}

fn low_rank(platform: &Platform) -> LowRankRegression<Nystrom> {
    let features = Nystrom::new(kernel(platform), points(platform), Jitter::NONE);
    let correction = VarianceCorrection::default();
    LowRankRegression::new(
        features,
        ZeroMean::new(OUTPUTS),
        noise(platform),
        correction,
    )
}

/// All rows are neighbors, so that densities are the exact ones.
fn vecchia(platform: &Platform) -> Vecchia<AnyKernel> {
    let settings = VecchiaSettings {
        neighbors: 2 * ROWS,
        prediction_neighbors: 2 * ROWS,
    };
    let mean = ZeroMean::new(OUTPUTS);
    Vecchia::new(kernel(platform), mean, noise(platform), 2, settings)
}

/// With a preconditioner of all rows, nothing is estimated.
fn conjugate_gradients(platform: &Platform, rows: usize) -> ConjugateGradients<AnyKernel> {
    let settings = ConjugateGradientsSettings::default()
        .with_rank(Some(rows))
        .with_tolerance(1e-12)
        .with_iterations(4 * rows);
    let mean = ZeroMean::new(OUTPUTS);
    ConjugateGradients::new(kernel(platform), mean, noise(platform), settings)
}

/// As many actions as rows give the exact posterior.
fn computation_aware(platform: &Platform, rows: usize) -> ComputationAware<AnyKernel, Iterations> {
    let policy = Iterations::new(IterationRule::UnitVectors, rows, 0.0);
    let mean = ZeroMean::new(OUTPUTS);
    ComputationAware::new(kernel(platform), mean, noise(platform), policy)
}

/// The objective, and means and variances at new inputs.
macro_rules! values {
    ($model:expr, ($platform:expr, $inputs:expr, $rows:expr)) => {
        values!(
            $model,
            ($platform, $inputs, $rows),
            [[0.3, -0.4], [1.1, 0.9]]
        )
    };
    ($model:expr, ($platform:expr, $inputs:expr, $rows:expr), $new:expr) => {{
        let (model, new) = ($model, $new);
        let at = $platform.tensor(&new.concat(), [new.len(), new[0].len()]);
        let objective = model.full_objective($inputs.clone(), $rows.clone());
        let process = model.condition($inputs, $rows).expect("a process");
        let own = process.marginals(at);
        let objective = numbers(objective.expect("positive definite"));
        [objective, numbers(own.mean), numbers(own.variance)].concat()
    }};
}

/// Compares the values of a model of weighted rows with those of repeated rows, both with known noise. `values` takes
/// whether there are weights, the inputs, and the targets with what is beside them.
fn check_repetition(
    what: &str,
    values: impl Fn(&Platform, bool, Tensor<2>, Tensor<2>) -> Vec<f64>,
    (double, single): (f64, f64),
) {
    for platform in &platforms() {
        let x = inputs(platform);
        let weighted = beside(platform, &[&counts(), &variances()]);
        let found = values(platform, true, x.clone(), weighted);
        let noisy = repeated(&beside(platform, &[&variances()]));
        let expected = values(platform, false, repeated(&x), noisy);
        let what = format!("{what} on {platform}");
        assert_close(&what, &found, &expected, platform.tolerance(double, single));
    }
}

const BOTH: RowColumns = RowColumns::ALL;
const NOISY: RowColumns = RowColumns {
    weights: false,
    noise: true,
};

fn columns(is_weighted: bool) -> RowColumns {
    if is_weighted { BOTH } else { NOISY }
}

#[test]
fn exact_and_sparse_rows_of_weight_two_are_there_twice() {
    // Single precision loses four digits in the solves.
    let tolerances = (1e-9, 2e-3);
    check_repetition(
        "exact",
        |platform, own, x, rows| {
            let model = exact(platform).with_row_columns(columns(own));
            values!(model, (platform, x, rows))
        },
        tolerances,
    );
    check_repetition(
        "collapsed",
        |platform, own, x, rows| {
            let model = collapsed(platform).with_row_columns(columns(own));
            values!(model, (platform, x, rows))
        },
        tolerances,
    );
    check_repetition(
        "low rank",
        |platform, own, x, rows| {
            let model = low_rank(platform).with_row_columns(columns(own));
            values!(model, (platform, x, rows))
        },
        tolerances,
    );
}

#[test]
fn other_rows_of_weight_two_are_there_twice() {
    check_repetition(
        "neighbors",
        |platform, own, x, rows| {
            let model = vecchia(platform).with_row_columns(columns(own));
            values!(model, (platform, x, rows))
        },
        (1e-9, 2e-3),
    );
    check_repetition(
        "computation-aware",
        |platform, own, x: Tensor<2>, rows| {
            let model = computation_aware(platform, x.dims()[0]);
            values!(model.with_row_columns(columns(own)), (platform, x, rows))
        },
        (1e-8, 5e-3),
    );
}

/// Repeated rows have a singular covariance, whose preconditioner leaves something to estimate: the values are those of
/// exact regression with the same weights. The pivots of the preconditioner have a jitter of 1e-8.
#[test]
fn conjugate_gradients_have_the_values_of_exact_regression() {
    for platform in &platforms() {
        let x = inputs(platform);
        let rows = beside(platform, &[&WEIGHTS, &variances()]);
        let model = conjugate_gradients(platform, ROWS).with_row_columns(BOTH);
        let found = values!(model, (platform, x.clone(), rows.clone()));
        let model = exact(platform).with_row_columns(BOTH);
        let expected = values!(model, (platform, x, rows));
        let tolerance = platform.tolerance(1e-6, 2e-3);
        assert_close(&format!("{platform}"), &found, &expected, tolerance);
    }
}

/// The approximation with independent residuals, too.
#[test]
fn the_fully_independent_conditional_repeats_rows() {
    for platform in &platforms() {
        let x = inputs(platform);
        let weighted = beside(platform, &[&counts(), &variances()]);
        let model = collapsed(platform).with_row_columns(BOTH);
        let found = model.fully_independent_training_conditional(x.clone(), weighted);
        let noisy = repeated(&beside(platform, &[&variances()]));
        let model = collapsed(platform).with_row_noise();
        let expected = model.fully_independent_training_conditional(repeated(&x), noisy);
        let [found, expected] =
            [found, expected].map(|own| numbers(own.expect("positive definite")));
        let tolerance = platform.tolerance(1e-9, 2e-3);
        assert_close(&format!("{platform}"), &found, &expected, tolerance);
    }
}

fn kernel_over_time(platform: &Platform) -> AnyKernel {
    let config = StationaryConfig::matern52().with_lengthscale(0.8);
    KernelConfig::from(config).init(1, platform.options())
}

fn markov(platform: &Platform) -> Markov<AnyKernel> {
    let kernel = kernel_over_time(platform);
    let model = Markov::new(kernel, ZeroMean::new(OUTPUTS), noise(platform));
    model.expect("a state-space model")
}

/// Times out of order, two of them equal.
fn times(platform: &Platform) -> Tensor<2> {
    platform.tensor(&[0.5, 0.1, 0.9, 0.5, 1.7, 1.2, 2.6, 2.2], [ROWS, 1])
}

/// Weights and known noise, or noise alone, over time: the values and the leave-one-out predictions are those of exact
/// regression, and the filter has the density of the objective and the predictions after the last time.
#[test]
fn regression_over_time_has_the_values_of_exact_regression() {
    for platform in &platforms() {
        let x = times(platform);
        let weighted = beside(platform, &[&WEIGHTS, &variances()]);
        let noisy = beside(platform, &[&variances()]);
        for (own, rows) in [(BOTH, weighted), (NOISY, noisy)] {
            let mean = ZeroMean::new(OUTPUTS);
            let dense = Exact::new(kernel_over_time(platform), mean, noise(platform));
            let (dense, model) = (
                dense.with_row_columns(own),
                markov(platform).with_row_columns(own),
            );
            let new = [[0.3], [1.0], [3.0]];
            let expected = values!(dense.clone(), (platform, x.clone(), rows.clone()), new);
            let found = values!(model.clone(), (platform, x.clone(), rows.clone()), new);
            let tolerance = platform.tolerance(1e-9, 2e-3);
            assert_close(
                &format!("values on {platform}"),
                &found,
                &expected,
                tolerance,
            );
            let others = dense.leave_one_out(x.clone(), rows.clone());
            let expected = others.expect("positive definite");
            let others = model.leave_one_out(x.clone(), rows.clone());
            let others = others.expect("positive definite");
            for (found, expected) in [
                (numbers(others.mean), numbers(expected.mean)),
                (numbers(others.variance), numbers(expected.variance)),
            ] {
                assert_close(
                    &format!("others on {platform}"),
                    &found,
                    &expected,
                    tolerance,
                );
            }
            let filter = model.filter(x.clone(), rows).expect("a filter");
            let last = platform.tensor(&[3.0], [1, 1]);
            let own = numbers(filter.marginals(last).mean);
            let expected = &found[1 + 2 * OUTPUTS..][..OUTPUTS];
            assert_close(&format!("filter on {platform}"), &own, expected, tolerance);
            let density = [filter.process().log_density()];
            assert_close(
                &format!("density on {platform}"),
                &density,
                &found[..1],
                tolerance,
            );
        }
    }
}

/// `log N(y; 0, K + DW⁻¹) + ½ Σ_n [(1 − w_n)·log 2πd_n − log w_n]`, with the density by a model of noisy rows.
#[test]
fn weights_need_not_be_whole() {
    let each = WEIGHTS.iter().zip(variances());
    let constant: f64 = each
        .clone()
        .map(|(w, v)| 0.5 * ((1.0 - w) * (2.0 * PI * (NOISE + v)).ln() - w.ln()))
        .sum();
    let noise: Vec<f64> = each.map(|(w, v)| (NOISE + v) / w - NOISE).collect();
    for platform in &platforms() {
        let x = inputs(platform);
        let weighted = beside(platform, &[&WEIGHTS, &variances()]);
        let model = exact(platform).with_row_columns(BOTH);
        let found = values!(model, (platform, x.clone(), weighted));
        let noisy = beside(platform, &[&noise]);
        let mut expected = values!(exact(platform).with_row_noise(), (platform, x, noisy));
        expected[0] += OUTPUTS as f64 * constant;
        let tolerance = platform.tolerance(1e-10, 1e-3);
        assert_close(&format!("{platform}"), &found, &expected, tolerance);
    }
}

/// Ten rows with the variance .9, the lengthscale .7 and the noise .05, computed in 50 digits.
#[test]
fn golden_evidence() {
    const X: [f64; 10] = [0.0, 0.35, 0.6, 1.0, 1.3, 1.7, 2.1, 2.4, 2.8, 3.3];
    const Y: [f64; 10] = [0.1, 0.42, 0.75, 0.8, 0.95, 0.71, 0.6, 0.15, -0.2, -0.55];
    const W: [f64; 10] = [1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.0, 0.25, 1.5, 1.0];
    for platform in &platforms() {
        let config = StationaryConfig::rbf()
            .with_lengthscale(0.7)
            .with_variance(0.9);
        let kernel: AnyKernel = KernelConfig::from(config).init(1, platform.options());
        let noise = Gaussian::new(0.05, platform.options());
        let model = Exact::new(kernel, ZeroMean::new(1), noise).with_row_weights();
        let column = |values: &[f64; 10]| platform.tensor::<2>(values, [10, 1]);
        let rows = Tensor::cat(vec![column(&Y), column(&W)], 1);
        let found = model.full_objective(column(&X), rows);
        let found = numbers(found.expect("positive definite"));
        let tolerance = platform.tolerance(1e-10, 2e-3);
        assert_close("evidence", &found, &[-2.948_315_712_752_679_6], tolerance);
    }
}

fn without(matrix: &Tensor<2>, row: usize) -> Tensor<2> {
    let rows = (0..ROWS).filter(|&other| other != row);
    let rows = rows.map(|other| matrix.clone().narrow(0, other, 1));
    Tensor::cat(rows.collect(), 0)
}

/// A row that is left out has its own noise when it is predicted, whatever its weight.
#[test]
fn each_row_is_predicted_as_by_a_model_of_the_others() {
    for platform in &platforms() {
        let x = inputs(platform);
        let rows = beside(platform, &[&WEIGHTS, &variances()]);
        let (exact, sparse) = (
            exact(platform).with_row_columns(BOTH),
            collapsed(platform).with_row_columns(BOTH),
        );
        let of_exact = exact.leave_one_out(x.clone(), rows.clone());
        let of_sparse = sparse.leave_one_out(x.clone(), rows.clone());
        let mut expected = [(); 2].map(|()| (Vec::new(), Vec::new()));
        for row in 0..ROWS {
            let (others, y) = (without(&x, row), without(&rows, row));
            let at = x.clone().narrow(0, row, 1);
            let of_exact = exact.condition(others.clone(), y.clone());
            let of_sparse = sparse.condition(others, y).expect("a process");
            let of_exact = of_exact.expect("a process").marginals(at.clone());
            let each = [of_exact, of_sparse.marginals(at)];
            for (own, (means, deviations)) in each.into_iter().zip(&mut expected) {
                means.extend(numbers(own.mean));
                deviations.push(numbers(own.variance)[0] + NOISE + variances()[row]);
            }
        }
        // In single precision the differences of covariances lose four digits.
        let tolerance = platform.tolerance(1e-9, 3e-3);
        let found = [of_exact, of_sparse].map(|found| found.expect("positive definite"));
        for (LeaveOneOut { mean, variance }, (means, variances)) in found.into_iter().zip(expected)
        {
            assert_close("means", &numbers(mean), &means, tolerance);
            assert_close("variances", &numbers(variance), &variances, tolerance);
        }
    }
}

/// The mean over batches of one row is the objective of all.
#[test]
fn batches_of_neighbors_average_to_the_density() {
    for platform in &platforms() {
        let model = vecchia(platform).with_row_columns(BOTH);
        let (x, rows) = (
            inputs(platform),
            beside(platform, &[&WEIGHTS, &variances()]),
        );
        let all = model.full_objective(x.clone(), rows.clone());
        let each = (0..ROWS).map(|row| {
            let own = model.batch_objective(x.clone(), rows.clone(), &[row]);
            numbers(own.expect("positive definite"))[0]
        });
        let mean = each.sum::<f64>() / ROWS as f64;
        let all = numbers(all.expect("positive definite"));
        let tolerance = platform.tolerance(1e-10, 1e-3);
        assert_close(&format!("{platform}"), &[mean], &all, tolerance);
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    /// The objective of weighted rows.
    macro_rules! check {
        ($model:ident) => {
            check_module_gradients(
                stringify!($model),
                (1e-6, 1e-2),
                |platform| $model(platform).with_row_columns(BOTH),
                |platform, model| {
                    let rows = beside(platform, &[&WEIGHTS, &variances()]);
                    (model.full_objective(inputs(platform), rows)).expect("positive definite")
                },
            );
        };
    }
    check!(exact);
    check!(collapsed);
    check!(low_rank);
    check_module_gradients(
        "markov",
        (1e-6, 1e-2),
        |platform| markov(platform).with_row_columns(BOTH),
        |platform, model| {
            let rows = beside(platform, &[&WEIGHTS, &variances()]);
            (model.full_objective(times(platform), rows)).expect("positive variances")
        },
    );
}
