//! Likelihoods of any type, and their configurations.

use burn::tensor::{Tensor, TensorCreationOptions};

use super::{ImpossibleTarget, Likelihood, TargetKind};
use crate::{
    custom::{AnyDefinition, BoxedModule, ComponentConfig, ComponentName, component_kind},
    parameter::ParameterError,
};

/// A likelihood of any type.
pub type AnyLikelihood = BoxedModule<dyn Likelihood>;

/// The configuration of any likelihood, as stored in a model file.
pub type LikelihoodConfig = ComponentConfig<dyn Likelihood>;

/// A likelihood chosen by name.
pub type LikelihoodName = ComponentName<dyn Likelihood>;

/// The configuration of a likelihood. [`register!`](crate::register) it to use the likelihood in models.
pub trait LikelihoodDefinition: AnyDefinition {
    /// Creates the likelihood.
    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood;

    /// The kind of the targets.
    fn target(&self) -> TargetKind {
        TargetKind::Numbers
    }

    /// Sets the initial noise variance and the number of classes, as far as the likelihood has them. The
    /// default changes nothing.
    fn set_for_data(&mut self, _noise: f64, _classes: usize) {}

    /// Says that the model gets standardized targets, `(y − shift)/scale`, with one shift and one scale for each
    /// output, or one of each for all. A likelihood whose values are in the units of the data, such as limits, converts
    /// them. The default changes nothing.
    fn set_units(&mut self, _shifts: &[f64], _scales: &[f64]) {}

    /// The parameter that is the size of the noise of a target given its function, by path, and the
    /// power of the units of the targets that it has: 2 for a variance, 1 for a scale. `None` if the
    /// functions are not in the units of the targets. Initial values follow the scale of the targets
    /// if there is such a parameter.
    fn noise(&self) -> Option<(&'static str, i64)> {
        None
    }

    /// Checks the values.
    ///
    /// # Errors
    ///
    /// When a value is out of range.
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }
}

component_kind!(
    Likelihood,
    LikelihoodDefinition,
    "likelihood",
    AnyLikelihood
);

impl LikelihoodConfig {
    /// Creates the likelihood.
    ///
    /// # Panics
    ///
    /// If a value of the configuration is out of range.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> AnyLikelihood {
        LikelihoodDefinition::init(&**self, options.into())
    }

    /// Checks the values of the configuration.
    ///
    /// # Errors
    ///
    /// When a value is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        LikelihoodDefinition::check(&**self)
    }

    /// Checks the targets of a model with this likelihood, `[N, T]`.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`] for the first value that is impossible under the likelihood.
    ///
    /// # Panics
    ///
    /// If a value of the configuration is out of range, or the number of columns is not a multiple
    /// of the columns per output.
    #[track_caller]
    pub fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        let options = (&targets.device(), targets.dtype());
        self.init(options).description().check_tensor(targets)
    }
}

impl LikelihoodName {
    /// The kind of the targets.
    pub fn target(self) -> TargetKind {
        self.config().target()
    }

    /// The configuration with this initial noise variance and number of classes, as far as the
    /// likelihood has them.
    pub fn for_data(self, noise: f64, classes: usize) -> LikelihoodConfig {
        let mut config = self.config();
        config.set_for_data(noise, classes);
        config
    }

    /// Whether the likelihood has an initial noise variance.
    pub fn has_noise(self) -> bool {
        self.for_data(1.0, 3) != self.for_data(2.0, 3)
    }
}
