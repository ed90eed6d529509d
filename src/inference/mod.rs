//! Full-batch inference for the Gaussian likelihood.
//!
//! | method | objective | time |
//! |---|---|---|
//! | [`Exact`] | the log evidence | N³ |
//! | [`ComputationAware`] | a lower bound of it, for a posterior conditioned on I combinations of the data | N² of covariances, N·I² |
//! | [`ConjugateGradients`] | an estimate of the log evidence | N² of covariances per iteration |
//! | [`Collapsed`] | the evidence lower bound at the optimal `q(u)` | N·M² |
//! | [`CollapsedOrthogonal`] | the evidence lower bound at the optimal `q(u)q(v_⊥)`, with M2 additional orthogonal inducing variables | N·max(M, M2)² |
//! | [`LowRankRegression`] | the log evidence of R features, minus a penalty for the variance they miss | N·R² |
//!
//! For the same inducing points, `T(Z) ≤ L_OD ≤ L_S ≤ T(Z∪O) ≤ log p(y)` and
//! `T(Z) ≤ L_A ≤ log p(y)`, where T is the objective of [`Collapsed`], `L_A` its
//! [tighter bound](Collapsed::tighter_bound), `L_S` the objective of [`CollapsedOrthogonal`] and
//! `L_OD` its [decoupled bound](CollapsedOrthogonal::decoupled_bound).

mod collapsed;
mod computation_aware;
mod condition_error;
mod conjugate_gradients;
mod exact;
mod leave_one_out;
mod low_rank;
mod orthogonal;
mod parts;

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};

pub use collapsed::Collapsed;
pub use computation_aware::{
    ActionLoss, ActionPolicy, ActionStart, ActionVariables, Actions, AnyActionPolicy, AnyActions,
    BlockActions, ComputationAware, DenseActions, Iterated, IterationRule, Iterations, Regression,
    Uncertainty, grassmann_distance, near_order,
};
pub use condition_error::ConditionError;
pub use conjugate_gradients::{
    ConjugateGradients, ConjugateGradientsProcess, ConjugateGradientsSettings,
};
pub use exact::Exact;
pub use leave_one_out::LeaveOneOut;
pub use low_rank::{LowRankRegression, low_rank_evidence};
pub use orthogonal::CollapsedOrthogonal;

use crate::{
    likelihoods::{ImpossibleTarget, check_finite},
    ops::NotPositiveDefinite,
    parameter::{Hyperparameter, Priors, hyperparameters, require_same_dtype},
    process::Process,
};

/// A model that is trained full batch and then predicts.
///
/// P outputs share the kernel, the likelihood and all factorizations.
pub trait FullBatch: Module + ModuleDisplay {
    /// The process returned by [`condition`](Self::condition).
    type Process: Process;

    /// The training objective to maximize: the log evidence or a bound of it, summed over data and
    /// outputs.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite>;

    /// The process given the data, with everything that does not depend on new inputs precomputed.
    /// It lives on the device without autodiff and shares nothing with `self`.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Self::Process, ConditionError>;

    /// Updates the model after a step of gradient descent: moves parameters to a standard value
    /// along directions in which the objective is constant. Called after every Adam step. By
    /// default there are no such directions.
    fn after_step(self) -> Self {
        self
    }

    /// Whether a line search from `start` may evaluate the objective here; otherwise it tries points
    /// closer to `start`. Objectives that take much longer at extreme hyperparameters set such a limit.
    /// By default there is none.
    fn is_within_reach(&self, _start: &Self) -> bool {
        true
    }

    /// The priors of the parameters, given by path. Trainers add their log density to the
    /// objective. There are none by default.
    fn priors(&self) -> Priors {
        Priors::default()
    }

    /// Checks targets, `[N, P]`, before training. The default checks that they are finite.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`] for the first invalid value.
    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        check_finite(targets)
    }

    /// The hyperparameters with their constrained values.
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }
}

/// Checks that inputs and targets have the same number of rows and the same precision.
#[track_caller]
fn check_rows(inputs: &Tensor<2>, targets: &Tensor<2>) {
    let name = || "regression".to_owned();
    require_same_dtype(
        name,
        ("inputs", inputs.dtype()),
        ("targets", targets.dtype()),
    );
    let (inputs, targets) = (inputs.dims(), targets.dims());
    assert!(
        inputs[0] == targets[0],
        "inputs {inputs:?}, targets {targets:?}; expected [N, D], [N, P]"
    );
}
