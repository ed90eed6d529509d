//! Regression models that keep their data.

use burn::{
    module::{Module, ModuleDisplay, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    inference::{
        ActionPolicy, ComputationAware, ConditionError, ConjugateGradients, Exact, ExactOutputs,
        LeaveFoldsOut, Markov, MarkovVariational, Vecchia, VecchiaLaplace, Vif,
    },
    kernels::{Kernel, KernelModule, Structure},
    likelihoods::{AnyLikelihood, Gaussian},
    means::AnyMean,
    parameter::Hyperparameter,
    process::AnyProcess,
};

use crate::{
    AnyTrained, DataShape, FunctionPart, Trained,
    parts::{KnownRows, MOST_ROWS, function_parts, terms},
    training::{Model, TrainingData},
};

/// A regression model together with the data that it is conditioned on.
#[derive(Module, Debug)]
pub struct Conditioned<R: Module> {
    regression: R,
    inputs: Param<Tensor<2>>,
    targets: Param<Tensor<2>>,
}

impl<R: KeepsData> Conditioned<R> {
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

    /// The trained model of a regression model and its data.
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite.
    pub fn trained(regression: &R, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        ConditionError::check(&data.inputs, &data.targets)?;
        Ok(Self::new(regression, data).into_trained())
    }

    /// A trained model of this shape, to be filled from a record.
    pub fn blank(regression: &R, shape: &DataShape) -> AnyTrained {
        Self::new(regression, &shape.zeros()).into_trained()
    }

    /// The regression model.
    pub fn regression(&self) -> &R {
        &self.regression
    }
}

/// Regression that needs its training data to predict.
pub trait KeepsData: Model + Module + ModuleDisplay {
    /// The process given the data.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    fn process_of(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError>;

    /// The kernel.
    fn kernel(&self) -> &impl KernelModule;

    /// The mean function.
    fn mean(&self) -> &AnyMean;

    /// The likelihood.
    fn likelihood(&self) -> AnyLikelihood;
}

/// Forwards to the methods of each regression type.
macro_rules! keeps_data {
    ($($type:ident<$($parameter:ident: $bound:ident),*>),*) => {
        $(impl<$($parameter: $bound + Sync + 'static),*> KeepsData for $type<$($parameter),*> {
            fn process_of(
                &self,
                inputs: Tensor<2>,
                targets: Tensor<2>,
            ) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError> {
                Ok(Box::new(self.condition(inputs, targets)?))
            }

            fn kernel(&self) -> &impl KernelModule {
                self.kernel()
            }

            fn mean(&self) -> &AnyMean {
                self.mean()
            }

            fn likelihood(&self) -> AnyLikelihood {
                AnyLikelihood::from(self.likelihood().clone())
            }
        })*
    };
}

keeps_data!(
    Exact<K: KernelModule>,
    ExactOutputs<K: KernelModule>,
    ComputationAware<K: KernelModule, A: ActionPolicy>,
    ConjugateGradients<K: KernelModule>,
    Vecchia<K: KernelModule>,
    VecchiaLaplace<K: KernelModule>,
    Vif<>,
    Markov<K: KernelModule>,
    MarkovVariational<K: KernelModule>
);

impl<R: KeepsData> Trained for Conditioned<R> {
    fn process(&self) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError> {
        self.regression
            .process_of(self.inputs.val(), self.targets.val())
    }

    fn process_given(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Option<Result<Box<dyn AnyProcess + Send + Sync>, ConditionError>> {
        let all = |own: &Param<Tensor<2>>, more| Tensor::cat(vec![own.val(), more], 0);
        let (inputs, targets) = (all(&self.inputs, inputs), all(&self.targets, targets));
        Some(self.regression.process_of(inputs, targets))
    }

    fn leave_folds_out(
        &self,
        folds: Option<&[usize]>,
    ) -> Option<Result<LeaveFoldsOut, ConditionError>> {
        let data = TrainingData {
            inputs: self.inputs.val(),
            targets: self.targets.val(),
        };
        let each: Vec<usize> = (0..data.inputs.dims()[0]).collect();
        (self.regression).leave_folds_out(&data, folds.unwrap_or(&each))
    }

    fn known_targets(&self) -> Option<Tensor<2>> {
        Some(self.targets.val())
    }

    fn likelihood(&self) -> AnyLikelihood {
        self.regression.likelihood()
    }

    fn options(&self) -> (Device, DType) {
        let inputs = self.inputs.val();
        (inputs.device(), inputs.dtype())
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.regression.hyperparameters()
    }

    fn parts(&self, x: Tensor<2>) -> Option<Result<Vec<FunctionPart>, ConditionError>> {
        let Structure::Sum(first, second) = self.regression.kernel().structure() else {
            return None;
        };
        let likelihood = self.regression.likelihood();
        let noise = likelihood.downcast_ref::<Gaussian>()?.noise();
        let (inputs, targets) = (self.inputs.val(), self.targets.val());
        let [rows, columns] = targets.dims();
        if rows > MOST_ROWS || columns > 1 {
            return None;
        }
        let known = KnownRows {
            residual: self.regression.mean().residual(targets, inputs.clone()),
            inputs,
            noise,
        };
        let terms = [terms(first), terms(second)].concat();
        Some(function_parts(&terms, known, x))
    }

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Option<Tensor<2>> {
        Some(self.regression.kernel().covariance_at(x1, x2))
    }
}
