//! The log density of a series with covariates, for training.

use std::sync::Arc;

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inference::Markov,
    kernels::AnyKernel,
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{NotPositiveDefinite, StateSpaceError, state_space_log_density},
    parameter::Priors,
};

use super::timeline::{Timeline, forms};
use crate::{
    AnyMarkov, InitError,
    training::{Model, Objective},
};

/// Regression over time with covariates, whose coefficients are integrated out: exactly the log density of the process
/// plus a linear function with a normal prior.
#[derive(Module, Debug)]
pub(super) struct TimeRegression {
    kernel: AnyKernel,
    likelihood: Gaussian,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    timeline: Arc<Timeline>,
}

impl TimeRegression {
    /// The kernel, the noise and the priors of a model without covariates, at the times of the data.
    pub(super) fn new(model: &AnyMarkov, timeline: Timeline) -> Self {
        Self {
            kernel: model.kernel().clone(),
            likelihood: model.likelihood().clone(),
            priors: model.priors().clone(),
            timeline: Arc::new(timeline),
        }
    }

    /// The model without covariates.
    pub(super) fn without_covariates(&self) -> Result<AnyMarkov, InitError> {
        let (kernel, likelihood) = (self.kernel.clone(), self.likelihood.clone());
        Ok(Markov::new(kernel, ZeroMean::new(1), likelihood)?)
    }

    /// `log N(y | 0, K + ZΛZᵀ + σ²I)` for covariates Z and the prior variances Λ of their coefficients, `[1]`.
    pub(super) fn log_density(&self, targets: Tensor<2>) -> Result<Tensor<1>, StateSpaceError> {
        let system = self
            .timeline
            .system(&forms(&self.kernel), self.likelihood.noise());
        state_space_log_density(system, targets.unsqueeze(), self.timeline.events())
    }
}

impl Model for TimeRegression {
    fn objective(
        &self,
        _inputs: Tensor<2>,
        targets: Tensor<2>,
        _data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let ([rows, _], dtype) = (targets.dims(), targets.dtype());
        let fit = self
            .log_density(targets)
            .map_err(|error| NotPositiveDefinite {
                batch: error.event,
                pivot: error.event,
                size: rows,
                jitter: 0.0,
                smallest_diagonal: error.variance,
                largest_diagonal: error.variance,
                dtype,
            })?;
        Ok(Objective { fit, kl: None })
    }

    fn needs_all_data(&self) -> bool {
        true
    }

    fn priors(&self) -> Priors {
        self.priors.clone()
    }
}
