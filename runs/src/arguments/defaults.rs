//! Options that are needed before the data are loaded, with their defaults.

use burn_gp_core::likelihoods::{
    BernoulliConfig, BinomialConfig, FixedNoiseConfig, GaussianConfig, IntervalCensoredConfig,
    LikelihoodName, SoftmaxConfig,
};
use burn_gp_datasets::{DataError, DataSource, FileError, Task};
use burn_gp_models::SvgpConfig;

use super::{DataDirectory, DeviceName, InputScaleName, ModelChoice, RunOptions};
use crate::parameter_options::FieldOption;

/// The headings whose options all models have.
const OF_ALL_MODELS: [&str; 2] = ["Data", "Computation"];
/// Options under other headings that all models have.
const MORE_OF_ALL_MODELS: [&str; 6] = [
    "kernel",
    "isotropic",
    "mean",
    "likelihood",
    "minutes",
    "checkpoint_every",
];
/// Options under `OF_ALL_MODELS` that only mini-batch models have.
const OF_MINI_BATCHES: [&str; 4] = [
    "validation",
    "validation_fraction",
    "early_stopping",
    "devices",
];

/// The default data set.
pub const DEFAULT_DATA: &str = "winequality";
const DEFAULT_TEST_FRACTION: f64 = 0.1;

impl RunOptions {
    /// The given option that provides validation rows, if any.
    pub fn validation_rows(&self) -> Option<&'static str> {
        let file = self.validation.is_some().then_some("validation");
        file.or_else(|| {
            self.validation_fraction
                .is_some()
                .then_some("validation_fraction")
        })
    }

    /// The options from environment variables.
    pub fn environment() -> Self {
        Self {
            data_dir: DataDirectory::of_environment(),
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
            return Err(DataError::File(FileError::StandardInput));
        }
        let source = DataSource::resolve(text, self.data_dir.as_deref())?;
        Ok(source.with_rows(self.rows.clone()))
    }

    /// The model by name; `None` for `auto`.
    pub fn named_model(&self) -> Option<ModelChoice> {
        self.model.filter(|model| *model != ModelChoice::AUTO)
    }

    /// The named model, or the default model for `auto`.
    pub fn model(&self) -> ModelChoice {
        let named = self.named_model();
        named.unwrap_or_else(ModelChoice::of::<SvgpConfig>)
    }

    /// Whether the model is chosen automatically: with `--model auto`, or if no option of a model or its
    /// training is given.
    pub fn is_automatic(&self) -> bool {
        match self.model {
            Some(model) => model == ModelChoice::AUTO,
            None => !self.fields().keys().any(|name| belongs_to_models(name)),
        }
    }

    /// The likelihood for data from `source`.
    pub fn likelihood(&self, source: &DataSource) -> LikelihoodName {
        self.likelihood.unwrap_or(match source.task() {
            _ if self.noise_column.is_some() && !self.has_row_noise() => {
                LikelihoodName::of::<FixedNoiseConfig>()
            }
            _ if self.trials.is_some() => LikelihoodName::of::<BinomialConfig>(),
            _ if self.upper_column.is_some() => LikelihoodName::of::<IntervalCensoredConfig>(),
            Some(Task::BinaryClassification) => LikelihoodName::of::<BernoulliConfig>(),
            Some(Task::Classification) => LikelihoodName::of::<SoftmaxConfig>(),
            _ => LikelihoodName::of::<GaussianConfig>(),
        })
    }

    /// The share of the rows held out for testing, for data without their own split; zero by default if there
    /// is a test file.
    pub fn test_fraction(&self) -> f64 {
        let default = match self.test {
            Some(_) => 0.0,
            None => DEFAULT_TEST_FRACTION,
        };
        self.test_fraction.unwrap_or(default)
    }

    /// The scale of the inputs.
    pub fn input_scale(&self) -> InputScaleName {
        self.input_scale.unwrap_or(InputScaleName::Standard)
    }

    /// The device that runs the optimizer: the only one, or the first of several.
    pub fn main_device(&self) -> Option<&DeviceName> {
        let several = self.devices.as_ref().and_then(|devices| devices.first());
        several.or(self.device.as_ref())
    }

    /// The values of fields in the configurations.
    pub fn fields_of_plan(&self) -> &[FieldOption] {
        self.field.as_deref().unwrap_or_default()
    }

    /// The seed of all random numbers.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }
}

/// Whether an option belongs to some models or to their training.
fn belongs_to_models(name: &str) -> bool {
    let mut headings = RunOptions::HEADINGS.iter();
    let is_of_all = headings
        .any(|(heading, names)| OF_ALL_MODELS.contains(heading) && names.contains(&name))
        || MORE_OF_ALL_MODELS.contains(&name);
    !is_of_all || OF_MINI_BATCHES.contains(&name)
}
