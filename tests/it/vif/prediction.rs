//! Predictions, joint distributions and draws.

use super::{model, remote, settings, stationary, with_parts};
use crate::{
    reference::{
        Matrix, Problem, Random, add_diagonal, assert_all_close, combine, double_precision,
        product, rows, scalar, solve, tensor, transpose, values,
    },
    vecchia::kernels,
};
use burn::tensor::{DType, Tensor};
use burn_gp_core::{
    inference::{Exact, Vecchia},
    likelihoods::Gaussian,
    means::{MeanConfig, ZeroMean},
    ops::Stationary,
    process::{Joint, Process},
};

/// With enough neighbors in training and prediction, means, variances and covariances are those of the exact process.
#[test]
fn all_neighbors_give_the_exact_process() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern32);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let new_x = tensor(&problem.new_x, options);
        for (kind, kernel) in kernels(options) {
            let noise = Gaussian::new(problem.noise, options);
            let mean = || MeanConfig::constant(0.5).init(2, 2, options);
            let parts = (kernel.clone(), mean());
            // Half of the neighbors are the nearest of all.
            let counts = settings(49, 4 * 57);
            let vif = with_parts(&problem, parts, &problem.z, counts, options);
            let exact = Exact::new(kernel, mean(), noise);
            let ours = vif.condition(x.clone(), y.clone()).unwrap();
            let exact = exact.condition(x.clone(), y.clone()).unwrap();
            let what = format!("{name}, {kind}");
            let (marginals, expected) = (
                ours.marginals(new_x.clone()),
                exact.marginals(new_x.clone()),
            );
            let pairs = [
                (marginals.mean, expected.mean),
                (marginals.variance, expected.variance),
            ];
            for (ours, expected) in pairs {
                assert_all_close(&values(ours), &values(expected), 1e-8, &what);
            }
            let (joint, expected) = (ours.joint(new_x.clone()), exact.joint(new_x.clone()));
            assert_all_close(&values(joint.mean), &values(expected.mean), 1e-8, &what);
            assert_all_close(
                &values(joint.covariance),
                &values(expected.covariance),
                1e-8,
                &what,
            );
        }
    }
}

/// Inducing variables that say nothing about the data leave the process of nearest-neighbor regression, as soon as the
/// neighbors in training do not matter.
#[test]
fn remote_inducing_points_leave_vecchia() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern32);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let new_x = tensor(&problem.new_x, options);
        let kernel = || stationary(&problem, options);
        let noise = Gaussian::new(problem.noise, options);
        let parts = (kernel(), ZeroMean::new(2).into());
        let vif = with_parts(&problem, parts, &remote(&problem), settings(5, 8), options);
        let ours = vif.condition(x.clone(), y.clone()).unwrap();
        let vecchia = Vecchia::new(kernel(), ZeroMean::new(2), noise, 2, settings(5, 8));
        let expected = (vecchia.with_joint_predictions(false).condition(x, y)).unwrap();
        let (marginals, other) = (
            ours.marginals(new_x.clone()),
            expected.marginals(new_x.clone()),
        );
        assert_all_close(&values(marginals.mean), &values(other.mean), 1e-10, name);
        let other = values(other.variance);
        assert_all_close(&values(marginals.variance), &other, 1e-10, name);
        let (joint, other) = (ours.joint(new_x.clone()), expected.joint(new_x));
        assert_all_close(&values(joint.mean), &values(other.mean), 1e-10, name);
        let other = values(other.covariance);
        assert_all_close(&values(joint.covariance), &other, 1e-10, name);
    }
}

/// Without neighbors, predictions are those of FITC by dense algebra: `K_tu·Σ·K_uf·Λ⁻¹y` and
/// `K_tt − Q_tt + K_tu·Σ·K_ut` with `Σ = (K_uu + K_uf·Λ⁻¹·K_fu)⁻¹`, `Λ = diag(K − Q) + σ²I`.
#[test]
fn no_neighbors_predict_as_the_independent_training_conditional() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern32);
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    let process = model(&problem, settings(0, 0), options)
        .condition(x, y)
        .unwrap();
    let marginals = process.marginals(tensor(&problem.new_x, options));
    let kuu = problem.kuu(0.0);
    let kuf = problem.covariance(&problem.z, &problem.x);
    let nystrom = problem.nystrom(0.0);
    let scaled = |rows: &Matrix| -> Matrix {
        let scale = |(index, row): (usize, &Vec<f64>)| {
            let variance = problem.variance - nystrom[index][index] + problem.noise;
            row.iter().map(|value| value / variance).collect()
        };
        rows.iter().enumerate().map(scale).collect()
    };
    let system = combine(&kuu, &product(&kuf, &scaled(&transpose(&kuf))), 1.0);
    let kut = problem.covariance(&problem.z, &problem.new_x);
    let weights = solve(&system, &product(&kuf, &scaled(&problem.y)));
    let mean = product(&transpose(&kut), &weights);
    assert_all_close(&values(marginals.mean), &mean.concat(), 1e-8, name);
    let explained = product(&transpose(&kut), &solve(&kuu, &kut));
    let uncertain = product(&transpose(&kut), &solve(&system, &kut));
    let variance = (0..7).map(|t| problem.variance - explained[t][t] + uncertain[t][t]);
    let variance: Vec<f64> = variance.flat_map(|value| [value; 2]).collect();
    assert_all_close(&values(marginals.variance), &variance, 1e-8, name);
}

/// The marginals with few neighbors are those of the dense covariance of the approximation: with
/// `Σ̃ = AAᵀ + (BᵀD⁻¹B)⁻¹` over observed rows and one new row, which is last.
#[test]
fn few_neighbors_condition_the_approximate_covariance() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern52);
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    // In training and prediction, each row has the nearest rows before it.
    let process = model(&problem, settings(3, 3), options)
        .condition(x, y)
        .unwrap();
    let marginals = process.marginals(tensor(&problem.new_x, options));
    let (mean, variance) = (rows(marginals.mean), rows(marginals.variance));
    for (t, point) in problem.new_x.iter().enumerate() {
        let all: Matrix = problem.x.iter().chain([point]).cloned().collect();
        let covariance = approximate_covariance(&problem, &all, 3);
        let cross: Matrix = (0..50).map(|i| vec![covariance[50][i]]).collect();
        let observed: Matrix = covariance[..50]
            .iter()
            .map(|row| row[..50].to_vec())
            .collect();
        let weights = solve(&observed, &cross);
        let expected = product(&transpose(&weights), &problem.y);
        assert_all_close(&mean[t], &expected[0], 1e-8, name);
        let explained = product(&transpose(&weights), &cross)[0][0];
        let expected = covariance[50][50] - explained;
        assert_all_close(&variance[t], &[expected; 2], 1e-8, name);
    }
}

/// `P + (BᵀD⁻¹B)⁻¹` of rows of which the last has no noise.
fn approximate_covariance(problem: &Problem, all: &Matrix, neighbors: usize) -> Matrix {
    let count = all.len();
    let kuf = problem.covariance(&problem.z, all);
    let common = product(&transpose(&kuf), &solve(&problem.kuu(0.0), &kuf));
    let mut rest = combine(&problem.covariance(all, all), &common, -1.0);
    (0..count - 1).for_each(|i| rest[i][i] += problem.noise);
    // The covariance of rows by rows: r_i = bᵀr_c + √d·ε.
    let mut result = vec![vec![0.0; count]; count];
    for i in 0..count {
        let mut before: Vec<usize> = (0..i).collect();
        let distance = |j: usize| -> f64 {
            let terms = all[i].iter().zip(&all[j]).zip(&problem.lengthscales);
            terms.map(|((a, b), l)| ((a - b) / l).powi(2)).sum()
        };
        before.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        before.truncate(neighbors);
        let matrix: Matrix = before
            .iter()
            .map(|&a| before.iter().map(|&b| rest[a][b]).collect())
            .collect();
        let cross: Matrix = before.iter().map(|&a| vec![rest[a][i]]).collect();
        let weights = if before.is_empty() {
            Vec::new()
        } else {
            solve(&matrix, &cross)
        };
        let explained: f64 = weights.iter().zip(&cross).map(|(b, k)| b[0] * k[0]).sum();
        let carried_to = |result: &Matrix, j: usize| -> f64 {
            let terms = before.iter().zip(&weights);
            terms.map(|(&c, b)| b[0] * result[c][j]).sum()
        };
        let values: Vec<f64> = (0..i).map(|j| carried_to(&result, j)).collect();
        for (j, value) in values.into_iter().enumerate() {
            (result[i][j], result[j][i]) = (value, value);
        }
        let carried = carried_to(&result, i);
        result[i][i] = carried + rest[i][i] - explained;
    }
    combine(&result, &common, 1.0)
}

/// Draws have the moments of the joint distribution, within 4 standard errors of 100 000 draws.
#[test]
fn draws_have_the_moments_of_the_joint_distribution() {
    let (_, device) = double_precision().remove(0);
    let problem = Problem::plane(Stationary::Matern32);
    // Draws at inputs with autodiff are computed by dense algebra.
    for device in [device.clone(), device.autodiff()] {
        let options = (&device, DType::F64);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let process = model(&problem, settings(5, 6), options)
            .condition(x, y)
            .unwrap();
        let new_x = tensor(&problem.new_x, options);
        let Joint { mean, covariance } = process.joint(new_x.clone());
        let count = 100_000;
        let draws = process.sample(new_x, count, 3).unwrap(); // [S, P, N]
        assert_eq!(draws.dims(), [count, 2, 7]);
        let (mean, covariance) = (rows(mean), values(covariance));
        let draws = values(draws);
        for p in 0..2 {
            let at = |s: usize, n: usize| draws[(2 * s + p) * 7 + n] - mean[n][p];
            for i in 0..7 {
                let variance = covariance[(7 * p + i) * 7 + i];
                let average = (0..count).map(|s| at(s, i)).sum::<f64>() / count as f64;
                let error = (variance / count as f64).sqrt();
                assert!(average.abs() < 4.0 * error, "mean {i}");
                for j in 0..7 {
                    let other = covariance[(7 * p + j) * 7 + j];
                    let expected = covariance[(7 * p + i) * 7 + j];
                    let ours = (0..count).map(|s| at(s, i) * at(s, j)).sum::<f64>() / count as f64;
                    let error = ((variance * other + expected.powi(2)) / count as f64).sqrt();
                    assert!(
                        (ours - expected).abs() < 4.0 * error,
                        "{i}, {j}: {ours}, {expected}"
                    );
                }
            }
        }
    }
}

/// Predictions of many rows at the inducing points, at observed inputs and at inputs that repeat are finite.
#[test]
fn repeated_inputs_are_finite() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::SquaredExponential);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let process = model(&problem, settings(8, 12), options)
            .condition(x, y)
            .unwrap();
        let all = [&problem.z[..], &problem.x, &problem.z].concat();
        let joint = process.joint(tensor(&all, options));
        let all = values(joint.covariance)
            .into_iter()
            .chain(values(joint.mean));
        assert!(all.into_iter().all(f64::is_finite), "{name}");
    }
}

/// At inputs on a device with autodiff, gradients reach the inputs.
#[test]
fn predictions_have_gradients_of_their_inputs() {
    let (name, device) = double_precision().remove(0);
    let (plain, device) = ((&device, DType::F64), device.clone().autodiff());
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern52);
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    let process = model(&problem, settings(5, 9), options)
        .condition(x, y)
        .unwrap();
    let point = vec![vec![0.31, -0.42], vec![1.1, 0.2]];
    let losses: [&dyn Fn(Tensor<2>) -> Tensor<1>; 3] = [
        &|x| {
            let marginals = process.marginals(x);
            marginals.mean.sum() + marginals.variance.sum() * 3.0
        },
        &|x| {
            let joint = process.joint(x);
            joint.mean.sum() + joint.covariance.sum()
        },
        &|x| process.sample(x, 2, 1).unwrap().square().sum(),
    ];
    for loss in losses {
        let inputs = tensor(&point, options).require_grad();
        let gradient = inputs.grad(&loss(inputs.clone()).backward()).unwrap();
        let step = 1e-5;
        let differences = (0..4).map(|index| {
            let at = |change: f64| {
                let mut moved = point.clone();
                moved[index / 2][index % 2] += change;
                scalar(loss(tensor(&moved, plain)))
            };
            (at(step) - at(-step)) / (2.0 * step)
        });
        let differences: Vec<f64> = differences.collect();
        // Rounding of 1e-16 over steps of 1e-5, and covariances that are not smooth.
        assert_all_close(&values(gradient), &differences, 1e-6, name);
    }
}

/// The joint distribution is that of the dense covariance, if new rows are conditioned on all rows before them.
#[test]
fn joint_distributions_condition_the_approximate_covariance() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let mut problem = Problem::plane(Stationary::Matern32);
    problem.new_x = Random(3).uniform_rows(5, 2, -2.5, 2.5);
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    let process = model(&problem, settings(4, 4 * 60), options)
        .condition(x, y)
        .unwrap();
    let joint = process.joint(tensor(&problem.new_x, options));
    // Given w, what is left of new rows is exact given what is left of observed rows, so that the distribution is that
    // of the approximate covariance of observed rows and the exact cross-covariances of what is left.
    let kuf = problem.covariance(&problem.z, &problem.x);
    let kut = problem.covariance(&problem.z, &problem.new_x);
    let kuu = problem.kuu(0.0);
    let left = |a: &Matrix, b: &Matrix, first: &Matrix, second: &Matrix| {
        let common = product(&transpose(first), &solve(&kuu, second));
        combine(&problem.covariance(a, b), &common, -1.0)
    };
    let rest = left(&problem.x, &problem.x, &kuf, &kuf);
    let rest = add_diagonal(rest, problem.noise);
    let cross = left(&problem.x, &problem.new_x, &kuf, &kut);
    let own = left(&problem.new_x, &problem.new_x, &kut, &kut);
    let weights = solve(&rest, &cross); // of R_oo⁻¹R_on, [50, 5]
    let observed = approximate_observed(&problem, 4);
    // f = a_tᵀw + bᵀ(y − Aw) + left; its covariance with y is K_tu·K_uu⁻¹·K_uf + bᵀ(Σ̃ − P).
    let common = product(&transpose(&kuf), &solve(&kuu, &kuf));
    let remainder = combine(&observed, &common, -1.0);
    let with_data = combine(
        &product(&transpose(&kut), &solve(&kuu, &kuf)),
        &product(&transpose(&weights), &remainder),
        1.0,
    );
    let mean = product(&with_data, &solve(&observed, &problem.y));
    assert_all_close(&values(joint.mean), &mean.concat(), 1e-8, name);
    let prior = combine(
        &product(&transpose(&kut), &solve(&kuu, &kut)),
        &product(&transpose(&weights), &product(&remainder, &weights)),
        1.0,
    );
    let unexplained = combine(&own, &product(&transpose(&weights), &cross), -1.0);
    let prior = combine(&prior, &unexplained, 1.0);
    let explained = product(&with_data, &solve(&observed, &transpose(&with_data)));
    let expected = combine(&prior, &explained, -1.0).concat();
    let covariance = values(joint.covariance);
    assert_all_close(&covariance[..25], &expected, 1e-8, name);
}

/// The approximate covariance of the observed rows, noise included.
fn approximate_observed(problem: &Problem, neighbors: usize) -> Matrix {
    let mut all = problem.x.clone();
    all.push(problem.new_x[0].clone());
    let covariance = approximate_covariance(problem, &all, neighbors);
    covariance[..50]
        .iter()
        .map(|row| row[..50].to_vec())
        .collect()
}
