//! What is asked of a model's parameters, as it is written to a model's file.

use std::collections::BTreeMap;

use burn::module::Module;
use serde::{Deserialize, Serialize};

use super::{Bounds, ParameterError, Parameters, Priors};

/// First values, bounds and priors of a model's parameters, and which of them are not trained; all
/// by the [paths](Parameters) of the parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ParameterConfig {
    /// First values: one for each of the parameter's values, or one for all.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Vec<f64>>,
    /// Bounds, which training never crosses.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bounds: BTreeMap<String, Bounds>,
    /// Priors, whose log density is part of what training maximizes. A uniform one bounds its
    /// parameter.
    #[serde(skip_serializing_if = "Priors::is_empty")]
    pub priors: Priors,
    /// Parameters, or fields with all parameters in them, that are not trained.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frozen: Vec<String>,
}

impl ParameterConfig {
    /// The first values of the parameters within a field, by their paths from there.
    pub fn values_within<'a>(
        &'a self,
        field: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a [f64])> {
        let within = move |path: &'a str| path.strip_prefix(field)?.strip_prefix('.');
        (self.values.iter())
            .filter_map(move |(path, values)| Some((within(path)?, values.as_slice())))
    }

    /// A module with everything that is asked of it but the priors, which its model keeps for its
    /// trainer.
    ///
    /// # Errors
    ///
    /// When there is no such parameter, a value or a prior does not fit, or bounds do not hold.
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

    /// A module of the same shapes, to be filled from a record.
    ///
    /// # Errors
    ///
    /// When there is no such parameter, or there are no values between its bounds.
    pub fn apply_to_blank<M: Module>(&self, module: M) -> Result<M, ParameterError> {
        (self.all_bounds().into_iter()).try_fold(module, |module, (path, bounds)| {
            let natural = module.parameter_bounds(&path)?;
            let module = module.with_parameter(&path, &[bounds.and(natural).middle()])?;
            module.with_bounds(&path, bounds)
        })
    }

    /// The bounds, those of uniform priors included.
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

    /// The same for a module in which the field `from` is `to`.
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
