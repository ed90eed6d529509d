//! The files of an output folder.

use std::fs;
use std::path::Path;

use burn_gp_models::{CHECKSUMS_FILE, MODEL_FILE, WEIGHTS_FILE, forecasting::FORECASTS_FILE};

use super::predictions::PredictionTable;
use crate::arguments::CONFIG;
use crate::evaluation::Evaluation;
use crate::failure::Failure;
use crate::fitting::CHECKPOINT_FOLDER;
use crate::preparation::PreparedData;
use crate::replacement::replace;

/// Scores and sizes of a run, JSON.
pub const METRICS: &str = "metrics.json";
/// The identity of an experiment.
pub const EXPERIMENT: &str = "experiment.json";
/// The folder of the finished parts of an experiment.
pub const RUNS: &str = "runs";
/// Predictions of the test rows, CSV.
pub const PREDICTIONS: &str = "predictions.csv";
/// The log of the training steps, CSV.
pub const TRAINING_LOG: &str = "training_log.csv";
/// Scores of the test rows during training, CSV.
pub const LEARNING_CURVE: &str = "learning_curve.csv";
/// Curves of the scores of the test rows during training.
pub const LEARNING_CURVE_PLOT: &str = "learning-curve.svg";
/// The loss of every step.
pub const LOSS: &str = "loss.svg";
/// Predicted against observed targets.
pub const PREDICTED_OBSERVED: &str = "predicted-observed.svg";
/// Coverage of intervals.
pub const CALIBRATION: &str = "calibration.svg";
/// The fit of a model of one input.
pub const FIT: &str = "fit.svg";
/// The parts of a function whose kernel is a sum.
pub const PARTS: &str = "parts.svg";
/// Observed frequency against predicted probability, for classification.
pub const RELIABILITY: &str = "reliability.svg";
/// The predictions of a model of two inputs.
pub const PREDICTION_MAP: &str = "prediction-map.svg";
/// The decision map of a classifier of two inputs.
pub const DECISION_MAP: &str = "decision-map.svg";
/// The confusion matrix.
pub const CONFUSION: &str = "confusion.svg";
/// The inducing patches of the first layer of images.
pub const PATCHES: &str = "patches.svg";
/// The feature maps of the hidden layers.
pub const MAPS: &str = "maps.svg";
/// The forecasts of series over time, CSV.
pub const FORECAST: &str = "forecast.csv";
/// The parts of series over time, CSV.
pub const COMPONENTS: &str = "components.csv";
/// Forecasts of the past, CSV.
pub const BACKTEST: &str = "backtest.csv";
/// History and forecast of a series.
pub const FORECAST_PLOT: &str = "forecast.svg";
/// The parts of a series.
pub const COMPONENTS_PLOT: &str = "components.svg";

/// The outputs of a model of several, and the columns of its inputs, JSON.
pub const OUTPUTS: &str = "outputs.json";

/// All files that a run or a forecast writes.
pub(super) const OWN_FILES: [&str; 28] = [
    OUTPUTS,
    METRICS,
    PREDICTIONS,
    CONFIG,
    TRAINING_LOG,
    LEARNING_CURVE,
    LEARNING_CURVE_PLOT,
    LOSS,
    PREDICTED_OBSERVED,
    CALIBRATION,
    FIT,
    PARTS,
    RELIABILITY,
    PREDICTION_MAP,
    DECISION_MAP,
    CONFUSION,
    PATCHES,
    MAPS,
    FORECAST,
    COMPONENTS,
    BACKTEST,
    FORECAST_PLOT,
    COMPONENTS_PLOT,
    FORECASTS_FILE,
    MODEL_FILE,
    WEIGHTS_FILE,
    CHECKSUMS_FILE,
    CHECKPOINT_FOLDER,
];

/// Writes a text file.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(Failure::writing(path))
}

/// Writes a text file atomically: readers see either the earlier text or the new one.
///
/// # Errors
///
/// If the file cannot be written; `path` is then unchanged.
pub fn replace_file(path: &Path, text: &str) -> Result<(), Failure> {
    replace(path, text).map_err(Failure::writing(path))
}

/// Writes the predictions of the test rows in the units of the data:
/// `row,y,mean,std,lower,upper,level` for numbers, and `row,y,label` with the probability of each
/// class for labels.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_predictions(
    path: &Path,
    data: &PreparedData,
    scored: &Evaluation,
) -> Result<(), Failure> {
    let rows = data.source_rows(&data.test);
    let table = PredictionTable::new(rows, &scored.original, data.schema.classes.as_ref());
    write_text(path, &table.carrying(data.ids(&data.test)).to_csv())
}
