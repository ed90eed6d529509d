//! The settings of training on mini-batches.

use burn::{grad_clipping::GradientClipping, module::Module, optim::ModuleOptimizer};
use burn_gp_core::{
    optim::{Adam, NaturalGradient},
    parameter::Role,
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    InducingTraining, Model, Plateau, Schedule, TrainingData,
    batches::Batches,
    gate::{Gate, GatedAdam},
    mini_batch_step::MiniBatchStep,
    rates::Rates,
};

/// Settings of mini-batch training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct MiniBatchTraining {
    /// The number of optimizer steps.
    pub steps: usize,
    /// The batch size. If there are fewer data, a batch contains all of them.
    pub batch_size: usize,
    /// The initial learning rate of Adam.
    pub learning_rate: f64,
    /// The initial learning rate of network weights (parts with the role [`Role::Network`]), with
    /// the same schedule. The default is the rate of the other parameters.
    #[serde(default)]
    #[setters(strip_option)]
    pub network_rate: Option<f64>,
    /// The learning-rate schedule.
    pub schedule: Schedule,
    /// Lowers the learning rate when the loss reaches a plateau, in addition to the schedule.
    #[serde(default)]
    #[setters(strip_option)]
    pub plateau: Option<Plateau>,
    /// The gradient of each parameter is clipped to this norm.
    #[setters(strip_option)]
    pub gradient_norm: Option<f64>,
    /// The seed of the batches.
    pub seed: u64,
    /// Natural gradients for the Gaussians `q(u)`. Adam trains the other parameters.
    #[serde(default)]
    #[setters(strip_option)]
    pub natural_gradient: Option<NaturalGradient>,
    /// Settings of the inducing points. The default is the settings of the other parameters.
    #[serde(default)]
    #[setters(strip_option)]
    pub inducing: Option<InducingTraining>,
    /// The penalty `½λ‖θ‖²` in the loss per data point, on network weights only.
    #[serde(default)]
    pub weight_decay: f64,
}

impl MiniBatchTraining {
    /// `steps` steps with batches of 256, learning rate 0.01 and seed 0.
    pub fn new(steps: usize) -> Self {
        Self {
            steps,
            batch_size: 256,
            learning_rate: 0.01,
            network_rate: None,
            schedule: Schedule::Constant,
            plateau: None,
            gradient_norm: None,
            seed: 0,
            natural_gradient: None,
            inducing: None,
            weight_decay: 0.0,
        }
    }

    /// The number of steps in `epochs` passes over `data_count` data points, rounded up.
    pub fn steps_in_epochs(&self, epochs: usize, data_count: usize) -> usize {
        (epochs * data_count).div_ceil(self.batch_size.clamp(1, data_count.max(1)))
    }

    /// Adam before its first step, for the parameters of `model`, behind a gate.
    pub(super) fn optimizer(&self, model: &impl Module, gate: &Gate) -> ModuleOptimizer {
        let gated = |adam| GatedAdam {
            adam,
            gate: gate.clone(),
        };
        let clipping = (self.gradient_norm).map(|norm| GradientClipping::Norm(norm as f32));
        let mut optimizer = ModuleOptimizer::from(gated(Adam::new()));
        if let Some(clipping) = &clipping {
            optimizer = optimizer.with_grad_clipping(clipping.clone());
        }
        if let Some(InducingTraining { beta_1, .. }) = self.inducing {
            let adam = gated(Adam::new().with_beta_1(beta_1));
            optimizer = optimizer.with_group(Role::Inducing.group(model), adam, clipping.clone());
        }
        if self.weight_decay > 0.0 {
            let adam = gated(Adam::new().with_weight_decay(self.weight_decay));
            optimizer = optimizer.with_group(Role::Network.group(model), adam, clipping);
        }
        optimizer
    }

    /// The computation of a step of `model` for `data_count` data points.
    pub(super) fn computation(
        &self,
        model: &dyn Model,
        data_count: usize,
        rates: &Rates,
    ) -> MiniBatchStep {
        MiniBatchStep {
            data_count,
            priors: model.priors(),
            natural_gradient: self.natural_gradient,
            inducing: self.inducing,
            rates: rates.clone(),
            gate: Gate::default(),
        }
    }

    /// The batches of `data`.
    pub(super) fn batches(&self, data: TrainingData) -> Batches {
        Batches::new(data, self.batch_size, self.seed)
    }
}
