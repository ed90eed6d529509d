//! Posteriors and the processes they condition, compared with dense formulas and with each other.
//!
//! H1, H11, H12, H13 and H14 are properties of whitened and unwhitened sparse variational Gaussian
//! processes (L. Tiao, *A Handbook for Sparse Variational Gaussian Processes*, 2020).

use crate::support::{
    Dense, Random, assert_close,
    dense_posterior::check_against_reference,
    double_precision_platforms, largest, numbers,
    orthogonal_case::{odvgp, solve},
    platforms,
    posterior_case::{
        Case, DIMENSIONS, INDUCING, POINTS, VARIANCE, assert_same_joint, assert_same_marginals,
        covariances, elbo, kernel, likelihood,
    },
};
use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::{Kernels, StationaryConfig},
    likelihoods::{GaussianConfig, LikelihoodConfig},
    ops::{Jitter, Stationary},
    process::{CovarianceShape, Marginals, Process, VariationalGaussian},
    variational::{
        AnyPosterior, Evaluation, Parameterization, Posterior, PosteriorConfig, Unwhitened,
        UnwhitenedConfig, Whitened, WhitenedConfig,
    },
};

/// H12 and the conditional in the handbook's table: all moments, compared with dense formulas.
#[test]
fn moments_and_divergence_are_those_of_the_dense_formulas() {
    for platform in platforms() {
        for outputs in [1, 3] {
            let case = Case::new(outputs);
            let what = format!("whitened on {platform}, {outputs} outputs");
            check_against_reference(&what, &platform, &case, &case.whitened(&platform));
            let what = format!("unwhitened on {platform}, {outputs} outputs");
            check_against_reference(&what, &platform, &case, &case.unwhitened(&platform));
        }
    }
}

/// H1: whitened and unwhitened posteriors are the same distribution.
#[test]
fn whitened_and_unwhitened_are_the_same_distribution() {
    for platform in platforms() {
        for outputs in [1, 3] {
            let case = Case::new(outputs);
            let (kernel, likelihood) = (kernel(&platform), likelihood(&platform));
            let (x, y) = (case.x(&platform), platform.matrix(&case.y));
            let (whitened, unwhitened) = (case.whitened(&platform), case.unwhitened(&platform));
            let first = whitened.evaluate(&kernel, x.clone()).expect("factor");
            let second = unwhitened.evaluate(&kernel, x.clone()).expect("factor");
            let tolerance = platform.tolerance(1e-9, 1e-3);
            let what = format!("{platform}, {outputs} outputs");
            assert_same_marginals(&what, &first.marginals, &second.marginals, tolerance);
            let kls = (numbers(first.kl.clone()), numbers(second.kl.clone()));
            assert_close(&what, &kls.0, &kls.1, tolerance);
            let first = numbers(elbo(first, &likelihood, y.clone(), POINTS));
            let second = numbers(elbo(second, &likelihood, y, POINTS));
            assert_close(&what, &first, &second, tolerance);
            let first = whitened
                .condition(&kernel)
                .expect("factor")
                .joint(x.clone());
            let second = unwhitened.condition(&kernel).expect("factor").joint(x);
            assert_same_joint(&what, first, second, tolerance);
        }
    }
}

/// H11: the bounds of equal batches average to the full bound.
#[test]
fn mini_batches_of_equal_size_average_to_the_full_bound() {
    for platform in double_precision_platforms() {
        for likelihood_config in [
            GaussianConfig { noise: 0.2 }.into(),
            LikelihoodConfig::bernoulli(),
        ] {
            let case = Case::new(1);
            let (kernel, posterior) = (kernel(&platform), case.whitened(&platform));
            let likelihood = likelihood_config.init(platform.options());
            // The Gaussian likelihood treats the labels as numbers.
            let labels: Vec<f64> = case
                .y
                .values
                .iter()
                .map(|y| if *y > 0.0 { 1.0 } else { 0.0 })
                .collect();
            let (x, y) = (case.x(&platform), platform.tensor(&labels, [POINTS, 1]));
            let bound = |x: Tensor<2>, y: Tensor<2>| {
                let evaluation = posterior.evaluate(&kernel, x).expect("factor");
                numbers(elbo(evaluation, &likelihood, y, POINTS))[0]
            };
            let mean = (0..5)
                .map(|batch| {
                    let rows = |tensor: &Tensor<2>| tensor.clone().narrow(0, 10 * batch, 10);
                    bound(rows(&x), rows(&y)) / 5.0
                })
                .sum::<f64>();
            assert_close(&format!("{platform}"), &[mean], &[bound(x, y)], 1e-10);
        }
    }
}

/// H12: the KL divergence is zero at the prior and positive elsewhere.
#[test]
fn the_divergence_is_zero_at_the_prior_and_positive_elsewhere() {
    for platform in platforms() {
        let kernel = kernel(&platform);
        let case = Case::new(2);
        let x = || case.x(&platform);
        let standard = || {
            let shape = CovarianceShape::Full;
            VariationalGaussian::standard(INDUCING, 2, shape, platform.options())
        };
        let at_prior = Whitened::new(case.inducing(&platform), standard(), Jitter::INDUCING);
        let tolerance = platform.tolerance(1e-10, 1e-3);
        let value = numbers(at_prior.evaluate(&kernel, x()).expect("factor").kl)[0];
        assert!(value.abs() <= tolerance, "{platform}: whitened, {value}");
        let at_prior = Unwhitened::at_prior(case.inducing(&platform), &kernel, 2, Jitter::INDUCING);
        let at_prior = at_prior.expect("factor");
        let value = numbers(at_prior.evaluate(&kernel, x()).expect("factor").kl)[0];
        assert!(value.abs() <= tolerance, "{platform}: unwhitened, {value}");
        let mut random = Random::new(193);
        for distance in [0.3, 1.0, 3.0] {
            let mean = random.matrix(1, INDUCING).scaled(distance);
            let scale = random.lower_triangle(INDUCING).scaled(distance);
            for (mean, scale) in [
                (mean.clone(), Dense::identity(INDUCING)),
                (mean.scaled(0.0), scale.clone()),
                (mean, scale),
            ] {
                let distribution =
                    VariationalGaussian::full(platform.matrix(&mean), platform.batch(&[scale]));
                let posterior =
                    Whitened::new(case.inducing(&platform), distribution, Jitter::INDUCING);
                let kl = posterior.evaluate(&kernel, x()).expect("factor").kl;
                assert!(numbers(kl)[0] > 1e-2, "{platform}, distance {distance}");
            }
        }
    }
}

/// H14: with `b′ = 0`, `W′ = I` the process is the prior.
#[test]
fn the_prior_is_recovered() {
    for platform in platforms() {
        let (kernel, case) = (kernel(&platform), Case::new(1));
        let tolerance = platform.tolerance(1e-9, 1e-4);
        let full = CovarianceShape::Full;
        let second = Random::new(199).points(6, DIMENSIONS);
        for config in [
            PosteriorConfig::from(WhitenedConfig { covariance: full }),
            PosteriorConfig::from(WhitenedConfig {
                covariance: CovarianceShape::Diagonal,
            }),
            PosteriorConfig::from(UnwhitenedConfig { covariance: full }),
            solve(full, Parameterization::Whitened),
            solve(full, Parameterization::Unwhitened),
            odvgp(full, Parameterization::Whitened),
            odvgp(full, Parameterization::Unwhitened),
        ] {
            let mut sets = vec![case.inducing(&platform)];
            if config.has_orthogonal_set() {
                sets.push(InducingPoints::new(platform.matrix(&second)));
            }
            let posterior = config.init(sets, &kernel, 2, Jitter::INDUCING, platform.options());
            let posterior = posterior.expect("factor");
            let what = format!("{config:?} on {platform}");
            let Evaluation { marginals, kl } = posterior
                .evaluate(&kernel, case.x(&platform))
                .expect("factor");
            let kl = numbers(kl)[0].abs();
            let rounding = platform.tolerance(1e-10, 1e-3);
            assert!(kl <= rounding, "{what}: divergence {kl}");
            assert!(
                largest(&numbers(marginals.mean)) <= tolerance,
                "{what}: mean"
            );
            let variances = vec![VARIANCE; 2 * POINTS];
            assert_close(&what, &numbers(marginals.variance), &variances, tolerance);
            let joint = posterior
                .condition(&kernel)
                .expect("factor")
                .joint(case.x(&platform));
            let prior = covariances(&case.x, &case.x);
            let twice = crate::support::dense::flatten(&[prior.clone(), prior]);
            assert_close(&what, &numbers(joint.covariance), &twice, tolerance);
        }
    }
}

/// H14: with 200 inducing points in single precision no variance is negative or NaN, although the
/// prior covariance is nearly singular and the posterior is certain. Before clamping, as on the
/// diagonal of a joint covariance, the variances are those of the prior if the posterior is the
/// prior. Otherwise they are negative only by rounding.
#[test]
fn variances_stay_positive_with_many_inducing_points() {
    let count = 200;
    let mut random = Random::new(197);
    let (z, x) = (
        random.points(count, DIMENSIONS),
        random.points(300, DIMENSIONS),
    );
    for platform in platforms() {
        for kind in [Stationary::SquaredExponential, Stationary::Matern32] {
            let kernel = StationaryConfig::new(kind)
                .with_lengthscale(1.5)
                .init(DIMENSIONS, platform.options());
            let kernel = Kernels::from(kernel);
            let posterior = |deviation: f64| {
                let scale = Dense::identity(count).scaled(deviation);
                let mean = Dense::new(1, count, vec![0.3; count]);
                let distribution =
                    VariationalGaussian::full(platform.matrix(&mean), platform.batch(&[scale]));
                let inducing = InducingPoints::new(platform.matrix(&z));
                Whitened::new(inducing, distribution, Jitter::INDUCING)
            };
            for deviation in [1.0, 1e-2, 1e-6] {
                let what = format!("{platform}, {kind:?}, deviation {deviation}");
                let posterior = posterior(deviation);
                let process = posterior.condition(&kernel).expect("factor");
                for points in [&z, &x] {
                    let points = || platform.matrix(points);
                    let trained = posterior.evaluate(&kernel, points()).expect("factor");
                    let predicted = numbers(process.marginals(points()).variance);
                    for variance in [numbers(trained.marginals.variance), predicted].concat() {
                        assert!(
                            variance >= 0.0 && variance.is_finite(),
                            "{what}: {variance}"
                        );
                    }
                    let joint = process.joint(points()).covariance;
                    let unclamped = diagonal(&numbers(joint));
                    if deviation == 1.0 {
                        let prior = vec![1.0; unclamped.len()];
                        let tolerance = platform.tolerance(1e-9, 1e-4);
                        assert_close(&what, &unclamped, &prior, tolerance);
                    }
                    let least = unclamped.iter().copied().fold(f64::INFINITY, f64::min);
                    assert!(least > platform.tolerance(0.0, -1e-6), "{what}: {least}");
                }
            }
        }
    }
}

/// The diagonal of a square matrix.
fn diagonal(matrix: &[f64]) -> Vec<f64> {
    let size = matrix.len().isqrt();
    matrix.iter().step_by(size + 1).copied().collect()
}

#[test]
fn three_outputs_are_three_posteriors_of_one() {
    for platform in platforms() {
        let (kernel, case) = (kernel(&platform), Case::new(3));
        for whitened in [true, false] {
            let evaluate = |case: &Case| {
                if whitened {
                    case.whitened(&platform)
                        .evaluate(&kernel, case.x(&platform))
                } else {
                    case.unwhitened(&platform)
                        .evaluate(&kernel, case.x(&platform))
                }
                .expect("factor")
            };
            let together = evaluate(&case);
            let mut kl = 0.0;
            let what = format!("{platform}, whitened {whitened}");
            let tolerance = platform.tolerance(1e-12, 1e-4);
            for output in 0..3 {
                let alone = evaluate(&Case {
                    mean: Dense::new(1, INDUCING, case.mean.row(output).to_vec()),
                    scale: vec![case.scale[output].clone()],
                    ..Case::new(1)
                });
                let column = |tensor: &Tensor<2>| tensor.clone().narrow(1, output, 1);
                let marginals = Marginals {
                    mean: column(&together.marginals.mean),
                    variance: column(&together.marginals.variance),
                };
                assert_same_marginals(&what, &marginals, &alone.marginals, tolerance);
                kl += numbers(alone.kl)[0];
            }
            assert_close(&what, &numbers(together.kl), &[kl], tolerance);
        }
    }
}

#[test]
fn a_diagonal_covariance_is_a_full_one_with_a_diagonal_factor() {
    for platform in platforms() {
        let (kernel, case) = (kernel(&platform), Case::new(3));
        let deviation = Dense::from_function(3, INDUCING, |p, m| case.scale[p][(m, m)]);
        let factors: Vec<Dense> = (0..3)
            .map(|p| {
                Dense::from_function(INDUCING, INDUCING, |i, j| {
                    if i == j { deviation[(p, i)] } else { 0.0 }
                })
            })
            .collect();
        let mean = || platform.matrix(&case.mean);
        let diagonal = || VariationalGaussian::diagonal(mean(), platform.matrix(&deviation));
        let full = || VariationalGaussian::full(mean(), platform.batch(&factors));
        let inducing = || case.inducing(&platform);
        let pairs = [true, false].map(|whitened| {
            [diagonal(), full()].map(|distribution| {
                if whitened {
                    AnyPosterior::from(Whitened::new(inducing(), distribution, Jitter::INDUCING))
                } else {
                    let jitter = Jitter::INDUCING;
                    AnyPosterior::from(Unwhitened::new(inducing(), distribution, jitter))
                }
            })
        });
        for [diagonal, full] in pairs {
            let what = format!("{platform}, {full:?}");
            let tolerance = platform.tolerance(1e-12, 1e-4);
            let [first, second] = [&diagonal, &full].map(|posterior| {
                posterior
                    .evaluate(&kernel, case.x(&platform))
                    .expect("factor")
            });
            assert_same_marginals(&what, &first.marginals, &second.marginals, tolerance);
            let kl = numbers(second.kl);
            assert_close(&what, &numbers(first.kl), &kl, tolerance);
            let [first, second] = [&diagonal, &full].map(|posterior| {
                posterior
                    .condition(&kernel)
                    .expect("factor")
                    .joint(case.x(&platform))
            });
            assert_same_joint(&what, first, second, tolerance);
        }
    }
}
