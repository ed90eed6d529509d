//! Training of the inducing points apart from the other parameters.

use burn::{
    module::{Module, ModuleVisitor, Param, ParamGroup},
    optim::GradientsParams,
    tensor::Tensor,
};
use serde::{Deserialize, Serialize};

use super::Plateau;

/// How the inducing points are trained, where that differs from the other parameters.
///
/// What a posterior keeps between steps, such as an approximate inverse of their covariance, follows
/// points that move slowly. *Inverse-Free Sparse Variational Gaussian Processes* (arXiv:2604.00697,
/// §3.3) therefore leaves the points alone at first and then damps their steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InducingTraining {
    /// They stay where they are for so many first steps.
    pub frozen_steps: usize,
    /// Their first learning rate, which follows the schedule of the others; theirs if absent.
    pub learning_rate: Option<f64>,
    /// `β₁` of their Adam.
    pub beta_1: f64,
    /// A factor of their learning rate that goes down where the loss does not; that of the others
    /// if absent.
    pub plateau: Option<Plateau>,
}

impl Default for InducingTraining {
    /// As the other parameters.
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
    /// The parameters that it is about: those of a field named `inducing`, wherever it is in a
    /// model.
    pub(super) fn group() -> ParamGroup {
        ParamGroup::from_predicate(FIELD)
    }

    /// Takes the gradients of the inducing points out, so that no optimizer moves them.
    pub(super) fn hold<M: Module>(model: &M, gradients: &mut GradientsParams) {
        model.visit(&mut Hold {
            path: Vec::new(),
            group: Self::group(),
            gradients,
        });
    }
}

/// The field of a posterior that has its inducing variables.
const FIELD: &str = "inducing";

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
