//! All ready-made models that train on mini-batches.

use burn::{module::Module, tensor::Tensor};
use burn_gp::{
    likelihoods::{AnyLikelihood, ImpossibleTarget, Likelihood},
    ops::NotPositiveDefinite,
    parameter::Priors,
};

use crate::{
    AnyDeepGp, AnySvgp,
    training::{MiniBatchModel, Objective},
};

/// A variational model chosen at run time.
#[allow(
    clippy::large_enum_variant,
    reason = "a program holds one or two, and burn's modules can hold no boxes"
)]
#[derive(Module, Debug)]
pub enum AnyVariational {
    /// A sparse variational Gaussian process.
    Svgp(AnySvgp),
    /// A deep model or an image model.
    Deep(AnyDeepGp),
}

impl AnyVariational {
    /// The likelihood.
    pub fn likelihood(&self) -> &AnyLikelihood {
        match self {
            Self::Svgp(model) => model.likelihood(),
            Self::Deep(model) => model.likelihood(),
        }
    }

    /// The largest number of rows that a kernel processes per data point of a training step. Memory
    /// grows with this number.
    pub fn rows_per_datum(&self) -> usize {
        match self {
            Self::Svgp(_) => 1,
            Self::Deep(model) => model.layers().rows_per_input(),
        }
    }
}

impl From<AnySvgp> for AnyVariational {
    fn from(model: AnySvgp) -> Self {
        Self::Svgp(model)
    }
}

impl From<AnyDeepGp> for AnyVariational {
    fn from(model: AnyDeepGp) -> Self {
        Self::Deep(model)
    }
}

impl MiniBatchModel for AnyVariational {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        match self {
            Self::Svgp(model) => model.objective(inputs, targets, data_count),
            Self::Deep(model) => model.objective(inputs, targets, data_count),
        }
    }

    fn after_step(self) -> Self {
        match self {
            Self::Svgp(model) => Self::Svgp(model.after_step()),
            Self::Deep(model) => Self::Deep(model.after_step()),
        }
    }

    fn in_unit_of(self, inputs: &Tensor<2>, targets: &Tensor<2>) -> Self {
        match self {
            Self::Svgp(model) => Self::Svgp(model.in_unit_of(inputs, targets)),
            deep => deep,
        }
    }

    fn priors(&self) -> Priors {
        match self {
            Self::Svgp(model) => model.priors(),
            Self::Deep(model) => model.priors(),
        }
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        self.likelihood().check_tensor(targets)
    }
}
