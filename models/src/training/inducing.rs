//! Separate training settings of the inducing points.

use burn::{
    module::{Module, ModuleVisitor, Param, ParamGroup},
    optim::GradientsParams,
    tensor::Tensor,
};
use burn_gp_core::parameter::Role;
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::Plateau;

/// Training settings of the inducing points where they differ from the other parameters. They apply
/// to the parts of a model with the role [`Role::Inducing`].
///
/// Quantities that a posterior keeps between steps, such as an approximate inverse of the inducing
/// covariance, can only follow points that move slowly. *Inverse-Free Sparse Variational Gaussian
/// Processes* (arXiv:2604.00697, §3.3) therefore freezes the points at first and then damps their
/// steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct InducingTraining {
    /// The number of initial steps in which the points are frozen.
    pub frozen_steps: usize,
    /// Their initial learning rate, which follows the schedule of the other parameters. The default
    /// is the learning rate of the other parameters.
    #[setters(strip_option)]
    pub learning_rate: Option<f64>,
    /// `β₁` of their Adam optimizer.
    pub beta_1: f64,
    /// Lowers their learning rate when the loss reaches a plateau. The default is the plateau
    /// setting of the other parameters.
    #[setters(strip_option)]
    pub plateau: Option<Plateau>,
}

impl Default for InducingTraining {
    /// The same settings as for the other parameters.
    fn default() -> Self {
        Self {
            frozen_steps: 0,
            learning_rate: None,
            beta_1: 0.9,
            plateau: None,
        }
    }
}

impl InducingTraining {
    /// Removes the gradients of the inducing points, which freezes the points.
    pub(super) fn hold<M: Module>(model: &M, gradients: &mut GradientsParams) {
        model.visit(&mut Hold {
            path: Vec::new(),
            group: Role::Inducing.group(model),
            gradients,
        });
    }
}

struct Hold<'a> {
    path: Vec<String>,
    group: ParamGroup,
    gradients: &'a mut GradientsParams,
}

impl ModuleVisitor for Hold<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_string());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if (self.group).matches(&param.id, Some(&self.path.join("."))) {
            self.gradients.remove::<D>(param.id);
        }
    }
}
