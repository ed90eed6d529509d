//! Models that this crate registers: one on all rows, one on mini-batches.

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inference::ConditionError,
    likelihoods::{ImpossibleTarget, LikelihoodConfig},
    ops::NotPositiveDefinite,
    register,
};
use burn_gp_models::{
    AnyExact, AnyModel, AnySvgp, AnyTrained, DataShape, ExactConfig, InitError, ModelDefinition,
    SvgpConfig,
    training::{Model, Objective, TrainingData, TrainingDefaults},
};
use serde::{Deserialize, Serialize};

/// Exact regression whose evidence counts half.
#[derive(Module, Debug)]
struct Half {
    exact: AnyExact,
}

impl Model for Half {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        _data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let fit = self.exact.full_objective(inputs, targets)? * 0.5;
        Ok(Objective { fit, kl: None })
    }

    fn needs_all_data(&self) -> bool {
        true
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        self.exact.trained(data)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HalfConfig {
    exact: ExactConfig,
}

impl ModelDefinition for HalfConfig {
    fn init(&self, data: &TrainingData) -> Result<AnyModel, InitError> {
        let exact = self.exact.init(data)?;
        Ok(Half { exact }.boxed())
    }

    fn default_training(&self) -> TrainingDefaults {
        TrainingDefaults::L_BFGS
    }

    fn takes_one_output(&self) -> bool {
        true
    }

    fn skeleton(&self, shape: &DataShape) -> Result<AnyTrained, InitError> {
        self.exact.skeleton(shape)
    }

    fn likelihood(&self) -> LikelihoodConfig {
        self.exact.likelihood()
    }
}

register!(
    Model,
    "half",
    HalfConfig,
    "Exact regression whose evidence counts half"
);

/// A sparse variational model whose divergence from the prior counts `weight` times.
#[derive(Module, Debug)]
struct Tempered {
    svgp: AnySvgp,
    #[module(skip)]
    weight: f64,
}

impl Model for Tempered {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let Objective { fit, kl } = self.svgp.objective(inputs, targets, data_count)?;
        let kl = kl.map(|kl| kl * self.weight);
        Ok(Objective { fit, kl })
    }

    fn after_step(&mut self) {
        self.svgp.after_step();
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        self.svgp.check_targets(targets)
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        self.svgp.trained(data)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemperedConfig {
    pub svgp: SvgpConfig,
    weight: f64,
}

impl Default for TemperedConfig {
    fn default() -> Self {
        Self {
            svgp: SvgpConfig::default().with_inducing(9),
            weight: 1.0,
        }
    }
}

impl ModelDefinition for TemperedConfig {
    fn init(&self, data: &TrainingData) -> Result<AnyModel, InitError> {
        let (svgp, weight) = (self.svgp.init(data)?, self.weight);
        Ok(Tempered { svgp, weight }.boxed())
    }

    fn resolve(&mut self, data: &TrainingData) {
        self.svgp.resolve(data);
    }

    fn default_training(&self) -> TrainingDefaults {
        TrainingDefaults::MINI_BATCHES
    }

    fn skeleton(&self, shape: &DataShape) -> Result<AnyTrained, InitError> {
        self.svgp.skeleton(shape)
    }

    fn likelihood(&self) -> LikelihoodConfig {
        ModelDefinition::likelihood(&self.svgp)
    }
}

register!(
    Model,
    "tempered",
    TemperedConfig,
    "As svgp, with a weight of the divergence from the prior"
);
