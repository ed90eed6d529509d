//! Whitening (Section 6.3, Figure 3b): test error and log density in the course of training.
//!
//! The paper's figure is of HouseElectric and has no table. Protocol as in
//! [regression](super::regression()), which says what the paper leaves open.

use burn_gp_datasets::DataSource;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::regression::protocol;
use crate::arguments::{ModelName, RunOptions, name_of};
use crate::experiment::{
    CommonOptions, CsvLine, ExperimentFolder,
    course::{Look, course},
    watch::Watch,
};
use crate::failure::Failure;
use crate::pictures::{self, Caption, CurveName, CurvePanel, Quantity, Span};
use crate::standard_output::print;
use crate::text_table::aligned;

/// Its name.
const NAME: &str = "solve-ablation";
const PICTURE: &str = "curves.svg";

/// Points of a curve, about.
const LOOKS: usize = 50;

/// What `experiment solve-ablation` takes.
#[derive(Args, Clone, Debug)]
pub struct AblationOptions {
    /// The data set: a registered name or a file
    #[arg(long, value_name = "DATA", default_value = "kin40k")]
    data_set: String,
    /// Inducing points M [default: 1024; quick: 128]
    #[arg(long, value_name = "M")]
    inducing: Option<usize>,
    /// Passes over the training rows [default: 100; quick: 10]
    #[arg(long, value_name = "E")]
    epochs: Option<usize>,
    /// What every experiment takes.
    #[command(flatten)]
    common: CommonOptions,
}

/// The models, each with the name of its part of the folder.
const MODELS: [(ModelName, &str, bool); 4] = [
    (ModelName::SvgpUnwhitened, "SVGP 2M, unwhitened", false),
    (ModelName::SolveUnwhitened, "SOLVE-GP M+M, unwhitened", true),
    (ModelName::Svgp, "SVGP 2M, whitened", false),
    (ModelName::Solve, "SOLVE-GP M+M, whitened", true),
];

/// A model's scores in the course of training.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Curve {
    model: String,
    points: Vec<Look>,
}

/// Runs `burn-gp experiment solve-ablation`.
///
/// # Errors
///
/// [`Failure`], which says what to do.
pub(in crate::experiment) fn ablation(options: &AblationOptions) -> Result<(), Failure> {
    let common = &options.common;
    let place = common.place()?;
    let inducing = options.inducing.unwrap_or(common.by_scale(128, 1024));
    let shared = RunOptions {
        data: Some(options.data_set.clone()),
        seed: Some(common.seed),
        epochs: Some(options.epochs.unwrap_or(common.by_scale(10, 100))),
        ..protocol(common, place)
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
    for (model, title, is_solve) in MODELS {
        let options = RunOptions {
            model: Some(model),
            inducing: Some(if is_solve { inducing } else { 2 * inducing }),
            orthogonal: is_solve.then_some(inducing),
            ..shared.clone()
        };
        let make = || {
            Ok(Curve {
                model: title.to_owned(),
                points: course(title, options, &source, place, LOOKS, &watch)?.looks,
            })
        };
        curves.push(folder.once(&name_of(model), make)?);
    }
    folder.write_results(&curves, &csv_lines(&curves))?;
    let summary = format!("M = {inducing}, test rows, seed {}", common.seed);
    draw(&folder, &source.name(), &summary, &curves);
    print(&text(&curves, &source.name(), &summary, common, &folder))
}

fn text(
    curves: &[Curve],
    data: &str,
    summary: &str,
    common: &CommonOptions,
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
        "\nscores in standardised units, on the way and at the end. In the paper \
         (arXiv:1910.10596, Figure 3b:\ncurves of houseelectric, no table) SOLVE-GP 1024+1024 is \
         ahead of SVGP 2048 without whitening, and\nlevel with it whitened."
            .into(),
    );
    if !common.is_paper() {
        lines.push("quick scale: not comparable with the paper".into());
    }
    lines.push(format!("all of it in {}\n", folder.path().display()));
    lines.join("\n")
}

/// A line a look.
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
    pictures::warn_undrawn(pictures::curves(
        &path, "Training", caption, &names, along, &panels,
    ));
}
