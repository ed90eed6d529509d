//! Inverse-free posteriors of several functions with separate kernels, the posteriors that wrap
//! them, and their components.

use crate::support::{
    Dense, Platform, Random, assert_close,
    inverse_free_case::{FORMS, InverseFreeCase, ROWS, SIZE, inverses},
    numbers, platforms,
    posterior_case::{DIMENSIONS, assert_same_joint, assert_same_marginals, covariances, kernel},
};
use burn::module::Module;
use burn_gp_core::{
    inducing::{InducingPoints, SeparatePoints},
    kernels::{KernelModule, Kernels, StationaryConfig, StationaryKernel},
    ops::{Stationary, congruence},
    optim::InversionStop,
    process::{Marginals, Process},
    sampling::{PathOptions, SamplePaths},
    variational::{
        AnyPosterior, AuxiliaryUpdate, Coregionalized, Evaluation, InverseFree, LSvgp, MeanForm,
        Posterior, PseudoObservations, RootBound,
    },
};

const OUTPUTS: usize = 3;

/// Posteriors of one function each, and their values combined.
struct Separate {
    kernels: Vec<StationaryKernel>,
    points: Vec<Dense>,
    mean: Dense,
    variances: Vec<f64>,
    lower: Vec<Dense>,
}

impl Separate {
    fn new(platform: &Platform) -> Self {
        let mut random = Random::new(97);
        let kernels = (0..OUTPUTS).map(|output| {
            StationaryConfig::new(Stationary::Matern32)
                .with_lengthscale(0.6 + 0.3 * output as f64)
                .init(DIMENSIONS, platform.options())
        });
        Self {
            kernels: kernels.collect(),
            points: (0..OUTPUTS)
                .map(|_| random.points(SIZE, DIMENSIONS))
                .collect(),
            mean: random.matrix(OUTPUTS, SIZE),
            variances: random.uniforms(OUTPUTS * SIZE, 0.05, 0.5),
            lower: (0..OUTPUTS)
                .map(|_| random.positive_definite(SIZE).cholesky().scaled(0.5))
                .collect(),
        }
    }

    fn observations(&self, platform: &Platform, form: MeanForm) -> PseudoObservations {
        PseudoObservations::new(platform.matrix(&self.mean), &self.variances, form)
    }

    fn together(&self, platform: &Platform, form: MeanForm) -> InverseFree {
        InverseFree::new(
            SeparatePoints::new(platform.batch(&self.points)),
            self.observations(platform, form),
            platform.batch(&self.lower),
            AuxiliaryUpdate::default(),
        )
    }

    fn alone(&self, platform: &Platform, form: MeanForm, p: usize) -> InverseFree {
        InverseFree::new(
            InducingPoints::new(platform.matrix(&self.points[p])),
            self.observations_of(platform, form, p),
            platform.batch(&self.lower[p..=p]),
            AuxiliaryUpdate::default(),
        )
    }

    fn observations_of(&self, platform: &Platform, form: MeanForm, p: usize) -> PseudoObservations {
        let mean = Dense::new(1, SIZE, self.mean.row(p).to_vec());
        let variances = &self.variances[p * SIZE..][..SIZE];
        PseudoObservations::new(platform.matrix(&mean), variances, form)
    }
}

/// One function of several.
fn column(marginals: &Marginals, p: usize) -> Marginals {
    Marginals {
        mean: marginals.mean.clone().narrow(1, p, 1),
        variance: marginals.variance.clone().narrow(1, p, 1),
    }
}

/// Three functions with separate kernels, points, S̃ and T equal three posteriors of one function,
/// before and after the update of T.
#[test]
fn separate_functions_are_posteriors_of_one() {
    for platform in platforms() {
        let case = Separate::new(&platform);
        let kernels = Kernels::separate(case.kernels.clone());
        let x = || platform.matrix(&InverseFreeCase::new(1).x);
        let tolerance = platform.tolerance(1e-9, 1e-3);
        for form in FORMS {
            for updated in [false, true] {
                let mut together = case.together(&platform, form);
                if updated {
                    together.synchronize(&kernels);
                    together.after_step(&kernels);
                    assert_eq!(together.reports().len(), OUTPUTS);
                }
                let Evaluation { marginals, kl } = together.evaluate(&kernels, x()).expect("none");
                let process = together.condition(&kernels).expect("none");
                let (predicted, joint) = (process.marginals(x()), process.joint(x()));
                let mut sum = 0.0;
                for (p, kernel) in case.kernels.iter().enumerate() {
                    let kernel = &Kernels::from(kernel.clone());
                    let mut alone = case.alone(&platform, form, p);
                    if updated {
                        alone.synchronize(kernel);
                        alone.after_step(kernel);
                    }
                    let what = format!("{platform}, {form:?}, function {p}, {updated}");
                    let expected = alone.evaluate(kernel, x()).expect("none");
                    let ours = column(&marginals, p);
                    assert_same_marginals(&what, &ours, &expected.marginals, tolerance);
                    sum += numbers(expected.kl)[0];
                    let process = alone.condition(kernel).expect("none");
                    let ours = column(&predicted, p);
                    assert_same_marginals(&what, &ours, &process.marginals(x()), tolerance);
                    let expected = process.joint(x());
                    let ours = burn_gp_core::process::Joint {
                        mean: joint.mean.clone().narrow(1, p, 1),
                        covariance: joint.covariance.clone().narrow(0, p, 1),
                    };
                    assert_same_joint(&what, ours, expected, tolerance);
                }
                let what = format!("{platform}, {form:?}, divergence, {updated}");
                assert_close(&what, &numbers(kl), &[sum], tolerance);
                let paths = process
                    .paths(PathOptions::new(2))
                    .expect("it is stationary");
                assert_eq!(paths.evaluate(x()).dims(), [2, OUTPUTS, ROWS]);
            }
        }
    }
}

#[test]
fn separate_functions_of_l_svgp_are_posteriors_of_one() {
    for platform in platforms() {
        let case = Separate::new(&platform);
        let kernels = Kernels::separate(case.kernels.clone());
        let x = || platform.matrix(&InverseFreeCase::new(1).x);
        let tolerance = platform.tolerance(1e-9, 1e-3);
        for form in FORMS {
            let points = SeparatePoints::new(platform.batch(&case.points));
            let together = LSvgp::new(points, case.observations(&platform, form));
            let evaluation = together.evaluate(&kernels, x()).expect("a factor");
            let predicted = together
                .condition(&kernels)
                .expect("a factor")
                .marginals(x());
            let mut sum = 0.0;
            for (p, kernel) in case.kernels.iter().enumerate() {
                let kernel = &Kernels::from(kernel.clone());
                let points = InducingPoints::new(platform.matrix(&case.points[p]));
                let alone = LSvgp::new(points, case.observations_of(&platform, form, p));
                let expected = alone.evaluate(kernel, x()).expect("a factor");
                let what = format!("{platform}, {form:?}, function {p}");
                for marginals in [&evaluation.marginals, &predicted] {
                    let ours = column(marginals, p);
                    assert_same_marginals(&what, &ours, &expected.marginals, tolerance);
                }
                sum += numbers(expected.kl)[0];
            }
            let what = format!("{platform}, {form:?}, divergence");
            assert_close(&what, &numbers(evaluation.kl), &[sum], tolerance);
        }
    }
}

/// The inverse-free posterior of these functions or of their latent functions.
fn inverse_free_of(functions: &AnyPosterior) -> &InverseFree {
    let mixed = functions.downcast_ref::<Coregionalized>();
    let latent = mixed.map_or(functions, Coregionalized::latent);
    latent.downcast_ref().expect("an inverse-free posterior")
}

/// A wrapper forwards the updates after a step and before the first step.
#[test]
fn wrappers_hand_the_update_on() {
    for platform in platforms() {
        let kernel = kernel(&platform);
        let case = InverseFreeCase::new(2);
        let far = Dense::identity(SIZE).scaled(1e-3);
        let new = || {
            let update = AuxiliaryUpdate::default();
            case.inverse_free(&platform, MeanForm::Plain, &far, update)
        };
        let mixing = || platform.matrix(&Random::new(101).matrix(4, 2));
        let independent = AnyPosterior::from(new());
        let mixed = AnyPosterior::from(Coregionalized::new(new(), mixing()));
        for functions in [independent, mixed] {
            let stops = |functions: &AnyPosterior| {
                let reports = inverse_free_of(functions).reports().iter();
                reports.map(|report| report.stop).collect::<Vec<_>>()
            };
            assert!(stops(&functions).is_empty());
            let mut synchronized = functions.clone();
            synchronized.synchronize(&kernel);
            assert_eq!(
                stops(&synchronized),
                [InversionStop::Converged],
                "{platform}"
            );
            let mut stepped = functions;
            stepped.after_step(&kernel);
            // A GPU makes the same update without a report.
            if platform.is_host() {
                assert_eq!(stops(&stepped), [InversionStop::Converged], "{platform}");
            }
            let lower = |functions: &AnyPosterior| numbers(inverse_free_of(functions).auxiliary());
            let tolerance = platform.tolerance(1e-12, 1e-4);
            let what = format!("{platform}, the update");
            assert_close(&what, &lower(&stepped), &lower(&synchronized), tolerance);
        }
    }
}

/// With a Gaussian likelihood, the variance gap determines how accurate T has to be.
#[test]
fn the_variance_gap_of_a_batch_is_closed() {
    for platform in platforms() {
        let kernel = kernel(&platform);
        let case = InverseFreeCase::new(1);
        let far = Dense::identity(SIZE).scaled(1e-3);
        let update = AuxiliaryUpdate::default();
        let posterior = case.inverse_free(&platform, MeanForm::Plain, &far, update);
        let (noise, tolerance) = (0.2, 1e-3);
        let closed = posterior.with_variance_gap(&kernel, case.x(&platform), noise, tolerance);
        let report = closed.reports()[0];
        assert_eq!(
            report.stop,
            InversionStop::Converged,
            "{platform}: {report:?}"
        );
        let evaluation = closed.evaluate(&kernel, case.x(&platform)).expect("none");
        let ours = numbers(evaluation.marginals.variance);
        let exact = case.factored(MeanForm::Plain).covariance.diagonal();
        let missing: f64 = ours
            .iter()
            .zip(&exact)
            .map(|(ours, exact)| ours - exact)
            .sum();
        let rounding = platform.tolerance(1e-9, 1e-3);
        assert!(
            missing <= 2.0 * noise * tolerance + rounding,
            "{platform}: {missing}"
        );
    }
}

/// Records include L and the progress of training. L is no trainable parameter of a posterior on an
/// autodiff device.
#[test]
fn the_auxiliary_is_no_trained_parameter() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        let kernel = kernel(&tracked);
        let case = InverseFreeCase::new(1);
        let far = Dense::identity(SIZE).scaled(1e-3);
        let update = AuxiliaryUpdate::default();
        let mut posterior = case.inverse_free(&tracked, MeanForm::Plain, &far, update);
        posterior.after_step(&kernel);
        let posterior = posterior.train();
        assert!(posterior.auxiliary().is_autodiff(), "{platform}");
        let evaluation = posterior
            .evaluate(&kernel, case.x(&tracked))
            .expect("it needs no factor");
        let gradients = evaluation.kl.backward();
        assert!(
            posterior.auxiliary().grad(&gradients).is_none(),
            "{platform}"
        );
        let plain = posterior.valid();
        let kuu = plain.inducing().kuu(&kernel.valid()).squeeze_dim::<2>(0);
        let noisy = burn_gp_core::ops::add_diagonal(kuu, plain.observations().variances());
        let lower = plain.auxiliary().squeeze_dim::<2>(0);
        let (distance, _) = congruence(noisy, lower).distance_from_identity();
        assert!(
            distance / (SIZE as f64).sqrt() < 5e-3,
            "{platform}: {distance}"
        );
    }
}

#[test]
#[should_panic(
    expected = "use the kind of prior (shared or separate kernels) that the posterior was made for"
)]
fn a_posterior_belongs_to_a_kind_of_prior() {
    let platform = &platforms()[0];
    let case = Separate::new(platform);
    let together = InducingPoints::new(platform.matrix(&case.points[0]));
    let posterior = InverseFree::new(
        together,
        case.observations(platform, MeanForm::Plain),
        platform.batch(&case.lower),
        AuxiliaryUpdate::default(),
    );
    let _ = posterior.evaluate(
        &case.kernels[0].clone().into(),
        platform.matrix(&case.points[0]),
    );
}

/// The KL divergence of the alternative bound is above the dense one for every root. With the root
/// of the inverse they are equal, and the moments agree with the dense formulas.
#[test]
fn the_root_bound_is_a_bound() {
    for platform in platforms() {
        let case = InverseFreeCase::new(1);
        let (kuu, kuf) = (case.kuu(), case.kuf());
        let mut random = Random::new(103);
        let scale = random.lower_triangle(SIZE).scaled(0.5);
        let scale = Dense::from_function(SIZE, SIZE, |i, j| {
            if i == j {
                scale[(i, i)].abs()
            } else {
                scale[(i, j)]
            }
        });
        let spread = scale.times(&scale.transposed());
        let exact = kuu.inverse();
        let tolerance = platform.tolerance(1e-8, 5e-3);
        let mut roots: Vec<Dense> = (inverses(&exact, &mut random).iter())
            .map(Dense::cholesky)
            .collect();
        // Single precision cannot resolve the variances of the roots farther away.
        roots.truncate(if platform.is_double() { roots.len() } else { 1 });
        roots.push(exact.cholesky());
        let last = roots.len() - 1;
        for (index, root) in roots.iter().enumerate() {
            let bound = RootBound {
                kuu: platform.matrix(&kuu),
                kuf: platform.matrix(&kuf),
                prior_variance: kernel(&platform).first().diagonal_at(case.x(&platform)),
                root: platform.matrix(root),
            };
            let log_determinant = platform.tensor(&[kuu.log_determinant()], [1]);
            let mean = platform.matrix(&case.mean);
            let scale = platform.matrix(&scale);
            let evaluation = bound.evaluate(mean.clone(), scale.clone(), Some(log_determinant));
            let ours = numbers(evaluation.kl)[0];
            let inner = root.transposed().times(&kuu).times(root); // A
            let bent = inner
                .minus(&Dense::identity(SIZE).scaled(2.0))
                .plus(&spread);
            let middle = root.times(&bent).times(&root.transposed());
            let covariance = kuu.plus(&kuu.times(&middle).times(&kuu));
            let moments =
                case.unwhitened(&kuu.times(root).times(&case.mean.transposed()), &covariance);
            let what = format!("{platform}, root {index}");
            let slack = ours - moments.kl;
            let allowed = tolerance * moments.kl.abs();
            assert!(slack >= -allowed, "{what}: {ours} below {}", moments.kl);
            let means = numbers(evaluation.marginals.mean);
            assert_close(&what, &means, &moments.mean.values, tolerance);
            let variances = numbers(evaluation.marginals.variance);
            let expected = moments.covariance.diagonal();
            assert_close(&what, &variances, &expected, tolerance);
            let rest = 0.5 * (inner.trace() - SIZE as f64 - inner.log_determinant());
            let without = numbers(bound.evaluate(mean, scale, None).kl)[0];
            assert_close(&what, &[without + rest], &[ours], tolerance);
            if index == last {
                assert!(slack.abs() <= allowed, "{what}: {slack} at the inverse");
            } else if platform.is_double() {
                assert!(slack > 0.0, "{what}: {slack}");
            }
        }
        assert_eq!(covariances(&case.z, &case.z), kuu);
    }
}
