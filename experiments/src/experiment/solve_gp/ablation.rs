//! Whitening (Section 6.3, Figure 3b): test error and log density during training.
//!
//! The paper shows HouseElectric in a figure without a table. The protocol is that of
//! `studies/solve-regression.toml`, which also documents what the paper leaves open.

use burn_gp_datasets::DataSource;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::arguments::{ModelName, RunOptions, name_of};
use crate::experiment::{course::Look, course::course};
use crate::failure::Failure;
use crate::plots::{self, Caption, CurveName, CurvePanel, Quantity, Span};
use crate::standard_output::print;
use crate::study::{
    self, Cell, CommonOptions, CsvLine, Departure, ExperimentFolder, Request, Watch, Whose,
    are_comparable, departure_lines, departures_of,
};
use crate::text_table::aligned;

/// The name of the experiment.
const NAME: &str = "solve-ablation";
const PICTURE: &str = "curves.svg";

/// The study with the same protocol.
const REGRESSION: &str = "solve-regression";

/// The paper's data set.
const DATA: &str = "houseelectric";
const INDUCING: usize = 1024;
const EPOCHS: usize = 100;

/// The approximate number of points in a curve.
const LOOKS: usize = 50;

/// The options of `experiment solve-ablation`.
#[derive(Args, Clone, Debug)]
pub struct AblationOptions {
    /// Data set: a registered name or a file
    #[arg(long, value_name = "DATA", default_value = "kin40k")]
    data_set: String,
    /// Inducing points M [default: 1024; quick: 128]
    #[arg(long, value_name = "M")]
    inducing: Option<usize>,
    /// Epochs [default: 100; quick: 10]
    #[arg(long, value_name = "E")]
    epochs: Option<usize>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// The models, each with its name in the folder.
const MODELS: [(ModelName, &str, bool); 4] = [
    (ModelName::SvgpUnwhitened, "SVGP 2M, unwhitened", false),
    (ModelName::SolveUnwhitened, "SOLVE-GP M+M, unwhitened", true),
    (ModelName::Svgp, "SVGP 2M, whitened", false),
    (ModelName::Solve, "SOLVE-GP M+M, whitened", true),
];

/// The scores of a model during training.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Curve {
    model: String,
    points: Vec<Look>,
    /// The options of the run with all defaults filled in.
    #[serde(default)]
    options: Option<RunOptions>,
}

/// The results as JSON.
#[derive(Serialize)]
struct Record<'a> {
    comparable_with_the_paper: bool,
    departures: &'a [Option<Vec<Departure>>],
    curves: &'a [Curve],
}

/// Runs `burn-gp experiment solve-ablation`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub(in crate::experiment) fn ablation(options: &AblationOptions) -> Result<(), Failure> {
    let common = &options.common;
    let place = common.place()?;
    let inducing = options.inducing.unwrap_or(common.by_scale(128, INDUCING));
    let table = study::study(REGRESSION);
    // The model and its inducing points are others in each run.
    let cell = Cell {
        data: options.data_set.clone(),
        values: vec![table.axes[0].values[0].name.clone()],
    };
    let request = Request::of_file(common);
    let shared = RunOptions {
        seed: Some(common.seed),
        epochs: Some(options.epochs.unwrap_or(common.by_scale(10, EPOCHS))),
        ..table.options(&cell, &request, Whose::Ours, 0)?
    };
    let source = DataSource::resolve(&options.data_set, shared.data_dir.as_deref())?;
    let settings = json!({
        "data": source.name(),
        "inducing": inducing,
        "epochs": shared.epochs,
        "seed": common.seed,
        "dtype": place.dtype,
        "device": place.device,
    });
    let folder = ExperimentFolder::open(NAME, common, &settings)?;
    let watch = Watch::new(&folder, common.quiet)?;
    let mut curves = Vec::new();
    let mut departures = Vec::new();
    for compared in MODELS {
        let (model, title, _) = compared;
        let options = told(compared, inducing, shared.clone());
        let make = || {
            let course = course(title, options, &source, place, LOOKS, &watch)?;
            Ok(Curve {
                model: title.to_owned(),
                points: course.looks,
                options: Some(course.options),
            })
        };
        let curve: Curve = folder.once(&name_of(model), make)?;
        let paper = RunOptions {
            epochs: Some(EPOCHS),
            ..table.options(&cell, &request, Whose::Papers, 0)?
        };
        let paper = told(compared, INDUCING, paper);
        let mut own = departures_of(curve.options.as_ref(), paper);
        own.extend(Departure::of("data", source.name(), DATA));
        departures.push(Some(own));
        curves.push(curve);
    }
    let record = Record {
        comparable_with_the_paper: are_comparable(&departures),
        departures: &departures,
        curves: &curves,
    };
    folder.write_results(&record, &csv_lines(&curves))?;
    let summary = format!("M = {inducing}, test rows, seed {}", common.seed);
    draw(&folder, &source.name(), &summary, &curves);
    let names = curves.iter().map(|curve| curve.model.clone());
    let named: Vec<_> = names.zip(&departures).collect();
    let departures = departure_lines(&named);
    print(&text(
        &curves,
        &source.name(),
        &summary,
        departures,
        &folder,
    ))
}

/// The options of a model.
fn told(
    (model, _, is_solve): (ModelName, &str, bool),
    inducing: usize,
    shared: RunOptions,
) -> RunOptions {
    RunOptions {
        model: Some(model),
        inducing: Some(if is_solve { inducing } else { 2 * inducing }),
        orthogonal: is_solve.then_some(inducing),
        ..shared
    }
}

fn text(
    curves: &[Curve],
    data: &str,
    summary: &str,
    departures: Vec<String>,
    folder: &ExperimentFolder,
) -> String {
    let titles = ["model", "steps", "test LL", "test RMSE", "ms a step"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for curve in curves {
        let count = curve.points.len();
        for look in [count / 4, count.saturating_sub(1)] {
            let Some(look) = curve.points.get(look) else {
                continue;
            };
            rows.push(vec![
                curve.model.clone(),
                look.step.to_string(),
                format!("{:.4}", -look.nlpd),
                format!("{:.4}", look.rmse),
                format!("{:.1}", 1e3 * look.seconds / look.step as f64),
            ]);
        }
    }
    let mut lines = vec![format!("{data}: {summary}")];
    lines.extend(aligned(&rows));
    lines.push(
        "\nscores in standardized units, on the way and at the end. In the paper \
         (arXiv:1910.10596, Figure 3b:\ncurves of houseelectric, no table) SOLVE-GP 1024+1024 is \
         ahead of SVGP 2048 without whitening, and\nlevel with it whitened."
            .into(),
    );
    lines.extend(departures);
    lines.push(format!("all of it in {}\n", folder.path().display()));
    lines.join("\n")
}

/// One line for each evaluation.
fn csv_lines(curves: &[Curve]) -> Vec<CsvLine> {
    let line = |curve: &Curve, look: &Look| {
        CsvLine::default()
            .with("model", &curve.model)
            .with("step", look.step)
            .with("seconds", look.seconds)
            .with("rmse", look.rmse)
            .with("log_density", -look.nlpd)
    };
    let looks = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(move |look| line(curve, look)));
    looks.collect()
}

fn draw(folder: &ExperimentFolder, data: &str, summary: &str, curves: &[Curve]) {
    let names: Vec<CurveName> = curves.iter().map(|curve| (&curve.model).into()).collect();
    let panel = |title, name, value: fn(&Look) -> f64| CurvePanel {
        title,
        value: Quantity::of(name),
        curves: (curves.iter())
            .map(|curve| {
                let points = curve.points.iter();
                points.map(|look| (look.step as f64, value(look))).collect()
            })
            .collect(),
        span: Span::Values,
    };
    let panels = [
        panel("error of the test rows", "RMSE", |look| look.rmse),
        panel("log density of the test rows", "mean log density", |look| {
            -look.nlpd
        }),
    ];
    let caption = Caption {
        data,
        model: summary,
    };
    let along = Quantity::of("step");
    let path = folder.path().join(PICTURE);
    plots::warn_undrawn(plots::curves(
        &path, "Training", caption, &names, along, &panels,
    ));
}
