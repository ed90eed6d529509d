//! Models of several outputs: `train --targets` and `train --task-column`, and what other commands do with their
//! folders.

mod arguments;
mod files;
mod new_rows;
mod rank;
mod results;
mod scores;
mod signal;
mod table;
mod trained;
mod updated;

use std::path::Path;

use burn_gp_core::likelihoods::GaussianConfig;
use burn_gp_datasets::{DataError, EqualInputs, Matrix, Split, agreeing, counted};
use burn_gp_models::{ExactConfig, Fit, Fitted};

use crate::arguments::RunOptions;
use crate::devices::ComputeTarget;
use crate::failure::Failure;
use crate::option_error::OptionError;
use crate::output::{OutputFolder, default_folder_name};
use crate::report::{line, predict_line};
use crate::standard_output::inform;
use results::Results;
use table::OutputsTable;

pub use arguments::{OutputsArguments, Place};
pub use files::OutputsContext as Context;
pub use trained::{NewInputs, predict, show};
pub use updated::{ChangedRows, update};

/// The name of this kind of run in messages and the names of folders.
const NAME: &str = "exact";

/// Trains on several columns of targets.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn train(named: &OutputsArguments, options: &RunOptions, place: &Place) -> Result<(), Failure> {
    let columns = arguments::columns(named)?;
    arguments::check(options, named.task_column.is_some())?;
    let source = options.source()?;
    let table = OutputsTable::read(&source, &columns, options)?;
    let split = divide(&table, options)?;
    require_training_targets(&table, &split)?;
    let config = config(&table, options)?;
    let default = || Path::new("out").join(default_folder_name(&table.data, NAME));
    let out = place.out.clone().unwrap_or_else(default);
    let folder = OutputFolder::claim(&out, place.overwrite)?;
    let say = |text: String| {
        if !place.quiet {
            inform(&text);
        }
    };
    say(format!("{}\n", line_of_table(&table, &split)));
    let (model, independent) = fit(&table, &split.train, &config, options)?;
    let results = Results::new(table, &split, model, independent)?;
    say(results.report());
    folder.finish(|folder| results.write(folder))?;
    let place = line("folder", &out.display().to_string());
    say(format!("\n{place}\n{}\n", predict_line(&out)));
    Ok(())
}

/// Whole rows are left out of training, so that no output of a test row is known.
fn divide(table: &OutputsTable, options: &RunOptions) -> Result<Split, Failure> {
    let rows = table.rows();
    if options.test_fraction() == 0.0 {
        return Ok(Split {
            train: (0..rows).collect(),
            ..Split::default()
        });
    }
    let inputs = Matrix::new(rows, table.dimensions(), table.inputs.clone());
    let equal = EqualInputs::among(&inputs);
    let split = Split::random(equal, options.test_fraction(), options.seed());
    Ok(split.map_err(DataError::from)?)
}

fn require_training_targets(table: &OutputsTable, split: &Split) -> Result<(), Failure> {
    for (output, name) in table.outputs.iter().enumerate() {
        let targets = table.targets_of(output, &split.train);
        if targets.iter().all(|target| target.is_nan()) {
            return Err(Failure::Arguments(format!(
                "target column '{name}' has no values in the training rows; choose another --seed or a smaller --test-fraction"
            )));
        }
    }
    Ok(())
}

fn config(table: &OutputsTable, options: &RunOptions) -> Result<ExactConfig, Failure> {
    let kernel = options.kernel.clone().unwrap_or_default();
    let kernel = kernel.config(options.isotropic.unwrap_or(false));
    if let Some(missing) = kernel.missing_dimension(table.dimensions()) {
        return Err(Failure::Arguments(format!(
            "--kernel names input {}, but there {} {}",
            missing + 1,
            agreeing(table.dimensions(), ["is", "are"]),
            counted(table.dimensions(), "input")
        )));
    }
    (kernel.check_inputs(table.dimensions()))
        .map_err(|reason| Failure::Arguments(OptionError::KernelInputs(reason).to_string()))?;
    let outputs = table.outputs.len();
    if let Some(rank) = options.rank.filter(|rank| *rank > outputs) {
        return Err(Failure::Arguments(format!(
            "--rank {rank} is more than the {}; give at most {outputs}",
            counted(outputs, "output")
        )));
    }
    let mut config = ExactConfig::new(kernel.sharing(&table.schemas[0].shared_inputs().groups));
    if let Some(noise) = options.noise {
        config = config.with_likelihood(GaussianConfig::new(noise));
    }
    if let Some(mean) = options.mean {
        config = config.with_mean(mean.config());
    }
    config.rank = options.rank;
    Ok(config)
}

fn fit(
    table: &OutputsTable,
    rows: &[usize],
    config: &ExactConfig,
    options: &RunOptions,
) -> Result<(Fitted, Option<String>), Failure> {
    let (device, dtype) = ComputeTarget::of(options)?.open()?;
    let mut fit = Fit::new().on((&device, dtype));
    if let Some(steps) = options.steps {
        fit = fit.steps(steps);
    }
    if let Some(count) = options.restarts {
        fit = fit.restarts(count).seed(options.seed());
    }
    if let Some(are_added) = options.default_priors {
        fit = fit.default_priors(are_added);
    }
    let (columns, outputs) = (table.dimensions(), table.outputs.len());
    let select = |values: &[f64], columns: usize| -> Vec<Vec<f64>> {
        (rows.iter())
            .map(|row| values[row * columns..][..columns].to_vec())
            .collect()
    };
    let (x, y) = (
        select(&table.inputs, columns),
        select(&table.targets, outputs),
    );
    rank::fitted(config, &x, &y, &fit).map_err(failure)
}

/// Refuses the folder of a model of several outputs.
///
/// # Errors
///
/// If it is one.
pub fn refuse(folder: &Path, command: &str) -> Result<(), Failure> {
    match Context::within(folder)? {
        None => Ok(()),
        Some(_) => Err(Failure::Arguments(format!(
            "`{command}` does not apply to a model of several outputs, as in {}; use predict, show or update",
            folder.display()
        ))),
    }
}

/// An error of the library as one of the program.
fn failure(error: burn_gp_models::Error) -> Failure {
    Failure::Arguments(error.to_string())
}

/// What the table has, by output.
fn line_of_table(table: &OutputsTable, split: &Split) -> String {
    let known = |output: usize| {
        let all: Vec<usize> = (0..table.rows()).collect();
        let targets = table.targets_of(output, &all);
        targets.iter().filter(|target| !target.is_nan()).count()
    };
    let outputs = table.outputs.iter().enumerate();
    let outputs = outputs.map(|(output, name)| format!("{name} {}", known(output)));
    let mut line = format!(
        "{}: {} with {}, of which {} {} for training; known targets: {}",
        table.data,
        counted(table.rows(), "row"),
        counted(table.dimensions(), "input"),
        split.train.len(),
        agreeing(split.train.len(), ["is", "are"]),
        outputs.collect::<Vec<_>>().join(", ")
    );
    match table.left_out {
        0 => {}
        1 => line += "; one row without a target or an input is left out",
        count => line += &format!("; {count} rows without a target or an input are left out"),
    }
    line
}
