//! The interface of models to training.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};
use burn_gp_core::{
    inference::FullBatch,
    likelihoods::{ImpossibleTarget, check_finite},
    ops::{NotPositiveDefinite, number},
    parameter::{Hyperparameter, Priors, hyperparameters},
};

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
    pub(super) fn broken_term(self, log_prior: Option<Tensor<1>>) -> &'static str {
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

/// A model that can be trained. Every [`FullBatch`] model implements it; its objective needs all
/// data at once.
pub trait Model: Module + ModuleDisplay {
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
    fn after_step(self) -> Self {
        self
    }

    /// Whether a line search from `start` may evaluate the objective at this model. If not, it tries
    /// points closer to `start`. By default, all points may be evaluated.
    fn is_within_reach(&self, _start: &Self) -> bool {
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
}

impl<M: FullBatch> Model for M {
    /// The objective with the batch as the whole data set, scaled up to `data_count`.
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let [batch, _] = inputs.dims();
        let objective = FullBatch::full_objective(self, inputs, targets)?;
        Ok(Objective {
            fit: objective * (data_count as f64 / batch as f64),
            kl: None,
        })
    }

    fn needs_all_data(&self) -> bool {
        true
    }

    fn after_step(self) -> Self {
        FullBatch::after_step(self)
    }

    fn is_within_reach(&self, start: &Self) -> bool {
        FullBatch::is_within_reach(self, start)
    }

    fn priors(&self) -> Priors {
        FullBatch::priors(self)
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        FullBatch::check_targets(self, targets)
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        FullBatch::hyperparameters(self)
    }
}
