//! Every ready-made model, initialized from its configuration.

mod draws;
mod files;
mod fitted;
mod frozen;
mod priors;
mod sizes;
mod trainable;
mod unusable_data;

use burn::tensor::{DType, Device};
use burn_gp_core::{
    features::PerceptronConfig,
    inference::{ActionStart, ConjugateGradientsSettings, VecchiaSettings},
    likelihoods::GaussianConfig,
    ops::Stationary,
};
use burn_gp_models::{
    ActionRows, ActionsConfig, AnyModel, AnyTrained, BasisConfig, ComputationAwareConfig,
    ConjugateGradientsConfig, DbkConfig, DeepGpConfig, DeepKernelConfig, ExactConfig,
    InducingConfig, LastLayerConfig, LayerConfig, MarkovConfig, MarkovVariationalConfig,
    ModelConfig, SgprConfig, SolveCollapsedConfig, SvdbkConfig, SvgpConfig, VecchiaConfig,
    VecchiaLaplaceConfig, VifConfig, VnngpConfig,
    training::{Model, TrainingData},
};

const ROWS: usize = 24;
const KERNEL: Stationary = Stationary::Matern52;

/// Data on a device without autodiff, which `init` accepts too.
fn data(dtype: DType) -> TrainingData {
    let inputs: Vec<f64> = (0..ROWS).map(|row| row as f64 / 6.0 - 2.0).collect();
    let targets: Vec<f64> = inputs.iter().map(|x| (2.0 * x).sin()).collect();
    TrainingData::new(&inputs, &targets, &Device::default(), dtype)
}

fn noise() -> GaussianConfig {
    GaussianConfig { noise: 0.1 }
}

fn basis() -> BasisConfig {
    let network = PerceptronConfig {
        hidden: vec![6],
        ..PerceptronConfig::default()
    };
    BasisConfig::new(network, 4)
}

fn deep<C>(model: C) -> DeepKernelConfig<C> {
    DeepKernelConfig {
        network: basis().network,
        ..DeepKernelConfig::new(model)
    }
}

/// A configuration of every model.
fn every_model() -> Vec<ModelConfig> {
    let actions = ActionsConfig::Blocks {
        count: 4,
        at_most: false,
        start: ActionStart::default(),
        seed: 0,
        rows: ActionRows::default(),
    };
    let inducing = 6;
    let layer = LayerConfig::new(KERNEL).with_inducing(InducingConfig::new(inducing));
    let svgp = SvgpConfig::new(KERNEL, noise()).with_inducing(inducing);
    let sgpr = SgprConfig::new(KERNEL)
        .with_likelihood(noise())
        .with_inducing(inducing);
    let conjugate_gradients = ConjugateGradientsConfig {
        settings: ConjugateGradientsSettings::default(),
        ..ConjugateGradientsConfig::new(KERNEL).with_likelihood(noise())
    };
    let neighbors = VecchiaSettings {
        neighbors: 5,
        // Half of them are the nearest of all rows. On this grid, rounding decides which of two is nearer.
        prediction_neighbors: 2 * ROWS,
    };
    let vecchia = VecchiaConfig::new(KERNEL)
        .with_likelihood(noise())
        .with_settings(neighbors);
    let vif = VifConfig::new(KERNEL)
        .with_likelihood(noise())
        .with_inducing(inducing)
        .with_settings(neighbors);
    let vecchia_laplace = VecchiaLaplaceConfig::new(KERNEL, noise()).with_settings(neighbors);
    let solve = SolveCollapsedConfig::new(KERNEL)
        .with_likelihood(noise())
        .with_inducing(inducing)
        .with_orthogonal(4);
    vec![
        ModelConfig::from(ExactConfig::new(KERNEL).with_likelihood(noise())),
        ModelConfig::from(sgpr.clone()),
        ModelConfig::from(solve),
        ModelConfig::from(
            ComputationAwareConfig::new(KERNEL)
                .with_likelihood(noise())
                .with_actions(actions),
        ),
        ModelConfig::from(conjugate_gradients),
        ModelConfig::from(vecchia),
        ModelConfig::from(vif),
        ModelConfig::from(MarkovConfig::new(KERNEL).with_likelihood(noise())),
        ModelConfig::from(MarkovVariationalConfig::new(KERNEL, noise())),
        ModelConfig::from(vecchia_laplace),
        ModelConfig::from(VnngpConfig::new(KERNEL, noise()).with_settings(neighbors)),
        ModelConfig::from(svgp.clone()),
        ModelConfig::from(DeepGpConfig::new(layer.clone(), noise()).with_hidden(2, layer)),
        ModelConfig::from(DbkConfig {
            basis: basis(),
            ..DbkConfig::default()
        }),
        ModelConfig::from(SvdbkConfig {
            basis: basis(),
            ..SvdbkConfig::new(noise())
        }),
        ModelConfig::from(LastLayerConfig {
            basis: basis(),
            mean: Default::default(),
            likelihood: noise(),
            parameters: Default::default(),
        }),
        ModelConfig::from(deep(ExactConfig::new(KERNEL).with_likelihood(noise()))),
        ModelConfig::from(deep(sgpr)),
        ModelConfig::from(deep(svgp)),
    ]
}

/// A check of every model.
trait Check {
    /// Of models that are trained on all data at once.
    fn full_batch(&self, name: &str, model: AnyModel, data: TrainingData);
    fn mini_batch(&self, name: &str, model: AnyModel, data: TrainingData);
}

/// Runs a check on every model from its configuration.
fn check_every_model(check_each: &impl Check) {
    for dtype in [DType::F64, DType::F32] {
        for config in every_model() {
            check(check_each, config, data(dtype));
        }
    }
}

/// Runs a check on the model from a configuration.
fn check(check: &impl Check, config: ModelConfig, data: TrainingData) {
    let name = format!("{:?}, {config:?}", data.inputs.dtype());
    let data = config.arranged(data);
    let model = config.init(&data).unwrap();
    if model.needs_all_data() {
        check.full_batch(&name, model.clone(), data.clone());
    }
    check.mini_batch(&name, model, data);
}

/// The model from a configuration, conditioned without training.
fn predicting(config: &ModelConfig, data: TrainingData) -> AnyTrained {
    let data = config.arranged(data);
    let model = config.init(&data).unwrap();
    model.trained(&data).unwrap()
}

fn every_prediction(dtype: DType) -> Vec<(String, AnyTrained)> {
    let models = every_model().into_iter();
    models
        .map(|config| {
            let name = format!("{dtype:?}, {config:?}");
            (name, predicting(&config, data(dtype)))
        })
        .collect()
}
