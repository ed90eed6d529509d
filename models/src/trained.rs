//! Trained models.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    custom::{AnyModule, BoxedModule, of_type, of_type_mut},
    inference::{ConditionError, LeaveFoldsOut, RowColumns},
    likelihoods::AnyLikelihood,
    parameter::{Hyperparameter, hyperparameters},
    process::AnyProcess,
};

use crate::{FunctionPart, Predictor, data::TrainingData};

/// A trained model of any type.
pub type AnyTrained = BoxedModule<dyn Trained>;

/// A trained model, which can be saved and makes predictions.
pub trait Trained: AnyModule {
    /// The posterior over functions.
    ///
    /// # Errors
    ///
    /// When a value in the data that the model keeps is not finite, or a covariance matrix cannot be
    /// factored.
    fn process(&self) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError>;

    /// The model given further data at the same hyperparameters. By default there is none: the model neither keeps its
    /// data, nor has a posterior that further data update.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When a value is not finite, or a covariance matrix cannot be factored.
    fn condition_on_observations(
        &self,
        _inputs: Tensor<2>,
        _targets: Tensor<2>,
    ) -> Option<Result<AnyTrained, ConditionError>> {
        None
    }

    /// The posterior over functions of the model [given further data](Self::condition_on_observations). `process` is that
    /// of the model itself, which may be cheaper to extend than to compute again.
    ///
    /// # Errors
    ///
    /// Same as [`condition_on_observations`](Self::condition_on_observations).
    fn process_given(
        &self,
        _process: &dyn AnyProcess,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Option<Result<Box<dyn AnyProcess + Send + Sync>, ConditionError>> {
        let model = self.condition_on_observations(inputs, targets)?;
        Some(model.and_then(|model| model.process()))
    }

    /// The rows that the model keeps to predict, in its order. `None` if it keeps none.
    fn observations(&self) -> Option<TrainingData> {
        None
    }

    /// The model without some of the rows that it [keeps](Self::observations), at the same hyperparameters. `None` if it
    /// keeps none, or cannot be without one of them.
    ///
    /// # Panics
    ///
    /// If there is no such row, or no row would remain.
    fn without_observations(&self, _rows: &[usize]) -> Option<AnyTrained> {
        None
    }

    /// The model conditioned on all folds of its training rows but one, for each fold, at the same hyperparameters.
    /// By default there is none: only exact regression keeps its data and has a closed form. `folds` has the number
    /// of the fold of each row, `[N]`; `None` leaves out each row by itself.
    ///
    /// # Errors
    ///
    /// When a value in the data that the model keeps is not finite, or a covariance matrix cannot be factored.
    fn leave_folds_out(
        &self,
        _folds: Option<&[usize]>,
    ) -> Option<Result<LeaveFoldsOut, ConditionError>> {
        None
    }

    /// The training targets of a model that keeps its data, `[N, P]`.
    fn known_targets(&self) -> Option<Tensor<2>> {
        None
    }

    /// What the rows that the model keeps have besides their targets ([`Model::use_row_columns`]).
    ///
    /// [`Model::use_row_columns`]: crate::training::Model::use_row_columns
    fn row_columns(&self) -> RowColumns {
        RowColumns::default()
    }

    /// The likelihood.
    fn likelihood(&self) -> AnyLikelihood;

    /// The device and the precision.
    fn options(&self) -> (Device, DType);

    /// The hyperparameters in human-readable units.
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }

    /// The prior covariances `k(x1, x2)` of the function. `None` for deep models and for several
    /// functions with separate kernels.
    ///
    /// # Shapes
    ///
    /// - `x1`: `[N1, D]`, `x2`: `[N2, D]`
    /// - result: `[N1, N2]`
    fn covariance(&self, _x1: Tensor<2>, _x2: Tensor<2>) -> Option<Tensor<2>> {
        None
    }

    /// The parts of the function at rows: one for each term, if the kernel is a sum. `None` if it is not, if there are several
    /// targets or more than 4000 training rows, and for models that do not keep their data or whose targets are not
    /// numbers with noise. The rows are all used, so that approximate models are taken apart exactly.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N*, D]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    fn parts(&self, _x: Tensor<2>) -> Option<Result<Vec<FunctionPart>, ConditionError>> {
        None
    }

    /// The inducing points of all sets, row-major, `[M, D]`, from the first layer if there are
    /// several. Empty for regression that keeps its data and for models with networks.
    fn inducing_points(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Prepares the model for prediction.
    ///
    /// # Errors
    ///
    /// Same as [`process`](Self::process).
    fn predictor(&self) -> Result<Predictor, ConditionError> {
        let (device, dtype) = self.options();
        let process = self.process()?;
        Ok(Predictor::new(process, &self.likelihood(), &device, dtype))
    }

    /// The model as an object.
    fn into_trained(self) -> AnyTrained
    where
        Self: Sized,
    {
        BoxedModule::new(
            self,
            |module| of_type::<Self>(module),
            |module| of_type_mut::<Self>(module),
        )
    }

    /// The model with what its predictions need of the training data, as an object. By default they need
    /// nothing.
    ///
    /// # Errors
    ///
    /// When an input is not finite, or a covariance matrix cannot be factored.
    fn finished(self, _data: &TrainingData) -> Result<AnyTrained, ConditionError>
    where
        Self: Sized,
    {
        Ok(self.into_trained())
    }
}
