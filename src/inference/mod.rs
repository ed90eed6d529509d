//! Inference on all data at once, for the Gaussian likelihood.
//!
//! | method | objective | time |
//! |---|---|---|
//! | [`Exact`] | the log evidence | N³ |
//! | [`Collapsed`] | the evidence lower bound at the optimal `q(u)` | N·M² |

mod collapsed;
mod exact;
mod prior;

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};

pub use collapsed::Collapsed;
pub use exact::Exact;
pub use prior::RegressionPrior;

use crate::{ops::NotPositiveDefinite, parameter::Hyperparameter, variational::Process};

/// A model that is fitted to all data at once and then predicts.
///
/// P outputs share the kernel, the likelihood and everything that is factored.
pub trait FullBatch: Module + ModuleDisplay {
    /// The process that [`condition`](Self::condition) gives.
    type Process: Process;

    /// What training maximises: the log evidence, or a bound of it, summed over data and outputs.
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

    /// The hyperparameters, in the units people read.
    fn hyperparameters(&self) -> Vec<Hyperparameter>;
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
