//! Full-batch inference: for the Gaussian likelihood, and on neighbors or over time for others.
//!
//! | method | objective | time |
//! |---|---|---|
//! | [`Exact`] | the log evidence | N³ |
//! | [`ExactOutputs`] | the log evidence of several correlated outputs, without the missing targets | n³, n the number of observed targets; N³ + P³ for a complete table |
//! | [`ComputationAware`] | a lower bound of it, for a posterior conditioned on I combinations of the data | N² of covariances, N·I² |
//! | [`ConjugateGradients`] | an estimate of the log evidence | N² of covariances per iteration |
//! | [`Collapsed`] | the evidence lower bound at the optimal `q(u)` | N·M² |
//! | [`CollapsedOrthogonal`] | the evidence lower bound at the optimal `q(u)q(v_⊥)`, with M2 additional orthogonal inducing variables | N·max(M, M2)² |
//! | [`Vecchia`] | the log evidence with each row conditioned on m neighbors among those before it | N·m³ |
//! | [`Vif`] | the same for what M inducing variables leave | N·(m³ + m²·M + M²) |
//! | [`Markov`] | the log evidence, for one input and kernels that are state-space models with s states | N·s² |
//! | [`MarkovVariational`] | the evidence lower bound with any likelihood, for one input and such kernels | N·s² per iteration |
//! | [`VecchiaLaplace`] | Laplace's approximation of the log evidence with any likelihood, on neighbors | N·m³, N·m per iteration of a solve |
//! | [`Vnngp`] | the evidence lower bound with any likelihood, on neighbors, for a given kernel and independent inducing values at all inputs; on mini-batches | N·m³ once, m per row of a batch |
//! | [`LowRankRegression`] | the log evidence of R features, minus a penalty for the variance they miss | N·R² |
//!
//! For the same inducing points, `T(Z) ≤ L_OD ≤ L_S ≤ T(Z∪O) ≤ log p(y)` and
//! `T(Z) ≤ L_A ≤ log p(y)`, where T is the objective of [`Collapsed`], `L_A` its
//! [tighter bound](Collapsed::tighter_bound), `L_S` the objective of [`CollapsedOrthogonal`] and
//! `L_OD` its [decoupled bound](CollapsedOrthogonal::decoupled_bound).
//!
//! P outputs share the kernel, the likelihood and all factorizations, except in [`ExactOutputs`]. Every method but [`Vnngp`] has the same two
//! functions of inputs, `[N, D]`, and targets, `[N, P]`. `full_objective` is the objective to maximize,
//! `[1]`, summed over data and outputs. `condition` gives the process for prediction, with everything that
//! does not depend on new inputs precomputed; it lives on the device without autodiff and shares nothing
//! with the model.
//!
//! # Weights and known noise of rows
//!
//! [`Exact`], [`Collapsed`], [`LowRankRegression`], [`ConjugateGradients`], [`ComputationAware`], [`Vecchia`] and
//! [`Markov`] take a weight and a known noise variance of each row, as further columns of the targets ([`RowColumns`]).
//!
//! # Rows with equal inputs
//!
//! [`Exact`] and [`Collapsed`] compute with one row for all rows with equal inputs and equal noise after
//! [`Exact::with_merged_replicates`], with the results of all rows.
//!
//! # New observations
//!
//! Processes of dense methods take further rows at the same parameters, at a cost of new rows instead of all:
//!
//! | process of | [`condition_on_observations`](crate::process::WithMean::condition_on_observations) | equal to conditioning on all rows | time for n rows |
//! |---|---|---|---|
//! | [`Exact`] | extends the factor | yes | N²·n |
//! | [`Collapsed`], [`CollapsedOrthogonal`] | updates `q(u)` | yes for [`Collapsed`], with the same inducing variables | M³ + M²·n |
//! | a posterior in [`variational`](crate::variational) | updates `q(u)` | if `q(u)` was optimal for the old rows, as after [`Collapsed::optimal_distribution`] | M³ + M²·n |
//! | [`Markov::filter`] | filters on | yes, for later rows | n·s² |
//!
//! Those of [`Exact`] also [give up rows](crate::process::WithMean::without_observations), and take
//! [several sets of targets](crate::process::WithMean::condition_on_fantasies) for the same inputs at once.

mod collapsed;
mod computation_aware;
mod condition_error;
mod conjugate_gradients;
mod exact;
mod exact_outputs;
mod fantasies;
mod leave_folds_out;
mod leave_one_out;
mod low_rank;
mod markov;
mod new_observations;
mod noise_at_points;
mod orthogonal;
mod parts;
mod removed_observations;
mod replicates;
mod row_noise;
mod row_values;
mod update_error;
mod vecchia;
mod vecchia_laplace;
mod vif;
mod vnngp;

use burn::tensor::Tensor;

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
pub use exact_outputs::{
    EntriesProcess, ExactOutputs, KroneckerProcess, OutputsProcess, check_observed,
};
pub use fantasies::Fantasies;
pub use leave_folds_out::{LeaveFoldsOut, WithoutFolds};
pub use leave_one_out::LeaveOneOut;
pub use low_rank::{LowRankRegression, low_rank_evidence};
pub use markov::{Markov, MarkovFilter, MarkovProcess, MarkovVariational};
pub use orthogonal::CollapsedOrthogonal;
pub use replicates::has_replicates;
pub use row_values::{RowColumns, RowValues};
pub use update_error::UpdateError;
pub use vecchia::{LeastSquares, Vecchia, VecchiaProcess, VecchiaSettings};
pub use vecchia_laplace::{VecchiaLaplace, VecchiaLaplaceProcess, VecchiaLaplaceSettings};
pub use vif::{Vif, VifProcess};
pub use vnngp::{Vnngp, VnngpProcess};

use crate::parameter::require_same_dtype;

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
