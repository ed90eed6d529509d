//! The results of a run: `metrics.json` and the table on the terminal.

mod hyperparameters;

use std::collections::BTreeMap;
use std::path::Path;

use burn_gp_core::{
    kernels::KernelConfig,
    parameter::{AtFloor, Hyperparameter},
};
use burn_gp_datasets::{agreeing, counted};
use serde::{Deserialize, Serialize};

use crate::arguments::{ActionRowsName, RunOptions, name_of};
use crate::baselines::{Baselines, baselines_text};
use crate::calibration::CalibrationReport;
use crate::diagnostics::{diagnostics, floors_reached};
use crate::fitting::StoppingPoint;
use crate::input_noise::InputNoiseReport;
use crate::leave_one_out::LeaveOneOutScores;
use crate::memory;
use crate::preparation::PreparedData;
use crate::scores::{NLPD, RMSE, Scored, Scores, Shown};
use crate::transformed::transforms_text;
use hyperparameters::hyperparameters;

/// The metrics of a run, as written to `metrics.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The name of the model.
    pub model: String,
    /// The name of the data.
    pub data: String,
    /// Whether the data are synthetic.
    pub synthetic: bool,
    /// The number of training rows.
    pub n_train: usize,
    /// The number of validation rows.
    pub n_validation: usize,
    /// The number of test rows.
    pub n_test: usize,
    /// The number of test rows whose target is known exactly, if targets are intervals. Scores other than those of
    /// densities are those of these rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_test_exact: Option<usize>,
    /// The number of inputs.
    pub d: usize,
    /// The number of inducing points, if the model has any.
    pub inducing: Option<usize>,
    /// The number of orthogonal inducing points, if the model has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orthogonal: Option<usize>,
    /// The number of actions, if the model has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<usize>,
    /// The rows that an action combines, if actions are trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_rows: Option<ActionRowsName>,
    /// The number of classes, if the targets are labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<usize>,
    /// The kernel.
    pub kernel: String,
    /// The likelihood.
    pub likelihood: String,
    /// Scores of the test rows, if there are any.
    #[serde(flatten)]
    pub scores: Option<Scores>,
    /// Scores of leave-one-out predictions of the training rows, if they have a closed form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_one_out: Option<LeaveOneOutScores>,
    /// The calibration of the predictions, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationReport>,
    /// The errors of the training inputs and the noise that they make, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_noise: Option<InputNoiseReport>,
    /// The scores of simple predictions of the test rows, for comparison.
    #[serde(default, skip_serializing_if = "Baselines::is_empty")]
    pub baselines: Baselines,
    /// The results of training.
    #[serde(flatten)]
    pub training: TrainingFigures,
    /// The peak memory of the program up to the scores, in bytes.
    pub peak_memory: Option<u64>,
    /// The seed.
    pub seed: u64,
    /// The device.
    pub backend: String,
    /// The floating-point type.
    pub dtype: String,
    /// The hyperparameters, in standardized units.
    pub hyperparameters: BTreeMap<String, Vec<f64>>,
    /// Warnings about the model, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The metrics that come from training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingFigures {
    /// The loss of the kept model: the negative objective per training row, log priors included.
    pub objective: f64,
    /// The number of training steps.
    pub steps: usize,
    /// The step of the kept model.
    pub step_kept: usize,
    /// The stopping point, if held-out rows determined it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping_point: Option<StoppingPoint>,
    /// The mean negative log density of the test rows under sparse regression without the network,
    /// for comparison with a model with a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nlpd_without_network: Option<f64>,
    /// Seconds spent in optimizer steps; excludes the choice of inducing points, validation, checkpoints and
    /// evaluation.
    pub train_seconds: f64,
    /// The mean seconds of a step, including the steps of the search for the stopping point.
    pub seconds_per_step: f64,
}

impl Metrics {
    /// Collects the metrics of a run. All defaults are filled into `options`.
    pub fn new(
        options: &RunOptions,
        data: &PreparedData,
        scores: Option<Scores>,
        training: TrainingFigures,
        at_floor: &[AtFloor],
        hyperparameters: &[Hyperparameter],
    ) -> Self {
        let named = |parameter: &Hyperparameter| (parameter.path.clone(), parameter.values.clone());
        let target = data.likelihood.target();
        let without_network = training.nlpd_without_network;
        let mut warnings = scores.as_ref().map_or_else(Vec::new, |scores| {
            diagnostics(scores, data, target, without_network)
        });
        warnings.extend(floors_reached(at_floor, hyperparameters));
        Self {
            model: options.model().name().to_owned(),
            data: data.name.clone(),
            synthetic: data.synthetic,
            n_train: data.training_rows(),
            n_validation: data.validation.len(),
            n_test: data.test.len(),
            n_test_exact: data.test.exact_rows().map(|rows| rows.len()),
            d: data.dimensions(),
            inducing: options.inducing,
            orthogonal: options.orthogonal,
            actions: options.actions,
            action_rows: options.action_rows,
            classes: (data.schema.classes.as_ref()).map(|classes| classes.count()),
            kernel: kernel_text(options),
            likelihood: data.likelihood.name().to_owned(),
            scores,
            leave_one_out: None,
            calibration: None,
            input_noise: None,
            baselines: Baselines::new(),
            training,
            peak_memory: memory::peak(),
            seed: options.seed(),
            backend: backend(options),
            dtype: options.dtype.map(name_of).unwrap_or_default(),
            hyperparameters: hyperparameters.iter().map(named).collect(),
            warnings,
        }
    }
}

/// The names of the devices.
fn backend(options: &RunOptions) -> String {
    let several = options.devices.as_deref().unwrap_or_default();
    let names = several.iter().chain(&options.device);
    let names: Vec<String> = names.map(ToString::to_string).collect();
    names.join(",")
}

/// The kernel as text.
fn kernel_text(options: &RunOptions) -> String {
    let backbone = options.backbone.map_or("", |backbone| backbone.name());
    let kernel = options.kernel.as_ref().map(ToString::to_string);
    match (kernel.unwrap_or_default(), options.rank, options.features) {
        (_, Some(rank), _) => format!("rank-{rank} {backbone} basis"),
        (kernel, _, Some(features)) => format!("{kernel}({backbone} to {features})"),
        (kernel, None, None) => kernel,
    }
}

/// The table at the end of a run. `kernel` is the one that acts on the inputs themselves, if there is one.
pub fn table(
    metrics: &Metrics,
    data: &PreparedData,
    kernel: Option<&KernelConfig>,
    folder: &Path,
) -> String {
    let mut lines = vec![
        line("data", &sizes(metrics)),
        line("model", &model(metrics)),
        line("training", &training(metrics)),
        String::new(),
    ];
    let target = &data.schema.target_name;
    lines.extend(transforms_text(data).map(|text| line("transformed", &text)));
    lines.extend(match &metrics.scores {
        Some(scores) => score_lines(scores, target, data.standardizer.scales_targets()),
        None => vec![line("scores", "none, because no rows were held out")],
    });
    lines.extend(exact_rows(metrics));
    lines.extend(baselines_text(&metrics.baselines, target).map(|text| line("baselines", &text)));
    let calibration = metrics.calibration.iter();
    lines.extend(calibration.map(|own| line("calibrated", &own.text())));
    let noise = metrics.input_noise.iter();
    lines.extend(noise.map(|own| line("input noise", &own.text(target))));
    lines.extend(leave_one_out_line(metrics.leave_one_out, target));
    lines.extend(metrics.warnings.iter().map(|text| line("warning", text)));
    lines.push(String::new());
    lines.extend(hyperparameters(metrics, data, kernel));
    lines.push(String::new());
    lines.push(line("folder", &folder.display().to_string()));
    lines.push(predict_line(folder));
    lines.push(line(
        "report",
        &format!("burn-gp report {}", folder.display()),
    ));
    lines.join("\n")
}

/// A line about the scores of intervals, if targets are intervals.
fn exact_rows(metrics: &Metrics) -> Option<String> {
    let exact = metrics.n_test_exact.filter(|_| metrics.n_test > 0)?;
    let all = counted(metrics.n_test, "test row");
    let text = match exact {
        0 => format!(
            "NLPD is that of {all}, whose targets are intervals; no target is known exactly"
        ),
        _ => {
            format!("NLPD is that of {all}, other scores those of the {exact} with an exact target")
        }
    };
    Some(line("intervals", &text))
}

/// The scores of leave-one-out predictions in a line, if there are any.
pub(crate) fn leave_one_out_line(
    scores: Option<LeaveOneOutScores>,
    target: &str,
) -> Option<String> {
    scores.map(|scores| line("left out", &scores.text(target)))
}

/// The line that says how to predict with the model in a folder.
pub(crate) fn predict_line(folder: &Path) -> String {
    let folder = folder.display();
    line(
        "predict",
        &format!("burn-gp predict --model-dir {folder} --data FILE"),
    )
}

/// A line of the table: a title with a text.
pub(crate) fn line(title: &str, text: &str) -> String {
    format!("{title:<11} {text}")
}

/// The data and their sizes as text.
pub fn sizes(metrics: &Metrics) -> String {
    let generated = if metrics.synthetic {
        " (generated)"
    } else {
        ""
    };
    let validation = match metrics.n_validation {
        0 => String::new(),
        rows => format!(", {rows} for validation"),
    };
    let test = match metrics.n_test {
        0 => String::new(),
        rows => format!(", {rows} to test on"),
    };
    let classes = match metrics.classes {
        Some(classes) => format!(", {}", counted(classes, "class")),
        None => String::new(),
    };
    format!(
        "{}{generated}: {} to train on{validation}{test}, {}{classes}",
        metrics.data,
        counted(metrics.n_train, "row"),
        counted(metrics.d, "input")
    )
}

fn model(metrics: &Metrics) -> String {
    let inducing = metrics
        .inducing
        .map(|count| format!(", {}", counted(count, "inducing point")))
        .unwrap_or_default();
    let orthogonal = metrics
        .orthogonal
        .map(|count| {
            format!(
                " and {count} orthogonal {}",
                agreeing(count, ["one", "ones"])
            )
        })
        .unwrap_or_default();
    format!(
        "{}, {} kernel, {} likelihood{inducing}{orthogonal}",
        metrics.model, metrics.kernel, metrics.likelihood
    )
}

fn training(metrics: &Metrics) -> String {
    let training = &metrics.training;
    let found = (training.stopping_point.as_ref()).map(|point| {
        format!(
            " (of {} tried, these predicted {} best)",
            point.steps_tried,
            counted(point.held_out, "held-out row")
        )
    });
    let kept = if training.step_kept == training.steps {
        String::new()
    } else {
        format!(", kept the model of step {}", training.step_kept)
    };
    let memory = (metrics.peak_memory)
        .map(|bytes| format!(", peak memory {} MB", bytes / 1_000_000))
        .unwrap_or_default();
    format!(
        "{}{} in {:.1} s ({:.2} ms each) on {} in {}{kept}, loss {:.4}{memory}",
        counted(training.steps, "step"),
        found.unwrap_or_default(),
        training.train_seconds,
        1e3 * training.seconds_per_step,
        metrics.backend,
        metrics.dtype,
        training.objective
    )
}

/// The scores of the test rows, one per line.
pub(crate) fn score_lines(scores: &Scores, target: &str, is_standardized: bool) -> Vec<String> {
    let each = scores.shown(Shown::OnTerminal);
    let of_score = |scored: Scored| {
        let score = scored.score;
        let text = match scored.original {
            Some(_) if is_standardized => {
                let (standard, digits) = (scored.value, score.digits);
                format!(
                    "{standard:.digits$}   ({} in the units of {target})",
                    scored.text()
                )
            }
            Some(_) => format!("{}   (in the units of {target})", scored.text()),
            None => format!("{} {}", scored.text(), score.explanation),
        };
        line(score.title, text.trim_end())
    };
    each.map(of_score).collect()
}

/// Formats a number with four significant digits.
pub(crate) fn significant(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let digits = 3 - value.abs().max(1e-3).log10().floor() as i32;
    format!("{value:.*}", digits.max(0) as usize)
}

/// Formats the scores of predictions as one line, in the units of the data.
pub fn score_line(scores: &Scores) -> String {
    let is_standardized = scores.get(RMSE) != scores.get(&format!("{RMSE}_original"));
    let each = scores.shown(Shown::OnTerminal).map(|scored| {
        let text = format!("{} {}", scored.score.title, scored.text());
        match (is_standardized, scored.score.key) {
            (true, RMSE) => format!("{text} (standardized {:.4})", scored.value),
            (true, NLPD) => text + " (standardized)",
            _ => text,
        }
    });
    each.collect::<Vec<String>>().join(", ")
}
