//! Policies and actions chosen at run time.

use burn::{module::Module, tensor::Tensor};

use super::{ActionPolicy, Actions, BlockActions, DenseActions, Iterations, Regression};
use crate::{
    kernels::{Kernel, KernelModule},
    ops::NotPositiveDefinite,
};

/// An [`ActionPolicy`] chosen at run time.
#[derive(Module, Debug)]
pub enum AnyActionPolicy {
    /// Trained actions, each on one run of points.
    Blocks(BlockActions),
    /// Actions chosen iteratively.
    Iterations(Iterations),
}

/// The [`Actions`] of a policy chosen at run time.
#[derive(Module, Debug)]
pub enum AnyActions {
    /// Combinations of one run of points each.
    Blocks(BlockActions),
    /// Combinations of all points.
    Dense(DenseActions),
}

impl ActionPolicy for AnyActionPolicy {
    type Actions = AnyActions;

    fn actions<K: KernelModule>(
        &self,
        problem: &Regression<'_, K>,
    ) -> Result<AnyActions, NotPositiveDefinite> {
        Ok(match self {
            Self::Blocks(actions) => AnyActions::Blocks(actions.actions(problem)?),
            Self::Iterations(iterations) => AnyActions::Dense(iterations.actions(problem)?),
        })
    }

    fn after_step(self) -> Self {
        match self {
            Self::Blocks(actions) => Self::Blocks(actions.after_step()),
            Self::Iterations(iterations) => Self::Iterations(iterations.after_step()),
        }
    }
}

impl Actions for AnyActions {
    fn count(&self) -> usize {
        match self {
            Self::Blocks(actions) => actions.count(),
            Self::Dense(actions) => actions.count(),
        }
    }

    fn project(&self, columns: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Blocks(actions) => actions.project(columns),
            Self::Dense(actions) => actions.project(columns),
        }
    }

    fn combine(&self, weights: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Blocks(actions) => actions.combine(weights),
            Self::Dense(actions) => actions.combine(weights),
        }
    }

    fn gram(&self) -> Tensor<2> {
        match self {
            Self::Blocks(actions) => actions.gram(),
            Self::Dense(actions) => actions.gram(),
        }
    }

    fn weighted_gram(&self, values: Tensor<1>) -> Tensor<2> {
        match self {
            Self::Blocks(actions) => actions.weighted_gram(values),
            Self::Dense(actions) => actions.weighted_gram(values),
        }
    }

    fn covariance(
        &self,
        kernel: &dyn Kernel,
        points: Tensor<2>,
        x: Option<Tensor<2>>,
    ) -> Tensor<2> {
        match self {
            Self::Blocks(actions) => actions.covariance(kernel, points, x),
            Self::Dense(actions) => actions.covariance(kernel, points, x),
        }
    }
}
