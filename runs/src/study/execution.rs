//! The execution of a study.

use std::path::PathBuf;

use burn_gp_datasets::DataSource;
use serde_json::{Value, json};

use super::cell::{Cell, NO_USE};
use super::definition::Study;
use super::details::CellDetails;
use super::finished::FinishedCell;
use super::folder::ExperimentFolder;
use super::plots;
use super::request::Request;
use super::run_request::OptionSource;
use super::table::StudyTable;
use super::watch::{RunSupervisor, all_made};
use crate::arguments::{CONFIG, RunOptions, read_configuration};
use crate::failure::{Failure, FolderError};
use crate::file_names::file_name;
use crate::output::METRICS;
use crate::plan::check;
use crate::training_run::TrainingRun;

/// Runs a study: performs the requested runs and shows all finished ones.
///
/// # Errors
///
/// [`Failure`]. Missing data sets and failed runs are reported and left out.
pub fn execute(study: &'static Study, request: &Request) -> Result<(), Failure> {
    request.choice.check(study)?;
    request.place(study)?.open()?;
    let planned = planned(study, request, &request.data_sets(study)?)?;
    let folder = open(study, request)?;
    let broken = make(study, request, &planned, &folder)?;
    show(study, request, &folder)?;
    all_made(broken)
}

/// Opens the folder of a study, which may be new or contain finished runs.
///
/// # Errors
///
/// See [`ExperimentFolder::open`].
pub fn open(study: &Study, request: &Request) -> Result<ExperimentFolder, Failure> {
    ExperimentFolder::open(study.name, &request.common, &identity(study, request)?)
}

/// Writes and prints the table of all finished runs in the folder, and draws the plots.
///
/// # Errors
///
/// If a file cannot be read or written.
pub fn show(
    study: &'static Study,
    request: &Request,
    folder: &ExperimentFolder,
) -> Result<Vec<FinishedCell>, Failure> {
    let cells = study.finished(&folder.runs(), request)?;
    let table = StudyTable {
        study,
        cells: &cells,
    };
    table.write(folder)?;
    plots::draw(study, &cells, folder);
    let mut lines = table.lines();
    lines.extend((study.findings)(&cells));
    lines.extend(table.notes());
    folder.print(lines);
    Ok(cells)
}

/// The settings that all runs in a folder share: what the user chose, unless the folders of cells
/// tell it.
///
/// # Errors
///
/// If no device is available.
pub fn identity(study: &Study, request: &Request) -> Result<Value, Failure> {
    let is_in_folder =
        |name: &String| (study.options.iter()).any(|own| own.name == *name && own.in_folder);
    let mut given = request.choice.given.clone();
    given.retain(|name, _| !is_in_folder(name));
    let place = request.place(study)?;
    Ok(json!({
        "options": given,
        "scale": (!study.scale_in_folder).then_some(request.common.scale),
        "files": (!study.data.in_folder).then_some(&request.choice.files),
        "dtype": place.dtype,
        "device": place.device,
    }))
}

/// A cell with the options of its runs, without the seeds.
pub type PlannedCell = (Cell, RunOptions);

/// The requested cells with the checked options of their runs, without the seeds.
///
/// If a model does not use the option of an axis, one cell stands for all values of that axis.
///
/// # Errors
///
/// If data cannot be read, or an option is invalid.
pub fn planned(
    study: &Study,
    request: &Request,
    data_sets: &[String],
) -> Result<Vec<PlannedCell>, Failure> {
    let mut planned: Vec<PlannedCell> = Vec::new();
    for data in data_sets {
        let source = request.source_of(study, data);
        let source = DataSource::resolve(&source, request.common.data_dir().as_deref())?;
        let inputs = match study.needs_inputs {
            true => source.load(None)?.columns(),
            false => 0,
        };
        for mut cell in request.cells(study, data) {
            let options = study.options(&cell, request, OptionSource::Ours, inputs)?;
            check(&options, &source)?;
            let fields = options.fields();
            for (axis, value) in study.axes.iter().zip(&mut cell.values) {
                let is_used = |field| fields.contains_key(field);
                if !axis.field.as_ref().is_none_or(is_used) {
                    *value = NO_USE.to_owned();
                }
            }
            if planned.iter().all(|(other, _)| *other != cell) {
                planned.push((cell, options));
            }
        }
    }
    Ok(planned)
}

/// Performs all runs of the planned cells, seed by seed, so that every cell has a first result early.
/// Returns the names of the failed runs.
///
/// # Errors
///
/// If files cannot be read or written, or the user interrupts the program.
pub fn make(
    study: &Study,
    request: &Request,
    planned: &[PlannedCell],
    folder: &ExperimentFolder,
) -> Result<Vec<String>, Failure> {
    let watch = RunSupervisor::new(folder, request.common.quiet)?;
    let mut broken = Vec::new();
    for seed in request.seeds(study) {
        for (cell, options) in planned {
            let (name, place) = place_of(study, cell, options);
            let name = format!("{name}, seed {seed}");
            let place = folder.runs().join(place);
            let run = TrainingRun {
                folder: place.join(format!("seed-{seed}")),
                options: RunOptions {
                    seed: Some(seed),
                    ..options.clone()
                },
            };
            require_same_data(&run, folder)?;
            cell.mark(&place)?;
            if !watch.run(&run, &name)? {
                broken.push(name);
            }
        }
    }
    Ok(broken)
}

/// Checks that a finished run used the requested data, because files in two folders can have the same
/// name.
fn require_same_data(run: &TrainingRun, folder: &ExperimentFolder) -> Result<(), Failure> {
    if !run.folder.join(METRICS).exists() {
        return Ok(());
    }
    let found = read_configuration(&run.folder.join(CONFIG))?;
    if found.data == run.options.data {
        return Ok(());
    }
    let path = folder.path().to_owned();
    Err(FolderError::OtherExperiment(path).into())
}

/// The name of a cell in messages, and its folder below `runs`. A name that the user gives becomes
/// one folder, whatever characters it has.
pub fn place_of(study: &Study, cell: &Cell, options: &RunOptions) -> (String, PathBuf) {
    let options = options.fields();
    let details = CellDetails {
        study,
        cell,
        options: &options,
        runs: &[],
        numbers: None,
    };
    let title = details.title();
    let name = match study.data.option.is_none() && study.data.names.len() == 1 {
        true => title,
        false => format!("{}, {title}", cell.data),
    };
    let folders = details.folders();
    (name, folders.iter().map(|name| file_name(name)).collect())
}

/// Whether all requested runs of the planned cells are finished.
pub(super) fn are_finished(
    study: &Study,
    request: &Request,
    planned: &[PlannedCell],
    folder: &ExperimentFolder,
) -> bool {
    let seeds = request.seeds(study);
    planned.iter().all(|(cell, options)| {
        let place = folder.runs().join(place_of(study, cell, options).1);
        let metrics = |seed: &u64| place.join(format!("seed-{seed}")).join(METRICS);
        seeds.iter().all(|seed| metrics(seed).exists())
    })
}
