//! Settings for a model's parameters, as stored in a model file.

use std::collections::BTreeMap;

use burn::module::Module;
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{Bounds, ParameterError, Parameters, Priors};

/// Initial values, bounds, priors and frozen parameters of a model, given by the
/// [paths](Parameters) of the parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default, deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct ParameterConfig {
    /// Initial values: one for each value of the parameter, or a single one for all.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Vec<f64>>,
    /// Bounds, which training never crosses.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bounds: BTreeMap<String, Bounds>,
    /// Priors. Training adds their log density to the objective. A uniform prior bounds its
    /// parameter.
    #[serde(skip_serializing_if = "Priors::is_empty")]
    pub priors: Priors,
    /// Parameters that are not trained, or fields whose parameters are all not trained.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frozen: Vec<String>,
}

impl ParameterConfig {
    /// The initial values of the parameters within a field, by path relative to that field.
    pub fn values_within<'a>(
        &'a self,
        field: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a [f64])> {
        let within = move |path: &'a str| path.strip_prefix(field)?.strip_prefix('.');
        (self.values.iter())
            .filter_map(move |(path, values)| Some((within(path)?, values.as_slice())))
    }

    /// Applies all settings to a module, except for the priors, which the model stores for its
    /// trainer.
    ///
    /// # Errors
    ///
    /// When a parameter does not exist, or when a value, a bound or a prior is invalid for it.
    pub fn apply<M: Module>(&self, module: M) -> Result<M, ParameterError> {
        let values = self.values.iter();
        let module = values
            .into_iter()
            .try_fold(module, |module, (path, values)| {
                module.with_parameter(path, values)
            })?;
        let module = (self.all_bounds().into_iter())
            .try_fold(module, |module, (path, bounds)| {
                module.with_bounds(&path, bounds)
            })?;
        let frozen = self.frozen.iter();
        let module = frozen
            .into_iter()
            .try_fold(module, |module, path| module.with_frozen(path))?;
        self.priors.check(&module)?;
        Ok(module)
    }

    /// Prepares a module of the same shapes whose values are then read from a record.
    ///
    /// # Errors
    ///
    /// When a parameter does not exist, or there are no values between its bounds.
    pub fn apply_to_skeleton<M: Module>(&self, module: M) -> Result<M, ParameterError> {
        (self.all_bounds().into_iter()).try_fold(module, |module, (path, bounds)| {
            let natural = module.parameter_bounds(&path)?;
            let module = module.with_parameter(&path, &[bounds.and(natural).middle()])?;
            module.with_bounds(&path, bounds)
        })
    }

    /// The bounds, including those of uniform priors.
    fn all_bounds(&self) -> BTreeMap<String, Bounds> {
        let mut all = self.bounds.clone();
        for (path, prior) in &self.priors.0 {
            if let Some(implied) = prior.implied_bounds() {
                let bounds = all.entry(path.clone()).or_default();
                *bounds = bounds.and(implied);
            }
        }
        all
    }

    /// Adapts the settings to a module whose field `from` is called `to`.
    pub fn with_field_renamed(&self, from: &str, to: &str) -> Self {
        self.with_paths(|path| match path.strip_prefix(from) {
            Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("{to}{rest}"),
            _ => path.to_owned(),
        })
    }

    fn with_paths(&self, changed: impl Fn(&str) -> String) -> Self {
        let pair = |(path, values): (&String, &Vec<f64>)| (changed(path), values.clone());
        Self {
            values: self.values.iter().map(pair).collect(),
            bounds: (self.bounds.iter())
                .map(|(path, bounds)| (changed(path), *bounds))
                .collect(),
            priors: Priors(
                (self.priors.0.iter())
                    .map(|(path, prior)| (changed(path), *prior))
                    .collect(),
            ),
            frozen: self.frozen.iter().map(|path| changed(path)).collect(),
        }
    }
}
