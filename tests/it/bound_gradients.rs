//! Gradients of the evidence lower bound with respect to every parameter of a model (H13 of
//! L. Tiao, *A Handbook for Sparse Variational Gaussian Processes*, 2020).

use crate::support::{
    Dense, Platform, Random, check_module_gradients,
    orthogonal_case::{odvgp, solve},
    posterior_case::{DIMENSIONS, INDUCING, elbo},
};
use burn::{module::Module, tensor::TensorCreationOptions};
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::{KernelConfig, Kernels, LinearConfig, StationaryConfig},
    likelihoods::{AnyLikelihood, GaussianConfig, LikelihoodConfig},
    ops::{Jitter, Stationary},
    process::{CovarianceShape, VariationalGaussian},
    variational::{
        AnyPosterior, AuxiliaryUpdate, InducingSet, InverseFree, InverseFreeConfig, LSvgp,
        LSvgpConfig, MeanForm, OrthogonallyDecoupled, OrthogonallyDecoupledConfig,
        Parameterization, PosteriorConfig, PosteriorName, PseudoObservations,
        PseudoObservationsConfig, SolveGp, SolveGpConfig, TraceProbes, Unwhitened,
        UnwhitenedConfig, Whitened, WhitenedConfig,
    },
};

/// A model with everything that a training step differentiates.
#[derive(Module, Debug)]
struct Model {
    kernel: Kernels,
    posterior: AnyPosterior,
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
    let posterior_of = |config: PosteriorConfig| -> AnyPosterior {
        if let Some(&WhitenedConfig { covariance }) = config.downcast_ref() {
            return Whitened::new(inducing, distribution(covariance), jitter).into();
        }
        if let Some(&UnwhitenedConfig { covariance }) = config.downcast_ref() {
            return Unwhitened::new(inducing, distribution(covariance), jitter).into();
        }
        if let Some(&SolveGpConfig {
            covariance,
            parameterization,
        }) = config.downcast_ref()
        {
            let set = |inducing| InducingSet::new(inducing, distribution(covariance));
            let sets = vec![set(inducing), set(second)];
            return SolveGp::new(sets, parameterization, jitter).into();
        }
        if let Some(&OrthogonallyDecoupledConfig {
            covariance,
            parameterization,
            columns,
            seed,
        }) = config.downcast_ref()
        {
            let posterior = OrthogonallyDecoupled::new(
                (inducing, distribution(covariance)),
                (second, platform.matrix(&weights)),
                parameterization,
                jitter,
            );
            return match columns {
                Some(columns) => posterior.with_columns(columns, seed).into(),
                None => posterior.into(),
            };
        }
        if let Some(LSvgpConfig {
            observations: config,
        }) = config.downcast_ref()
        {
            return LSvgp::new(inducing, observations(config.mean)).into();
        }
        let Some(config) = config.downcast_ref::<InverseFreeConfig>() else {
            panic!("no formula of {}", config.name());
        };
        let lower = platform.batch(&full[..1]);
        let observations = observations(config.observations.mean);
        let posterior = InverseFree::new(inducing, observations, lower, config.auxiliary);
        match config.probes {
            Some(probes) => posterior.with_probes(probes).into(),
            None => posterior.into(),
        }
    };
    Model {
        kernel: kernel.init(DIMENSIONS, options.clone()).into(),
        posterior: posterior_of(posterior),
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
                PosteriorConfig::from(InverseFreeConfig {
                    observations,
                    auxiliary: AuxiliaryUpdate::TRAINED,
                    probes,
                })
            };
            let probes = TraceProbes { count: 4, seed: 5 };
            [
                PosteriorConfig::from(LSvgpConfig { observations }),
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
                PosteriorConfig::from(WhitenedConfig { covariance }),
                PosteriorConfig::from(UnwhitenedConfig { covariance }),
                solve(covariance, Parameterization::Whitened),
                solve(covariance, Parameterization::Unwhitened),
                odvgp(covariance, Parameterization::Whitened),
                PosteriorConfig::from(OrthogonallyDecoupledConfig {
                    covariance,
                    parameterization: Parameterization::Unwhitened,
                    columns: Some(4),
                    seed: 7,
                }),
            ]
        })
        .chain(with_pseudo_observations())
        .collect()
}

/// Every registered posterior is among the cases, and its configuration can be written and read.
#[test]
fn every_posterior_has_a_case() {
    let mut missing: Vec<_> = PosteriorName::all().map(|name| name.name()).collect();
    for config in posteriors() {
        let text = serde_json::to_string(&config).expect("serializable");
        let read = serde_json::from_str::<PosteriorConfig>(&text).expect("readable");
        assert_eq!(read, config);
        missing.retain(|name| *name != config.name());
    }
    // Orthogonal sets over unwhitened variables, whose configuration "solve" also has.
    assert_eq!(missing, ["solve-unwhitened"]);
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
