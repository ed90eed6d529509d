//! Computation-aware regression against dense algebra (arXiv:2411.01036): exactness, invariances,
//! order of the variances, the recursion.

mod reference;

use burn::tensor::{DType, Device, Tensor};
use burn_gp::{
    inducing::InducingPoints,
    inference::{
        ActionLoss, ActionPolicy, BlockActions, Collapsed, ComputationAware, DenseActions, Exact,
        FullBatch, Iterated, IterationRule, Iterations, Regression,
    },
    kernels::StationaryKernel,
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Blocks, Jitter, Stationary},
    variational::Process,
};
use reference::{
    Matrix, Random, add_diagonal, assert_all_close, assert_close, cholesky, combine,
    double_precision, log_determinant, log_normal, product, rows, scalar, solve, solve_lower,
    tensor, trace, transpose, values,
};

/// A regression problem in the plane and what dense algebra makes of it.
struct Case {
    x: Matrix,
    y: Matrix,
    new_x: Matrix,
    noise: f64,
    variance: f64,
    lengthscales: Vec<f64>,
}

impl Case {
    fn new(rows: usize, dimensions: usize, noise: f64) -> Self {
        let mut random = Random(3 * rows as u64 + 1);
        let x = random.uniform_rows(rows, dimensions, -2.0, 2.0);
        let y = x.iter().map(|point| {
            let total: f64 = point.iter().sum();
            vec![(2.0 * total).sin() + noise.sqrt() * random.normal()]
        });
        Self {
            y: y.collect(),
            new_x: random.uniform_rows(7, dimensions, -3.0, 3.0),
            x,
            noise,
            variance: 1.4,
            lengthscales: (0..dimensions).map(|d| 0.7 + 0.2 * d as f64).collect(),
        }
    }

    /// Matérn-3/2 (Rasmussen and Williams, 2006, eq. 4.17).
    fn covariance(&self, a: &Matrix, b: &Matrix) -> Matrix {
        let k = |a: &Vec<f64>, b: &Vec<f64>| {
            let scaled = a.iter().zip(b).zip(&self.lengthscales);
            let square: f64 = scaled.map(|((a, b), l)| ((a - b) / l).powi(2)).sum();
            let s = (3.0 * square).sqrt();
            self.variance * (1.0 + s) * (-s).exp()
        };
        a.iter()
            .map(|a| b.iter().map(|b| k(a, b)).collect())
            .collect()
    }

    /// `K̂ = K + σ²I`
    fn noisy(&self) -> Matrix {
        add_diagonal(self.covariance(&self.x, &self.x), self.noise)
    }

    fn y(&self) -> Vec<f64> {
        self.y.concat()
    }

    fn negative_evidence(&self) -> f64 {
        -log_normal(&self.y(), &self.noisy())
    }

    fn actions(&self, count: usize, seed: u64) -> Matrix {
        let mut random = Random(seed);
        let row = |_| (0..count).map(|_| random.normal()).collect();
        (0..self.x.len()).map(row).collect()
    }

    /// `C = S(SᵀK̂S)⁻¹Sᵀ`
    fn precision(&self, actions: &Matrix) -> Matrix {
        let inner = product(&transpose(actions), &product(&self.noisy(), actions));
        product(actions, &solve(&inner, &transpose(actions)))
    }

    /// The mean and the covariance at `at` of the posterior that has seen `Sᵀy`.
    fn posterior(&self, actions: &Matrix, at: &Matrix) -> (Vec<f64>, Matrix) {
        let cross = self.covariance(at, &self.x);
        let gain = product(&cross, &self.precision(actions));
        let explained = product(&gain, &transpose(&cross));
        let mean = product(&gain, &self.y).concat();
        (mean, combine(&self.covariance(at, at), &explained, -1.0))
    }

    fn exact(&self, at: &Matrix) -> Matrix {
        let cross = self.covariance(at, &self.x);
        let explained = product(&cross, &solve(&self.noisy(), &transpose(&cross)));
        combine(&self.covariance(at, at), &explained, -1.0)
    }

    fn kernel(&self, options: (&Device, DType)) -> StationaryKernel {
        let kind = Stationary::Matern32;
        StationaryKernel::new(kind, &self.lengthscales, self.variance, options)
    }

    fn model<A: ActionPolicy>(
        &self,
        policy: A,
        options: (&Device, DType),
    ) -> ComputationAware<StationaryKernel, ZeroMean, A> {
        let likelihood = Gaussian::new(self.noise, options);
        ComputationAware::new(self.kernel(options), ZeroMean::new(1), likelihood, policy)
    }

    fn loss<A: ActionPolicy>(&self, policy: A, loss: ActionLoss, options: (&Device, DType)) -> f64 {
        let model = self.model(policy, options).with_loss(loss);
        let (x, y) = (tensor(&self.x, options), tensor(&self.y, options));
        -scalar(model.objective(x, y).unwrap())
    }

    /// Mean and covariance at the new inputs by the library.
    fn predicted<A: ActionPolicy>(
        &self,
        policy: A,
        options: (&Device, DType),
    ) -> (Vec<f64>, Vec<f64>) {
        let (x, y) = (tensor(&self.x, options), tensor(&self.y, options));
        let process = self.model(policy, options).condition(x, y).unwrap();
        let new_x = tensor(&self.new_x, options);
        let joint = process.joint(new_x.clone());
        let variance = values(process.marginals(new_x).variance);
        let covariance = values(joint.covariance);
        let count = self.new_x.len();
        let diagonal: Vec<f64> = (0..count).map(|i| covariance[i * count + i]).collect();
        assert_all_close(&variance, &diagonal, 1e-10, "marginals of the joint");
        (values(joint.mean), covariance)
    }

    fn iterate(&self, rule: IterationRule, count: usize, options: (&Device, DType)) -> Iterated {
        let problem = Regression {
            kernel: &self.kernel(options),
            noise: &Tensor::from_data([self.noise], options),
            inputs: &tensor(&self.x, options),
            residual: &tensor(&self.y, options),
        };
        Iterations::new(rule, count, 0.0).run(&problem).unwrap()
    }
}

fn dense(actions: &Matrix, options: (&Device, DType)) -> DenseActions {
    DenseActions::new(tensor(actions, options))
}

/// Orthonormal columns by Gram and Schmidt, twice.
fn orthonormal(actions: &Matrix) -> Matrix {
    let mut columns = transpose(actions);
    for j in 0..columns.len() {
        for _ in 0..2 {
            for i in 0..j {
                let dot: f64 = columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).sum();
                let earlier = columns[i].clone();
                for (value, earlier) in columns[j].iter_mut().zip(earlier) {
                    *value -= dot * earlier;
                }
            }
            let norm = columns[j].iter().map(|v| v * v).sum::<f64>().sqrt();
            columns[j].iter_mut().for_each(|value| *value /= norm);
        }
    }
    transpose(&columns)
}

/// All of an orthonormal basis: the exact posterior and the evidence, by either loss. The tolerance
/// is that of 60 points with condition number about 1e4.
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
        let (expected, _) = case.posterior(&orthonormal(&case.actions(60, 5)), &case.new_x);
        assert_all_close(&mean, &expected, 1e-8, name);
        assert_all_close(&covariance, &case.exact(&case.new_x).concat(), 1e-8, name);
    }
}

/// Eq. 5, and eq. 10: the negative evidence plus the divergence from the exact posterior at the data.
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
            let divergence = 0.5
                * (trace(&solve(&exact, &covariance)) + distance - points as f64
                    + log_determinant(&exact)
                    - log_determinant(&covariance));
            let ours = case.loss(dense(&actions, options), ActionLoss::Evidence, options);
            // Of the dense divergence, whose matrices have condition numbers of about 1e6.
            assert_close(ours, case.negative_evidence() + divergence, 1e-8, name);

            let basis = orthonormal(&actions);
            let seen = product(&transpose(&basis), &product(&case.noisy(), &basis));
            let projected = product(&transpose(&basis), &case.y).concat();
            let ours = case.loss(dense(&actions, options), ActionLoss::Projected, options);
            assert_close(ours, -log_normal(&projected, &seen), 1e-9, name);
        }
    }
}

/// Invertible combinations, permutations and scalings of the columns of S.
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

/// Block-sparse actions are those of the same matrix S.
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

/// Unit vectors: exact regression on a part of the data.
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
        let (_, covariance) = case.predicted(policy, options);
        assert_all_close(&covariance, &some.exact(&case.new_x).concat(), 1e-10, name);
    }
}

/// `k ≥ k_i ≥ k_j ≥ k*` for nested actions, as matrices: the smallest pivot of the differences.
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
                // The factor exists if and only if the difference is positive definite; rounding
                // is far below what is added.
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

/// `−log p(y) ≤ collapsed at u = Sᵀf ≤ computation-aware`; with unit vectors the collapsed bound is
/// that of inducing points at the data, whose variance there is below the exact one, where the
/// computation-aware is above.
#[test]
fn bounds_are_in_order_and_variances_on_either_side() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        for seed in 0..10 {
            let case = Case::new(40 + seed, 2, 0.02 + 0.02 * seed as f64);
            let policy = Iterations::new(IterationRule::UnitVectors, 8, 0.0);
            let ours = case.loss(policy.clone(), ActionLoss::Evidence, options);
            let points = case.x[..8].to_vec();
            let collapsed = Collapsed::new(
                case.kernel(options),
                ZeroMean::new(1),
                Gaussian::new(case.noise, options),
                InducingPoints::new(tensor(&points, options)),
                Jitter::relative(1e-12),
            );
            let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
            let bound = -scalar(collapsed.objective(x.clone(), y.clone()).unwrap());
            assert!(case.negative_evidence() <= bound + 1e-9, "{name}: {bound}");
            assert!(bound <= ours + 1e-9, "{name}: {bound} and {ours}");
            let at = tensor(&points, options);
            let below = values(
                collapsed
                    .condition(x.clone(), y.clone())
                    .unwrap()
                    .marginals(at.clone())
                    .variance,
            );
            let process = case.model(policy, options).condition(x, y).unwrap();
            let above = values(process.marginals(at).variance);
            let exact = case.exact(&points);
            for i in 0..8 {
                // The collapsed process has jitter on top, 1e-12 of the variance.
                assert!(below[i] <= exact[i][i] + 1e-9, "{name}");
                assert!(above[i] >= exact[i][i] - 1e-10, "{name}");
            }
        }
    }
}

#[test]
fn the_recursion_is_the_batch_form() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(45, 2, 0.05);
        let iterated = case.iterate(IterationRule::RandomVectors, 8, options);
        let actions = rows(iterated.actions);
        let precision = case.precision(&actions);
        let directions = rows(iterated.directions);
        let ours = product(&directions, &transpose(&directions));
        assert_all_close(&ours.concat(), &precision.concat(), 1e-10, name);
        let weights = product(&precision, &case.y).concat();
        assert_all_close(&values(iterated.weights), &weights, 1e-10, name);
        // CK̂C = C, (CK̂)² = CK̂.
        let moved = product(&ours, &case.noisy());
        assert_all_close(
            &product(&moved, &ours).concat(),
            &ours.concat(),
            1e-10,
            name,
        );
        assert_all_close(
            &product(&moved, &moved).concat(),
            &moved.concat(),
            1e-10,
            name,
        );
    }
}

/// By residuals: the iterates of conjugate gradients, orthogonal residuals, and the Krylov space, of
/// which the directions of conjugate gradients are a basis.
#[test]
fn residuals_make_conjugate_gradients() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(80, 3, 0.5);
        let noisy = case.noisy();
        // Hestenes and Stiefel, with residuals made orthogonal to earlier ones.
        let (mut v, mut r) = (vec![0.0; 80], case.y());
        let mut direction = r.clone();
        let mut earlier: Vec<Vec<f64>> = Vec::new();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for count in 1..=10 {
            let column: Matrix = direction.iter().map(|&d| vec![d]).collect();
            let moved = product(&noisy, &column).concat();
            let step = dot(&r, &r) / dot(&direction, &moved);
            earlier.push(r.clone());
            let before = dot(&r, &r);
            for i in 0..80 {
                v[i] += step * direction[i];
                r[i] -= step * moved[i];
            }
            for e in &earlier {
                let share = dot(e, &r) / dot(e, e);
                r.iter_mut().zip(e).for_each(|(r, e)| *r -= share * e);
            }
            let momentum = dot(&r, &r) / before;
            direction = r
                .iter()
                .zip(&direction)
                .map(|(r, d)| r + momentum * d)
                .collect();
            let iterated = case.iterate(IterationRule::Residuals, count, options);
            assert_all_close(&values(iterated.weights), &v, 1e-8, name);
            let relative = dot(&r, &r).sqrt() / dot(&case.y(), &case.y()).sqrt();
            assert_close(*iterated.residuals.last().unwrap(), relative, 1e-8, name);
            let actions = rows(iterated.actions);
            let gram = product(&transpose(&actions), &actions);
            let identity = add_diagonal(vec![vec![0.0; count]; count], 1.0);
            assert_all_close(&gram.concat(), &identity.concat(), 1e-12, name);
            // The last direction of conjugate gradients lies in the span of one action more.
            let next = case.iterate(IterationRule::Residuals, count + 1, options);
            let actions = rows(next.actions);
            let column: Matrix = direction.iter().map(|&d| vec![d]).collect();
            let within = product(&actions, &product(&transpose(&actions), &column)).concat();
            assert_all_close(&within, &direction, 1e-8, name);
        }
    }
}

/// Preconditioned or not, the residuals end at the solution; with all pivots in one step.
#[test]
fn preconditioned_residuals_end_at_the_solution() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(40, 2, 0.05);
        let solution = solve(&case.noisy(), &case.y).concat();
        for rule in [
            IterationRule::Residuals,
            IterationRule::PreconditionedResiduals { rank: 10 },
        ] {
            let iterated = case.iterate(rule, 40, options);
            assert_all_close(&values(iterated.weights), &solution, 1e-7, name);
        }
        let rule = IterationRule::PreconditionedResiduals { rank: 40 };
        let first = case.iterate(rule, 1, options).residuals[0];
        // The pivots' own jitter, 1e-8 relative, is all that is missing.
        assert!(first < 1e-4, "{name}: {first}");
    }
}

/// `½(log|M| − log|G| − I·log σ²) ≤ ½Σ_j≤I log(λ_j/σ²)`, with equality at the eigenvectors.
#[test]
fn eigenvectors_tell_most_about_the_function() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(30, 2, 0.05);
        let information = |actions: &Matrix| {
            let inner = product(&transpose(actions), &product(&case.noisy(), actions));
            let gram = product(&transpose(actions), actions);
            let count = actions[0].len() as f64;
            0.5 * (log_determinant(&inner) - log_determinant(&gram) - count * case.noise.ln())
        };
        let best = rows(
            case.iterate(IterationRule::Eigenvectors, 6, options)
                .actions,
        );
        let moved = product(&case.noisy(), &best);
        let mut expected = 0.0;
        for j in 0..6 {
            // K̂u = λu
            let value: f64 = (0..30).map(|i| best[i][j] * moved[i][j]).sum();
            (0..30).for_each(|i| assert_close(moved[i][j], value * best[i][j], 1e-10, name));
            expected += 0.5 * (value / case.noise).ln();
        }
        assert_close(information(&best), expected, 1e-10, name);
        for seed in 0..20 {
            assert!(
                information(&case.actions(6, 20 + seed)) <= expected + 1e-10,
                "{name}"
            );
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

/// No action at all that says anything: the loss of the prior, by an action of a point far away.
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

/// The exact process and the exact evidence agree with the library's own.
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
        let evidence = scalar(exact.objective(x, y).unwrap());
        let policy = Iterations::new(IterationRule::UnitVectors, 30, 0.0);
        let ours = case.loss(policy, ActionLoss::Evidence, options);
        assert_close(-ours, evidence, 1e-8, name);
        let lower = cholesky(&case.noisy());
        let whitened = solve_lower(&lower, &case.y).concat();
        assert!(whitened.iter().all(|value| value.is_finite()));
    }
}
