//! Natural-gradient matrix inversion (S. Cortinovis, L. Aitchison, S. Eleftheriadis and M. van der
//! Wilk, *Inverse-Free Sparse Variational Gaussian Processes*, arXiv:2604.00697, section 3) against
//! dense formulas.

mod support;

use burn::tensor::{Tensor, Tolerance};
use burn_gp::{
    ops::{congruence, transposed_triangular_product},
    optim::{
        COLD_STEPS, InversionStop, NaturalInversion, StepSizes, StoppingRule, VarianceGap,
        newton_schulz_step, safe_start,
    },
};
use support::{
    Dense, Platform, Random, assert_close, double_precision_platforms,
    inverse_free_case::InverseFreeCase, largest, numbers, platforms,
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

/// A lower triangle with a positive diagonal.
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

/// T9 and T10: the step in T, and what the step in L adds to it.
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
                // Rounding of LᵀAL itself.
                assert!(
                    after <= bound + 1e-13,
                    "{platform}, {size}: {before} to {after}"
                );
            }
        }
        assert!(checked > 10, "{checked} starts were close enough");
    }
}

/// T12: from `1e-3·I`, in at most 50 steps, with the law of the diagonal at each.
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

/// T13: autodiff's gradient of `½(tr(ALLᵀ) − log|LLᵀ|)` in L, and that the step descends it.
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
        let divergence = (inner * identity).sum() * 0.5 - logarithms;
        let gradients = divergence.backward();
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

/// T19.
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

/// The schedule starts anew in every call: with nine steps a call none is of size one, and the
/// residual hardly moves however often it is called.
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

/// The residual is checked before every step, so that a good start needs none; the result is good.
#[test]
fn inversion_stops_at_its_tolerance() {
    for platform in platforms() {
        let dense = InverseFreeCase::new(1).noisy();
        let matrix = platform.matrix(&dense);
        let inversion = NaturalInversion::default();
        let cold = inversion.run(&matrix, safe_start(&matrix));
        assert_eq!(cold.report.stop, InversionStop::Converged, "{platform}");
        assert!(
            cold.report.residual < 5e-3 && cold.report.steps > 3,
            "{:?}",
            cold.report
        );
        assert_eq!(cold.report.resets, 0);
        let again = inversion.run(&matrix, cold.lower.clone());
        assert_eq!(
            (again.report.steps, again.report.stop),
            (0, InversionStop::Converged)
        );
        again
            .lower
            .into_data()
            .assert_eq(&cold.lower.clone().into_data(), true);
        let one = NaturalInversion::ONE_STEP.run(&matrix, cold.lower);
        assert_eq!(
            (one.report.steps, one.report.stop),
            (1, InversionStop::StepLimit)
        );
    }
}

/// Rounding holds the residual up; in single precision that is the end, at about 1e-8·κ.
#[test]
fn inversion_stops_where_rounding_holds_it_up() {
    for platform in platforms() {
        let matrix = platform.matrix(&InverseFreeCase::new(1).noisy());
        let inversion = NaturalInversion {
            tolerance: 0.0,
            ..NaturalInversion::default()
        };
        let result = inversion.run(&matrix, safe_start(&matrix));
        assert_eq!(result.report.stop, InversionStop::Plateau, "{platform}");
        assert!(result.report.steps < 50, "{:?}", result.report);
        let floor = platform.tolerance(1e-12, 1e-4);
        assert!(
            result.report.residual < floor,
            "{platform}: {:?}",
            result.report
        );
        let (distance, _) = congruence(matrix, result.lower).distance_from_identity();
        let residual = distance / (20f64).sqrt();
        assert!(
            residual <= 1.001 * result.report.residual,
            "the best L is returned"
        );
    }
}

/// After a jump of the matrix by which the iteration would diverge, L starts anew and converges, for
/// every size of step allowed; without a guard some of these blow up.
#[test]
fn inversion_survives_jumps() {
    for platform in platforms() {
        let mut random = Random::new(13);
        let (mut resets, mut blown_up) = (0, 0);
        for trial in 0..40 {
            let dense = InverseFreeCase::with_seed(1, trial).noisy();
            let before = platform.matrix(&dense);
            let settled = NaturalInversion::default().run(&before, safe_start(&before));
            let factor = random.uniform(1.0, 30.0);
            let after = before * factor;
            let result = NaturalInversion::default().run(&after, settled.lower.clone());
            let what = format!("{platform}, factor {factor}: {:?}", result.report);
            assert_eq!(result.report.stop, InversionStop::Converged, "{what}");
            resets += result.report.resets;
            let mut lower = settled.lower;
            for _ in 0..60 {
                lower = congruence(after.clone(), lower.clone()).descend(lower, 1.0);
            }
            let (distance, _) = congruence(after, lower).distance_from_identity();
            blown_up += usize::from(!distance.is_finite() || distance > 1.0);
        }
        assert!(
            resets > 20 && blown_up > 20,
            "{resets} resets, {blown_up} blown up"
        );
    }
}

/// One step a call does not leave a posterior at a cold start for many calls.
#[test]
fn a_new_start_is_followed_to_its_end() {
    for platform in platforms() {
        let before = platform.matrix(&InverseFreeCase::new(1).noisy());
        let settled = NaturalInversion::default().run(&before, safe_start(&before));
        let inversion = NaturalInversion {
            tolerance: 1e-2,
            ..NaturalInversion::ONE_STEP
        };
        let result = inversion.run(&(before * 20.0), settled.lower);
        assert_eq!(result.report.resets, 1, "{platform}");
        assert_eq!(result.report.stop, InversionStop::Converged, "{platform}");
        assert!(result.report.steps > 1 && result.report.steps <= COLD_STEPS);
    }
}

/// A matrix that cannot be inverted leaves L as it was.
#[test]
fn an_unusable_matrix_leaves_the_start() {
    for platform in platforms() {
        let start = platform.matrix(&Dense::identity(3));
        for bad in [f64::NAN, f64::INFINITY] {
            let matrix = start.clone() * bad;
            let result = NaturalInversion::default().run(&matrix, start.clone());
            assert_eq!(
                result.report.stop,
                InversionStop::Unusable,
                "{platform}, {bad}"
            );
            let kept = result.lower.into_data();
            kept.assert_approx_eq::<f64>(&start.clone().into_data(), Tolerance::absolute(0.0));
        }
    }
}

/// T3, the gap's part: `G_n = ‖(I − K̃T)k_n‖²/σ²`, and the rule that stops by it.
#[test]
fn the_variance_gap_stops_the_inversion() {
    for platform in platforms() {
        let case = InverseFreeCase::new(1);
        let matrix = platform.matrix(&case.noisy());
        let floor = case.variances.iter().copied().fold(f64::MAX, f64::min);
        let gap = VarianceGap {
            covariances: platform.matrix(&case.kuf()),
            floor,
            noise: 0.2,
            tolerance: 1e-2,
        };
        let start = safe_start(&matrix);
        let dense = Dense::new(20, 20, numbers(start.clone()));
        let missing = case.kuf().minus(
            &case
                .noisy()
                .times(&times_transposed(&dense))
                .times(&case.kuf()),
        );
        let expected: Vec<f64> = (0..missing.columns)
            .map(|n| (0..20).map(|m| missing[(m, n)].powi(2)).sum::<f64>() / floor)
            .collect();
        let ours = numbers(gap.of(&matrix, &start));
        assert_close(
            &format!("{platform}"),
            &ours,
            &expected,
            platform.tolerance(1e-10, 1e-4),
        );
        let rule = StoppingRule::VarianceGap(&gap);
        let inversion = NaturalInversion {
            tolerance: 0.0,
            ..NaturalInversion::default()
        };
        let result = inversion.run_until(&matrix, start, rule);
        assert_eq!(result.report.stop, InversionStop::Converged, "{platform}");
        let total = largest(&[numbers(gap.of(&matrix, &result.lower)).iter().sum()]);
        assert!(total <= 2.0 * 0.2 * 1e-2, "{platform}: {total}");
    }
}

/// [`safe_start`] is `βI` with no eigenvalue of `β²A` above one.
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
