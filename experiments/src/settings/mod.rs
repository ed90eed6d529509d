//! What the options of a run mean: checked, with every default that does not depend on the data.

mod configuration;
mod error;
mod natural_gradient;
mod positive;

use std::path::PathBuf;

use burn_gp::optim::NaturalGradient;
use burn_gp_datasets::{DataSource, Task};

use crate::arguments::{
    CovarianceName, DeviceName, DtypeName, InitialiserName, LikelihoodName, MeanName, ModelName,
    RunOptions, ScheduleName, name_of,
};
use crate::devices;
use crate::kernel_expression::KernelExpression;
use crate::parameter_options::ParameterOptions;

pub use configuration::read_configuration;
pub use error::{ConfigurationError, SettingError};
use natural_gradient::natural_gradient;
use positive::{at_least_one, positive, positive_noise};

/// The data of the main job.
const DEFAULT_DATA: &str = "winequality";
const DEFAULT_TEST_FRACTION: f64 = 0.1;
const DEFAULT_NOISE: f64 = 0.1;
const DEFAULT_BATCH_SIZE: usize = 256;
const DEFAULT_LEARNING_RATE: f64 = 0.05;
const DEFAULT_PATIENCE: usize = 20;

/// A checked run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The model, with what only some models have.
    pub method: Method,
    /// Where the data come from.
    pub data: DataSettings,
    /// The covariance function.
    pub kernel: KernelExpression,
    /// One lengthscale for all inputs.
    pub isotropic: bool,
    /// The mean function.
    pub mean: MeanName,
    /// The likelihood.
    pub likelihood: LikelihoodName,
    /// The first noise variance.
    pub noise: f64,
    /// What is asked of the model's parameters.
    pub parameters: ParameterOptions,
    /// How long training takes at most, unless by default.
    pub length: Option<Length>,
    /// Steps between two checkpoints.
    pub checkpoint_every: Option<usize>,
    /// The seed of everything random.
    pub seed: u64,
    /// The floating-point type.
    pub dtype: DtypeName,
    /// Where to compute.
    pub device: DeviceName,
}

/// The models, with what only some of them have.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Exact regression.
    Exact,
    /// Collapsed sparse regression.
    Sgpr(SparseSettings),
    /// A sparse variational model.
    Svgp(SparseSettings, VariationalSettings),
}

impl Method {
    /// The model's name.
    pub fn name(&self) -> ModelName {
        match self {
            Self::Exact => ModelName::Exact,
            Self::Sgpr(_) => ModelName::Sgpr,
            Self::Svgp(_, variational) if variational.whitened => ModelName::Svgp,
            Self::Svgp(..) => ModelName::SvgpUnwhitened,
        }
    }

    /// The inducing points, for models that have them.
    pub fn sparse(&self) -> Option<&SparseSettings> {
        match self {
            Self::Exact => None,
            Self::Sgpr(sparse) | Self::Svgp(sparse, _) => Some(sparse),
        }
    }

    /// The posterior and its training on mini-batches, for models that have them.
    pub fn variational(&self) -> Option<&VariationalSettings> {
        match self {
            Self::Exact | Self::Sgpr(_) => None,
            Self::Svgp(_, variational) => Some(variational),
        }
    }
}

/// Which data, and how they are divided.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSettings {
    /// What the user typed.
    pub source: String,
    /// The target column.
    pub target: Option<String>,
    /// The column of the standard deviations of each target's noise.
    pub noise_column: Option<String>,
    /// The folder of the registered sets.
    pub data_dir: Option<PathBuf>,
    /// Training and test rows.
    pub split: SplitChoice,
    /// The share of the training rows that is for validation.
    pub validation_fraction: Option<f64>,
}

/// How test rows are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SplitChoice {
    /// The collection's own split of this number.
    Own(usize),
    /// A random share of the rows.
    Random(f64),
}

/// The inducing points.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseSettings {
    /// How many there are, unless by default.
    pub inducing: Option<usize>,
    /// How the first ones are chosen.
    pub initialiser: InitialiserName,
    /// The jitter on their covariance, unless by default.
    pub jitter: Option<f64>,
}

/// How long training takes at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Passes over the training rows.
    Epochs(usize),
    /// Optimiser steps.
    Steps(usize),
}

/// A variational posterior and its training on mini-batches.
#[derive(Clone, Debug, PartialEq)]
pub struct VariationalSettings {
    /// Whether the inducing variables are whitened.
    pub whitened: bool,
    /// The shape of the variational covariance.
    pub covariance: CovarianceName,
    /// Rows in a batch.
    pub batch_size: usize,
    /// The first learning rate.
    pub learning_rate: f64,
    /// How it goes down.
    pub schedule: ScheduleName,
    /// The largest norm of a parameter's gradient.
    pub gradient_norm: Option<f64>,
    /// Natural gradients for the distribution of the inducing variables.
    pub natural_gradient: Option<NaturalGradient>,
    /// Validations without improvement before training stops.
    pub patience: usize,
}

impl Settings {
    /// The run that `options` describe, on the data that `source` has found.
    ///
    /// # Errors
    ///
    /// [`SettingError`] when an option is out of range or does not go with another.
    pub fn new(options: RunOptions, source: &DataSource) -> Result<Self, SettingError> {
        let model = options.model.unwrap_or(ModelName::Svgp);
        let likelihood = likelihood(&options, model, source)?;
        let method = match model {
            ModelName::Exact => Method::Exact,
            ModelName::Sgpr => Method::Sgpr(sparse(&options)?),
            ModelName::Svgp => Method::Svgp(sparse(&options)?, variational(&options, true)?),
            ModelName::SvgpUnwhitened => {
                Method::Svgp(sparse(&options)?, variational(&options, false)?)
            }
        };
        let device = match options.device {
            Some(device) => device,
            None => devices::default_device()?,
        };
        Ok(Self {
            method,
            kernel: options.kernel.clone().unwrap_or_default(),
            isotropic: options.isotropic.unwrap_or(false),
            mean: options.mean.unwrap_or(likelihood.default_mean()),
            likelihood,
            parameters: ParameterOptions {
                set: options.set.clone(),
                bound: options.bound.clone(),
                prior: options.prior.clone(),
                fix: options.fix.clone(),
            },
            noise: positive_noise(options.noise.unwrap_or(DEFAULT_NOISE))?,
            length: length(&options)?,
            checkpoint_every: at_least_one("--checkpoint-every", options.checkpoint_every)?,
            seed: options.seed.unwrap_or(0),
            dtype: (options.dtype).unwrap_or_else(|| devices::default_dtype(device)),
            device,
            data: data(options, model)?,
        })
    }

    /// The options that describe this run without any default.
    pub fn options(&self) -> RunOptions {
        let sparse = self.method.sparse();
        let variational = self.method.variational();
        let natural = variational.and_then(|variational| variational.natural_gradient);
        let data = &self.data;
        let (epochs, steps) = match self.length {
            Some(Length::Epochs(epochs)) => (Some(epochs), None),
            Some(Length::Steps(steps)) => (None, Some(steps)),
            None => (None, None),
        };
        let (split, test_fraction) = match data.split {
            SplitChoice::Own(split) => (Some(split), None),
            SplitChoice::Random(fraction) => (None, Some(fraction)),
        };
        RunOptions {
            model: Some(self.method.name()),
            kernel: Some(self.kernel.clone()),
            isotropic: Some(self.isotropic),
            mean: Some(self.mean),
            likelihood: Some(self.likelihood),
            noise: (self.likelihood.has_noise()).then_some(self.noise),
            inducing: sparse.and_then(|sparse| sparse.inducing),
            initialiser: sparse.map(|sparse| sparse.initialiser),
            covariance: variational.map(|variational| variational.covariance),
            jitter: sparse.and_then(|sparse| sparse.jitter),
            set: self.parameters.set.clone(),
            bound: self.parameters.bound.clone(),
            prior: self.parameters.prior.clone(),
            fix: self.parameters.fix.clone(),
            data: Some(data.source.clone()),
            target: data.target.clone(),
            noise_column: data.noise_column.clone(),
            data_dir: data.data_dir.clone(),
            split,
            test_fraction,
            validation_fraction: data.validation_fraction,
            epochs,
            steps,
            batch_size: variational.map(|variational| variational.batch_size),
            learning_rate: variational.map(|variational| variational.learning_rate),
            schedule: variational.map(|variational| variational.schedule),
            gradient_norm: variational.and_then(|variational| variational.gradient_norm),
            natural_gradient: natural.map(|natural| natural.step_size),
            natural_gradient_warm_up: natural
                .map(|natural| natural.warm_up.map_or(0, |warm_up| warm_up.steps)),
            patience: (variational.filter(|_| data.validation_fraction.is_some()))
                .map(|variational| variational.patience),
            checkpoint_every: self.checkpoint_every,
            seed: Some(self.seed),
            dtype: Some(self.dtype),
            device: Some(self.device),
        }
    }
}

/// The options that the environment gives.
pub fn environment() -> RunOptions {
    RunOptions {
        data_dir: std::env::var_os("BURN_GP_DATA").map(PathBuf::from),
        ..RunOptions::default()
    }
}

/// The data that `options` name.
///
/// # Errors
///
/// When there are no such data.
pub fn source(options: &RunOptions) -> Result<DataSource, burn_gp_datasets::DataError> {
    let text = options.data.as_deref().unwrap_or(DEFAULT_DATA);
    DataSource::resolve(text, options.data_dir.as_deref())
}

/// The first option that the model has no use for is an error; `options` are those typed.
///
/// # Errors
///
/// [`SettingError::NotApplicable`].
pub fn require_applicable(options: &RunOptions, model: ModelName) -> Result<(), SettingError> {
    match without_use(options, model).first() {
        Some(option) => Err(SettingError::NotApplicable {
            option,
            model: name_of(model),
        }),
        None => Ok(()),
    }
}

/// The options given that the model has no use for.
pub fn without_use(options: &RunOptions, model: ModelName) -> Vec<&'static str> {
    let full_batch = [
        ("--covariance", options.covariance.is_some()),
        ("--batch-size", options.batch_size.is_some()),
        ("--learning-rate", options.learning_rate.is_some()),
        ("--schedule", options.schedule.is_some()),
        ("--gradient-norm", options.gradient_norm.is_some()),
        ("--natural-gradient", options.natural_gradient.is_some()),
        (
            "--natural-gradient-warm-up",
            options.natural_gradient_warm_up.is_some(),
        ),
        (
            "--validation-fraction",
            options.validation_fraction.is_some(),
        ),
        ("--patience", options.patience.is_some()),
    ];
    let dense = [
        ("--inducing", options.inducing.is_some()),
        ("--initialiser", options.initialiser.is_some()),
        ("--jitter", options.jitter.is_some()),
    ];
    let useless: &[&[(&'static str, bool)]] = match model {
        ModelName::Exact => &[&dense, &full_batch],
        ModelName::Sgpr => &[&full_batch],
        ModelName::Svgp | ModelName::SvgpUnwhitened => &[],
    };
    let given = useless
        .iter()
        .copied()
        .flatten()
        .filter(|(_, given)| *given);
    given.map(|&(option, _)| option).collect()
}

fn likelihood(
    options: &RunOptions,
    model: ModelName,
    source: &DataSource,
) -> Result<LikelihoodName, SettingError> {
    let has_column = options.noise_column.is_some();
    let likelihood = options.likelihood.unwrap_or(match source.task() {
        _ if has_column => LikelihoodName::FixedNoise,
        Some(Task::BinaryClassification) => LikelihoodName::Bernoulli,
        Some(Task::Classification) => LikelihoodName::Softmax,
        _ => LikelihoodName::Gaussian,
    });
    let conjugate = matches!(model, ModelName::Exact | ModelName::Sgpr);
    if conjugate && likelihood != LikelihoodName::Gaussian {
        return Err(SettingError::NeedsGaussian {
            model: name_of(model),
        });
    }
    match (likelihood == LikelihoodName::FixedNoise, has_column) {
        (true, false) => Err(SettingError::NoiseColumnMissing),
        (false, true) => Err(SettingError::NoiseColumnUnused {
            likelihood: name_of(likelihood),
        }),
        _ if options.noise.is_some() && !likelihood.has_noise() => Err(SettingError::NoiseUnused {
            likelihood: name_of(likelihood),
        }),
        _ => Ok(likelihood),
    }
}

fn data(options: RunOptions, model: ModelName) -> Result<DataSettings, SettingError> {
    let split = match (options.split, options.test_fraction) {
        (Some(_), Some(_)) => {
            return Err(SettingError::Exclusive {
                first: "split",
                second: "test_fraction",
            });
        }
        (Some(split), None) => SplitChoice::Own(split),
        (None, fraction) => SplitChoice::Random(fraction.unwrap_or(DEFAULT_TEST_FRACTION)),
    };
    let mini_batch = matches!(model, ModelName::Svgp | ModelName::SvgpUnwhitened);
    if options.patience.is_some() && options.validation_fraction.is_none() && mini_batch {
        return Err(SettingError::PatienceWithoutValidation);
    }
    Ok(DataSettings {
        source: options.data.unwrap_or_else(|| DEFAULT_DATA.into()),
        target: options.target,
        noise_column: options.noise_column,
        data_dir: options.data_dir,
        split,
        validation_fraction: options.validation_fraction.filter(|_| mini_batch),
    })
}

fn sparse(options: &RunOptions) -> Result<SparseSettings, SettingError> {
    if let Some(jitter) = options.jitter
        && !(0.0..1.0).contains(&jitter)
    {
        return Err(SettingError::Jitter { value: jitter });
    }
    Ok(SparseSettings {
        inducing: at_least_one("--inducing", options.inducing)?,
        initialiser: options.initialiser.unwrap_or(InitialiserName::KMeans),
        jitter: options.jitter,
    })
}

fn length(options: &RunOptions) -> Result<Option<Length>, SettingError> {
    let epochs = at_least_one("--epochs", options.epochs)?;
    let steps = at_least_one("--steps", options.steps)?;
    match (epochs, steps) {
        (Some(_), Some(_)) => Err(SettingError::Exclusive {
            first: "epochs",
            second: "steps",
        }),
        (Some(epochs), None) => Ok(Some(Length::Epochs(epochs))),
        (None, steps) => Ok(steps.map(Length::Steps)),
    }
}

fn variational(options: &RunOptions, whitened: bool) -> Result<VariationalSettings, SettingError> {
    let batch_size = at_least_one("--batch-size", options.batch_size)?;
    let patience = at_least_one("--patience", options.patience)?;
    let learning_rate = options.learning_rate.unwrap_or(DEFAULT_LEARNING_RATE);
    Ok(VariationalSettings {
        whitened,
        covariance: options.covariance.unwrap_or(CovarianceName::Full),
        batch_size: batch_size.unwrap_or(DEFAULT_BATCH_SIZE),
        learning_rate: positive("--learning-rate", learning_rate)?,
        schedule: options.schedule.unwrap_or(ScheduleName::Cosine),
        gradient_norm: (options.gradient_norm)
            .map(|norm| positive("--gradient-norm", norm))
            .transpose()?,
        natural_gradient: natural_gradient(options)?,
        patience: patience.unwrap_or(DEFAULT_PATIENCE),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_a_run_describe_the_same_run() {
        for model in [
            ModelName::Exact,
            ModelName::Sgpr,
            ModelName::Svgp,
            ModelName::SvgpUnwhitened,
        ] {
            let typed = RunOptions {
                model: Some(model),
                validation_fraction: Some(0.2),
                steps: Some(7),
                natural_gradient: Some(0.1),
                natural_gradient_warm_up: Some(3),
                seed: Some(3),
                ..RunOptions::default()
            };
            let data = source(&typed).unwrap();
            let settings = Settings::new(typed, &data).unwrap();
            let text = serde_json::to_string(&settings.options()).unwrap();
            let read: RunOptions = serde_json::from_str(&text).unwrap();
            assert_eq!(Settings::new(read, &data).unwrap(), settings);
        }
    }
}
