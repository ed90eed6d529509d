//! Models, and models of any type.

use burn::tensor::Tensor;
use burn_gp_core::{
    custom::{AnyModule, BoxedModule, of_type, of_type_mut},
    inference::{ConditionError, LeaveFoldsOut, LeaveOneOut, RowColumns},
    likelihoods::{ImpossibleTarget, check_finite},
    ops::{NotPositiveDefinite, number},
    parameter::{Hyperparameter, Priors, hyperparameters},
};

use crate::{AnyTrained, data::TrainingData};

/// The two terms of an objective, each `[1]` and summed over the data. Training maximizes their
/// difference.
#[derive(Clone, Debug)]
pub struct Objective {
    /// The expected log density of the data, or the log evidence.
    pub fit: Tensor<1>,
    /// The KL divergence from the prior, if the objective has one.
    pub kl: Option<Tensor<1>>,
}

impl Objective {
    /// `fit − kl`, `[1]`.
    pub fn value(&self) -> Tensor<1> {
        match &self.kl {
            Some(kl) => self.fit.clone() - kl.clone(),
            None => self.fit.clone(),
        }
    }

    /// The name of a term that is not finite.
    pub(crate) fn broken_term(self, log_prior: Option<Tensor<1>>) -> &'static str {
        let is_finite = |term: Tensor<1>| number(term).is_finite();
        if !is_finite(self.fit) {
            match self.kl {
                Some(_) => "log density of the data",
                None => "log evidence",
            }
        } else if !log_prior.is_none_or(is_finite) {
            "log density of the hyperparameters' priors"
        } else {
            "divergence from the prior"
        }
    }
}

/// A model that can be trained, and that predicts after training.
///
/// The objective is all that the trainers need. A full-batch model [needs all data](Self::needs_all_data):
/// its objective is valid for the batch of all rows only. What [`trained`](Self::trained) returns can be saved
/// and makes predictions.
pub trait Model: AnyModule {
    /// An unbiased estimate of the objective over `data_count` data points.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[B, D]`, `targets`: `[B, P]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite>;

    /// The objectives of several models of this type in one call, `[B]`, each as by
    /// [`objective`](Self::objective) on all data: training from several initial values then runs side by side.
    /// By default `None`: it runs one after the other.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When one of the covariance matrices cannot be factored.
    fn objectives(
        &self,
        _models: &[AnyModel],
        _inputs: Tensor<2>,
        _targets: Tensor<2>,
    ) -> Option<Result<Tensor<1>, NotPositiveDefinite>> {
        None
    }

    /// Whether the objective is valid only for a batch of all data. By default, it can be averaged
    /// over batches.
    fn needs_all_data(&self) -> bool {
        false
    }

    /// The largest number of rows that a kernel processes per data point of a training step. Memory
    /// grows with this number.
    fn rows_per_datum(&self) -> usize {
        1
    }

    /// Updates everything that the model keeps between optimizer steps. By default there is nothing
    /// to update. A model with GP layers forwards the call to the layers, where inverse-free
    /// posteriors adapt to their kernels.
    fn after_step(&mut self) {}

    /// Updates what the objective keeps fixed while parameters change, such as the neighbors of rows. Full-batch
    /// training calls it after steps 1, 2, 4, 8, … and when L-BFGS has converged, which then restarts with an empty
    /// history. Returns whether the objective has changed. By default there is nothing to update.
    fn update_approximation(&mut self) -> bool {
        false
    }

    /// Whether a line search from `start`, a model of the same type, may evaluate the objective at this
    /// model. If not, it tries points closer to `start`. By default, all points may be evaluated.
    fn is_within_reach(&self, _start: &dyn Model) -> bool {
        true
    }

    /// The priors of the parameters, given by their paths. A trainer adds their log density to the
    /// objective. By default there are none.
    fn priors(&self) -> Priors {
        Priors::default()
    }

    /// Checks the targets, `[N, T]`, before training. A model with a likelihood uses the check of
    /// the likelihood. By default the targets must be finite.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`] with the first value that has no probability.
    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        check_finite(targets)
    }

    /// The hyperparameters in human-readable units.
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }

    /// The trained model, without autodiff. It contains all training data that it needs.
    ///
    /// # Errors
    ///
    /// When a value in the data that it keeps is not finite, or a covariance matrix cannot be
    /// factored.
    ///
    /// # Panics
    ///
    /// By default. A model that the trainers only train needs no prediction.
    #[track_caller]
    fn trained(&self, _data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        panic!("this model does not implement Model::trained")
    }

    /// The prediction of each training target from all the others, for models with a closed form:
    /// exact and collapsed regression.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    fn leave_one_out(
        &self,
        _data: &TrainingData,
    ) -> Option<Result<LeaveOneOut, NotPositiveDefinite>> {
        None
    }

    /// The model conditioned on all folds of its rows but one, for each fold, if there is a closed form: exact
    /// regression. `folds` has the number of the fold of each row, `[N]`.
    ///
    /// # Errors
    ///
    /// When a value is not finite, or a covariance matrix cannot be factored.
    fn leave_folds_out(
        &self,
        _data: &TrainingData,
        _folds: &[usize],
    ) -> Option<Result<LeaveFoldsOut, ConditionError>> {
        None
    }

    /// Trains with weights or known noise of the rows from now on: the training targets have these further columns.
    /// `false`, without a change, if the model does not support one of them.
    fn use_row_columns(&mut self, _columns: RowColumns) -> bool {
        false
    }

    /// The model as an object.
    fn boxed(self) -> AnyModel
    where
        Self: Sized,
    {
        BoxedModule::new(
            self,
            |module| of_type::<Self>(module),
            |module| of_type_mut::<Self>(module),
        )
    }
}

/// A model of any type. It is trained like the model inside.
pub type AnyModel = BoxedModule<dyn Model>;

impl Model for AnyModel {
    fn boxed(self) -> AnyModel {
        self
    }

    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        (**self).objective(inputs, targets, data_count)
    }

    fn objectives(
        &self,
        models: &[AnyModel],
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Option<Result<Tensor<1>, NotPositiveDefinite>> {
        (**self).objectives(models, inputs, targets)
    }

    fn needs_all_data(&self) -> bool {
        (**self).needs_all_data()
    }

    fn rows_per_datum(&self) -> usize {
        (**self).rows_per_datum()
    }

    fn after_step(&mut self) {
        (**self).after_step();
    }

    fn update_approximation(&mut self) -> bool {
        (**self).update_approximation()
    }

    fn is_within_reach(&self, start: &dyn Model) -> bool {
        let start = start.as_any().downcast_ref::<Self>();
        start.is_none_or(|start| (**self).is_within_reach(&**start))
    }

    fn priors(&self) -> Priors {
        (**self).priors()
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        (**self).check_targets(targets)
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        (**self).hyperparameters()
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        (**self).trained(data)
    }

    fn leave_one_out(
        &self,
        data: &TrainingData,
    ) -> Option<Result<LeaveOneOut, NotPositiveDefinite>> {
        (**self).leave_one_out(data)
    }

    fn leave_folds_out(
        &self,
        data: &TrainingData,
        folds: &[usize],
    ) -> Option<Result<LeaveFoldsOut, ConditionError>> {
        (**self).leave_folds_out(data, folds)
    }

    fn use_row_columns(&mut self, columns: RowColumns) -> bool {
        (**self).use_row_columns(columns)
    }
}
