//! Deep Gaussian processes.

mod config;
mod forms;
mod layer_config;
mod projection;

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inference::{ConditionError, RowColumns},
    layers::{Propagation, Stack, StackProcess},
    likelihoods::{AnyLikelihood, Gaussian, ImpossibleTarget},
    ops::NotPositiveDefinite,
    parameter::Priors,
};

pub use config::{DeepGpConfig, HiddenLayerConfig};
pub use forms::{ConvolutionalForm, DenseForm, LayerDefinition, LayerForm, PatchForm};
pub use layer_config::{LayerConfig, LayerInputs, LayerPlan};

use crate::{
    AnyTrained, Trained, row_columns,
    training::{Model, Objective, TrainingData},
};

/// A deep Gaussian process with a likelihood. With a single layer it is a sparse variational
/// Gaussian process.
///
/// `ELBO = Σ_n E_{q(f_n)}[log p(y_n | f_n)] − Σ_l KL[q(u_l) ‖ p(u_l)]`, where the likelihood
/// computes the expectation over the last layer, and S draws estimate the expectation over the
/// hidden layers (H. Salimbeni and M. Deisenroth, *Doubly Stochastic Variational Inference for Deep
/// Gaussian Processes*, arXiv:1705.08933, eq. 15).
#[derive(Module, Debug)]
pub struct DeepGp {
    layers: Stack,
    likelihood: AnyLikelihood,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    rows: RowColumns,
}

impl DeepGp {
    /// A model with the given components.
    pub fn new(layers: Stack, likelihood: impl Into<AnyLikelihood>) -> Self {
        Self {
            layers,
            likelihood: likelihood.into(),
            priors: Priors::default(),
            rows: RowColumns::default(),
        }
    }

    /// Sets the priors of the parameters, given by their paths. The trainer adds them to the
    /// objective.
    pub fn with_priors(mut self, priors: Priors) -> Self {
        self.priors = priors;
        self
    }

    /// The layers.
    pub fn layers(&self) -> &Stack {
        &self.layers
    }

    /// The likelihood.
    pub fn likelihood(&self) -> &AnyLikelihood {
        &self.likelihood
    }

    /// Updates everything that the layers keep between steps to the current parameters. Call it
    /// before the first step.
    pub fn synchronized(mut self) -> Self {
        self.layers.synchronize();
        self
    }

    /// The process of all layers, ready for prediction on the device without autodiff.
    ///
    /// # Errors
    ///
    /// When the covariance of inducing variables cannot be factored.
    pub fn condition(&self) -> Result<StackProcess, NotPositiveDefinite> {
        self.layers.condition()
    }
}

impl Model for DeepGp {
    /// An unbiased estimate of the evidence lower bound. Only the likelihood term of the batch is
    /// scaled up to all data, not the KL divergences.
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let [batch, _] = inputs.dims();
        let Propagation {
            marginals,
            samples,
            kl,
        } = self.layers.evaluate(inputs)?;
        let targets = targets.repeat_dim(0, samples);
        let expected =
            row_columns::expected_log_density(self.rows, &self.likelihood, targets, marginals);
        Ok(Objective {
            fit: expected.sum() * (data_count as f64 / (batch * samples) as f64),
            kl: Some(kl),
        })
    }

    fn rows_per_datum(&self) -> usize {
        self.layers.rows_per_input()
    }

    fn after_step(&mut self) {
        self.layers.after_step();
    }

    fn trained(&self, _data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        let mut model = self.valid();
        model.rows = RowColumns::default();
        Ok(model.into_trained())
    }

    fn priors(&self) -> Priors {
        self.priors.clone()
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        row_columns::check(self.rows, &self.likelihood, targets)
    }

    fn use_row_columns(&mut self, columns: RowColumns) -> bool {
        if columns.noise && self.likelihood.downcast_ref::<Gaussian>().is_none() {
            return false;
        }
        self.rows |= columns;
        true
    }
}
