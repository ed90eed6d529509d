//! Maps of predictions and kernels over the coordinates.

use std::path::{Path, PathBuf};

use burn_gp_core::parameter::numbers;
use burn_gp_datasets::Matrix;
use burn_gp_models::SavedModel;
use burn_gp_runs::{
    devices,
    failure::Failure,
    output::ModelContext,
    plots::{self, Caption, MapPanel, PlotError, ProbabilityGrid, Quantity},
    study::{self, ExperimentFolder},
};

use super::mobile::Measurements;

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
pub(super) fn draw(
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
