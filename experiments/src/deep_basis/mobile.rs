//! Mobile internet quality in Georgia, USA (section 4.3, Figure 4).
//!
//! The data are Ookla's measurements of 2019 to 2022: 19 535 places with coordinates and a quality
//! score. The target is the logarithm of the score. The data are not part of the program; they come
//! from a file with the columns `latitude`, `longitude` and the score. The protocol is that of
//! dbk-uci, for variational models only.

use std::path::{Path, PathBuf};

use burn_gp_core::parameter::numbers;
use burn_gp_datasets::{DataSource, Dataset, Matrix, TargetColumn};
use burn_gp_models::SavedModel;
use burn_gp_runs::{
    devices,
    failure::Failure,
    output::{ModelContext, replace_file},
    plots::{self, Caption, MapPanel, PlotError, ProbabilityGrid, Quantity},
    study::{self, ChoiceOf, CommonOptions, ExperimentFolder, Study, all_made},
};
use clap::Args;

use crate::figure::{Figure, Registration};

/// The name of the study, and of its data set.
const NAME: &str = "dbk-mobile";
const DATA: &str = "mobile";

/// The coordinate columns.
const COORDINATES: [&str; 2] = ["latitude", "longitude"];

/// The name of the study on the command line.
#[derive(Clone, Debug, Default)]
pub struct Mobile;

impl From<Mobile> for &'static Study {
    fn from(_: Mobile) -> Self {
        study::named(NAME)
    }
}

/// Mobile internet quality with SVGP, SVDKL and SVDBK, from a file (arXiv:2505.18526, Figure 4)
///
/// Scores beside the published values, maps of the predictions, and the kernels around two
/// places. The data are not part of the program: --data FILE has the columns latitude,
/// longitude and the quality score, whose logarithm is predicted. Other settings are as in
/// dbk-uci.
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

inventory::submit! { Registration::of::<DbkMobileOptions>(NAME) }

impl Figure for DbkMobileOptions {
    // Failed runs are reported and left out.
    fn run(&self) -> Result<(), Failure> {
        let (table, mut request) = (study::named(NAME), self.runs.request(&self.common));
        request.choice.check(table)?;
        let place = request.place(table)?;
        place.open()?;
        let Some(path) = &self.data else {
            return Err(Failure::Arguments(
            "the measurements are not part of this program; make a CSV file with the columns latitude, \
             longitude and quality score of Ookla's open data (Georgia, USA, 2019 to 2022) and give it \
             with --data FILE"
                .into(),
        ));
        };
        let data = self.read(path)?;
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
}

/// Measurements, one row for each place.
struct Measurements {
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

/// Grid points per dimension.
const GRID: usize = 60;

/// The places where the paper shows kernels: latitude and longitude of the Atlanta airport and of
/// the middle of the state.
const LOOKED_AT: [(&str, [f64; 2]); 2] = [
    ("airport", [33.6407, -84.4277]),
    ("state center", [32.6461, -83.4317]),
];

/// The maps of a model.
struct Maps {
    title: String,
    mean: Vec<f64>,
    /// `k(x*, ·)/k(x*, x*)` for each of the places.
    slices: Vec<Vec<f64>>,
}

/// Draws the predictions of all models, given by titles and folders, and their kernels around two
/// places. Prints a warning for plots that cannot be drawn.
///
/// # Errors
///
/// If a model cannot be read or cannot predict.
fn draw(
    experiment: &ExperimentFolder,
    data: &Measurements,
    place: study::ComputeTarget,
    runs: &[(String, PathBuf)],
) -> Result<(), Failure> {
    let points: Vec<[f64; 2]> = (data.rows.iter()).map(|row| [row[1], row[0]]).collect();
    let grid = ProbabilityGrid::around(&points, GRID, GRID)?;
    let looked_at = looked_at(data);
    let maps: Vec<Maps> = (runs.iter())
        .map(|run| maps(run, &grid, &looked_at, &place))
        .collect::<Result<_, _>>()?;
    experiment.draw("map.svg", |path| draw_means(path, &grid, &points, &maps));
    experiment.draw("slices.svg", |path| {
        draw_slices(path, &grid, &looked_at, &maps)
    });
    Ok(())
}

/// The places in the paper if they are within the range of the data; otherwise the mean of the data
/// and the first row.
fn looked_at(data: &Measurements) -> Vec<(&'static str, [f64; 2])> {
    let range = |axis: usize| {
        let values = || data.rows.iter().map(|row| row[axis]);
        let low = values().fold(f64::INFINITY, f64::min);
        low..=values().fold(f64::NEG_INFINITY, f64::max)
    };
    let ranges = [range(0), range(1)];
    let within = |place: &[f64; 2]| (0..2).all(|axis| ranges[axis].contains(&place[axis]));
    if LOOKED_AT.iter().all(|(_, place)| within(place)) {
        return LOOKED_AT.to_vec();
    }
    let mean = |axis: usize| {
        let sum: f64 = data.rows.iter().map(|row| row[axis]).sum();
        sum / data.rows.len() as f64
    };
    let first = data.rows.first().map_or([0.0; 2], |row| [row[0], row[1]]);
    vec![("middle", [mean(0), mean(1)]), ("first row", first)]
}

fn maps(
    (title, folder): &(String, PathBuf),
    grid: &ProbabilityGrid,
    looked_at: &[(&str, [f64; 2])],
    place: &study::ComputeTarget,
) -> Result<Maps, Failure> {
    let (device, _) = place.open()?;
    let saved: SavedModel<ModelContext> = SavedModel::load(folder, &device)?;
    devices::open(&place.device, saved.summary.precision.dtype())?;
    let standardizer = &saved.context.standardizer;
    // Grid nodes start with the longitude, model inputs with the latitude.
    let nodes = grid.nodes();
    let inputs: Vec<f64> = nodes.iter().flat_map(|node| [node[1], node[0]]).collect();
    let inputs = standardizer.transform_inputs(&Matrix::new(nodes.len(), 2, inputs));
    let predictor = saved.model.predictor()?;
    let mean = predictor.predict(inputs.values(), 2).mean;
    let slices = (looked_at.iter())
        .filter_map(|(_, place)| {
            let at = standardizer.transform_inputs(&Matrix::new(1, 2, place.to_vec()));
            let [at, all] = [&at, &inputs].map(|x| predictor.inputs(x.values(), 2));
            let own = numbers(saved.model.covariance(at.clone(), at.clone())?)[0];
            let all = numbers(saved.model.covariance(at, all)?);
            Some(all.into_iter().map(|value| value / own).collect())
        })
        .collect();
    Ok(Maps {
        title: title.clone(),
        mean: standardizer.inverse_targets(&mean),
        slices,
    })
}

const INPUTS: [Quantity<'static>; 2] = [Quantity::of("longitude"), Quantity::of("latitude")];

fn draw_means(
    path: &Path,
    grid: &ProbabilityGrid,
    points: &[[f64; 2]],
    maps: &[Maps],
) -> Result<(), PlotError> {
    let panels: Vec<MapPanel<'_>> = (maps.iter())
        .map(|map| MapPanel {
            points,
            ..MapPanel::new(&map.title, &map.mean)
        })
        .collect();
    plots::number_maps(
        path,
        Caption::new("mobile internet", "predicted logarithm of the score"),
        ("measurement", ""),
        (grid, INPUTS),
        &panels,
    )
}

/// The title, the values, and the longitude and latitude of a kernel around a place.
type Slice<'a> = (String, &'a [f64], [[f64; 2]; 1]);

/// Draws one row of panels for each place.
fn draw_slices(
    path: &Path,
    grid: &ProbabilityGrid,
    looked_at: &[(&str, [f64; 2])],
    maps: &[Maps],
) -> Result<(), PlotError> {
    let mut parts: Vec<Slice<'_>> = Vec::new();
    for (index, (name, [latitude, longitude])) in looked_at.iter().enumerate() {
        parts.extend(maps.iter().filter_map(|map| {
            let place = [[*longitude, *latitude]];
            Some((
                format!("{}, {name}", map.title),
                map.slices.get(index)?.as_slice(),
                place,
            ))
        }));
    }
    let panels: Vec<MapPanel<'_>> = (parts.iter())
        .map(|(title, values, place)| MapPanel {
            crosses: place,
            ..MapPanel::new(title, values)
        })
        .collect();
    plots::number_maps(
        path,
        Caption::new("mobile internet", "k(x*, x)/k(x*, x*)"),
        ("", "x*"),
        (grid, INPUTS),
        &panels,
    )
}
