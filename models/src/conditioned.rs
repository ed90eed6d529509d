//! Regression models that keep their data.

use burn::{
    module::{Module, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    inference::{
        ActionPolicy, ComputationAware, ConditionError, ConjugateGradients, Exact, FullBatch,
    },
    kernels::KernelModule,
    layers::Predictive,
    likelihoods::{AnyLikelihood, Gaussian},
    parameter::Hyperparameter,
};

use crate::{
    ready_made::{ReadyMade, Trained},
    training::TrainingData,
};

/// A regression model together with the data that it is conditioned on.
#[derive(Module, Debug)]
pub struct Conditioned<R: Module> {
    regression: R,
    inputs: Param<Tensor<2>>,
    targets: Param<Tensor<2>>,
}

impl<R: FullBatch> Conditioned<R> {
    /// Moves both to the device without autodiff.
    pub fn new(regression: &R, data: &TrainingData) -> Self {
        let constant =
            |tensor: &Tensor<2>| Param::from_tensor(tensor.clone().inner()).set_require_grad(false);
        Self {
            regression: regression.valid(),
            inputs: constant(&data.inputs),
            targets: constant(&data.targets),
        }
    }

    /// The regression model.
    pub fn regression(&self) -> &R {
        &self.regression
    }
}

/// Regression that needs its training data to predict.
pub trait KeepsData: FullBatch {
    /// The kernel.
    fn kernel(&self) -> &impl KernelModule;

    /// The noise.
    fn likelihood(&self) -> &Gaussian;
}

/// Forwards to the kernel and the noise of each regression type.
macro_rules! keeps_data {
    ($($type:ident<$($parameter:ident: $bound:ident),*>),*) => {
        $(impl<$($parameter: $bound),*> KeepsData for $type<$($parameter),*> {
            fn kernel(&self) -> &impl KernelModule {
                self.kernel()
            }

            fn likelihood(&self) -> &Gaussian {
                self.likelihood()
            }
        })*
    };
}

keeps_data!(
    Exact<K: KernelModule>,
    ComputationAware<K: KernelModule, A: ActionPolicy>,
    ConjugateGradients<K: KernelModule>
);

impl<R: KeepsData> ReadyMade for R
where
    R::Process: Send + Sync + 'static,
{
    type Trained = Conditioned<R>;

    fn trained(&self, data: &TrainingData) -> Result<Conditioned<R>, ConditionError> {
        ConditionError::check(&data.inputs, &data.targets)?;
        Ok(Conditioned::new(self, data))
    }
}

impl<R: KeepsData> Trained for Conditioned<R>
where
    R::Process: Send + Sync + 'static,
{
    fn process(&self) -> Result<Box<dyn Predictive + Send + Sync>, ConditionError> {
        let process = (self.regression).condition(self.inputs.val(), self.targets.val())?;
        Ok(Box::new(process))
    }

    fn likelihood(&self) -> AnyLikelihood {
        AnyLikelihood::from(self.regression.likelihood().clone())
    }

    fn options(&self) -> (Device, DType) {
        let inputs = self.inputs.val();
        (inputs.device(), inputs.dtype())
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        FullBatch::hyperparameters(&self.regression)
    }

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Option<Tensor<2>> {
        Some(self.regression.kernel().covariance_at(x1, x2))
    }
}
