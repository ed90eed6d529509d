//! Computation-aware regression compared with dense algebra (arXiv:2411.01036): exactness,
//! invariances and the order of the variances.

use crate::reference::{
    Matrix, Random,
    actions::{Case, dense, orthonormal},
    add_diagonal, assert_all_close, assert_close, cholesky, combine, double_precision,
    log_determinant, log_normal, product, scalar, solve, tensor, trace, transpose, values,
};
use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{DType, Device, Int, Tensor, TensorData},
};
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{
        ActionLoss, ActionPolicy, ActionVariables, Actions, BlockActions,
        ConjugateGradientsSettings, Exact, IterationRule, Iterations, near_order,
    },
    likelihoods::{Gaussian, Likelihood},
    means::ZeroMean,
    ops::{Blocks, Jitter},
    process::{Process, VariationalGaussian},
    variational::{Evaluation, Posterior, Whitened},
};

/// With a complete orthonormal basis, both losses give the exact posterior and the evidence. The
/// tolerance is for 60 points with condition number about 1e4.
#[test]
fn with_as_many_actions_as_data_it_is_the_exact_process() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(60, 2, 0.01);
        let actions = dense(&orthonormal(&case.actions(60, 5)), options);
        for loss in [ActionLoss::Evidence, ActionLoss::Projected] {
            let ours = case.loss(actions.clone(), loss, options);
            assert_close(ours, case.negative_evidence(), 1e-8, name);
        }
        let (mean, covariance) = case.predicted(actions, options);
        assert_all_close(&mean, &case.exact_mean(&case.new_x), 1e-8, name);
        assert_all_close(&covariance, &case.exact(&case.new_x).concat(), 1e-8, name);
    }
}

/// Mathematical and computational uncertainty add up to the total variance. With as many actions as
/// data, the computational uncertainty is zero.
#[test]
fn mathematical_and_computational_uncertainty_add_up() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(50, 2, 0.05);
        let solves = ConjugateGradientsSettings {
            iterations: 200,
            tolerance: 1e-12,
            ..ConjugateGradientsSettings::default()
        };
        let exact = case.exact(&case.new_x);
        let exact: Vec<f64> = (0..exact.len()).map(|i| exact[i][i]).collect();
        for count in [6, 50] {
            let actions = orthonormal(&case.actions(count, 5));
            let (_, total) = case.posterior(&actions, &case.new_x);
            let left: Vec<f64> = (0..exact.len()).map(|i| total[i][i] - exact[i]).collect();
            let model = case.model(dense(&actions, options), options);
            let data = (tensor(&case.x, options), tensor(&case.y, options));
            let new_x = tensor(&case.new_x, options);
            let parts = model.uncertainty(data.0, data.1, new_x, solves).unwrap();
            assert_all_close(&values(parts.mathematical), &exact, 1e-8, name);
            assert_all_close(&values(parts.computational), &left, 1e-8, name);
        }
    }
}

/// Initialization by eigenvectors: each action has unit length and the largest variance in its run.
#[test]
fn principal_actions_have_the_largest_variance() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(23, 2, 0.05);
        let blocks = Blocks::new(23, 4);
        let kernel = case.kernel(options);
        let actions = BlockActions::principal(blocks, &kernel, &tensor(&case.x, options));
        let found = values(actions.values());
        for run in blocks.ranges() {
            let points = case.x[run.clone()].to_vec();
            let covariance = case.covariance(&points, &points);
            // The power iteration is long enough for an eigenvalue gap of a tenth.
            let mut vector: Matrix = vec![vec![1.0]; points.len()];
            for _ in 0..2000 {
                vector = product(&covariance, &vector);
                let norm = vector.iter().map(|row| row[0].powi(2)).sum::<f64>().sqrt();
                vector.iter_mut().for_each(|row| row[0] /= norm);
            }
            let dot: f64 = (found[run].iter().zip(&vector))
                .map(|(a, b)| a * b[0])
                .sum();
            assert_close(dot.abs(), 1.0, 1e-8, name);
        }
    }
}

/// Eq. 5 and eq. 10: the negative evidence plus the KL divergence from the exact posterior at the
/// data.
#[test]
fn posterior_and_loss_are_those_of_dense_algebra() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        for (points, dimensions, count) in [(50, 2, 7), (90, 3, 20)] {
            let case = Case::new(points, dimensions, 0.05);
            let actions = case.actions(count, 11);
            let (mean, covariance) = case.predicted(dense(&actions, options), options);
            let (expected_mean, expected) = case.posterior(&actions, &case.new_x);
            assert_all_close(&mean, &expected_mean, 1e-10, name);
            assert_all_close(&covariance, &expected.concat(), 1e-10, name);

            let (mean, covariance) = case.posterior(&actions, &case.x);
            let exact = case.exact(&case.x);
            let exact_mean = product(
                &case.covariance(&case.x, &case.x),
                &solve(&case.noisy(), &case.y),
            );
            let difference: Vec<f64> = mean
                .iter()
                .zip(exact_mean.concat())
                .map(|(a, b)| a - b)
                .collect();
            // KL[N(m, S) ‖ N(m*, S*)]
            let column: Matrix = difference.iter().map(|&d| vec![d]).collect();
            let distance: f64 = (solve(&exact, &column).concat().iter().zip(&difference))
                .map(|(a, b)| a * b)
                .sum();
            let kl = 0.5
                * (trace(&solve(&exact, &covariance)) + distance - points as f64
                    + log_determinant(&exact)
                    - log_determinant(&covariance));
            let ours = case.loss(dense(&actions, options), ActionLoss::Evidence, options);
            assert_close(ours, case.negative_evidence() + kl, 1e-9, name);

            let basis = orthonormal(&actions);
            let seen = product(&transpose(&basis), &product(&case.noisy(), &basis));
            let projected = product(&transpose(&basis), &case.y).concat();
            let ours = case.loss(dense(&actions, options), ActionLoss::Projected, options);
            assert_close(ours, -log_normal(&projected, &seen), 1e-9, name);
        }
    }
}

/// Only the span of S counts: invertible combinations, permutations and scalings of its columns
/// change nothing.
#[test]
fn only_the_span_of_the_actions_counts() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(40, 2, 0.05);
        let actions = case.actions(5, 3);
        let mut random = Random(8);
        let mut mixing: Matrix = (0..5)
            .map(|_| (0..5).map(|_| 0.2 * random.normal()).collect())
            .collect();
        for (i, row) in mixing.iter_mut().enumerate() {
            row[(i + 2) % 5] += 3.0 + i as f64;
        }
        let mixed = product(&actions, &mixing);
        let (mean, covariance) = case.predicted(dense(&actions, options), options);
        let (other_mean, other) = case.predicted(dense(&mixed, options), options);
        assert_all_close(&other_mean, &mean, 1e-9, name);
        assert_all_close(&other, &covariance, 1e-9, name);
        for loss in [ActionLoss::Evidence, ActionLoss::Projected] {
            let ours = case.loss(dense(&actions, options), loss, options);
            let theirs = case.loss(dense(&mixed, options), loss, options);
            assert_close(theirs, ours, 1e-9, name);
        }
    }
}

/// Block-sparse actions give the same results as the same matrix S in dense form.
#[test]
fn block_actions_are_a_sparse_matrix() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(43, 2, 0.05);
        let mut random = Random(4);
        let s: Vec<f64> = (0..43).map(|_| random.normal()).collect();
        let blocks = Blocks::new(43, 6);
        let mut matrix = vec![vec![0.0; 6]; 43];
        for (column, range) in blocks.ranges().enumerate() {
            range.for_each(|row| matrix[row][column] = s[row]);
        }
        let sparse = BlockActions::new(blocks, Tensor::from_data(&s[..], options));
        let (mean, covariance) = case.predicted(sparse.clone(), options);
        let (expected_mean, expected) = case.posterior(&matrix, &case.new_x);
        assert_all_close(&mean, &expected_mean, 1e-10, name);
        assert_all_close(&covariance, &expected.concat(), 1e-10, name);
        for loss in [ActionLoss::Evidence, ActionLoss::Projected] {
            let dense = case.loss(dense(&matrix, options), loss, options);
            assert_close(case.loss(sparse.clone(), loss, options), dense, 1e-10, name);
        }
    }
}

/// After a step the actions have unit length and the same direction, and the same ones are trained.
/// Frozen ones, on a device with autodiff, stay.
#[test]
fn a_step_leaves_actions_of_unit_length() {
    for (name, device) in double_precision() {
        for (device, is_trained) in [
            (device.clone(), false),
            (device.clone().autodiff(), false),
            (device.clone().autodiff(), true),
        ] {
            let mut random = Random(4);
            let mut s: Vec<f64> = (0..43).map(|_| 3.0 * random.normal()).collect();
            let blocks = Blocks::new(43, 6);
            s[blocks.range(2)].fill(0.0);
            let start = Tensor::from_data(&s[..], (&device, DType::F64));
            let actions = BlockActions::new(blocks, start).map(&mut Trained(is_trained));
            let after = actions.after_step().values();
            assert_eq!(after.is_require_grad(), is_trained, "{name}");
            let stays = after.is_autodiff() && !is_trained;
            for run in blocks.ranges().filter(|_| !stays) {
                let run = &mut s[run];
                let length = run.iter().map(|value| value * value).sum::<f64>().sqrt();
                if length > 0.0 {
                    run.iter_mut().for_each(|value| *value /= length);
                }
            }
            assert_all_close(&values(after), &s, 1e-14, name);
        }
    }
}

/// Records for every parameter whether it is trained.
struct Trained(bool);

impl ModuleMapper for Trained {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.set_require_grad(self.0)
    }
}

fn numbers(order: Tensor<1, Int>) -> Vec<usize> {
    let numbers = order.into_data();
    numbers
        .iter::<i64>()
        .map(|number| number as usize)
        .collect()
}

/// The order contains every point once. For points on a line, the runs are intervals.
#[test]
fn near_points_come_in_one_run() {
    for (name, device) in double_precision() {
        for device in [device.clone(), device.clone().autodiff()] {
            let mut random = Random(6);
            let x = random.uniform_rows(43, 1, -2.0, 2.0);
            let blocks = Blocks::new(43, 6);
            let order = near_order(&tensor(&x, (&device, DType::F64)), blocks);
            let order = numbers(order);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..43).collect::<Vec<_>>(), "{name}");
            let mut end = f64::NEG_INFINITY;
            for run in blocks.ranges() {
                let run = &order[run];
                assert!(run.is_sorted(), "{name}: points of a run keep their order");
                let values = || run.iter().map(|&point| x[point][0]);
                let first = values().fold(f64::INFINITY, f64::min);
                assert!(
                    first > end,
                    "{name}: a run begins at {first} within another"
                );
                end = values().fold(f64::NEG_INFINITY, f64::max);
            }
        }
    }
}

/// Runs with one point each, a single run, and equal points.
#[test]
fn near_order_of_few_runs_or_equal_points() {
    for (name, device) in double_precision() {
        let order = |points: &Matrix, count| {
            let points = tensor(points, (&device, DType::F64));
            numbers(near_order(&points, Blocks::new(points.dims()[0], count)))
        };
        let line: Matrix = [2.0, 0.0, 3.0, 1.0].map(|x| vec![5.0, x]).to_vec();
        assert_eq!(order(&line, 4), [1, 3, 0, 2], "{name}");
        assert_eq!(order(&line, 1), [0, 1, 2, 3], "{name}");
        let equal = vec![vec![1.0, 2.0]; 7];
        assert_eq!(order(&equal, 3), [0, 1, 2, 3, 4, 5, 6], "{name}");
    }
}

/// Unit vectors give exact regression on a subset of the data.
#[test]
fn unit_vectors_are_a_subset_of_the_data() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(30, 2, 0.05);
        let policy = Iterations::new(IterationRule::UnitVectors, 9, 0.0);
        let some = Case {
            x: case.x[..9].to_vec(),
            y: case.y[..9].to_vec(),
            new_x: case.new_x.clone(),
            lengthscales: case.lengthscales.clone(),
            ..case
        };
        let loss = case.loss(policy.clone(), ActionLoss::Projected, options);
        assert_close(loss, some.negative_evidence(), 1e-10, name);
        let (mean, covariance) = case.predicted(policy, options);
        assert_all_close(&mean, &some.exact_mean(&case.new_x), 1e-10, name);
        assert_all_close(&covariance, &some.exact(&case.new_x).concat(), 1e-10, name);
    }
}

/// `k ≥ k_i ≥ k_j ≥ k*` for nested actions, as matrices: checks the smallest pivot of the
/// differences.
#[test]
fn variances_fall_with_every_action_and_stay_above_the_exact_ones() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(50, 2, 0.05);
        let actions = case.actions(12, 6);
        let mut above = case.covariance(&case.new_x, &case.new_x);
        let exact = case.exact(&case.new_x);
        for count in [1, 4, 12] {
            let some: Matrix = actions.iter().map(|row| row[..count].to_vec()).collect();
            let (_, covariance) = case.predicted(dense(&some, options), options);
            let covariance: Matrix = covariance.chunks(7).map(<[f64]>::to_vec).collect();
            for (upper, lower) in [(&above, &covariance), (&covariance, &exact)] {
                // The factor exists if and only if the difference is positive definite. Rounding
                // errors are far below the number added to the diagonal.
                let difference = add_diagonal(combine(upper, lower, -1.0), 1e-10 * case.variance);
                let pivots = cholesky(&difference);
                assert!(
                    (0..7).all(|i| pivots[i][i] > 0.0),
                    "{name}, {count} actions: {pivots:?}"
                );
            }
            above = covariance;
        }
    }
}

/// `−log p(y) ≤ collapsed at u = Sᵀf ≤ computation-aware`, and no variational loss is below the
/// collapsed one, for dense actions, sparse actions and unit vectors.
#[test]
fn losses_are_in_order() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        for seed in 0..10u64 {
            let case = Case::new(40 + seed as usize, 2, 0.02 + 0.02 * seed as f64);
            let what = format!("{name}, seed {seed}");
            let full = case.actions(8, 100 + seed);
            let blocks = Blocks::new(case.x.len(), 8);
            let sparse = full.iter().map(|row| row[0]).collect::<Vec<f64>>();
            let sparse = BlockActions::new(blocks, Tensor::from_data(&sparse[..], options));
            assert_in_order(
                &case,
                dense(&full, options),
                options,
                &format!("{what}, dense"),
            );
            assert_in_order(&case, sparse, options, &format!("{what}, blocks"));
            let unit: Matrix = (0..case.x.len())
                .map(|row| (0..8).map(|column| f64::from(row == column)).collect())
                .collect();
            assert_in_order(
                &case,
                dense(&unit, options),
                options,
                &format!("{what}, unit"),
            );
        }
    }
}

fn assert_in_order<A: Actions + ActionPolicy>(
    case: &Case,
    actions: A,
    options: (&Device, DType),
    what: &str,
) {
    let ours = case.loss(actions.clone(), ActionLoss::Evidence, options);
    let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
    let collapsed = case.collapsed(ActionVariables::new(actions.clone(), x.clone()), options);
    let bound = -scalar(collapsed.full_objective(x.clone(), y.clone()).unwrap());
    assert!(case.negative_evidence() <= bound + 1e-9, "{what}: {bound}");
    assert!(bound <= ours + 1e-9, "{what}: {bound} and {ours}");
    let mut random = Random(9);
    for _ in 0..3 {
        let mean = vec![(0..8).map(|_| random.normal()).collect()];
        let scale: Vec<f64> = (0..64)
            .map(|entry| match (entry / 8, entry % 8) {
                (row, column) if row == column => 0.1 + random.uniform(),
                (row, column) if row > column => 0.3 * random.normal(),
                _ => 0.0,
            })
            .collect();
        let scale = Tensor::from_data(TensorData::new(scale, [1, 8, 8]), options);
        let gaussian = VariationalGaussian::full(tensor(&mean, options), scale);
        let variables = ActionVariables::new(actions.clone(), x.clone());
        let posterior = Whitened::new(variables, gaussian, Jitter::NONE);
        let kernel = case.kernel(options);
        let Evaluation { marginals, kl } = posterior.evaluate(&kernel.into(), x.clone()).unwrap();
        let likelihood = Gaussian::new(case.noise, options);
        let fit = likelihood.expected_log_density(y.clone(), marginals).sum();
        let loss = scalar(kl - fit);
        assert!(bound <= loss + 1e-9, "{what}: {bound} and {loss}");
    }
}

/// With unit vectors the collapsed process has inducing points at the data. Its variance is below
/// the exact one, whereas the computation-aware variance is above it.
#[test]
fn variances_are_on_either_side_of_the_exact_ones() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        for seed in 0..10 {
            let case = Case::new(40 + seed, 2, 0.02 + 0.02 * seed as f64);
            let policy = Iterations::new(IterationRule::UnitVectors, 8, 0.0);
            let points = case.x[..8].to_vec();
            let at = tensor(&points, options);
            let collapsed = case.collapsed(InducingPoints::new(at.clone()), options);
            let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
            let variance = |process: &dyn Process| values(process.marginals(at.clone()).variance);
            let below = variance(&collapsed.condition(x.clone(), y.clone()).unwrap());
            let above = variance(&case.model(policy, options).condition(x, y).unwrap());
            let exact = case.exact(&points);
            for i in 0..8 {
                assert!(below[i] <= exact[i][i] + 1e-10, "{name}");
                assert!(above[i] >= exact[i][i] - 1e-10, "{name}");
            }
        }
    }
}

/// Theorem S2 in its finite form: with `w = C·k(X, x)`,
/// `k(x, x) + σ² − 2wᵀk(X, x) + wᵀK̂w = k_i(x, x) + σ²`.
#[test]
fn the_variance_is_the_largest_squared_error_of_the_unit_ball() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(40, 2, 0.05);
        let actions = case.actions(6, 2);
        let (_, covariance) = case.predicted(dense(&actions, options), options);
        let cross = case.covariance(&case.x, &case.new_x);
        let w = product(&case.precision(&actions), &cross);
        let moved = product(&case.noisy(), &w);
        for i in 0..7 {
            let sum = |a: &Matrix, b: &Matrix| (0..40).map(|n| a[n][i] * b[n][i]).sum::<f64>();
            let error = case.variance - 2.0 * sum(&w, &cross) + sum(&w, &moved);
            assert_close(covariance[i * 7 + i], error, 1e-10, name);
        }
    }
}

/// The action belongs to a point far away, so it has no information and the loss is that of the
/// prior.
#[test]
fn targets_of_zero_leave_the_prior() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let mut case = Case::new(20, 2, 0.05);
        case.y.iter_mut().for_each(|row| row[0] = 0.0);
        let policy = Iterations::new(IterationRule::Residuals, 5, 1e-4);
        let (mean, covariance) = case.predicted(policy, options);
        assert!(mean.iter().all(|mean| mean.abs() < 1e-12), "{name}");
        assert!(covariance.iter().all(|value| value.is_finite()), "{name}");
    }
}

/// The exact process and evidence of dense algebra agree with the library's exact regression.
#[test]
fn exact_regression_is_the_limit() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(30, 2, 0.1);
        let exact = Exact::new(
            case.kernel(options),
            ZeroMean::new(1),
            Gaussian::new(case.noise, options),
        );
        let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
        let evidence = scalar(exact.full_objective(x, y).unwrap());
        let policy = Iterations::new(IterationRule::UnitVectors, 30, 0.0);
        let ours = case.loss(policy, ActionLoss::Evidence, options);
        assert_close(-ours, evidence, 1e-8, name);
    }
}
