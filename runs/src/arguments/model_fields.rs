//! The configuration of a model as fields, which options set.

use burn_gp_core::variational::PosteriorConfig;
use burn_gp_models::{
    ModelConfig,
    training::{
        AdamRates, FullBatchOptimizer, FullBatchTraining, MiniBatchTraining, NetworkTraining,
        TrainingDefaults,
    },
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{ModelChoice, OptimizerName, PolicyName, Property, RunOptions};
use crate::option_error::OptionError;

const MODEL: &str = "model";
const TRAINING: &str = "training";

/// The configuration of a model and its training on mini-batches as fields. An option applies to the model if its
/// field exists.
///
/// A field is given by its path, such as `inducing.count`. The path starts in the configuration or in a
/// configuration inside, as `of_features` of `svdkl` is, but not in a component such as the kernel. The path of a field
/// of [`MiniBatchTraining`] starts with `training`.
#[derive(Clone, Debug)]
pub struct ModelFields {
    config: ModelConfig,
    fields: Value,
    /// The paths of fields that the name of the model decides, or that its training has no use for.
    closed: Vec<&'static str>,
    optimizer: Option<OptimizerName>,
    pub(super) policy: Option<PolicyName>,
}

impl ModelFields {
    /// The default configuration of `model`, with the posterior of `options` if the model leaves that open.
    pub fn new(model: ModelChoice, options: &RunOptions) -> Self {
        let config = model.config();
        let mut own = Self {
            // A configuration that is no map of fields has none.
            fields: json!({ MODEL: serde_json::to_value(&config).unwrap_or_default() }),
            config,
            closed: model.decided().into_iter().collect(),
            optimizer: options.optimizer,
            policy: options.policy,
        };
        if let Some(rates) = own.rates().filter(|_| own.is_mini_batch()) {
            let training = rates.training(options.learning_rate);
            own.fields[TRAINING] = serde_json::to_value(training).unwrap_or_default();
        }
        if !own.has_batches() {
            own.closed.push("training.batch_size");
        }
        if own.network().is_none() {
            own.closed
                .extend(["training.network_rate", "training.weight_decay"]);
        }
        if let Some(posterior) = options.posterior.filter(|_| own.has("posterior")) {
            own.set("posterior", &posterior.config());
        }
        own
    }

    /// The default configuration.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Whether there is a field that options can set.
    pub fn has(&self, path: &str) -> bool {
        !self.closed.contains(&path) && self.get(path).is_some()
    }

    /// The value of a field.
    pub fn get(&self, path: &str) -> Option<&Value> {
        self.fields.pointer(&self.pointer(path)?)
    }

    /// The JSON pointer to a field.
    fn pointer(&self, path: &str) -> Option<String> {
        match path.strip_prefix("training.") {
            Some(path) => Some(format!("/{TRAINING}/{path}")),
            None => Some(format!("/{MODEL}{}", pointer(&self.fields[MODEL], path)?)),
        }
    }

    /// Sets a field if it exists.
    pub fn set(&mut self, path: &str, value: &impl Serialize) {
        let place = self.pointer(path);
        let field = place.and_then(|place| self.fields.pointer_mut(&place));
        if let Some(field) = field {
            // A value that cannot be written is null, which `build` refuses.
            *field = serde_json::to_value(value).unwrap_or_default();
        }
    }

    /// Sets the fields whose values are those of options. Options that are absent get the defaults of their fields.
    ///
    /// # Errors
    ///
    /// [`OptionError::Rejected`] if the default of a field is no value of its option.
    pub fn fill(&mut self, options: &mut RunOptions) -> Result<(), OptionError> {
        let given = options.fields();
        for (name, paths) in RunOptions::PATHS {
            let path = paths.split('|').find(|path| self.has(path));
            let Some(path) = path.filter(|_| RunOptions::has(name, Property::Field)) else {
                continue;
            };
            match given.get(*name) {
                Some(value) => self.set(path, value),
                None => {
                    let default = self.get(path).cloned().unwrap_or_default();
                    options.set(name, default).map_err(rejected("options"))?;
                }
            }
        }
        Ok(())
    }

    /// The configuration with all fields.
    ///
    /// # Errors
    ///
    /// [`OptionError::Rejected`] if a value is invalid.
    pub fn build(mut self) -> Result<ModelConfig, OptionError> {
        read(MODEL, self.fields[MODEL].take())
    }

    /// The training on mini-batches with all fields.
    ///
    /// # Errors
    ///
    /// [`OptionError::Rejected`] if a value is invalid.
    pub fn mini_batches(mut self) -> Result<MiniBatchTraining, OptionError> {
        read(TRAINING, self.fields[TRAINING].take())
    }

    /// The default number in a field.
    pub fn count(&self, path: &str) -> usize {
        let count = self.get(path).and_then(Value::as_u64);
        count.map_or(0, |count| count as usize)
    }

    /// The posterior, if the model has one.
    pub fn posterior(&self) -> Option<PosteriorConfig> {
        serde_json::from_value(self.get("posterior")?.clone()).ok()
    }

    /// Whether there is a second, orthogonal set of inducing points.
    pub fn has_orthogonal(&self) -> bool {
        match self.posterior() {
            Some(posterior) => posterior.has_orthogonal_set(),
            None => self.count("inducing.orthogonal") > 0,
        }
    }

    /// Whether the inputs are images.
    pub fn has_images(&self) -> bool {
        self.has("form.size")
    }

    /// Whether the model takes any likelihood: the field then holds the name of one.
    pub fn takes_any_likelihood(&self) -> bool {
        self.has("likelihood.likelihood")
    }

    /// The learning rates of Adam, if it trains the model by default.
    pub fn rates(&self) -> Option<AdamRates> {
        match self.config.default_training() {
            TrainingDefaults::MiniBatches(rates) | TrainingDefaults::OneBatch(rates) => Some(rates),
            TrainingDefaults::FullBatch(_) => None,
        }
    }

    /// The training of network weights, if the model has a network.
    pub fn network(&self) -> Option<NetworkTraining> {
        self.rates()?.network
    }

    /// The default training on an objective of all rows.
    pub fn full_batch(&self) -> FullBatchTraining {
        match self.config.default_training() {
            TrainingDefaults::FullBatch(training) => training,
            _ => FullBatchTraining::L_BFGS,
        }
    }

    /// Whether a training step takes some of the rows.
    pub fn has_batches(&self) -> bool {
        matches!(
            self.config.default_training(),
            TrainingDefaults::MiniBatches(_)
        )
    }

    /// Whether the rows can be read during training. Models with basis functions need all inputs again
    /// after training.
    pub fn streams(&self) -> bool {
        self.has_batches() && self.has("inducing")
    }

    /// Whether L-BFGS can train a model that has mini-batches: it has one layer, and its objective of all rows
    /// does not change from step to step.
    pub fn takes_l_bfgs(&self) -> bool {
        let changes = ["output", "posterior.columns", "posterior.auxiliary"];
        self.has_batches() && self.network().is_none() && !changes.iter().any(|path| self.has(path))
    }

    /// Whether the model is trained by Adam on batches, of which one can hold all rows.
    pub fn is_mini_batch(&self) -> bool {
        let is_full_batch = self.optimizer == Some(OptimizerName::LBfgs) && self.takes_l_bfgs();
        self.rates().is_some() && !is_full_batch
    }

    /// The optimizer of training on the full batch.
    pub fn optimizer(&self) -> OptimizerName {
        self.optimizer.unwrap_or(match self.full_batch().optimizer {
            FullBatchOptimizer::LBfgs { .. } => OptimizerName::LBfgs,
            FullBatchOptimizer::Adam { .. } => OptimizerName::Adam,
        })
    }
}

/// Reads the configuration of a component.
///
/// # Errors
///
/// [`OptionError::Rejected`] if a value is invalid.
pub fn read<T: DeserializeOwned>(component: &'static str, fields: Value) -> Result<T, OptionError> {
    serde_json::from_value(fields).map_err(rejected(component))
}

fn rejected(component: &'static str) -> impl Fn(serde_json::Error) -> OptionError {
    move |reason| OptionError::Rejected {
        component,
        reason: reason.to_string(),
    }
}

/// The JSON pointer to a field: in `fields`, or in a configuration inside. A component is a map with its name in
/// the field of its kind: `"mean": {"mean": "zero"}`.
fn pointer(fields: &Value, path: &str) -> Option<String> {
    let own = format!("/{}", path.replace('.', "/"));
    if fields.pointer(&own).is_some() {
        return Some(own);
    }
    let mut inside = fields.as_object()?.iter();
    inside.find_map(|(name, part)| match part.get(name) {
        Some(_) => None,
        None => Some(format!("/{name}{}", pointer(part, path)?)),
    })
}

impl RunOptions {
    /// The default configuration of the model, with the posterior.
    pub fn model_fields(&self) -> ModelFields {
        ModelFields::new(self.model(), self)
    }

    /// Whether the model is trained by Adam on batches, of which one can hold all rows.
    pub fn is_mini_batch(&self) -> bool {
        self.model_fields().is_mini_batch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(model: &str) -> ModelFields {
        ModelFields::new(ModelChoice::find(model).unwrap(), &RunOptions::default())
    }

    #[test]
    fn fields_are_found_in_configurations_inside_but_not_in_components() {
        for (model, path) in [
            ("svgp", "inducing.count"),
            ("svdkl", "inducing.count"),
            ("deep-gp", "inducing.count"),
            ("svgp", "posterior.covariance"),
            ("svdbk", "covariance"),
            ("conv-gp", "form.size"),
        ] {
            assert!(fields(model).has(path), "{model} {path}");
        }
        for (model, path) in [
            ("exact", "inducing.count"),
            ("svgp", "covariance"),
            ("exact", "lengthscale"),
            ("deep-gp", "form.size"),
            ("solve", "posterior"),
            ("conv-gp", "hidden"),
        ] {
            assert!(!fields(model).has(path), "{model} {path}");
        }
    }

    #[test]
    fn set_fields_are_those_of_the_configuration() {
        let mut svdkl = fields("svdkl");
        svdkl.set("inducing.count", &7);
        svdkl.set("absent", &7);
        assert_eq!(svdkl.get("inducing.count"), Some(&7.into()));
        assert_eq!(svdkl.clone().build().unwrap().name(), "svdkl");
        svdkl.set("inducing.count", &"many");
        assert!(svdkl.build().is_err());
    }
}
