//! Options that a model does not use.

use super::{ModelChoice, ModelFields, OptimizerName, PolicyName, RunOptions};
use crate::option_error::OptionError;

/// Options, separated by spaces, with the check whether the model uses them.
type Use = (&'static str, fn(&ModelFields) -> bool);

/// Options that depend on more than a field in the configuration of the model.
const USES: [Use; 15] = [
    ("weights", |model| {
        model.config().takes_row_columns().weights
    }),
    ("input_noise", |model| model.config().takes_input_errors()),
    ("offset exposure", |model| {
        model.config().kernel().is_some() && model.config().mean().is_some()
    }),
    ("devices", |model| model.is_mini_batch()),
    ("stream", |model| model.streams() && model.is_mini_batch()),
    ("schedule stages stage_factor", |model| {
        model.is_mini_batch() || model.optimizer() == OptimizerName::Adam
    }),
    ("optimizer", |model| {
        model.rates().is_none() || model.takes_l_bfgs()
    }),
    ("objective_tolerance", |model| {
        !model.is_mini_batch() && model.optimizer() == OptimizerName::LBfgs
    }),
    ("pivots", |model| {
        let has_rank = model.policy == Some(PolicyName::PreconditionedCg);
        model.has("settings.rank") || model.has("actions.rule") && has_rank
    }),
    ("jitter", |model| {
        model.has("inducing.jitter") && !model.has("posterior.observations")
    }),
    ("natural_gradient natural_gradient_warm_up", |model| {
        let has_gaussian = !model.has("posterior.observations");
        model.takes_any_likelihood() && model.is_mini_batch() && has_gaussian
    }),
    (
        "validation validation_fraction early_stopping validation_epochs patience keep",
        |model| model.is_mini_batch(),
    ),
    (
        "inducing_frozen inducing_rate inducing_momentum inducing_plateau",
        |model| model.is_mini_batch() && model.has("inducing"),
    ),
    ("orthogonal", |model| model.has_orthogonal()),
    ("default_priors", |model| model.config().kernel().is_some()),
];

impl RunOptions {
    /// The given options that `model` does not use, by the names of their fields.
    pub fn without_use(&self, model: ModelChoice) -> Vec<&'static str> {
        let (given, model) = (self.fields(), ModelFields::new(model, self));
        let has_field = |path: &str| path.split('|').any(|path| model.has(path));
        let absent = Self::PATHS.iter().filter(|(_, path)| !has_field(path));
        let useless = USES.iter().filter(|(_, has_use)| !has_use(&model));
        let useless = useless.flat_map(|(options, _)| options.split(' '));
        let all = useless.chain(absent.map(|(option, _)| *option));
        all.filter(|option| given.contains_key(*option)).collect()
    }

    /// Fails on the first given option that `model` does not use.
    ///
    /// # Errors
    ///
    /// [`OptionError::NotApplicable`] and [`OptionError::StreamedNeighbors`].
    pub fn require_use(&self, model: ModelChoice) -> Result<(), OptionError> {
        match self.without_use(model).first() {
            Some(&"stream") if ModelFields::new(model, self).has("settings.neighbors") => {
                Err(OptionError::StreamedNeighbors(model.name()))
            }
            Some(option) => Err(OptionError::NotApplicable {
                option: option.replace('_', "-"),
                model: model.name(),
            }),
            None => Ok(()),
        }
    }

    /// Fails on the first option that is out of its range, if the model uses it.
    ///
    /// # Errors
    ///
    /// [`OptionError::OutOfRange`].
    pub fn check_ranges(&self) -> Result<(), OptionError> {
        self.check_ranges_but(&self.without_use(self.model()))
    }

    /// Removes the options that the model does not use. The share of validation rows stays, because no model of
    /// a comparison trains on these rows.
    pub fn used(self) -> Self {
        // Adam is the only optimizer on mini-batches.
        let optimizer = self.optimizer.filter(|_| !self.is_mini_batch());
        Self {
            optimizer,
            ..self.applicable()
        }
    }

    /// Removes the options that do not apply to the model, but for the share of validation rows.
    pub fn applicable(self) -> Self {
        let mut useless = self.without_use(self.model());
        useless.retain(|name| *name != "validation_fraction");
        self.without(&useless)
    }
}
