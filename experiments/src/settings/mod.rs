//! The checked settings of a run, with all defaults that do not depend on the data.

mod applicability;
mod configuration;
mod conjugate_gradients;
mod early_stopping;
mod inducing_training;
mod layers;
mod method;
mod natural_gradient;
mod network;
mod optimizer;
mod positive;
mod pseudo_observations;
mod schedule;

use std::path::PathBuf;

use burn_gp_datasets::{ClassOrder, DataSource, Task};
use burn_gp_models::training::{FullBatchOptimizer, Schedule};

use crate::arguments::{
    DeviceName, DtypeName, FullBatchOptions, InputScaleName, KeepName, LayerOptions,
    LikelihoodName, MeanName, ModelName, PosteriorName, RunOptions, name_of,
};
use crate::devices;
use crate::kernel_expression::KernelExpression;
use crate::likelihood::TargetKind;
use crate::parameter_options::ParameterOptions;

pub use crate::setting_error::{ConfigurationError, SettingError};
pub use applicability::{require_applicable, without_use};
pub use configuration::{CONFIG, configuration_in, read_configuration, to_toml};
use conjugate_gradients::{conjugate_gradients, conjugate_gradients_options};
pub use early_stopping::EarlyStopping;
use inducing_training::inducing_training;
pub use layers::{ImageSettings, LayerSettings};
pub use method::{
    ActionChoice, ActionSettings, Family, Method, SparseSettings, VariationalSettings,
};
use natural_gradient::natural_gradient;
pub use network::NetworkSettings;
use optimizer::{optimizer, optimizer_name, optimizer_of};
pub(crate) use positive::{above_lower_bound, at_least_one, enough_rows, positive};
use pseudo_observations::{
    inverse_free, inverse_free_options, pseudo_observation_options, pseudo_observations,
};
use schedule::{schedule, schedule_name, stages};

/// The default data set.
pub(crate) const DEFAULT_DATA: &str = "winequality";
const DEFAULT_TEST_FRACTION: f64 = 0.1;
const DEFAULT_NOISE: f64 = 0.1;
const DEFAULT_LEARNING_RATE: f64 = 0.05;

/// The checked settings of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The model and the settings that only some models have.
    pub method: Method,
    /// The data and their splits.
    pub data: DataSettings,
    /// The covariance function.
    pub kernel: KernelExpression,
    /// Whether all inputs share one lengthscale.
    pub isotropic: bool,
    /// The mean function.
    pub mean: MeanName,
    /// The likelihood.
    pub likelihood: LikelihoodName,
    /// The initial noise variance.
    pub noise: f64,
    /// Priors, bounds and initial values of parameters, and parameters that are not trained.
    pub parameters: ParameterOptions,
    /// The largest training length; the default if absent.
    pub length: Option<Length>,
    /// The optimizer of a full-batch model.
    pub optimizer: Option<FullBatchOptimizer>,
    /// Steps between two scores of the test rows in the course of training, or their share of all
    /// steps if below one.
    pub score_every: Option<f64>,
    /// Steps between two checkpoints.
    pub checkpoint_every: Option<usize>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The floating-point type.
    pub dtype: DtypeName,
    /// The device.
    pub device: DeviceName,
}

/// The data and their splits.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSettings {
    /// The data set as the user gave it.
    pub source: String,
    /// The target column.
    pub target: Option<String>,
    /// The column with the noise standard deviation of each target.
    pub noise_column: Option<String>,
    /// The class labels in ascending order.
    pub class_order: Option<ClassOrder>,
    /// The folder of the registered data sets.
    pub data_dir: Option<PathBuf>,
    /// The split into training and test rows.
    pub split: SplitChoice,
    /// The share of the training rows used for validation. Models without validation do not train
    /// on these rows either.
    pub validation_fraction: Option<f64>,
    /// The rule for the number of training steps.
    pub early_stopping: EarlyStopping,
    /// The scale of the inputs.
    pub input_scale: InputScaleName,
}

/// How test rows are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SplitChoice {
    /// The split of the collection with this number.
    Own(usize),
    /// A random share of the rows.
    Random(f64),
}

/// The largest training length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Epochs.
    Epochs(usize),
    /// Optimizer steps.
    Steps(usize),
}

impl Settings {
    /// Reads and checks the settings in `options`. `source` is the data set that they name.
    ///
    /// # Errors
    ///
    /// [`SettingError`] if an option is out of range or conflicts with another.
    pub fn new(options: RunOptions, source: &DataSource) -> Result<Self, SettingError> {
        let model = options.model.unwrap_or(ModelName::Svgp);
        let likelihood = likelihood(&options, model, source)?;
        let method = method::method(&options, model)?;
        let device = match options.device {
            Some(device) => device,
            None => devices::default_device()?,
        };
        Ok(Self {
            method,
            kernel: options.kernel.clone().unwrap_or_default(),
            isotropic: options.isotropic.unwrap_or(model.is_of_images()),
            mean: options.mean.unwrap_or(likelihood.default_mean()),
            likelihood,
            parameters: ParameterOptions {
                set: options.set.clone(),
                bound: options.bound.clone(),
                prior: options.prior.clone(),
                fix: options.fix.clone(),
            },
            noise: above_lower_bound("--noise", options.noise.unwrap_or(DEFAULT_NOISE))?,
            length: length(&options)?,
            optimizer: optimizer(&options, model)?,
            score_every: (options.score_every)
                .map(|every| positive("--score-every", every))
                .transpose()?,
            checkpoint_every: at_least_one("--checkpoint-every", options.checkpoint_every)?,
            seed: options.seed.unwrap_or(0),
            dtype: (options.dtype).unwrap_or_else(|| devices::default_dtype(device)),
            device,
            data: data(options, model)?,
        })
    }

    /// The initial learning rate and the schedule, if any.
    fn learning_rate(&self) -> (Option<f64>, Option<Schedule>) {
        match (self.method.variational(), self.optimizer) {
            (Some(variational), _) => (Some(variational.learning_rate), Some(variational.schedule)),
            (
                None,
                Some(FullBatchOptimizer::Adam {
                    learning_rate,
                    schedule,
                }),
            ) => (Some(learning_rate), Some(schedule)),
            (None, Some(FullBatchOptimizer::LBfgs { learning_rate })) => {
                (Some(learning_rate), None)
            }
            (None, None) => (None, None),
        }
    }

    /// The covariance function as text.
    pub fn kernel_text(&self) -> String {
        let Some(network) = self.method.network() else {
            return self.kernel.to_string();
        };
        let backbone = name_of(network.backbone);
        let outputs = network
            .outputs
            .map_or("?".into(), |count| count.to_string());
        match network.model.has_basis() {
            true => format!("rank-{outputs} {backbone} basis"),
            false => format!("{}({backbone} to {outputs})", self.kernel),
        }
    }

    /// Converts the settings back to options, with all defaults filled in.
    pub fn options(&self) -> RunOptions {
        let sparse = self.method.sparse();
        let variational = self.method.variational();
        let natural = variational.and_then(|variational| variational.natural_gradient);
        let (learning_rate, schedule) = self.learning_rate();
        let stages = schedule.and_then(stages);
        let points = variational.and_then(|variational| variational.inducing);
        let data = &self.data;
        let is_stopped = data.early_stopping != EarlyStopping::Off;
        let is_validated = data.validation_fraction.is_some() || is_stopped;
        let validated = variational.filter(|_| is_validated);
        let (epochs, steps) = match self.length {
            Some(Length::Epochs(epochs)) => (Some(epochs), None),
            Some(Length::Steps(steps)) => (None, Some(steps)),
            None => (None, None),
        };
        let (split, test_fraction) = match data.split {
            SplitChoice::Own(split) => (Some(split), None),
            SplitChoice::Random(fraction) => (None, Some(fraction)),
        };
        let (model, name) = (self.method.name(), self.method.single_layer());
        let (layers, actions) = (self.method.layers(), self.method.actions());
        let network = self.method.network();
        let trained_actions = actions.and_then(ActionSettings::trained);
        RunOptions {
            model: Some(model),
            kernel: (!model.has_basis()).then(|| self.kernel.clone()),
            isotropic: (!model.has_basis()).then_some(self.isotropic),
            mean: Some(self.mean),
            likelihood: Some(self.likelihood),
            noise: (self.likelihood.has_noise()).then_some(self.noise),
            inducing: sparse.and_then(|sparse| sparse.inducing),
            orthogonal: sparse.and_then(|sparse| sparse.orthogonal),
            columns: variational.and_then(|variational| variational.columns()),
            actions: actions.and_then(|actions| actions.count),
            action_start: trained_actions.map(|(start, _)| start),
            action_rows: trained_actions.map(|(_, rows)| rows),
            initializer: sparse.map(|sparse| sparse.initializer),
            covariance: (variational.filter(|_| name.has_covariance_shape()))
                .map(|variational| variational.covariance),
            jitter: (sparse.filter(|_| name.has_jitter())).and_then(|sparse| sparse.jitter),
            pseudo_observations: variational.map_or_else(Default::default, |variational| {
                variational.family.pseudo_observation_options()
            }),
            full_batch: FullBatchOptions {
                optimizer: self.optimizer.map(optimizer_name),
                ..self.method.full_batch_options()
            },
            layers: LayerOptions {
                posterior: layers.and_then(|_| PosteriorName::of(name)),
                ..layers.map(LayerSettings::options).unwrap_or_default()
            },
            network: network.map(NetworkSettings::options).unwrap_or_default(),
            set: self.parameters.set.clone(),
            bound: self.parameters.bound.clone(),
            prior: self.parameters.prior.clone(),
            fix: self.parameters.fix.clone(),
            data: Some(data.source.clone()),
            target: data.target.clone(),
            noise_column: data.noise_column.clone(),
            class_order: data.class_order.clone(),
            data_dir: data.data_dir.clone(),
            split,
            test_fraction,
            validation_fraction: data.validation_fraction,
            early_stopping: data.early_stopping.option(model),
            input_scale: Some(data.input_scale),
            epochs,
            steps,
            batch_size: (variational.filter(|_| model.has_batches()))
                .map(|variational| variational.batch_size),
            learning_rate,
            schedule: schedule.map(schedule_name),
            stages: stages.map(|(count, _)| count),
            stage_factor: stages.map(|(_, factor)| factor),
            plateau: variational.and_then(|variational| variational.plateau.map(|at| at.patience)),
            gradient_norm: variational.and_then(|variational| variational.gradient_norm),
            natural_gradient: natural.map(|natural| natural.step_size),
            natural_gradient_warm_up: natural
                .map(|natural| natural.warm_up.map_or(0, |warm_up| warm_up.steps)),
            inducing_frozen: points.map(|points| points.frozen_steps),
            inducing_rate: points.and_then(|points| points.learning_rate),
            inducing_momentum: points.map(|points| points.beta_1),
            inducing_plateau: points.and_then(|points| points.plateau.map(|at| at.patience)),
            patience: (validated.filter(|validated| validated.keep == KeepName::Best))
                .map(|variational| variational.patience),
            validation_epochs: validated.and_then(|variational| variational.validation_epochs),
            keep: validated
                .filter(|_| !is_stopped)
                .map(|variational| variational.keep),
            score_every: self.score_every,
            checkpoint_every: self.checkpoint_every,
            seed: Some(self.seed),
            dtype: Some(self.dtype),
            device: Some(self.device),
        }
    }
}

/// The options from environment variables.
pub fn environment() -> RunOptions {
    RunOptions {
        data_dir: std::env::var_os("BURN_GP_DATA").map(PathBuf::from),
        ..RunOptions::default()
    }
}

/// The data set that `options` name.
///
/// # Errors
///
/// If there is no such data set.
pub fn source(options: &RunOptions) -> Result<DataSource, burn_gp_datasets::DataError> {
    let text = options.data.as_deref().unwrap_or(DEFAULT_DATA);
    DataSource::resolve(text, options.data_dir.as_deref())
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
    if !model.takes_any_likelihood() && likelihood != LikelihoodName::Gaussian {
        return Err(SettingError::NeedsGaussian {
            model: name_of(model),
        });
    }
    match (likelihood == LikelihoodName::FixedNoise, has_column) {
        (true, false) => Err(SettingError::NoiseColumnMissing),
        (false, true) => Err(SettingError::NoiseColumnUnused {
            likelihood: name_of(likelihood),
        }),
        _ if options.class_order.is_some() && likelihood.target() != TargetKind::Classes => {
            Err(SettingError::ClassOrderUnused {
                likelihood: name_of(likelihood),
            })
        }
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
    let mini_batch = model.is_mini_batch();
    if options.patience.is_some() && options.keep == Some(KeepName::Last) && mini_batch {
        return Err(SettingError::Exclusive {
            first: "patience",
            second: "keep last",
        });
    }
    let early_stopping = EarlyStopping::new(&options, model)?;
    let is_stopped = early_stopping != EarlyStopping::Off;
    if options.validation_fraction.is_none() && !is_stopped && mini_batch {
        if options.patience.is_some() {
            return Err(SettingError::WithoutValidation {
                option: "--patience",
            });
        }
        if options.validation_epochs.is_some() {
            return Err(SettingError::WithoutValidation {
                option: "--validation-epochs",
            });
        }
    }
    if options.validation_fraction.is_none() && options.keep.is_some() && mini_batch {
        return Err(SettingError::WithoutValidation { option: "--keep" });
    }
    Ok(DataSettings {
        source: options.data.unwrap_or_else(|| DEFAULT_DATA.into()),
        target: options.target,
        noise_column: options.noise_column,
        class_order: options.class_order,
        data_dir: options.data_dir,
        split,
        validation_fraction: options.validation_fraction,
        early_stopping,
        input_scale: options.input_scale.unwrap_or(InputScaleName::Standard),
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

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::arguments::{FullBatchOptions, PolicyName, PseudoObservationOptions};

    #[test]
    fn the_options_of_a_run_describe_the_same_run() {
        for &model in ModelName::value_variants() {
            let typed = RunOptions {
                model: Some(model),
                validation_fraction: Some(0.2),
                steps: Some(7),
                orthogonal: Some(5),
                columns: Some(2),
                pseudo_observations: PseudoObservationOptions {
                    pseudo_noise: Some(0.01),
                    inversion_steps: Some(4),
                    probes: Some(3),
                    ..PseudoObservationOptions::default()
                },
                keep: Some(KeepName::Last),
                natural_gradient: Some(0.1),
                natural_gradient_warm_up: Some(3),
                inducing_rate: Some(0.001),
                inducing_momentum: Some(0.99),
                inducing_plateau: Some(100),
                plateau: Some(1000),
                layers: LayerOptions {
                    output_deviation: Some(0.01),
                    ..LayerOptions::default()
                },
                full_batch: FullBatchOptions {
                    policy: (model == ModelName::Itergp).then_some(PolicyName::Unit),
                    ..FullBatchOptions::default()
                },
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
