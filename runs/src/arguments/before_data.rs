//! Options that are needed before there are data, with their defaults.

use std::path::PathBuf;

use burn_gp_core::likelihoods::{Bernoulli, FixedNoise, Gaussian, LikelihoodName, Softmax};
use burn_gp_datasets::{DataError, DataSource, Task};

use super::{InputScaleName, ModelName, OptimizerName, RunOptions};

/// The default data set.
pub const DEFAULT_DATA: &str = "winequality";
const DEFAULT_TEST_FRACTION: f64 = 0.1;

impl RunOptions {
    /// The options from environment variables.
    pub fn environment() -> Self {
        Self {
            data_dir: std::env::var_os("BURN_GP_DATA").map(PathBuf::from),
            ..Self::default()
        }
    }

    /// The data set.
    ///
    /// # Errors
    ///
    /// If there is no such data set.
    pub fn source(&self) -> Result<DataSource, DataError> {
        let text = self.data.as_deref().unwrap_or(DEFAULT_DATA);
        if text == "-" {
            return Err(DataError::StandardInput);
        }
        DataSource::resolve(text, self.data_dir.as_deref())
    }

    /// The model.
    pub fn model(&self) -> ModelName {
        self.model.unwrap_or(ModelName::Svgp)
    }

    /// The likelihood for data from `source`.
    pub fn likelihood(&self, source: &DataSource) -> LikelihoodName {
        self.likelihood.unwrap_or(match source.task() {
            _ if self.noise_column.is_some() => FixedNoise::CHOICE,
            Some(Task::BinaryClassification) => Bernoulli::CHOICE,
            Some(Task::Classification) => Softmax::CHOICE,
            _ => Gaussian::CHOICE,
        })
    }

    /// Whether the model is trained like a mini-batch model, with Adam. Some of these models take
    /// L-BFGS on all rows instead.
    pub fn is_mini_batch(&self, model: ModelName) -> bool {
        let has_l_bfgs = model.takes_l_bfgs() && self.optimizer == Some(OptimizerName::LBfgs);
        model.is_mini_batch() && !has_l_bfgs
    }

    /// The optimizer if `model` is trained on the full batch. Adam is the default where each evaluation
    /// chooses new actions, because the objective is then not a single function along a line
    /// search.
    pub fn optimizer(&self, model: ModelName) -> OptimizerName {
        let default = match model.has_iterations() {
            true => OptimizerName::Adam,
            false => OptimizerName::LBfgs,
        };
        self.optimizer.unwrap_or(default)
    }

    /// The share of the rows held out for testing, where the data have no split of their own.
    pub fn test_fraction(&self) -> f64 {
        self.test_fraction.unwrap_or(DEFAULT_TEST_FRACTION)
    }

    /// The scale of the inputs.
    pub fn input_scale(&self) -> InputScaleName {
        self.input_scale.unwrap_or(InputScaleName::Standard)
    }

    /// The seed of all random numbers.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }
}
