//! Iterative actions compared with dense algebra (arXiv:2205.15449, arXiv:2411.01036).

use crate::reference::{
    Matrix, actions::Case, add_diagonal, assert_all_close, assert_close, double_precision,
    log_determinant, product, rows, solve, tensor, transpose, values,
};
use burn::tensor::{DType, Tensor};
use burn_gp_core::inference::{IterationRule, Iterations, Regression};

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

/// As many actions as data: `C = K̂⁻¹`.
#[test]
fn with_as_many_actions_as_data_the_precision_is_the_inverse() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(60, 2, 0.01);
        for rule in [IterationRule::UnitVectors, IterationRule::Eigenvectors] {
            let directions = rows(case.iterate(rule, 60, options).directions);
            let ours = product(&directions, &transpose(&directions));
            let identity = add_diagonal(vec![vec![0.0; 60]; 60], 1.0);
            let inverse = solve(&case.noisy(), &identity);
            assert_all_close(&ours.concat(), &inverse.concat(), 1e-8, name);
        }
    }
}

/// Actions from residuals give the iterates of conjugate gradients, orthogonal residuals and the
/// Krylov space, whose basis are the directions of conjugate gradients.
#[test]
fn residuals_make_conjugate_gradients() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(80, 3, 0.5);
        let noisy = case.noisy();
        // The algorithm of Hestenes and Stiefel, with reorthogonalized residuals.
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
            // The last direction of conjugate gradients lies in the span with one more action.
            let next = case.iterate(IterationRule::Residuals, count + 1, options);
            let actions = rows(next.actions);
            let column: Matrix = direction.iter().map(|&d| vec![d]).collect();
            let within = product(&actions, &product(&transpose(&actions), &column)).concat();
            assert_all_close(&within, &direction, 1e-8, name);
        }
    }
}

/// With and without a preconditioner, the iteration converges to the solution. With all pivots it
/// takes one step.
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
        // The only error is from the jitter of the pivots, a relative 1e-8.
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

/// NaN inputs give no initial action, which is an error. Without iterations there is an action.
#[test]
fn what_is_not_a_number_is_an_error() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let rules = [
            IterationRule::Residuals,
            IterationRule::PreconditionedResiduals { rank: 2 },
            IterationRule::UnitVectors,
            IterationRule::RandomVectors,
        ];
        for rule in rules {
            let case = Case::new(6, 2, 0.05);
            let kernel = case.kernel(options);
            let run = |count: usize, shift: f64| {
                let mut x = case.x.clone();
                x[0][0] += shift;
                let problem = Regression {
                    kernel: &kernel,
                    noise: &Tensor::from_data([case.noise], options),
                    inputs: &tensor(&x, options),
                    residual: &tensor(&case.y, options),
                };
                Iterations::new(rule, count, 0.0).run(&problem)
            };
            assert_eq!(run(0, 0.0).unwrap().residuals.len(), 1, "{name}, {rule:?}");
            assert!(run(3, f64::INFINITY).is_err(), "{name}, {rule:?}");
            assert!(run(3, f64::NAN).is_err(), "{name}, {rule:?}");
        }
    }
}
