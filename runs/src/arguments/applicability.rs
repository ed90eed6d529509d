//! Options that a model does not use.

use super::{ModelChoice, ModelFields, OptimizerName, PolicyName, RunOptions};
use crate::option_error::OptionError;

/// Options, separated by spaces, with the check whether the model uses them.
type Use = (&'static str, fn(&ModelFields) -> bool);

/// Options that only some models use; every model uses the others. The order matters, because the error names
/// the first unused option.
const USES: [Use; 36] = [
    ("--weights", |model| {
        model.config().takes_row_weights() && model.is_mini_batch()
    }),
    ("--devices", |model| model.is_mini_batch()),
    ("--stream", |model| model.streams() && model.is_mini_batch()),
    ("--schedule --stages --stage-factor", |model| {
        model.is_mini_batch() || model.optimizer() == OptimizerName::Adam
    }),
    ("--optimizer", |model| {
        model.rates().is_none() || model.takes_l_bfgs()
    }),
    ("--objective-tolerance", |model| {
        !model.is_mini_batch() && model.optimizer() == OptimizerName::LBfgs
    }),
    ("--action-start --action-rows", |model| {
        model.has("actions.start")
    }),
    ("--tolerance", |model| {
        model.has("actions.tolerance") || model.has("settings.tolerance")
    }),
    ("--iterations --trace-probes --cached-variances", |model| {
        model.has("settings.probes")
    }),
    ("--policy", |model| model.has("actions.rule")),
    ("--pivots", |model| {
        let has_rank = model.policy == Some(PolicyName::PreconditionedCg);
        model.has("settings.rank") || model.has("actions.rule") && has_rank
    }),
    ("--inducing --initializer", |model| model.has("inducing")),
    ("--actions", |model| model.has("actions")),
    ("--jitter", |model| {
        model.has("inducing.jitter") && !model.has("posterior.observations")
    }),
    ("--covariance", |model| {
        model.has("posterior.covariance") || model.has("covariance")
    }),
    ("--natural-gradient --natural-gradient-warm-up", |model| {
        let has_gaussian = !model.has("posterior.observations");
        model.takes_any_likelihood() && model.is_mini_batch() && has_gaussian
    }),
    (
        "--plain-mean --pseudo-noise --pseudo-noise-floor",
        |model| model.has("posterior.observations"),
    ),
    (
        "--auxiliary --inversion --inversion-tolerance --inversion-steps --probes",
        |model| model.has("posterior.auxiliary"),
    ),
    ("--batch-size", |model| {
        model.has_batches() && model.is_mini_batch()
    }),
    (
        "--plateau --gradient-norm --validation --validation-fraction --early-stopping --validation-epochs \
         --patience --keep",
        |model| model.is_mini_batch(),
    ),
    (
        "--inducing-frozen --inducing-rate --inducing-momentum --inducing-plateau",
        |model| model.is_mini_batch() && model.has("inducing"),
    ),
    ("--orthogonal", |model| model.has_orthogonal()),
    ("--columns", |model| model.has("posterior.columns")),
    ("--posterior", |model| model.has("posterior")),
    ("--output-deviation", |model| model.has("deviation")),
    (
        "--layers --width --hidden-inducing --hidden-mean --hidden-variance --hidden-deviation --samples \
         --prediction-samples",
        |model| model.has("hidden"),
    ),
    ("--image --patch --stride --located", |model| {
        model.has_images()
    }),
    ("--default-priors", |model| {
        model.config().kernel().is_some()
    }),
    ("--kernel --isotropic", |model| model.has("kernel")),
    ("--mean", |model| model.has("mean")),
    ("--set --bound --prior --fix", |model| {
        model.has("parameters")
    }),
    ("--backbone --normalization --units --blocks", |model| {
        model.has("network")
    }),
    ("--weight-decay --network-rate", |model| {
        model.network().is_some()
    }),
    ("--rank", |model| model.has("basis.rank")),
    ("--features --from-identity", |model| model.has("features")),
    (
        "--no-correction --training-correction --prediction-correction",
        |model| model.has("correction"),
    ),
];

impl RunOptions {
    /// The given options that `model` does not use.
    pub fn without_use(&self, model: ModelChoice) -> Vec<&'static str> {
        let given = self.fields();
        let model = ModelFields::new(model, self);
        let useless = USES.iter().filter(|(_, has_use)| !has_use(&model));
        let options = useless.flat_map(|(options, _)| options.split(' '));
        options
            .filter(|option| given.contains_key(&field(option)))
            .collect()
    }

    /// Fails on the first given option that `model` does not use.
    ///
    /// # Errors
    ///
    /// [`OptionError::NotApplicable`].
    pub fn require_use(&self, model: ModelChoice) -> Result<(), OptionError> {
        match self.without_use(model).first() {
            Some(&option) => Err(OptionError::NotApplicable {
                option,
                model: model.name(),
            }),
            None => Ok(()),
        }
    }

    /// Removes the options that the model does not use. The share of validation rows stays, because no model of
    /// a comparison trains on these rows.
    pub fn used(self) -> Self {
        // Adam is the only optimizer on mini-batches.
        let optimizer = self.optimizer.filter(|_| !self.is_mini_batch());
        Self {
            optimizer,
            ..self.used_or_kept(|_| false)
        }
    }

    /// Removes the options that the model does not use, except those to keep and the share of validation rows.
    pub fn used_or_kept(self, is_kept: impl Fn(&str) -> bool) -> Self {
        let useless = self.without_use(self.model()).into_iter().map(field);
        let useless: Vec<String> = useless
            .filter(|name| name != "validation_fraction" && !is_kept(name))
            .collect();
        self.without(&useless)
    }
}

/// The field of an option.
fn field(option: &str) -> String {
    option.trim_start_matches('-').replace('-', "_")
}
