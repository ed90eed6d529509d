//! The options of a run, on the command line and in configuration files.

use std::path::{Path, PathBuf};

use burn_gp::{likelihoods::LikelihoodName, means::MeanName};
use burn_gp_datasets::ClassOrder;
use clap::{Args, FromArgMatches};
use merge::{Merge, option::overwrite_none};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use crate::kernel_expression::KernelExpression;
use crate::parameter_options::{BoundsOption, PriorOption, ValuesOption};

use super::{
    ActionRowsName, ActionStartName, CovarianceName, DeviceName, DtypeName, FullBatchOptions,
    InitializerName, InputScaleName, KeepName, LayerOptions, ModelName, NetworkOptions,
    PseudoObservationOptions, ScheduleName, choices::named,
};

/// All options of a run; an absent option has its default.
#[skip_serializing_none]
#[derive(Args, Clone, Debug, Default, Merge, PartialEq, Serialize, Deserialize)]
#[merge(strategy = overwrite_none)]
#[serde(default, deny_unknown_fields)]
pub struct RunOptions {
    /// Model [default: svgp]
    #[arg(long, value_name = "MODEL", help_heading = "Model")]
    pub model: Option<ModelName>,
    /// Covariance function, such as rbf, rbf+linear, periodic(rbf)*matern32 [default: matern52]
    ///
    /// Kernels: rbf, matern12, matern32, matern52, rational-quadratic, linear, polynomial,
    /// arc-cosine, cosine, spectral-mixture, gibbs, constant, white; of other kernels: periodic(K),
    /// scaled(K), deep(K) (on the outputs of a network), change-point(K, K), sums K+K and products
    /// K*K. `K[1,3]` uses only the first and the third input. Options in parentheses set initial
    /// values: rbf(lengthscale=0.5), periodic(rbf, period=12).
    #[arg(long, value_name = "KERNEL", help_heading = "Model")]
    pub kernel: Option<KernelExpression>,
    /// Share one lengthscale (period, variance) among all inputs instead of one for each [default:
    /// false; true for conv-gp and deep-conv-gp]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Model"
    )]
    pub isotropic: Option<bool>,
    /// Mean function [default: zero; constant for counts, positive numbers and fractions]
    #[arg(long, value_name = "MEAN", help_heading = "Model", value_parser = named(MeanName::all()))]
    pub mean: Option<MeanName>,
    /// Likelihood [default: bernoulli for data sets registered as binary, else gaussian]
    #[arg(
        long,
        value_name = "LIKELIHOOD",
        help_heading = "Model",
        value_parser = named(LikelihoodName::all())
    )]
    pub likelihood: Option<LikelihoodName>,
    /// Initial noise variance, in squared units of the standardized target [default: 0.1]
    ///
    /// Used by the gaussian, student-t and heteroskedastic likelihoods.
    #[arg(long, value_name = "V", help_heading = "Model")]
    pub noise: Option<f64>,
    /// Number of inducing points [default: 128, or the number of distinct training inputs]
    #[arg(long, value_name = "M", help_heading = "Model")]
    pub inducing: Option<usize>,
    /// Number of orthogonal inducing points of solve, solve-unwhitened, odvgp and solve-collapsed
    /// [default: as many as --inducing]
    #[arg(long, value_name = "M2", help_heading = "Model")]
    pub orthogonal: Option<usize>,
    /// Columns of the covariance of the orthogonal inducing points that a step of odvgp uses
    /// [default: 1024, or all if there are fewer]
    #[arg(long, value_name = "COUNT", help_heading = "Model")]
    pub columns: Option<usize>,
    /// Number of actions of cagp-opt, cagp-cg (at most) and itergp [default: 256, or the number of
    /// rows]
    #[arg(long, value_name = "I", help_heading = "Model")]
    pub actions: Option<usize>,
    /// Initial actions of cagp-opt [default: normal]
    #[arg(long, value_name = "START", help_heading = "Model")]
    pub action_start: Option<ActionStartName>,
    /// Rows that an action of cagp-opt combines [default: near]
    #[arg(long, value_name = "ROWS", help_heading = "Model")]
    pub action_rows: Option<ActionRowsName>,
    /// Initializer of the inducing points [default: k-means]
    #[arg(
        long,
        alias = "initialiser",
        value_name = "METHOD",
        help_heading = "Model"
    )]
    #[serde(alias = "initialiser")]
    pub initializer: Option<InitializerName>,
    /// Variational covariance of the inducing variables [default: full]
    #[arg(long, value_name = "SHAPE", help_heading = "Model")]
    pub covariance: Option<CovarianceName>,
    /// Jitter on the covariance of the inducing points, relative to its diagonal [default: 1e-8 in
    /// f64, 1e-6 in f32]
    #[arg(long, value_name = "J", help_heading = "Model")]
    pub jitter: Option<f64>,
    /// The options that only l-svgp and inverse-free have.
    #[command(flatten)]
    #[serde(skip_serializing_if = "is_default")]
    #[merge(strategy = Merge::merge)]
    pub pseudo_observations: PseudoObservationOptions,
    /// The options that only full-batch models have.
    #[command(flatten)]
    #[serde(alias = "all_rows", skip_serializing_if = "is_default")]
    #[merge(strategy = Merge::merge)]
    pub full_batch: FullBatchOptions,
    /// The options that only models made of layers have.
    #[command(flatten)]
    #[serde(skip_serializing_if = "is_default")]
    #[merge(strategy = Merge::merge)]
    pub layers: LayerOptions,

    /// The options that only models with a network have.
    #[command(flatten)]
    #[serde(skip_serializing_if = "is_default")]
    #[merge(strategy = Merge::merge)]
    pub network: NetworkOptions,

    /// Initial value of a parameter, in standardized units: kernel.lengthscale=0.5
    ///
    /// The path of a parameter is the one in metrics.json; commas separate several values. This
    /// option and the next three can be given several times.
    #[arg(long, value_name = "PATH=VALUE", help_heading = "Parameters")]
    pub set: Option<Vec<ValuesOption>>,
    /// Bounds of a parameter: likelihood.noise=1e-4..1, or =1e-4.. or =..1
    #[arg(long, value_name = "PATH=LOWER..UPPER", help_heading = "Parameters")]
    pub bound: Option<Vec<BoundsOption>>,
    /// Prior of a parameter: gamma(SHAPE, RATE), log-normal(MEAN, DEVIATION), half-normal(SCALE),
    /// uniform(LOWER, UPPER)
    #[arg(long, value_name = "PATH=PRIOR", help_heading = "Parameters")]
    pub prior: Option<Vec<PriorOption>>,
    /// Do not train a parameter, or the parameters within a field: kernel.variance, kernel,
    /// inducing
    #[arg(long, value_name = "PATH", help_heading = "Parameters")]
    pub fix: Option<Vec<String>>,

    /// A registered name (see `datasets list`), a .csv, .csv.gz or Parquet file, or
    /// synthetic:sines?n=1000&noise=0.1&seed=1 [default: winequality]
    #[arg(long, value_name = "DATA", help_heading = "Data")]
    pub data: Option<String>,
    /// Name or number (from 1; -1 is the last) of the column to predict [default: the last]
    #[arg(
        long,
        value_name = "COLUMN",
        allow_hyphen_values = true,
        help_heading = "Data"
    )]
    pub target: Option<String>,
    /// Name or number of the column with the noise standard deviation of each target, in the units
    /// of the target; it is not an input
    #[arg(
        long,
        value_name = "COLUMN",
        allow_hyphen_values = true,
        help_heading = "Data"
    )]
    pub noise_column: Option<String>,
    /// Class labels from the lowest to the highest, such as low,medium,high; labels with commas in
    /// double quotes [default: numerical order for numbers; otherwise alphabetical, but required
    /// for the ordinal likelihood]
    #[arg(long, value_name = "LABELS", help_heading = "Data")]
    pub class_order: Option<ClassOrder>,
    /// Folder of the registered data sets [default: the environment variable BURN_GP_DATA]
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub data_dir: Option<PathBuf>,
    /// Number K of one of the splits that come with the data, from 0
    #[arg(
        long,
        value_name = "K",
        help_heading = "Data",
        conflicts_with = "test_fraction"
    )]
    pub split: Option<usize>,
    /// Share of the rows held out for testing, chosen at random [default: 0.1]
    #[arg(long, value_name = "F", help_heading = "Data")]
    pub test_fraction: Option<f64>,
    /// Share of the training rows held out to choose the step whose model is kept (mini-batch
    /// models); no model of a comparison trains on them
    #[arg(long, value_name = "F", help_heading = "Data")]
    pub validation_fraction: Option<f64>,
    /// Share of the training rows held out to find the number of steps; the model is then trained
    /// on all rows for that many steps (mini-batch models; 0 for none) [default: models with
    /// networks 0.2, more for few rows, unless --steps, --epochs or --validation-fraction is given]
    #[arg(long, value_name = "F", help_heading = "Data")]
    pub early_stopping: Option<f64>,

    /// Scale of the inputs, by the training rows [default: standard]
    #[arg(long, value_name = "SCALE", help_heading = "Data")]
    pub input_scale: Option<InputScaleName>,

    /// Passes over the training rows; for full-batch models, L-BFGS iterations or steps of Adam
    #[arg(
        long,
        value_name = "E",
        help_heading = "Training",
        conflicts_with = "steps"
    )]
    pub epochs: Option<usize>,
    /// Optimizer steps [default: 6000, or 10 epochs if that is more; full-batch models: at most
    /// 1000; dbk, dkl and sdkl: 2000]
    #[arg(long, value_name = "S", help_heading = "Training")]
    pub steps: Option<usize>,
    /// Rows in a mini-batch [default: 256]
    #[arg(long, value_name = "B", help_heading = "Training")]
    pub batch_size: Option<usize>,
    /// Initial learning rate of Adam [default: 0.05; models with networks 0.03, cagp-cg and itergp
    /// 0.2]; for L-BFGS, the initial step of the line search relative to the full step [default: 1]
    #[arg(long, value_name = "R", help_heading = "Training")]
    pub learning_rate: Option<f64>,
    /// Learning rate schedule [default: cosine; constant with --plateau]
    #[arg(long, value_name = "SCHEDULE", help_heading = "Training")]
    pub schedule: Option<ScheduleName>,
    /// Lower the learning rate by 5 % after this many steps without a lower loss, down to a
    /// thousandth of the initial rate
    #[arg(long, value_name = "S", help_heading = "Training")]
    pub plateau: Option<usize>,
    /// Number of stages of the schedule stairs [default: 3]
    #[arg(long, value_name = "COUNT", help_heading = "Training")]
    pub stages: Option<usize>,
    /// Factor of the learning rate from one stage to the next [default: 0.1]
    #[arg(long, value_name = "F", help_heading = "Training")]
    pub stage_factor: Option<f64>,
    /// Clip the norm of each parameter's gradient to this value
    #[arg(long, value_name = "NORM", help_heading = "Training")]
    pub gradient_norm: Option<f64>,
    /// Use natural gradients with this step size, at most 1, for the distribution of the inducing
    /// variables; Adam trains the other parameters. Common: 0.1
    #[arg(long, value_name = "GAMMA", help_heading = "Training")]
    pub natural_gradient: Option<f64>,
    /// Steps over which the natural-gradient step size grows from a thousandth of its final value
    /// [default: 10; 0 for none]
    #[arg(long, value_name = "S", help_heading = "Training")]
    pub natural_gradient_warm_up: Option<usize>,
    /// Initial steps in which the inducing points are not trained [default: 0]
    #[arg(long, value_name = "S", help_heading = "Training")]
    pub inducing_frozen: Option<usize>,
    /// Initial learning rate of the inducing points [default: that of the other parameters]
    #[arg(long, value_name = "R", help_heading = "Training")]
    pub inducing_rate: Option<f64>,
    /// Momentum of Adam (beta 1) for the inducing points; 0.99 damps them [default: 0.9]
    #[arg(long, value_name = "BETA", help_heading = "Training")]
    pub inducing_momentum: Option<f64>,
    /// Lower the learning rate of the inducing points by 5 % after this many steps without a lower
    /// loss, down to a thousandth of the initial rate [default: that of --plateau]
    #[arg(long, value_name = "S", help_heading = "Training")]
    pub inducing_plateau: Option<usize>,
    /// Stop after this many validations without improvement [default: 20; with --early-stopping 12]
    #[arg(long, value_name = "COUNT", help_heading = "Training")]
    pub patience: Option<usize>,
    /// Epochs between two validations [default: 1, or 50 steps if that is more; with
    /// --early-stopping 20]
    #[arg(long, value_name = "E", help_heading = "Training")]
    pub validation_epochs: Option<usize>,
    /// Step whose model is kept if there are validation rows [default: best]
    #[arg(long, value_name = "STEP", help_heading = "Training")]
    pub keep: Option<KeepName>,
    /// Score the test rows after every so many steps and after the last, in learning_curve.csv and a
    /// plot; a number below 1 is a share of all steps [default: only at the end]
    #[arg(long, value_name = "S", help_heading = "Training")]
    pub score_every: Option<f64>,
    /// Steps between two checkpoints [default: as many as take half a minute]
    #[arg(long, value_name = "S", help_heading = "Training")]
    pub checkpoint_every: Option<usize>,

    /// Seed of the split, the inducing points and the mini-batches [default: 0]
    #[arg(long, value_name = "SEED", help_heading = "Computation")]
    pub seed: Option<u64>,
    /// Floating-point type [default: f64 on CPUs, f32 on GPUs]
    #[arg(long, value_name = "DTYPE", help_heading = "Computation")]
    pub dtype: Option<DtypeName>,
    /// Device [default: the first of flex, ndarray, vulkan, wgpu, cuda in this program]
    #[arg(long, value_name = "DEVICE", help_heading = "Computation")]
    pub device: Option<DeviceName>,
}

fn is_default<T: Default + PartialEq>(options: &T) -> bool {
    *options == T::default()
}

impl RunOptions {
    /// The options that are set, by their names in configuration files; groups are flattened.
    pub fn fields(&self) -> Map<String, Value> {
        let ungrouped = |(name, value)| match value {
            Value::Object(group) => group,
            value => Map::from_iter([(name, value)]),
        };
        self.to_json().into_iter().flat_map(ungrouped).collect()
    }

    /// The options that are set, with groups as in configuration files.
    pub(super) fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(options)) => options,
            _ => Map::new(),
        }
    }

    /// Reads options by name, with groups flattened; the inverse of [`fields`](Self::fields).
    ///
    /// # Errors
    ///
    /// If there is no such option, or the option cannot have such a value.
    pub fn from_fields(fields: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let groups = [
            (
                "pseudo_observations",
                names_of::<PseudoObservationOptions>(),
            ),
            ("full_batch", names_of::<FullBatchOptions>()),
            ("layers", names_of::<LayerOptions>()),
            ("network", names_of::<NetworkOptions>()),
        ];
        let mut grouped = Map::new();
        for (name, value) in fields {
            // A group can contain an option with the name of the group.
            let group = groups.iter().find(|(_, names)| names.contains(&name));
            match group {
                Some((group, _)) => {
                    let group = grouped
                        .entry(*group)
                        .or_insert_with(|| Value::Object(Map::new()));
                    if let Value::Object(group) = group {
                        group.insert(name, value);
                    }
                }
                None => {
                    grouped.insert(name, value);
                }
            }
        }
        serde_json::from_value(Value::Object(grouped))
    }

    /// Makes all paths absolute, because the options may be read in another folder.
    pub fn from_the_root(mut self) -> Self {
        self.data = self.data.map(absolute_file);
        self.data_dir = (self.data_dir).map(|path| std::path::absolute(&path).unwrap_or(path));
        self
    }

    /// The sections of a configuration file with the names of their options. Sections are the
    /// headings of the help.
    pub fn sections() -> Vec<(String, Vec<String>)> {
        let command = Self::augment_args(clap::Command::new("run"));
        let mut sections: Vec<(String, Vec<String>)> = Vec::new();
        for argument in command.get_arguments() {
            let heading = argument.get_help_heading().unwrap_or_default();
            let section = heading.to_lowercase().replace([' ', '-'], "_");
            let name = argument.get_id().to_string();
            match sections.iter_mut().find(|(own, _)| *own == section) {
                Some((_, names)) => names.push(name),
                None => sections.push((section, vec![name])),
            }
        }
        sections
    }

    /// The names of all options.
    pub fn names() -> Vec<String> {
        names_of::<Self>()
    }

    /// The command-line option for a field.
    ///
    /// # Panics
    ///
    /// If there is no such field.
    pub fn argument(field: &str) -> clap::Arg {
        let command = Self::augment_args(clap::Command::new("run"));
        let argument = command
            .get_arguments()
            .find(|argument| argument.get_id() == field);
        let argument = argument.unwrap_or_else(|| panic!("runs have no option {field}"));
        argument.clone()
    }

    /// Parses the value of a field from the command line.
    ///
    /// # Errors
    ///
    /// If the value is invalid.
    pub fn parse_field(field: &str, word: &str) -> Result<Map<String, Value>, clap::Error> {
        let command = Self::augment_args(clap::Command::new("run").no_binary_name(true));
        let typed = format!("--{}={word}", field.replace('_', "-"));
        let matches = command.try_get_matches_from([typed])?;
        Ok(Self::from_arg_matches(&matches)?.fields())
    }
}

/// The names of the options of a group.
fn names_of<G: Args>() -> Vec<String> {
    let command = G::augment_args(clap::Command::new("group"));
    let names = command
        .get_arguments()
        .map(|argument| argument.get_id().to_string());
    names.collect()
}

/// The absolute path of a file; other texts are unchanged.
fn absolute_file(text: String) -> String {
    let path = Path::new(&text);
    if burn_gp_datasets::find(&text).is_ok() || !path.is_file() {
        return text;
    }
    match std::path::absolute(path) {
        Ok(path) => path.display().to_string(),
        Err(_) => text,
    }
}
