//! Studies: grids of training runs with a table, each described by a file.
//!
//! A [`Study`] defines the runs, their options at quick scale and in the paper, and the columns of
//! the table. [`execute`] performs the requested runs, each in its own process and folder, and shows
//! a table of all finished runs in the folder.

mod arguments;
mod cell;
mod data_at_hand;
mod data_names;
mod departures;
mod experiment;
mod file;
mod finished;
mod folder;
mod line;
mod options;
mod plots;
mod published;
mod request;
mod size_plots;
mod sweep;
mod sweep_table;
mod table;
mod template;
mod watch;

use std::path::{Path, PathBuf};

use burn_gp_datasets::DataSource;
use serde_json::{Map, Value, json};

use crate::arguments::{CONFIG, RunOptions, read_configuration};
use crate::failure::{Failure, FolderError};
use crate::output::METRICS;
use crate::plan::check;
use crate::training_run::TrainingRun;

pub use crate::devices::ComputeTarget;
pub use arguments::{ChoiceOf, KnownStudy};
pub use cell::{Cell, OptionSource};
use cell::{NO_USE, ROOT_OF_INPUTS};
pub use data_at_hand::data_at_hand;
pub use departures::{Departure, departures_of, joined};
pub use experiment::Experiment;
use file::Patch;
pub use file::Study;
pub use finished::FinishedCell;
pub use folder::ExperimentFolder;
pub use line::{ResultRow, points, table};
pub use options::CommonOptions;
pub use published::MalformedTable;
pub use request::{Choice, Request};
pub use sweep::{CompareArguments, SweepArguments, compare, sweep};
pub use watch::{RunSupervisor, all_made};

use table::StudyTable;

/// Writes the lines between the table of a study and its notes.
pub type Findings = fn(&[FinishedCell]) -> Vec<String>;

/// Runs a study: performs the requested runs and shows all finished ones.
///
/// # Errors
///
/// [`Failure`]. Missing data sets and failed runs are reported and left out.
pub fn execute(
    study: &'static Study,
    request: &Request,
    findings: Option<Findings>,
) -> Result<(), Failure> {
    request.choice.check(study)?;
    request.place(study)?.open()?;
    let planned = planned(study, request, &request.data_sets(study)?)?;
    let folder = open(study, request)?;
    let broken = make(study, request, &planned, &folder)?;
    show(study, request, &folder, findings)?;
    all_made(broken)
}

/// Opens the folder of a study, which may be new or contain finished runs.
///
/// # Errors
///
/// See [`ExperimentFolder::open`].
pub fn open(study: &Study, request: &Request) -> Result<ExperimentFolder, Failure> {
    ExperimentFolder::open(&study.name, &request.common, &identity(study, request)?)
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
    findings: Option<Findings>,
) -> Result<Vec<FinishedCell>, Failure> {
    let cells = study.finished(&folder.runs(), request)?;
    let table = StudyTable {
        study,
        request,
        cells: &cells,
    };
    table.write(folder)?;
    plots::draw(study, request, &cells, folder);
    let mut lines = table.lines();
    lines.extend(
        findings
            .map(|findings| findings(&cells))
            .unwrap_or_default(),
    );
    lines.extend(table.notes());
    folder.print(lines);
    Ok(cells)
}

/// The settings that all runs in a folder share: the study options that do not appear in folder
/// names.
///
/// # Errors
///
/// If no device is available.
pub fn identity(study: &Study, request: &Request) -> Result<Value, Failure> {
    let mut fields = Map::new();
    cell::apply(&mut fields, &study.run, request.common.scale);
    for (option, own) in &request.choice.options {
        option.apply(&mut fields, own);
    }
    fields.retain(|name, _| !study.folder.has(name));
    let place = request.place(study)?;
    let files = (!study.folder.has("data")).then_some(&request.choice.files);
    let scale = study.differs_by_scale().then_some(request.common.scale);
    Ok(json!({
        "run": fields,
        "scale": scale,
        "files": files,
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
        let source = request.source_of(data);
        let source = DataSource::resolve(&source, request.common.data_dir().as_deref())?;
        let inputs = match study.needs_inputs() {
            true => source.load(None)?.columns(),
            false => 0,
        };
        for mut cell in request.cells(study, data) {
            let options = study.options(&cell, request, OptionSource::Ours, inputs)?;
            check(&options, &source)?;
            let fields = options.fields();
            for (axis, value) in study.axes.iter().zip(&mut cell.values) {
                if axis
                    .field
                    .as_ref()
                    .is_some_and(|field| !fields.contains_key(field))
                {
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
    study: &'static Study,
    request: &Request,
    planned: &[PlannedCell],
    folder: &ExperimentFolder,
) -> Result<Vec<String>, Failure> {
    let watch = RunSupervisor::new(folder, request.common.quiet)?;
    let mut broken = Vec::new();
    for seed in request.seeds(study) {
        for (cell, options) in planned {
            let (name, place) = named(study, request, cell, options);
            let name = format!("{name}, seed {seed}");
            let place = folder.runs().join(place).join(format!("seed-{seed}"));
            require_same_data(&place, options, folder)?;
            let run = TrainingRun {
                folder: place,
                options: RunOptions {
                    seed: Some(seed),
                    ..options.clone()
                },
            };
            if !watch.run(&run, &name)? {
                broken.push(name);
            }
        }
    }
    Ok(broken)
}

/// Checks that a finished run used the requested data, because files in two folders can have the same
/// name.
fn require_same_data(
    run: &Path,
    options: &RunOptions,
    folder: &ExperimentFolder,
) -> Result<(), Failure> {
    if !run.join(METRICS).exists() {
        return Ok(());
    }
    let found = read_configuration(&run.join(CONFIG))?;
    if found.data == options.data {
        return Ok(());
    }
    let path = folder.path().to_owned();
    Err(FolderError::OtherExperiment { path }.into())
}

/// The name of a cell in messages, and its folder below `runs`.
pub fn named(
    study: &Study,
    request: &Request,
    cell: &Cell,
    options: &RunOptions,
) -> (String, PathBuf) {
    let fields = options.fields();
    let word = |name: &str| finished::word(fields.get(name));
    let place = study.place(cell, request.common.scale, &word);
    let title = study.title_of(cell, request, options);
    let name = if study.data.names.len() == 1 && study.data.fixed {
        title
    } else {
        format!("{}, {title}", cell.data)
    };
    (name, place)
}

impl Study {
    /// The folders of the runs of these cells.
    fn runs(
        &self,
        request: &Request,
        planned: &[PlannedCell],
        folder: &ExperimentFolder,
    ) -> impl Iterator<Item = PathBuf> {
        let cells = planned
            .iter()
            .map(|(cell, options)| named(self, request, cell, options).1);
        let cells: Vec<PathBuf> = cells.map(|place| folder.runs().join(place)).collect();
        let seeds = request.seeds(self);
        let of_cell = move |cell: PathBuf| -> Vec<PathBuf> {
            seeds
                .iter()
                .map(|seed| cell.join(format!("seed-{seed}")))
                .collect()
        };
        cells.into_iter().flat_map(of_cell)
    }

    /// The title of a cell with these options.
    pub fn title_of(&self, cell: &Cell, request: &Request, options: &RunOptions) -> String {
        let fields = options.fields();
        let word = |name: &str| finished::word(fields.get(name));
        let scale = request.common.scale;
        self.fill(cell, scale, &self.table.title, &word)
            .unwrap_or_default()
    }

    /// All patches of run options: the general ones and the conditional ones.
    fn patches(&self) -> impl Iterator<Item = &Patch> {
        let values = self.axes.iter().flat_map(|axis| &axis.values);
        let of_some = self.conditional.iter().map(|conditional| &conditional.run);
        of_some
            .chain(values.map(|value| &value.run))
            .chain([&self.run])
    }

    /// Whether options of the runs depend on the number of inputs.
    fn needs_inputs(&self) -> bool {
        let fields = self.patches().flat_map(Patch::fields);
        let mut values = fields.map(|(_, value)| value);
        values.any(|value| value.to_string().contains(ROOT_OF_INPUTS))
    }

    /// Whether runs at quick and at paper scale can differ in a setting that does not appear in
    /// their folder names.
    fn differs_by_scale(&self) -> bool {
        let mut names = self
            .patches()
            .flat_map(|patch| patch.quick.keys().chain(patch.paper.keys()));
        names.any(|name| !self.folder.has(name))
    }
}
