//! Models on all data in a loop of mini-batches.

use burn::{module::Module, tensor::Tensor};
use burn_gp::{
    inference::FullBatch, likelihoods::ImpossibleTarget, ops::NotPositiveDefinite,
    parameter::Priors,
};

use super::{MiniBatchModel, Objective};

/// A model on all data for the optimizer of mini-batches: Adam, its schedules and weight decay,
/// where L-BFGS is not what is wanted. With the whole data as a batch the objective is that of the
/// model; a smaller batch is taken for all there is, scaled up.
#[derive(Module, Debug)]
pub struct OnAllData<M: Module> {
    model: M,
}

impl<M: FullBatch> OnAllData<M> {
    /// The given model.
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
