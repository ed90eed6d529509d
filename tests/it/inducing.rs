//! Inducing points: their covariances, and posteriors with inducing points in unusual places.

use crate::support::{
    Dense, assert_close, assert_finite, numbers, platforms,
    posterior_case::{
        Case, DIMENSIONS, INDUCING, POINTS, VARIANCE, covariances, elbo, kernel, likelihood,
    },
};
use burn_gp_core::{
    inducing::{Inducing, InducingPoints},
    kernels::{KernelModule, Kernels, StationaryConfig},
    ops::{Jitter, Stationary, cholesky},
    variational::{Posterior, Whitened},
};

/// The inducing points are data points, and one of them occurs twice. Posteriors work there too.
#[test]
fn inducing_points_on_the_data_and_on_each_other() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        for kind in [
            Stationary::SquaredExponential,
            Stationary::Matern12,
            Stationary::Matern52,
        ] {
            let case = Case::new(1);
            let kernel = StationaryConfig::new(kind).init(DIMENSIONS, tracked.options());
            let kernel = Kernels::from(kernel);
            let z = Dense::from_function(INDUCING, DIMENSIONS, |i, d| case.x[(i % 9, d)]);
            let inducing = InducingPoints::new(tracked.matrix(&z));
            let points = inducing.points();
            let distribution = case.distribution(&tracked);
            let posterior = Whitened::new(inducing, distribution, Jitter::INDUCING);
            let evaluation = posterior
                .evaluate(&kernel, case.x(&tracked))
                .expect("factor");
            let y = tracked.matrix(&case.y);
            let bound = elbo(evaluation, &likelihood(&tracked), y, POINTS);
            let gradients = bound.backward();
            let what = format!("{platform}, {kind:?}");
            assert_finite(&what, &numbers(bound));
            let gradient = numbers(points.grad(&gradients).expect("gradient"));
            assert_finite(&what, &gradient);
        }
    }
}

/// A NaN inducing point gives an error, not a NaN bound.
#[test]
fn inducing_points_that_are_not_numbers_give_the_error() {
    for platform in platforms() {
        let (kernel, case) = (kernel(&platform), Case::new(1));
        let mut z = case.z.clone();
        z[(3, 1)] = f64::NAN;
        let inducing = InducingPoints::new(platform.matrix(&z));
        let posterior = Whitened::new(inducing, case.distribution(&platform), Jitter::INDUCING);
        let error = posterior
            .evaluate(&kernel, case.x(&platform))
            .expect_err("NaN");
        assert_eq!(
            (error.pivot, error.size),
            (3, INDUCING),
            "{platform}: {error}"
        );
        assert!(posterior.condition(&kernel).is_err(), "{platform}");
    }
}

#[test]
fn inducing_points_have_the_covariances_of_function_values() {
    for platform in platforms() {
        let (kernel, case) = (kernel(&platform), Case::new(1));
        let inducing = case.inducing(&platform);
        let other = InducingPoints::new(case.x(&platform));
        assert_eq!(inducing.count(), INDUCING);
        let tolerance = platform.tolerance(1e-13, 1e-5);
        let what = format!("{platform}");
        let expected = covariances(&case.z, &case.z).values;
        assert_close(&what, &numbers(inducing.kuu(&kernel)), &expected, tolerance);
        let expected = covariances(&case.z, &case.x).values;
        assert_close(
            &what,
            &numbers(inducing.kuf(&kernel, case.x(&platform))),
            &expected,
            tolerance,
        );
        assert_close(
            &what,
            &numbers(inducing.kuv(&kernel, &other.clone().into())),
            &expected,
            tolerance,
        );
        // The factor that the computations above used.
        let factor = cholesky(inducing.kuu(&kernel), Jitter::INDUCING)
            .expect("factor")
            .lower();
        let tolerance = platform.tolerance(1e-10, 1e-3);
        assert_close(
            &what,
            &numbers(factor),
            &case.kuu().cholesky().values,
            tolerance,
        );
        assert_close(
            &what,
            &numbers(kernel.first().diagonal_at(case.x(&platform))),
            &[VARIANCE; POINTS],
            1e-6,
        );
    }
}
