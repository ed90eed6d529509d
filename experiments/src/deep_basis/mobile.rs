//! Mobile internet quality in Georgia, USA (section 4.3, Figure 4).
//!
//! The data are Ookla's measurements of 2019 to 2022: 19 535 places with coordinates and a quality
//! score. The target is the logarithm of the score. The data are not part of the program; they come
//! from a file with the columns `latitude`, `longitude` and the score. The protocol is that of
//! dbk-uci, for variational models only.

use std::path::{Path, PathBuf};

use burn_gp_datasets::{DataSource, Dataset, TargetColumn};
use burn_gp_runs::{
    failure::Failure,
    output::replace_file,
    study::{self, ChoiceOf, CommonOptions, ExperimentFolder, KnownStudy, Study, all_made},
};
use clap::Args;

use super::mobile_plots::draw;

/// The name of the study, and of its data set.
const NAME: &str = "dbk-mobile";
const DATA: &str = "mobile";

/// The coordinate columns.
const COORDINATES: [&str; 2] = ["latitude", "longitude"];

/// The name of the study on the command line.
#[derive(Clone, Debug)]
pub struct Mobile;

impl KnownStudy for Mobile {
    fn study() -> &'static Study {
        study::named(NAME)
    }
}

/// The options of `experiment dbk-mobile`.
#[derive(Args, Clone, Debug)]
pub struct DbkMobileOptions {
    /// CSV file with the columns latitude, longitude and the quality score
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Column of the score [default: the last]
    #[arg(long, value_name = "COLUMN")]
    target: Option<TargetColumn>,
    /// The column already contains logarithms
    #[arg(long)]
    logarithms: bool,
    /// The runs.
    #[command(flatten)]
    runs: ChoiceOf<Mobile>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// Runs `burn-gp experiment dbk-mobile`.
///
/// # Errors
///
/// [`Failure`]. Failed runs are reported and left out.
pub(crate) fn mobile(options: &DbkMobileOptions) -> Result<(), Failure> {
    let (table, mut request) = (study::named(NAME), options.runs.request(&options.common));
    request.choice.check(table)?;
    let place = request.place(table)?;
    place.open()?;
    let Some(path) = &options.data else {
        return Err(Failure::Arguments(
            "the measurements are not part of this program; make a CSV file with the columns latitude, \
             longitude and quality score of Ookla's open data (Georgia, USA, 2019 to 2022) and give it \
             with --data FILE"
                .into(),
        ));
    };
    let data = options.read(path)?;
    request
        .choice
        .files
        .insert(DATA.into(), path.display().to_string());
    let experiment = study::open(table, &request)?;
    let file = write(&data, &experiment)?;
    request
        .choice
        .files
        .insert(DATA.into(), file.display().to_string());
    let planned = study::planned(table, &request, &request.data_sets(table)?)?;
    let broken = study::make(table, &request, &planned, &experiment)?;
    let cells = study::show(table, &request, &experiment)?;
    // Of several runs with the same model, only the first is used.
    let models = cells.chunk_by(|a, b| a.cell == b.cell).map(|own| &own[0]);
    let runs: Vec<(String, PathBuf)> = models
        .map(|cell| (cell.title(), cell.folders[0].clone()))
        .collect();
    draw(&experiment, &data, place, &runs)?;
    all_made(broken)
}

/// Measurements, one row for each place.
pub(super) struct Measurements {
    /// Latitude, longitude and the logarithm of the score.
    pub rows: Vec<[f64; 3]>,
}

impl DbkMobileOptions {
    fn read(&self, path: &Path) -> Result<Measurements, Failure> {
        let source = DataSource::resolve(&path.display().to_string(), None)?;
        let data = source.load(self.target.as_ref())?;
        let [latitude, longitude] = coordinates(path, &data)?;
        let mut rows = Vec::new();
        for (index, &score) in data.targets.iter().enumerate() {
            if !self.logarithms && score <= 0.0 {
                return Err(Failure::Arguments(format!(
                    "{}: the score {score} has no logarithm; correct it, or use --logarithms if the column already \
                     holds logarithms",
                    data.location(index)
                )));
            }
            let logarithm = if self.logarithms { score } else { score.ln() };
            let at = |column| data.inputs.get(index, column);
            rows.push([at(latitude), at(longitude), logarithm]);
        }
        Ok(Measurements { rows })
    }
}

/// The input columns with the coordinates.
fn coordinates(path: &Path, data: &Dataset) -> Result<[usize; 2], Failure> {
    let names = data.input_names();
    let position = |wanted: &str| {
        let found = (names.iter()).position(|name| name.trim().eq_ignore_ascii_case(wanted));
        found.ok_or_else(|| {
            Failure::Arguments(format!(
                "{} has no column {wanted:?} besides its target {:?}; its other columns are {}",
                path.display(),
                data.target_name(),
                names.join(", ")
            ))
        })
    };
    Ok([position(COORDINATES[0])?, position(COORDINATES[1])?])
}

/// Writes the data file for the runs. The paper's inputs are degrees in a plane, so the names of the columns do not
/// say that they are places on the sphere.
fn write(data: &Measurements, experiment: &ExperimentFolder) -> Result<PathBuf, Failure> {
    let runs = experiment.runs();
    std::fs::create_dir_all(&runs).map_err(Failure::writing(&runs))?;
    let path = runs.join(format!("{DATA}.csv"));
    let mut text = String::from("north,east,logarithm\n");
    for [latitude, longitude, logarithm] in &data.rows {
        text += &format!("{latitude},{longitude},{logarithm}\n");
    }
    replace_file(&path, &text)?;
    Ok(path)
}
