//! Stopping, restarts and failures of natural-gradient matrix inversion (arXiv:2604.00697).

use crate::support::{
    Dense, Random, assert_close, inverse_free_case::InverseFreeCase, numbers, platforms,
};
use burn::tensor::Tolerance;
use burn_gp_core::{
    ops::congruence,
    optim::{COLD_STEPS, InversionStop, NaturalInversion, StoppingRule, VarianceGap, safe_start},
};

fn times_transposed(lower: &Dense) -> Dense {
    lower.times(&lower.transposed())
}

/// The residual is checked before every step. A good initial value therefore needs no step, and the
/// result is accurate.
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

/// The iteration stops when rounding prevents further progress, in single precision at about
/// 1e-8·κ.
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

/// After a jump of the matrix that would make the iteration diverge, L is reset and converges.
/// Without the safeguard, some cases blow up at step size one.
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

/// With one step per call, a posterior does not stay at a cold start for many calls.
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

/// A matrix that cannot be inverted leaves L unchanged.
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

/// T3 for the variance gap: `G_n = ‖(I − K̃T)k_n‖²/σ²`, and the stopping rule based on it.
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
        let total: f64 = numbers(gap.of(&matrix, &result.lower)).iter().sum();
        assert!(total <= 2.0 * 0.2 * 1e-2, "{platform}: {total}");
    }
}
