//! A trained run with everything that a report shows.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use burn_gp_datasets::ColumnReport;
use burn_gp_models::{CheckError, CheckFailure, Predictor};

use super::ReportArguments;
use super::effects::{Effect, effects};
use crate::arguments::{CONFIG, RunOptions, parse_configuration};
use crate::checksums::{Links, read_text};
use crate::failure::Failure;
use crate::output::{self, ModelContext};
use crate::outputs;
use crate::preparation::PreparedData;
use crate::show::Description;
use crate::trained_folder::{open_model, predictor_of};

/// The plots that a run may have, in the order of the page, with their captions.
const PLOTS: [(&str, &str); 12] = [
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
    (
        output::PARTS,
        "The parts of the function, one for each term of the kernel",
    ),
    (
        output::PREDICTION_MAP,
        "Predictions over both inputs, and how certain they are",
    ),
    (output::DECISION_MAP, "Predicted classes over both inputs"),
    (output::LOSS, "The loss at every step"),
    (
        output::LEARNING_CURVE_PLOT,
        "Scores on the test rows during training",
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
    /// The columns of the data, if the data are still available.
    pub columns: Vec<ColumnReport>,
    /// The number of rows that were left out.
    pub left_out: usize,
    /// The text of the configuration.
    pub configuration: Option<String>,
    /// The files of the folder that are missing from the page, each with the reason.
    pub left_out_files: Vec<String>,
}

impl TrainedRun {
    /// Reads the run in a folder, and its training data if they are still available.
    ///
    /// # Errors
    ///
    /// If there is no trained model, or a file of it cannot be read.
    pub fn read(folder: &Path, arguments: &ReportArguments) -> Result<Self, Failure> {
        outputs::refuse(folder, "report")?;
        let saved = open_model(folder, arguments.shared.device.as_ref())?;
        let description = Description::read(folder)?;
        let mut files = OwnFiles::default();
        let plots = PLOTS.into_iter().filter_map(|(file, caption)| {
            let text = files.read(&folder.join(file))?;
            Some((text, caption))
        });
        let plots = plots.collect();
        let path = folder.join(CONFIG);
        let configuration = files.read(&path);
        let predictor = predictor_of(&saved)?;
        let described = (configuration.as_deref()).ok_or("the run has no configuration");
        let data = (described.map_err(str::to_owned))
            .and_then(|text| training_data(&path, text, &saved.context, arguments));
        let effects = (data.as_ref().map_err(Clone::clone)).and_then(|data| {
            let target = &description.target;
            effects_of(data, &predictor, target.classes.as_deref())
        });
        let (columns, left_out) =
            data.map_or((Vec::new(), 0), |data| (data.columns, data.left_out));
        Ok(Self {
            name: name_of(folder),
            description,
            plots,
            effects,
            columns,
            left_out,
            configuration,
            left_out_files: files.left_out,
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

/// The files of a folder whose texts are copied to the page. The folder may come from anyone, and the
/// page may go to anyone, so links are refused: a link could copy any file of this machine to the
/// page.
#[derive(Default)]
struct OwnFiles {
    /// The files that cannot be read, each with the reason.
    left_out: Vec<String>,
}

impl OwnFiles {
    /// The text of a file; `None` if it does not exist or cannot be read.
    fn read(&mut self, path: &Path) -> Option<String> {
        match read_text(path, Links::Refused) {
            Ok(text) => Some(text),
            Err(CheckError {
                reason: CheckFailure::Unreadable(error),
                ..
            }) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.left_out
                    .push(format!("{} is left out: {}", path.display(), error.reason));
                None
            }
        }
    }
}

/// The training data of the run with the configuration `text` at `path`, or the reason why they cannot be used.
fn training_data(
    path: &Path,
    text: &str,
    context: &ModelContext,
    arguments: &ReportArguments,
) -> Result<PreparedData, String> {
    let options = parse_configuration(path, text).map_err(|error| error.to_string())?;
    let typed = RunOptions {
        data_dir: arguments.shared.data_directory.typed(),
        ..RunOptions::default()
    };
    let options = typed.over(options).over(RunOptions::environment());
    let source = options.source().map_err(|error| error.to_string())?;
    let others = [&options.validation, &options.test].into_iter().flatten();
    let files = source.path().map(Path::to_owned).into_iter();
    files
        .chain(others.map(PathBuf::from))
        .try_for_each(require_file)?;
    let data = PreparedData::load(&source, &options).map_err(|error| error.to_string())?;
    match data.schema == context.schema && data.standardizer == context.standardizer {
        true => Ok(data),
        false => Err("the data differ from the data that the model was trained on".into()),
    }
}

/// Refuses devices and pipes, on which the report would wait.
fn require_file(path: PathBuf) -> Result<(), String> {
    match fs::metadata(&path) {
        Ok(found) if !(found.is_file() || found.is_dir()) => {
            Err(format!("{} is neither a file nor a folder", path.display()))
        }
        _ => Ok(()),
    }
}

fn effects_of(
    data: &PreparedData,
    predictor: &Predictor,
    classes: Option<&[String]>,
) -> Result<Vec<Effect>, String> {
    match data.image {
        Some(_) => Err("the effect of a single pixel of an image is negligible".into()),
        None => Ok(effects(data, predictor, classes)),
    }
}
