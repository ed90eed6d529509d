//! Inference on all data at once, for the Gaussian likelihood.
//!
//! | method | objective | time |
//! |---|---|---|
//! | [`Exact`] | the log evidence | N³ |
//! | [`ComputationAware`] | a lower bound of it, for a posterior that has seen I combinations of the data | N² of covariances, N·I² |
//! | [`ConjugateGradients`] | an estimate of the log evidence | N² of covariances an iteration |
//! | [`Collapsed`] | the evidence lower bound at the optimal `q(u)` | N·M² |
//! | [`CollapsedOrthogonal`] | the same with M2 orthogonal inducing variables beside the M | N·max(M, M2)² |
//! | [`LowRankRegression`] | the log evidence of R features, less what they leave of the variance | N·R² |
//!
//! At the same places `T(Z) ≤ L_OD ≤ L_S ≤ T(Z∪O) ≤ log p(y)` and `T(Z) ≤ L_A ≤ log p(y)`: T is the
//! objective of [`Collapsed`], `L_A` its [tighter bound](Collapsed::tighter_bound), `L_S` the
//! objective of [`CollapsedOrthogonal`] and `L_OD` its
//! [decoupled bound](CollapsedOrthogonal::decoupled_bound).

mod collapsed;
mod computation_aware;
mod conjugate_gradients;
mod exact;
mod low_rank;
mod orthogonal;
mod unit;

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
pub use conjugate_gradients::{
    ConjugateGradients, ConjugateGradientsProcess, ConjugateGradientsSettings,
};
pub use exact::Exact;
pub use low_rank::{LowRankRegression, low_rank_evidence};
pub use orthogonal::CollapsedOrthogonal;
pub use unit::in_unit_of_targets;

use crate::{
    likelihoods::{ImpossibleTarget, check_finite},
    ops::NotPositiveDefinite,
    parameter::{Hyperparameter, Priors, hyperparameters},
    process::Process,
};

/// A model that is fitted to all data at once and then predicts.
///
/// P outputs share the kernel, the likelihood and everything that is factored.
pub trait FullBatch: Module + ModuleDisplay {
    /// The process that [`condition`](Self::condition) gives.
    type Process: Process;

    /// What training maximizes: the log evidence, or a bound of it, summed over data and outputs.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite>;

    /// The process given the data, with everything that does not depend on new inputs computed
    /// once. It is on the device without autodiff and shares nothing with `self`.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Self::Process, NotPositiveDefinite>;

    /// The same model after a step of gradient descent, with parameters brought to a standard value
    /// along directions in which the objective is constant. It is called after every step of Adam; by
    /// default there are no such directions.
    fn after_step(self) -> Self {
        self
    }

    /// The same model with first values in the unit of the data that it is trained on, which its
    /// trainer asks for ([`in_unit_of_targets`]); as it is, unless it says otherwise.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    fn in_unit_of(self, _inputs: &Tensor<2>, _targets: &Tensor<2>) -> Self {
        self
    }

    /// The priors of the parameters, by their paths, whose log density a trainer adds to the
    /// objective: none by default.
    fn priors(&self) -> Priors {
        Priors::default()
    }

    /// Checks targets, `[N, P]`, before training: that they are finite, unless a model says otherwise.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`]: the first value that has no probability.
    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        check_finite(targets)
    }

    /// The hyperparameters, in the units people read.
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }
}

/// Checks that inputs and targets have the same rows.
#[track_caller]
fn check_rows(inputs: &Tensor<2>, targets: &Tensor<2>) {
    let (inputs, targets) = (inputs.dims(), targets.dims());
    assert!(
        inputs[0] == targets[0],
        "inputs {inputs:?}, targets {targets:?}; expected [N, D], [N, P]"
    );
}
