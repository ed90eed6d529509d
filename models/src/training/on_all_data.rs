//! Full-batch models in a mini-batch training loop.

use burn::{module::Module, tensor::Tensor};
use burn_gp::{
    inference::FullBatch, likelihoods::ImpossibleTarget, ops::NotPositiveDefinite,
    parameter::Priors,
};

use super::{MiniBatchModel, Objective};

/// A full-batch model for the mini-batch optimizer: Adam with its schedules and weight decay
/// instead of L-BFGS. If the batch contains all data, the objective is that of the model. The
/// objective of a smaller batch treats the batch as the whole data set and is scaled up.
#[derive(Module, Debug)]
pub struct OnAllData<M: Module> {
    model: M,
}

impl<M: FullBatch> OnAllData<M> {
    /// Wraps a model.
    pub fn new(model: M) -> Self {
        Self { model }
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The model.
    pub fn into_model(self) -> M {
        self.model
    }
}

impl<M: FullBatch> MiniBatchModel for OnAllData<M> {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let [batch, _] = inputs.dims();
        let objective = self.model.objective(inputs, targets)?;
        Ok(Objective {
            fit: objective * (data_count as f64 / batch as f64),
            kl: None,
        })
    }

    fn in_unit_of(self, inputs: &Tensor<2>, targets: &Tensor<2>) -> Self {
        Self::new(self.model.in_unit_of(inputs, targets))
    }

    fn priors(&self) -> Priors {
        self.model.priors().within("model")
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        self.model.check_targets(targets)
    }
}
