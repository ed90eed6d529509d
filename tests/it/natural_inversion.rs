//! Natural-gradient matrix inversion (S. Cortinovis, L. Aitchison, S. Eleftheriadis and M. van der
//! Wilk, *Inverse-Free Sparse Variational Gaussian Processes*, arXiv:2604.00697, section 3)
//! compared with dense formulas.

use crate::support::{
    Dense, Platform, Random, assert_close, double_precision_platforms,
    inverse_free_case::InverseFreeCase, numbers, platforms,
};
use burn::tensor::Tensor;
use burn_gp_core::{
    ops::{congruence, transposed_triangular_product},
    optim::{InversionStop, NaturalInversion, StepSizes, newton_schulz_step, safe_start},
};

fn step(platform: &Platform, matrix: &Dense, lower: &Dense, step_size: f64) -> Dense {
    let (matrix, lower) = (platform.matrix(matrix), platform.matrix(lower));
    let size = lower.dims()[0];
    let next = congruence(matrix, lower.clone()).descend(lower, step_size);
    Dense::new(size, size, numbers(next))
}

fn norm(matrix: &Dense) -> f64 {
    matrix.values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn times_transposed(lower: &Dense) -> Dense {
    lower.times(&lower.transposed())
}

/// A lower-triangular matrix with a positive diagonal.
fn positive_triangle(random: &mut Random, size: usize) -> Dense {
    let mut lower = random.lower_triangle(size);
    for i in 0..size {
        lower[(i, i)] = lower[(i, i)].abs();
    }
    lower
}

/// T8: the step solves `F·g̃ = g` with the Fisher matrix `F = (I ⊗ L⁻ᵀ)(I + C)(I ⊗ L⁻¹)` of
/// column-stacked L and the Euclidean gradient `g = AL − L⁻ᵀ`.
#[test]
fn the_step_is_the_natural_gradient() {
    let size = 4;
    for platform in double_precision_platforms() {
        let mut random = Random::new(3);
        let (matrix, lower) = (
            random.positive_definite(size),
            positive_triangle(&mut random, size),
        );
        let inverse = lower.solve_lower(&Dense::identity(size));
        // vec stacks columns: entry (i, j) is at i + size·j.
        let stacked = |m: &Dense| -> Dense {
            Dense::from_function(size * size, 1, |k, _| m[(k % size, k / size)])
        };
        let block = |m: &Dense| {
            Dense::from_function(size * size, size * size, |k, l| {
                if k / size == l / size {
                    m[(k % size, l % size)]
                } else {
                    0.0
                }
            })
        };
        let commutation = Dense::from_function(size * size, size * size, |k, l| {
            let (i, j) = (k % size, k / size);
            if l == j + size * i { 1.0 } else { 0.0 }
        });
        let middle = Dense::identity(size * size).plus(&commutation);
        let fisher = block(&inverse.transposed())
            .times(&middle)
            .times(&block(&inverse));
        let gradient = matrix.times(&lower).minus(&inverse.transposed());
        for step_size in [1.0, 0.25] {
            let next = step(&platform, &matrix, &lower, step_size);
            let direction = lower.minus(&next).scaled(1.0 / step_size);
            let product = fisher.times(&stacked(&direction));
            let what = format!("{platform}, step size {step_size}");
            assert_close(&what, &product.values, &stacked(&gradient).values, 1e-9);
        }
    }
}

/// T9 and T10: the step in T, and the additional terms of the step in L.
#[test]
fn steps_in_both_spaces() {
    for platform in double_precision_platforms() {
        let mut random = Random::new(5);
        let size = 20;
        let matrix = random.positive_definite(size);
        let root = matrix.inverse().cholesky();
        let noise = random.matrix(size, size).lower().scaled(0.05);
        let lower = root.times(&Dense::identity(size).plus(&noise));
        let inverse = times_transposed(&lower);
        let tensors = || (platform.matrix(&matrix), platform.matrix(&inverse));
        let (a, t) = tensors();
        let next = Dense::new(size, size, numbers(newton_schulz_step(a, t, 1.0)));
        let expected = inverse
            .scaled(2.0)
            .minus(&inverse.times(&matrix).times(&inverse));
        assert_close("Newton-Schulz", &next.values, &expected.values, 1e-12);
        let residual = |t: &Dense| Dense::identity(size).minus(&t.times(&matrix));
        let before = residual(&inverse);
        let after = residual(&next);
        assert_close(
            "residual",
            &after.values,
            &before.times(&before).values,
            1e-10,
        );
        let (a, t) = tensors();
        let half = numbers(newton_schulz_step(a, t, 0.5));
        let middle = inverse.plus(&expected).scaled(0.5);
        assert_close("half a step", &half, &middle.values, 1e-12);

        let moved = step(&platform, &matrix, &lower, 1.0);
        let direction = lower.minus(&moved); // LΦ
        let difference = times_transposed(&moved).minus(&next);
        let expected = direction.times(&direction.transposed());
        assert_close("L against T", &difference.values, &expected.values, 1e-10);
        let still = step(&platform, &matrix, &root, 1.0).minus(&root);
        assert!(norm(&still) < 1e-9, "{platform}: fixed point");
    }
}

/// T11: `‖E⁺‖ ≤ (√2 + ½)e² + ½e³`.
#[test]
fn convergence_is_quadratic() {
    for platform in double_precision_platforms() {
        let mut random = Random::new(7);
        let mut checked = 0;
        for size in [1, 3, 20] {
            for scale in [1e-5, 1e-4, 1e-3, 1e-2, 5e-2, 0.1, 0.3] {
                let matrix = random.positive_definite(size);
                let noise = random
                    .matrix(size, size)
                    .lower()
                    .scaled(scale / size as f64);
                let root = matrix.inverse().cholesky();
                let lower = root.times(&Dense::identity(size).plus(&noise));
                let distance = |lower: &Dense| {
                    let inner = lower.transposed().times(&matrix).times(lower);
                    norm(&inner.minus(&Dense::identity(size)))
                };
                let before = distance(&lower);
                if !(1e-5..0.46).contains(&before) {
                    continue;
                }
                checked += 1;
                let after = distance(&step(&platform, &matrix, &lower, 1.0));
                let bound = (2f64.sqrt() + 0.5) * before.powi(2) + 0.5 * before.powi(3);
                // The rounding error of LᵀAL.
                assert!(
                    after <= bound + 1e-13,
                    "{platform}, {size}: {before} to {after}"
                );
            }
        }
        assert!(checked > 10, "{checked} starts were close enough");
    }
}

/// T12: convergence from `1e-3·I` in at most 50 steps, with the law of the diagonal at each step.
#[test]
fn a_cold_start_converges() {
    for platform in double_precision_platforms() {
        let case = InverseFreeCase::new(1);
        let matrix = case.noisy();
        let size = matrix.rows;
        let mut lower = Dense::identity(size).scaled(1e-3);
        for _ in 0..50 {
            let inner = lower.transposed().times(&matrix).times(&lower);
            let next = step(&platform, &matrix, &lower, 1.0);
            for i in 0..size {
                let law = lower[(i, i)] * (1.0 - 0.5 * (inner[(i, i)] - 1.0));
                let error = (next[(i, i)] - law).abs();
                assert!(
                    error <= 1e-12 * law.abs().max(1.0),
                    "{platform}: diagonal {i}"
                );
                assert!(
                    next[(i, i)] > 0.0,
                    "{platform}: L_{i}{i} is {}",
                    next[(i, i)]
                );
                assert!(
                    (i + 1..size).all(|j| next[(i, j)] == 0.0),
                    "{platform}: lower"
                );
            }
            lower = next;
        }
        let inverse = matrix.inverse();
        assert_close(
            "inverse",
            &times_transposed(&lower).values,
            &inverse.values,
            1e-5,
        );
    }
}

/// T13: the gradient of `½(tr(ALLᵀ) − log|LLᵀ|)` with respect to L by autodiff. The step decreases
/// this divergence.
#[test]
fn the_step_descends_the_divergence() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        let mut random = Random::new(11);
        let size = 12;
        let (matrix, lower) = (
            random.positive_definite(size),
            positive_triangle(&mut random, size),
        );
        let triangle = tracked.matrix(&lower).require_grad();
        let rows = transposed_triangular_product(triangle.clone(), tracked.matrix(&matrix));
        let inner = transposed_triangular_product(triangle.clone(), rows.transpose());
        let identity = tracked.matrix(&Dense::identity(size));
        let logarithms = ((triangle.clone() * identity.clone()).sum_dim(1))
            .log()
            .sum();
        let kl = (inner * identity).sum() * 0.5 - logarithms;
        let gradients = kl.backward();
        let gradient = numbers(triangle.grad(&gradients).expect("it is tracked"));
        let expected = matrix
            .times(&lower)
            .minus(&lower.solve_lower(&Dense::identity(size)).transposed())
            .lower();
        assert_close("gradient", &gradient, &expected.values, 1e-8);
        let direction = step(&platform, &matrix, &lower, 1.0).minus(&lower);
        let slope: f64 = (gradient.iter().zip(&direction.values))
            .map(|(g, d)| g * d)
            .sum();
        assert!(slope < 0.0, "{platform}: slope {slope}");
    }
}

/// T19: step sizes grow by equal factors.
#[test]
fn step_sizes_grow_by_equal_factors() {
    let sizes = StepSizes::LOG_LINEAR;
    assert!((sizes.at(0) - 1e-5).abs() <= 1e-17);
    for step in 0..9 {
        let expected = 1e-5 * 10f64.powf(5.0 * step as f64 / 9.0);
        assert!((sizes.at(step) - expected).abs() <= 1e-12, "step {step}");
    }
    for step in 9..30 {
        assert_eq!(sizes.at(step), 1.0, "step {step}");
    }
    assert_eq!(StepSizes::FULL.at(0), 1.0);
    assert_eq!(StepSizes::Constant { step_size: 0.3 }.at(17), 0.3);
    assert_eq!(
        StepSizes::LogLinear {
            first: 1e-5,
            steps: 1
        }
        .at(0),
        1.0
    );
}

/// The schedule restarts in every call. With nine steps per call no step has size one, and the
/// residual hardly changes over any number of calls.
#[test]
fn the_schedule_restarts_in_every_call() {
    for platform in double_precision_platforms() {
        let matrix = platform.matrix(&InverseFreeCase::new(1).noisy());
        let inversion = NaturalInversion {
            step_sizes: StepSizes::LOG_LINEAR,
            tolerance: 1e-8,
            max_steps: 5,
            patience: None,
        };
        let mut lower = safe_start(&matrix);
        let first = inversion.run(&matrix, lower.clone()).report.residual;
        for _ in 0..10 {
            let result = inversion.run(&matrix, lower);
            assert_eq!(result.report.stop, InversionStop::StepLimit);
            lower = result.lower;
        }
        let last = inversion.run(&matrix, lower.clone()).report.residual;
        assert!(last > 0.9 * first, "{platform}: {first} to {last}");
        let enough = NaturalInversion {
            max_steps: 60,
            ..inversion
        };
        let report = enough.run(&matrix, lower).report;
        assert_eq!(
            report.stop,
            InversionStop::Converged,
            "{platform}: {report:?}"
        );
        assert!(report.steps > 10, "{report:?}");
    }
}

/// [`safe_start`] is `βI`, and no eigenvalue of `β²A` exceeds one.
#[test]
fn the_safe_start_is_below_the_inverse() {
    for platform in platforms() {
        let dense = InverseFreeCase::new(1).noisy();
        let start: Tensor<2> = safe_start(&platform.matrix(&dense));
        let rows = (0..20).map(|i| dense.row(i).iter().map(|x| x.abs()).sum::<f64>());
        let beta = rows.fold(0.0, f64::max).sqrt().recip();
        let expected = Dense::identity(20).scaled(beta);
        assert_close(
            &format!("{platform}"),
            &numbers(start),
            &expected.values,
            1e-6,
        );
        let rest = Dense::identity(20).minus(&dense.scaled(beta * beta * (1.0 - 1e-12)));
        let lowest = rest.plus(&Dense::identity(20).scaled(1e-12)).cholesky();
        assert!(lowest.diagonal().iter().all(|pivot| *pivot > 0.0));
    }
}

/// Steps that are not read lead to the same L, also from a start that diverges, and change nothing
/// if the matrix is not finite.
#[test]
fn steps_without_reads_are_the_same() {
    for platform in platforms() {
        let mut random = Random::new(331);
        let size = 20;
        let matrix = random.positive_definite(size);
        let tensor = platform.matrix(&matrix);
        let root = matrix.inverse().cholesky();
        let tolerance = platform.tolerance(1e-10, 1e-4);
        for step_sizes in [StepSizes::FULL, StepSizes::LOG_LINEAR] {
            let inversion = NaturalInversion {
                step_sizes,
                patience: None,
                ..NaturalInversion::default()
            };
            // A restart takes a step of its own here, which moves sizes that grow.
            let restarts = (step_sizes == StepSizes::FULL).then_some(40.0);
            for scale in [1.01, 1.5].into_iter().chain(restarts) {
                let start = || platform.matrix(&root.scaled(scale));
                let expected = inversion.run(&tensor, start());
                let ours = inversion.run_unread(&tensor, start(), 40);
                let what = format!("{platform}, {step_sizes:?}, from {scale} times the root");
                let (ours, expected) = (numbers(ours), numbers(expected.lower));
                assert_close(&what, &ours, &expected, tolerance);
            }
            let start = platform.matrix(&root);
            let kept = inversion.run_unread(&(tensor.clone() * f64::NAN), start.clone(), 40);
            assert_eq!(numbers(kept), numbers(start), "{platform}");
        }
    }
}
