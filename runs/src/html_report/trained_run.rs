//! A trained run with everything that a report shows.

use std::fs;
use std::path::Path;

use burn_gp_core::likelihoods::AnyLikelihood;
use burn_gp_datasets::{ColumnReport, DataSource};
use burn_gp_models::Predictor;

use super::ReportArguments;
use super::effects::{Effect, effects};
use crate::arguments::{CONFIG, RunOptions, configuration_in, read_configuration};
use crate::failure::Failure;
use crate::output::{self, ModelContext};
use crate::preparation::PreparedData;
use crate::show::Description;
use crate::trained_folder::open_model;

/// The plots that a run may have, in the order of the page, with what they show.
const PLOTS: [(&str, &str); 10] = [
    (
        output::PREDICTED_OBSERVED,
        "Predicted and observed targets of the test rows",
    ),
    (
        output::CALIBRATION,
        "Observed and nominal coverage of the test rows",
    ),
    (
        output::RELIABILITY,
        "Observed frequencies and predicted probabilities of the test rows",
    ),
    (
        output::CONFUSION,
        "Labels and predicted labels of the test rows",
    ),
    (output::FIT, "The fit"),
    (output::DECISION_MAP, "Predicted classes over both inputs"),
    (output::LOSS, "The loss of every step"),
    (
        output::LEARNING_CURVE_PLOT,
        "Scores of the test rows in the course of training",
    ),
    (output::PATCHES, "Inducing patches"),
    (output::MAPS, "Feature maps of the hidden layers"),
];

/// A trained run.
pub struct TrainedRun {
    /// The name of its folder.
    pub name: String,
    pub description: Description,
    /// The pictures with their captions.
    pub plots: Vec<(String, &'static str)>,
    /// The effects of the columns, or the reason why there are none.
    pub effects: Result<Vec<Effect>, String>,
    /// The columns of the data, if the data are still there.
    pub columns: Vec<ColumnReport>,
    /// The number of rows that were left out.
    pub left_out: usize,
    /// The text of the configuration.
    pub configuration: Option<String>,
}

impl TrainedRun {
    /// Reads the run in a folder, and its training data if they are still there.
    ///
    /// # Errors
    ///
    /// If there is no trained model, or a file of it cannot be read.
    pub fn read(folder: &Path, arguments: &ReportArguments) -> Result<Self, Failure> {
        let saved = open_model(folder, arguments.device.as_ref())?;
        let description = Description::read(folder)?;
        let picture = |(file, caption): (&str, &'static str)| {
            let text = fs::read_to_string(folder.join(file)).ok()?;
            Some((text, caption))
        };
        let predictor = saved.model.predictor()?;
        let data = training_data(folder, &saved.context, arguments);
        let effects = (data.as_ref().map_err(Clone::clone)).and_then(|data| {
            let target = &description.target;
            effects_of(data, &predictor, target.classes.as_deref())
        });
        let (columns, left_out) =
            data.map_or((Vec::new(), 0), |data| (data.columns, data.left_out));
        Ok(Self {
            name: name_of(folder),
            description,
            plots: PLOTS.into_iter().filter_map(picture).collect(),
            effects,
            columns,
            left_out,
            configuration: fs::read_to_string(folder.join(CONFIG)).ok(),
        })
    }
}

fn name_of(folder: &Path) -> String {
    let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = whole
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| folder.display().to_string())
}

/// The training data of the run, or the reason why they cannot be used.
fn training_data(
    folder: &Path,
    context: &ModelContext,
    arguments: &ReportArguments,
) -> Result<PreparedData, String> {
    let options =
        read_configuration(&configuration_in(folder)).map_err(|error| error.to_string())?;
    let typed = RunOptions {
        data_dir: arguments.data_dir.clone(),
        ..RunOptions::default()
    };
    let options = typed.over(options).over(RunOptions::environment());
    let text = options.data.clone().unwrap_or_default();
    let data = DataSource::resolve(&text, options.data_dir.as_deref())
        .and_then(|source| PreparedData::load(&source, &options))
        .map_err(|error| error.to_string())?;
    match data.schema == context.schema && data.standardizer == context.standardizer {
        true => Ok(data),
        false => Err("the training data are not those that the model was trained on".into()),
    }
}

fn effects_of(
    data: &PreparedData,
    predictor: &Predictor<AnyLikelihood>,
    classes: Option<&[String]>,
) -> Result<Vec<Effect>, String> {
    match data.image {
        Some(_) => Err("single pixels of images have none to speak of".into()),
        None => Ok(effects(data, predictor, classes)),
    }
}
