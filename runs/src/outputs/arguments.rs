//! The options of models of several outputs.

use std::path::PathBuf;

use burn_gp_models::ExactConfig;
use clap::Args;

use super::table::OutputColumns;
use crate::arguments::{ModelChoice, RunOptions};
use crate::failure::Failure;

/// The options that apply to models of several outputs, by the names of their fields.
const OPTIONS: [&str; 23] = [
    "model",
    "kernel",
    "isotropic",
    "mean",
    "noise",
    "rank",
    "default_priors",
    "data",
    "target",
    "rows",
    "inputs",
    "drop",
    "kind",
    "missing_values",
    "time",
    "decimal",
    "date_order",
    "no_header",
    "data_dir",
    "test_fraction",
    "steps",
    "restarts",
    "seed",
];
/// Those of devices.
const DEVICE_OPTIONS: [&str; 2] = ["dtype", "device"];

/// The options of `train` that name several outputs.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputsArguments {
    /// Columns to predict together, such as temperature,humidity: exact regression of correlated outputs,
    /// each with its own noise. Empty cells count as missing; the row's other targets are still used
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        help_heading = "Data",
        hide_short_help = true,
        conflicts_with_all = ["task_column", "resume", "config"]
    )]
    pub targets: Vec<String>,
    /// Column that names the output of each row, such as a sensor: the outputs of --target are then predicted
    /// together, as by --targets
    #[arg(
        long,
        value_name = "COLUMN",
        help_heading = "Data",
        hide_short_help = true,
        conflicts_with_all = ["resume", "config"]
    )]
    pub task_column: Option<String>,
}

/// Where and how results are written.
#[derive(Clone, Debug)]
pub struct Place {
    /// The folder; `None` for the default.
    pub out: Option<PathBuf>,
    /// Whether an earlier folder is replaced.
    pub overwrite: bool,
    /// Whether only errors and warnings are printed.
    pub quiet: bool,
}

impl OutputsArguments {
    /// Whether several outputs are named.
    pub fn are_given(&self) -> bool {
        !self.targets.is_empty() || self.task_column.is_some()
    }
}

/// Where the outputs are.
///
/// # Errors
///
/// If `--targets` names a single column.
pub fn columns(arguments: &OutputsArguments) -> Result<OutputColumns, Failure> {
    match (&*arguments.targets, &arguments.task_column) {
        (_, Some(column)) => Ok(OutputColumns::Tasks(column.clone())),
        ([_], None) => Err(Failure::Arguments(
            "--targets names several columns, separated by commas; use --target for one".to_owned(),
        )),
        (names, None) => Ok(OutputColumns::Each(names.to_vec())),
    }
}

/// Refuses options that have no effect here.
///
/// # Errors
///
/// For the first such option.
pub fn check(options: &RunOptions, has_tasks: bool) -> Result<(), Failure> {
    let option = if has_tasks {
        "--task-column"
    } else {
        "--targets"
    };
    let given = serde_json::to_value(options).unwrap_or_default();
    let applies = |name: &str| {
        (OPTIONS.contains(&name) || DEVICE_OPTIONS.contains(&name))
            && (has_tasks || name != "target")
    };
    let fields = given.as_object().into_iter().flatten();
    let unused = fields
        .into_iter()
        .find(|(name, value)| !value.is_null() && !applies(name));
    if let Some((name, _)) = unused {
        return Err(Failure::Arguments(format!(
            "--{} does not apply with {option}; remove it",
            name.replace('_', "-")
        )));
    }
    let exact = ModelChoice::of::<ExactConfig>();
    if let Some(model) = options.named_model().filter(|model| *model != exact) {
        return Err(Failure::Arguments(format!(
            "the model {} takes one target column; {option} needs --model exact, its default",
            model.name()
        )));
    }
    let has_numbers = options
        .kernel
        .as_ref()
        .is_some_and(|kernel| !kernel.numbers().is_empty());
    match has_numbers {
        true => Err(Failure::Arguments(format!(
            "numbers in --kernel do not apply with {option}; give the kernel by name only"
        ))),
        false => Ok(()),
    }
}
