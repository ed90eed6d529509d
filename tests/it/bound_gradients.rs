//! Gradients of the evidence lower bound with respect to every parameter of a model (H13 of
//! L. Tiao, *A Handbook for Sparse Variational Gaussian Processes*, 2020).

use crate::support::{
    Dense, Platform, Random, check_module_gradients,
    orthogonal_case::{odvgp, solve},
    platforms,
    posterior_case::{Case, DIMENSIONS, INDUCING, elbo, kernel, name},
};
use burn::{module::Module, tensor::TensorCreationOptions};
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::{AnyKernel, KernelConfig, LinearConfig, StationaryConfig},
    likelihoods::{AnyLikelihood, GaussianConfig, LikelihoodConfig},
    ops::{Jitter, Stationary},
    process::{CovarianceShape, VariationalGaussian},
    variational::{
        AnyPosterior, AuxiliaryUpdate, Coordinates, InducingSet, InverseFree, InverseFreeConfig,
        LSvgp, LSvgpConfig, MeanForm, Orthogonal, OrthogonalConfig, OrthogonallyDecoupled,
        OrthogonallyDecoupledConfig, Posterior, PosteriorConfig, PseudoObservations,
        PseudoObservationsConfig, TraceProbes, Unwhitened, UnwhitenedConfig, Whitened,
        WhitenedConfig,
    },
};

/// A model with everything that a training step differentiates.
#[derive(Module, Debug)]
struct Model {
    kernel: AnyKernel,
    posterior: AnyPosterior<InducingPoints>,
    likelihood: AnyLikelihood,
}

fn model(
    platform: &Platform,
    kernel: &KernelConfig,
    likelihood: &LikelihoodConfig,
    posterior: PosteriorConfig,
    outputs: usize,
) -> Model {
    let mut random = Random::new(211);
    let options: TensorCreationOptions = platform.options().into();
    let z = random.points(INDUCING, DIMENSIONS);
    let inducing = InducingPoints::new(platform.matrix(&z));
    let second = InducingPoints::new(platform.matrix(&random.points(INDUCING, DIMENSIONS)));
    let weights = random.matrix(outputs, INDUCING);
    let mean = random.matrix(outputs, INDUCING);
    let full: Vec<Dense> = (0..outputs)
        .map(|_| random.lower_triangle(INDUCING))
        .collect();
    let deviation = Dense::new(
        outputs,
        INDUCING,
        random.uniforms(outputs * INDUCING, 0.3, 1.0),
    );
    let distribution = |covariance: CovarianceShape| match covariance {
        CovarianceShape::Full => {
            VariationalGaussian::full(platform.matrix(&mean), platform.batch(&full))
        }
        CovarianceShape::Diagonal => {
            VariationalGaussian::diagonal(platform.matrix(&mean), platform.matrix(&deviation))
        }
    };
    let observations = |form: MeanForm| {
        PseudoObservations::new(platform.matrix(&mean), &deviation.values[..INDUCING], form)
    };
    // The jitter is large enough to affect the gradient.
    let jitter = Jitter::relative(1e-2);
    Model {
        kernel: kernel.init(DIMENSIONS, options.clone()),
        posterior: match posterior {
            PosteriorConfig::Whitened(WhitenedConfig { covariance }) => {
                AnyPosterior::Whitened(Whitened::new(inducing, distribution(covariance), jitter))
            }
            PosteriorConfig::Unwhitened(UnwhitenedConfig { covariance }) => {
                AnyPosterior::Unwhitened(Unwhitened::new(
                    inducing,
                    distribution(covariance),
                    jitter,
                ))
            }
            PosteriorConfig::Solve(OrthogonalConfig {
                covariance,
                coordinates,
            }) => {
                let set = |inducing| InducingSet::new(inducing, distribution(covariance));
                let sets = vec![set(inducing), set(second)];
                AnyPosterior::Solve(Orthogonal::new(sets, coordinates, jitter))
            }
            PosteriorConfig::Odvgp(OrthogonallyDecoupledConfig {
                covariance,
                coordinates,
                columns,
                seed,
            }) => {
                let posterior = OrthogonallyDecoupled::new(
                    (inducing, distribution(covariance)),
                    (second, platform.matrix(&weights)),
                    coordinates,
                    jitter,
                );
                AnyPosterior::Odvgp(match columns {
                    Some(columns) => posterior.with_columns(columns, seed),
                    None => posterior,
                })
            }
            PosteriorConfig::LSvgp(LSvgpConfig {
                observations: config,
            }) => AnyPosterior::LSvgp(LSvgp::new(inducing, observations(config.mean))),
            PosteriorConfig::InverseFree(config) => {
                let lower = platform.batch(&full[..1]);
                let observations = observations(config.observations.mean);
                let posterior = InverseFree::new(inducing, observations, lower, config.auxiliary);
                AnyPosterior::InverseFree(match config.probes {
                    Some(probes) => posterior.with_probes(probes),
                    None => posterior,
                })
            }
            PosteriorConfig::Custom(config) => panic!("no formula of {}", config.name()),
        },
        likelihood: likelihood.init(options),
    }
}

/// L-SVGP, and an inverse-free posterior whose auxiliary matrix is trained. All parameters then
/// have a gradient.
fn with_pseudo_observations() -> impl Iterator<Item = PosteriorConfig> {
    [MeanForm::Plain, MeanForm::Preconditioned]
        .into_iter()
        .flat_map(|mean| {
            let observations = PseudoObservationsConfig::default().with_mean(mean);
            let inverse_free = |probes| {
                PosteriorConfig::InverseFree(InverseFreeConfig {
                    observations,
                    auxiliary: AuxiliaryUpdate::TRAINED,
                    probes,
                })
            };
            let probes = TraceProbes { count: 4, seed: 5 };
            [
                PosteriorConfig::LSvgp(LSvgpConfig { observations }),
                inverse_free(None),
                inverse_free(Some(probes)),
            ]
        })
}

fn posteriors() -> Vec<PosteriorConfig> {
    let shapes = [CovarianceShape::Full, CovarianceShape::Diagonal];
    shapes
        .into_iter()
        .flat_map(|covariance| {
            [
                PosteriorConfig::Whitened(WhitenedConfig { covariance }),
                PosteriorConfig::Unwhitened(UnwhitenedConfig { covariance }),
                solve(covariance, Coordinates::Whitened),
                solve(covariance, Coordinates::Unwhitened),
                odvgp(covariance, Coordinates::Whitened),
                PosteriorConfig::Odvgp(OrthogonallyDecoupledConfig {
                    covariance,
                    coordinates: Coordinates::Unwhitened,
                    columns: Some(4),
                    seed: 7,
                }),
            ]
        })
        .chain(with_pseudo_observations())
        .collect()
}

#[test]
fn every_variant_has_its_configuration() {
    let platform = &platforms()[0];
    let (kernel, case) = (kernel(platform), Case::new(1));
    let names: Vec<_> = posteriors()
        .into_iter()
        .map(|config| {
            let text = serde_json::to_string(&config).expect("serializable");
            assert_eq!(
                serde_json::from_str::<PosteriorConfig>(&text).expect("readable"),
                config
            );
            let sets = if config.has_orthogonal_set() { 2 } else { 1 };
            let sets = vec![case.inducing(platform); sets];
            let posterior = config.init(sets, &kernel, 1, Jitter::INDUCING, platform.options());
            name(&posterior.expect("factor"))
        })
        .collect();
    let each = ["whitened", "unwhitened", "solve", "solve", "odvgp", "odvgp"];
    let ours = ["l-svgp", "inverse-free", "inverse-free"];
    assert_eq!(names, [&each[..], &each[..], &ours[..], &ours[..]].concat());
}

/// H13: gradients of the bound with respect to kernel, inducing points, q(u) and noise, for all
/// combinations.
#[test]
fn gradients_of_the_bound() {
    let smooth = KernelConfig::from(
        StationaryConfig::new(Stationary::Matern52)
            .with_lengthscale(0.9)
            .with_variance(1.4),
    );
    let linear = KernelConfig::from(LinearConfig {
        ard: true,
        variance: 0.3,
        ..LinearConfig::default()
    });
    let kernels = [
        smooth.clone(),
        KernelConfig::from(Stationary::SquaredExponential),
        KernelConfig::from(Stationary::Matern32),
        KernelConfig::from(StationaryConfig::new(Stationary::Matern12).isotropic()),
        smooth.on_dimensions(vec![1]).scaled(0.8).plus(linear),
    ];
    let mut random = Random::new(223);
    let x = random.points(20, DIMENSIONS);
    for outputs in [1, 3] {
        let numbers = random.matrix(20, outputs);
        let labels =
            Dense::from_function(
                20,
                outputs,
                |i, p| {
                    if numbers[(i, p)] > 0.0 { 1.0 } else { 0.0 }
                },
            );
        for (likelihood, y) in [
            (GaussianConfig { noise: 0.2 }.into(), &numbers),
            (LikelihoodConfig::bernoulli(), &labels),
        ] {
            for kernel in &kernels {
                for posterior in posteriors() {
                    check_module_gradients(
                        &format!("{kernel:?}, {likelihood:?}, {posterior:?}, {outputs} outputs"),
                        (1e-5, 2e-2),
                        |platform| model(platform, kernel, &likelihood, posterior.clone(), outputs),
                        |platform, model| {
                            let x = platform.matrix(&x);
                            let evaluation =
                                model.posterior.evaluate(&model.kernel, x).expect("factor");
                            elbo(evaluation, &model.likelihood, platform.matrix(y), 100)
                        },
                    );
                }
            }
        }
    }
}
