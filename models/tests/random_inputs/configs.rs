//! A small configuration of every model.

use burn_gp_core::{
    features::{NetworkConfig, PerceptronConfig, ResidualNetworkConfig},
    inference::IterationRule,
    kernels::{KernelConfig, StationaryConfig},
    likelihoods::{GaussianConfig, LikelihoodConfig, SoftmaxConfig},
    ops::Stationary,
    parameter::{Bounds, ParameterConfig, Prior},
    process::CovarianceShape,
    variational::{
        InverseFreeConfig, LSvgpConfig, OrthogonallyDecoupledConfig, Parameterization,
        PosteriorConfig, WhitenedConfig,
    },
};
use burn_gp_models::{
    ActionRows, ActionsConfig, BasisConfig, ComputationAwareConfig, ConjugateGradientsConfig,
    DbkConfig, DeepGpConfig, DeepKernelConfig, ExactConfig, InducingConfig, LastLayerConfig,
    LayerConfig, ModelConfig, SgprConfig, SolveCollapsedConfig, SvdbkConfig, SvgpConfig,
    VecchiaConfig, VecchiaLaplaceConfig, VifConfig, VnngpConfig,
};

fn matern() -> KernelConfig {
    StationaryConfig::new(Stationary::Matern32).into()
}

fn noise() -> GaussianConfig {
    GaussianConfig { noise: 0.1 }
}

fn network() -> NetworkConfig {
    NetworkConfig::from(ResidualNetworkConfig {
        width: 3,
        blocks: 1,
        ..Default::default()
    })
}

fn perceptron() -> NetworkConfig {
    NetworkConfig::from(PerceptronConfig {
        hidden: vec![3],
        ..Default::default()
    })
}

fn basis() -> BasisConfig {
    BasisConfig::new(network(), 2)
}

/// Parameter settings of every kind.
fn parameters() -> ParameterConfig {
    let mut config = ParameterConfig::default();
    config.values.insert("kernel.variance".into(), vec![0.7]);
    let bounds = Bounds::between(0.01, 10.0);
    config.bounds.insert("kernel.lengthscale".into(), bounds);
    let prior = Prior::Gamma {
        shape: 2.0,
        rate: 1.0,
    };
    config.priors.0.insert("kernel.lengthscale".into(), prior);
    config.frozen.push("kernel.variance".into());
    config
}

fn svgp(posterior: PosteriorConfig, orthogonal: usize) -> SvgpConfig {
    SvgpConfig {
        parameters: parameters(),
        ..SvgpConfig::new(matern(), noise())
            .with_inducing(3)
            .with_orthogonal(orthogonal)
            .with_posterior(posterior)
    }
}

fn layer() -> LayerConfig {
    LayerConfig::new(matern()).with_inducing(InducingConfig::new(3))
}

pub fn all() -> Vec<ModelConfig> {
    let full = CovarianceShape::Full;
    let labels = LikelihoodConfig::from(SoftmaxConfig {
        classes: 3,
        nodes: 8,
    });
    let actions = |rows| ActionsConfig::Blocks {
        count: 2,
        at_most: false,
        start: Default::default(),
        seed: 1,
        rows,
    };
    let mut iterated = ComputationAwareConfig::new(matern()).with_likelihood(noise());
    iterated.actions = ActionsConfig::Iterations {
        rule: IterationRule::PreconditionedResiduals { rank: 2 },
        count: 2,
        tolerance: 1e-4,
        seed: 0,
    };
    let dbk = DbkConfig {
        basis: BasisConfig::integrated(perceptron(), 2),
        ..DbkConfig::default()
    };
    let last = LastLayerConfig {
        basis: basis(),
        mean: Default::default(),
        likelihood: noise(),
        parameters: ParameterConfig::default(),
    };
    let deep = |model| DeepKernelConfig {
        network: network(),
        features: 2,
        model,
    };
    let exact = ExactConfig {
        parameters: parameters(),
        ..ExactConfig::new(matern()).with_likelihood(noise())
    };
    let sgpr = SgprConfig::new(matern())
        .with_likelihood(noise())
        .with_inducing(3);
    let whitened = PosteriorConfig::from(WhitenedConfig { covariance: full });
    vec![
        ModelConfig::from(exact.clone()),
        ModelConfig::from(sgpr.clone()),
        ModelConfig::from(
            SolveCollapsedConfig::new(matern())
                .with_likelihood(noise())
                .with_inducing(2)
                .with_orthogonal(2),
        ),
        ModelConfig::from(
            ComputationAwareConfig::new(matern())
                .with_likelihood(noise())
                .with_actions(actions(ActionRows::Near)),
        ),
        ModelConfig::from(iterated),
        ModelConfig::from(ConjugateGradientsConfig::new(matern()).with_likelihood(noise())),
        ModelConfig::from(VecchiaConfig::new(matern()).with_likelihood(noise())),
        ModelConfig::from(
            VifConfig::new(matern())
                .with_likelihood(noise())
                .with_inducing(3),
        ),
        ModelConfig::from(VecchiaLaplaceConfig::new(matern(), noise())),
        ModelConfig::from(VnngpConfig::new(matern(), noise())),
        ModelConfig::from(svgp(whitened.clone(), 0)),
        ModelConfig::from(svgp(
            PosteriorConfig::from(LSvgpConfig {
                observations: Default::default(),
            }),
            0,
        )),
        ModelConfig::from(svgp(PosteriorConfig::from(InverseFreeConfig::default()), 0)),
        ModelConfig::from(svgp(
            PosteriorConfig::from(OrthogonallyDecoupledConfig {
                covariance: full,
                parameterization: Parameterization::Unwhitened,
                columns: Some(2),
                seed: 0,
            }),
            2,
        )),
        ModelConfig::from(
            SvgpConfig::new(matern(), labels.clone())
                .with_inducing(3)
                .with_coregionalization(2),
        ),
        ModelConfig::from(
            SvgpConfig::new(matern(), labels)
                .with_inducing(3)
                .with_separate_kernels(),
        ),
        ModelConfig::from(DeepGpConfig::new(layer(), noise()).with_hidden(2, layer())),
        ModelConfig::from(dbk),
        ModelConfig::from(SvdbkConfig {
            basis: basis(),
            ..SvdbkConfig::new(noise())
        }),
        ModelConfig::from(last),
        ModelConfig::from(deep(exact)),
        ModelConfig::from(DeepKernelConfig {
            network: perceptron(),
            features: 1,
            model: sgpr,
        }),
        ModelConfig::from(DeepKernelConfig {
            network: network(),
            features: 2,
            model: svgp(whitened, 0),
        }),
    ]
}

/// The configurations as JSON files.
pub fn texts() -> Vec<Vec<u8>> {
    let text = |config: &ModelConfig| serde_json::to_vec(config).unwrap();
    all().iter().map(text).collect()
}

/// Whether all sizes in a configuration fit into memory: every integer except a seed is below 100.
pub fn is_small(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Number(number) => number.as_u64().is_none_or(|size| size < 100),
        serde_json::Value::Array(values) => values.iter().all(is_small),
        serde_json::Value::Object(fields) => fields
            .iter()
            .all(|(key, value)| key == "seed" || is_small(value)),
        _ => true,
    }
}
