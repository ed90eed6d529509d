//! Known noise of each row besides the trained one, compared with dense algebra and with models without a row.

mod computation_aware;
mod conjugate_gradients;
mod low_rank;
mod vecchia;

use std::f64::consts::PI;

use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, Exact},
    kernels::{AnyKernel, KernelConfig, StationaryConfig},
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::Jitter,
    process::{Marginals, Process},
};

use crate::support::{
    Dense, Platform, assert_close, check_module_gradients, numbers, plane, platforms,
};

const ROWS: usize = 12;
const INDUCING: usize = 5;
const OUTPUTS: usize = 2;
const NOISE: f64 = 0.2;
const LENGTHSCALE: f64 = 0.8;

/// v, from none to more than σ².
fn variances() -> Vec<f64> {
    (0..ROWS).map(|row| 0.1 * (row % 4) as f64).collect()
}

/// σ² + v
fn total() -> Vec<f64> {
    variances().iter().map(|own| NOISE + own).collect()
}

/// The targets followed by the variances, `[N, P + 1]`.
fn rows(platform: &Platform) -> Tensor<2> {
    rows_with(platform, &variances())
}

/// The targets followed by these variances, `[N, P + 1]`.
fn rows_with(platform: &Platform, variances: &[f64]) -> Tensor<2> {
    let column = platform.tensor(variances, [ROWS, 1]);
    Tensor::cat(vec![plane(platform, ROWS).1, column], 1)
}

/// Where predictions are compared.
const NEW: [[f64; 2]; 3] = [[0.3, -0.4], [1.1, 0.9], [-2.0, 0.1]];

fn new(platform: &Platform) -> Tensor<2> {
    platform.tensor(&NEW.concat(), [NEW.len(), 2])
}

/// The means at new inputs, and after them the variances of the first output.
fn moments(Marginals { mean, variance }: Marginals) -> Vec<f64> {
    [numbers(mean), numbers(variance.narrow(1, 0, 1))].concat()
}

/// Without noise of the rows, values are those of the model without the column. With equal noise, they are those with more
/// trained noise. `values` computes them for a trained noise variance and those of the rows, if there are any.
#[track_caller]
fn check_equal_noise(
    values: impl Fn(&Platform, f64, Option<&[f64]>) -> Vec<f64>,
    (double, single): (f64, f64),
) {
    for platform in &platforms() {
        for own in [0.0, 0.3] {
            let expected = values(platform, NOISE + own, None);
            let found = values(platform, NOISE, Some(&[own; ROWS]));
            let tolerance = platform.tolerance(double, single);
            assert_close(
                &format!("{own} on {platform}"),
                &found,
                &expected,
                tolerance,
            );
        }
    }
}

/// Means of exact predictions at new inputs, row-major, and after them the variances, with this noise.
fn exact_moments(noise: &[f64]) -> Vec<f64> {
    let (x, y) = points();
    let inverse = with_diagonal(&covariances(&x, &x), noise).inverse();
    let cross = covariances(&NEW, &x);
    let means = cross.times(&inverse.times(&y)).values;
    let explained = cross.times(&inverse.times(&cross.transposed()));
    let variances = explained.diagonal().into_iter().map(|own| 1.0 - own);
    means.into_iter().chain(variances).collect()
}

fn kernel(platform: &Platform) -> AnyKernel {
    let config = StationaryConfig::rbf().with_lengthscale(LENGTHSCALE);
    KernelConfig::from(config).init(2, platform.options())
}

fn exact(platform: &Platform) -> Exact<AnyKernel> {
    let noise = Gaussian::new(NOISE, platform.options());
    Exact::new(kernel(platform), ZeroMean::new(OUTPUTS), noise).with_row_noise()
}

fn collapsed(platform: &Platform) -> Collapsed {
    let z = InducingPoints::new(plane(platform, ROWS).0.narrow(0, 0, INDUCING));
    let noise = Gaussian::new(NOISE, platform.options());
    let mean = ZeroMean::new(OUTPUTS);
    Collapsed::new(kernel(platform), mean, noise, z, Jitter::NONE).with_row_noise()
}

/// The inputs of the plane as points, and its targets.
fn points() -> (Vec<[f64; 2]>, Dense) {
    let platform = platforms().into_iter().next().expect("a platform");
    let (_, y) = plane(&platform, ROWS);
    let point = |row: usize| [2 * row, 2 * row + 1].map(|i| (1.7 * i as f64).sin() * 1.5);
    let target = |row: usize, output: usize| (0.9 * (2 * row + output) as f64).cos() + 0.3;
    assert_eq!(y.dims(), [ROWS, OUTPUTS]);
    let targets = Dense::from_function(ROWS, OUTPUTS, target);
    ((0..ROWS).map(point).collect(), targets)
}

fn covariances(a: &[[f64; 2]], b: &[[f64; 2]]) -> Dense {
    Dense::from_function(a.len(), b.len(), |i, j| {
        let square: f64 = (0..2).map(|d| (a[i][d] - b[j][d]).powi(2)).sum();
        (-0.5 * square / LENGTHSCALE.powi(2)).exp()
    })
}

fn with_diagonal(matrix: &Dense, diagonal: &[f64]) -> Dense {
    Dense::from_function(matrix.rows, matrix.columns, |i, j| {
        matrix[(i, j)] + if i == j { diagonal[i] } else { 0.0 }
    })
}

/// `Σ_p log N(y_p | 0, C)`
fn log_density(covariance: &Dense, targets: &Dense) -> f64 {
    let squares = targets
        .transposed()
        .times(&covariance.inverse().times(targets))
        .trace();
    let constant = covariance.log_determinant() + ROWS as f64 * (2.0 * PI).ln();
    -0.5 * (squares + OUTPUTS as f64 * constant)
}

/// `K_fu K_uu⁻¹ K_uf`
fn low_rank(x: &[[f64; 2]]) -> Dense {
    let (z, kuf) = (&x[..INDUCING], covariances(&x[..INDUCING], x));
    kuf.transposed()
        .times(&covariances(z, z).inverse().times(&kuf))
}

#[track_caller]
fn assert_density(what: &str, platform: &Platform, found: Tensor<1>, expected: f64) {
    // Single precision loses four digits in the solves.
    let tolerance = platform.tolerance(1e-10, 1e-3);
    assert_close(
        &format!("{what} on {platform}"),
        &numbers(found),
        &[expected],
        tolerance,
    );
}

#[test]
fn objectives_are_those_of_dense_algebra() {
    let (x, y) = points();
    let (prior, nystrom) = (covariances(&x, &x), low_rank(&x));
    let unexplained: Vec<f64> = (0..ROWS).map(|row| 1.0 - nystrom[(row, row)]).collect();
    let evidence = log_density(&with_diagonal(&prior, &total()), &y);
    let projected = log_density(&with_diagonal(&nystrom, &total()), &y);
    let penalty: f64 = unexplained
        .iter()
        .zip(total())
        .map(|(own, total)| own / total)
        .sum();
    let bound = projected - 0.5 * OUTPUTS as f64 * penalty;
    // tr[(Q + D)⁻¹(K − Q)]
    let inverse = with_diagonal(&nystrom, &total()).inverse();
    let tighter = projected - 0.5 * OUTPUTS as f64 * inverse.times(&prior.minus(&nystrom)).trace();
    let whole: Vec<f64> = unexplained
        .iter()
        .zip(total())
        .map(|(a, b)| a + b)
        .collect();
    let independent = log_density(&with_diagonal(&nystrom, &whole), &y);
    assert!(bound < tighter && tighter < evidence);
    for platform in &platforms() {
        let (inputs, rows) = (plane(platform, ROWS).0, rows(platform));
        let found = exact(platform).full_objective(inputs.clone(), rows.clone());
        assert_density(
            "evidence",
            platform,
            found.expect("positive definite"),
            evidence,
        );
        let model = collapsed(platform);
        for (what, found, expected) in [
            (
                "bound",
                model.full_objective(inputs.clone(), rows.clone()),
                bound,
            ),
            (
                "tighter bound",
                model.tighter_bound(inputs.clone(), rows.clone()),
                tighter,
            ),
            (
                "DTC",
                model.deterministic_training_conditional(inputs.clone(), rows.clone()),
                projected,
            ),
            (
                "FITC",
                model.fully_independent_training_conditional(inputs, rows),
                independent,
            ),
        ] {
            assert_density(what, platform, found.expect("positive definite"), expected);
        }
    }
}

#[test]
fn predictions_are_those_of_dense_algebra() {
    let (x, y) = points();
    let new = [[0.3, -0.4], [1.1, 0.9]];
    let noise = Dense::from_function(ROWS, ROWS, |i, j| if i == j { total()[i] } else { 0.0 });
    let cross = covariances(&new, &x);
    let inverse = covariances(&x, &x).plus(&noise).inverse();
    let exact_means = cross.times(&inverse.times(&y));
    let explained = cross.times(&inverse.times(&cross.transposed())).diagonal();
    let exact_variances: Vec<f64> = explained.iter().map(|own| 1.0 - own).collect();
    // k_*u (K_uu + K_uf D⁻¹ K_fu)⁻¹ K_uf D⁻¹ y
    let (z, kuf) = (&x[..INDUCING], covariances(&x[..INDUCING], &x));
    let weighted = kuf.times(&noise.inverse());
    let system = covariances(z, z)
        .plus(&weighted.times(&kuf.transposed()))
        .inverse();
    let sparse_means = covariances(&new, z).times(&system.times(&weighted.times(&y)));
    for platform in &platforms() {
        let (inputs, rows) = (plane(platform, ROWS).0, rows(platform));
        let at = platform.tensor(&new.concat(), [2, 2]);
        let tolerance = platform.tolerance(1e-10, 1e-3);
        let process = exact(platform).condition(inputs.clone(), rows.clone());
        let Marginals { mean, variance } = process.expect("a process").marginals(at.clone());
        assert_close(
            "exact means",
            &numbers(mean),
            &exact_means.values,
            tolerance,
        );
        let own = variance.narrow(1, 0, 1);
        assert_close(
            "exact variances",
            &numbers(own),
            &exact_variances,
            tolerance,
        );
        let process = collapsed(platform)
            .condition(inputs, rows)
            .expect("a process");
        let mean = process.marginals(at).mean;
        assert_close(
            "sparse means",
            &numbers(mean),
            &sparse_means.values,
            tolerance,
        );
    }
}

/// All rows but one, and that one.
fn without(matrix: &Tensor<2>, row: usize) -> (Tensor<2>, Tensor<2>) {
    let parts = [(0, row), (row + 1, ROWS - row - 1)];
    let others = parts.into_iter().filter(|(_, length)| *length > 0);
    let others = others.map(|(start, length)| matrix.clone().narrow(0, start, length));
    (
        Tensor::cat(others.collect(), 0),
        matrix.clone().narrow(0, row, 1),
    )
}

#[test]
fn each_row_is_predicted_as_by_a_model_of_the_others() {
    for platform in &platforms() {
        let (inputs, rows) = (plane(platform, ROWS).0, rows(platform));
        let (exact, sparse) = (exact(platform), collapsed(platform));
        let each: Vec<usize> = (0..ROWS).collect();
        let folds = exact.leave_folds_out(inputs.clone(), rows.clone(), &each);
        let folds = folds.expect("positive definite");
        let of_exact = exact.leave_one_out(inputs.clone(), rows.clone());
        let of_sparse = sparse.leave_one_out(inputs.clone(), rows.clone());
        let found = [
            of_exact.expect("positive definite"),
            of_sparse.expect("positive definite"),
            folds.targets().clone(),
        ];
        let mut expected = [(); 3].map(|()| (Vec::new(), Vec::new()));
        for row in 0..ROWS {
            let ((x, at), (y, _)) = (without(&inputs, row), without(&rows, row));
            let of_exact = exact.condition(x.clone(), y.clone()).expect("a process");
            let of_sparse = sparse.condition(x, y).expect("a process");
            for (index, (means, deviations)) in expected.iter_mut().enumerate() {
                let own = match index {
                    1 => of_sparse.marginals(at.clone()),
                    _ => of_exact.marginals(at.clone()),
                };
                means.extend(numbers(own.mean));
                deviations.push(numbers(own.variance)[0] + total()[row]);
            }
        }
        // In single precision the differences of covariances lose four digits.
        let tolerance = platform.tolerance(1e-10, 2e-3);
        for (found, (means, variances)) in found.iter().zip(expected) {
            assert_close("means", &numbers(found.mean.clone()), &means, tolerance);
            let own = numbers(found.variance.clone());
            assert_close("variances", &own, &variances, tolerance);
        }
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    check_module_gradients("exact", (1e-6, 1e-2), exact, |platform, model| {
        let objective = model.full_objective(plane(platform, ROWS).0, rows(platform));
        objective.expect("positive definite")
    });
    check_module_gradients("collapsed", (1e-6, 1e-2), collapsed, |platform, model| {
        let objective = model.full_objective(plane(platform, ROWS).0, rows(platform));
        objective.expect("positive definite")
    });
}

/// `Σ_p log N(y_np | μ_np, σ² + v_n) − σ_np²/(2(σ² + v_n))`, also with a noise variance for each output.
#[test]
fn expected_log_densities_have_the_noise_of_their_rows() {
    for platform in &platforms() {
        let (means, targets) = plane(platform, ROWS);
        let marginals = Marginals {
            variance: means.clone().square() + 0.1,
            mean: means,
        };
        let row_noise = platform.tensor(&variances(), [ROWS]);
        for own in [vec![NOISE], vec![NOISE, 0.7]] {
            let likelihood = Gaussian::of_outputs(&own, platform.options());
            let found = likelihood.expected_log_density_with_row_noise(
                targets.clone(),
                marginals.clone(),
                row_noise.clone(),
            );
            let (mean, variance) = (
                numbers(marginals.mean.clone()),
                numbers(marginals.variance.clone()),
            );
            let y = numbers(targets.clone());
            let expected = (0..ROWS).map(|row| {
                let of_output = |output: usize| {
                    let (at, noise) =
                        (2 * row + output, own[output % own.len()] + variances()[row]);
                    let squares = (y[at] - mean[at]).powi(2) + variance[at];
                    -0.5 * (squares / noise + (2.0 * PI * noise).ln())
                };
                of_output(0) + of_output(1)
            });
            let expected: Vec<f64> = expected.collect();
            let tolerance = platform.tolerance(1e-12, 1e-5);
            assert_close("densities", &numbers(found), &expected, tolerance);
        }
    }
}

/// Without noise of the rows, everything is as without the column.
#[test]
fn rows_without_noise_change_nothing() {
    let platform = platforms().into_iter().next().expect("a platform");
    let (x, y) = plane(&platform, ROWS);
    let none = Tensor::cat(vec![y.clone(), y.zeros_like().narrow(1, 0, 1)], 1);
    let plain = Exact::new(
        kernel(&platform),
        ZeroMean::new(OUTPUTS),
        Gaussian::new(NOISE, platform.options()),
    );
    let expected = plain
        .full_objective(x.clone(), y)
        .expect("positive definite");
    let noisy = exact(&platform);
    let found = noisy.full_objective(x, none).expect("positive definite");
    assert_eq!(numbers(found), numbers(expected));
}
