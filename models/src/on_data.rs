//! Regression that keeps its data.

use burn::{
    module::{Module, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp::{inference::FullBatch, ops::NotPositiveDefinite};

use crate::training::TrainingData;

/// Regression together with the data it is conditioned on.
#[derive(Module, Debug)]
pub struct OnData<R: Module> {
    pub regression: R,
    inputs: Param<Tensor<2>>,
    targets: Param<Tensor<2>>,
}

impl<R: FullBatch> OnData<R> {
    /// On the device without autodiff.
    pub fn new(regression: R, data: &TrainingData) -> Self {
        let constant =
            |tensor: &Tensor<2>| Param::from_tensor(tensor.clone().inner()).set_require_grad(false);
        Self {
            regression: regression.valid(),
            inputs: constant(&data.inputs),
            targets: constant(&data.targets),
        }
    }

    /// The process given the data.
    pub fn condition(&self) -> Result<R::Process, NotPositiveDefinite> {
        (self.regression).condition(self.inputs.val(), self.targets.val())
    }

    /// The device and the type.
    pub fn options(&self) -> (Device, DType) {
        let inputs = self.inputs.val();
        (inputs.device(), inputs.dtype())
    }
}
