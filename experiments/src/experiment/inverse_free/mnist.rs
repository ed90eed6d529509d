//! Ten classes of images (Section 4.4, Table 2, the kernel that is not convolutional).
//!
//! As in the paper: the 60 000 digits to train on and the 10 000 to test on, squared-exponential
//! kernel with a lengthscale for each of the 784 pixels, robust-max likelihood, 750 inducing points
//! that start at random digits, 450 000 steps of Adam with learning rate 0.001 and batches of 200;
//! R-SVGP with log-linear step sizes down to a residual of 1e-6 and exact traces. Where the paper is
//! silent, lengthscales start at 10, which is about the distance of two digits.

use std::path::PathBuf;

use burn_gp::ops::Stationary;
use burn_gp_datasets::DataSource;
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;

use super::method::{Method, Relaxed};
use super::table::NOT_COMPARABLE;
use crate::arguments::{
    InitialiserName, InversionName, LikelihoodName, MeanName, RunOptions, ScheduleName, name_of,
};
use crate::experiment::{
    CommonOptions, ExperimentFolder, Reported,
    options::Place,
    reported::{reported_text, summary_text},
    watch::{Watch, all_made},
};
use crate::failure::Failure;
use crate::parameter_options::ValuesOption;
use crate::report::{Metrics, sizes};
use crate::standard_output::print;
use crate::summary::Summary;
use crate::text_table::aligned;
use crate::training_run::TrainingRun;

/// Its name.
const NAME: &str = "inverse-free-mnist";
const DATA: &str = "mnist";

const BATCH: usize = 200;
/// Of the paper.
const STEPS: usize = 450_000;
const LENGTHSCALE: f64 = 10.0;
const RELAXED: Relaxed = Relaxed {
    inversion: InversionName::LogLinear,
    tolerance: 1e-6,
    probes: None,
    damping: None,
};

/// What `experiment inverse-free-mnist` takes.
#[derive(Args, Clone, Debug)]
pub struct MnistOptions {
    /// Models [default: all]
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    models: Vec<Method>,
    /// Inducing points M [default: 750; quick: 100]
    #[arg(long, value_name = "M")]
    inducing: Option<usize>,
    /// Seeds, the first one and those after it [default: 5; quick: 1]
    #[arg(long, value_name = "COUNT")]
    seeds: Option<u64>,
    /// Optimiser steps [default: 450000; quick: 300]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// Adam's learning rate [default: 0.001; quick: 0.01]
    #[arg(long, value_name = "RATE")]
    learning_rate: Option<f64>,
    /// What every experiment takes.
    #[command(flatten)]
    common: CommonOptions,
}

/// Runs `burn-gp experiment inverse-free-mnist`.
///
/// # Errors
///
/// [`Failure`], which says what to do; runs that break off are named and left out.
pub(in crate::experiment) fn mnist(options: &MnistOptions) -> Result<(), Failure> {
    let common = &options.common;
    let place = common.place()?;
    place.open()?;
    DataSource::resolve(DATA, common.data_dir().as_deref())?;
    let shared = options.shared(place);
    let settings = json!({
        "inducing": shared.inducing,
        "steps": shared.steps,
        "learning_rate": shared.learning_rate,
        "dtype": place.dtype,
        "device": place.device,
    });
    let folder = ExperimentFolder::open(NAME, common, &settings)?;
    let watch = Watch::new(&folder, common.quiet)?;
    let methods = match options.models.as_slice() {
        [] => Method::value_variants(),
        models => models,
    };
    let seeds = options.seeds.unwrap_or(common.by_scale(1, 5));
    let mut broken = Vec::new();
    for seed in common.seed..common.seed + seeds {
        for &method in methods {
            let name = format!("{}, seed {seed}", method.title());
            let run = TrainingRun {
                folder: runs_of(&folder, method).join(format!("seed-{seed}")),
                options: RunOptions {
                    seed: Some(seed),
                    ..method.with_model(shared.clone(), &RELAXED)
                },
            };
            if !watch.run(&run, &name)? {
                broken.push(name);
            }
        }
    }
    let is_paper = common.is_paper() && shared.steps == Some(STEPS);
    report(is_paper, &folder)?;
    all_made(broken)
}

impl MnistOptions {
    /// What all runs have in common.
    fn shared(&self, place: Place) -> RunOptions {
        let common = &self.common;
        RunOptions {
            data: Some(DATA.into()),
            data_dir: common.data_dir(),
            split: Some(0),
            kernel: Some(Stationary::SquaredExponential.into()),
            set: Some(vec![first_lengthscale()]),
            isotropic: Some(false),
            mean: Some(MeanName::Zero),
            likelihood: Some(LikelihoodName::RobustMax),
            inducing: Some(self.inducing.unwrap_or(common.by_scale(100, 750))),
            initialiser: Some(InitialiserName::Subset),
            steps: Some(self.steps.unwrap_or(common.by_scale(300, STEPS))),
            batch_size: Some(BATCH),
            learning_rate: Some(self.learning_rate.unwrap_or(common.by_scale(1e-2, 1e-3))),
            schedule: Some(ScheduleName::Constant),
            dtype: Some(place.dtype),
            device: Some(place.device),
            ..RunOptions::default()
        }
    }
}

/// Where every lengthscale starts.
fn first_lengthscale() -> ValuesOption {
    ValuesOption {
        path: "kernel.lengthscale".into(),
        values: vec![LENGTHSCALE],
    }
}

fn runs_of(folder: &ExperimentFolder, method: Method) -> PathBuf {
    folder.runs().join(name_of(method))
}

/// A model with its finished runs.
#[derive(Serialize)]
struct Row {
    method: Method,
    /// Wrong labels of the test rows, in per cent.
    error: Option<Summary>,
    paper_error: Reported,
    nlpd: Option<Summary>,
    milliseconds_per_step: Option<Summary>,
    runs: Vec<Metrics>,
}

impl Row {
    fn new(method: Method, runs: Vec<Metrics>) -> Self {
        let summary = |number: fn(&Metrics) -> f64| {
            Summary::of(&runs.iter().map(number).collect::<Vec<f64>>())
        };
        Self {
            method,
            error: summary(|metrics| 100.0 * metrics.scores.error.unwrap_or(f64::NAN)),
            paper_error: published(method),
            nlpd: summary(|metrics| metrics.scores.nlpd),
            milliseconds_per_step: summary(|metrics| 1e3 * metrics.seconds_per_step),
            runs,
        }
    }
}

/// Table 2, the kernel RBF.
fn published(method: Method) -> Reported {
    let (mean, standard_error) = match method {
        Method::W => (1.96, 0.02),
        Method::L => (1.95, 0.01),
        Method::R => (1.94, 0.02),
    };
    Reported {
        mean,
        standard_error,
    }
}

/// The table of every run that is finished in the folder.
fn report(is_paper: bool, folder: &ExperimentFolder) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for &method in Method::value_variants() {
        let runs = runs_of(folder, method);
        let mut metrics = Vec::new();
        for seed in crate::output::names_in(&runs) {
            metrics.extend(TrainingRun::finished(&runs.join(seed))?);
        }
        if !metrics.is_empty() {
            rows.push(Row::new(method, metrics));
        }
    }
    folder.write_results(&rows, &csv(&rows))?;
    print(&text(&rows, is_paper, folder))
}

fn text(rows: &[Row], is_paper: bool, folder: &ExperimentFolder) -> String {
    let titles = [
        "model",
        "test error %",
        "paper",
        "NLPD",
        "ms a step",
        "steps",
        "seeds",
    ];
    let mut cells = vec![titles.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        vec![
            row.method.title().to_owned(),
            summary_text(row.error, 2),
            reported_text(Some(row.paper_error), 2),
            summary_text(row.nlpd, 4),
            summary_text(row.milliseconds_per_step, 1),
            row.runs[0].steps.to_string(),
            row.runs.len().to_string(),
        ]
    }));
    let mut lines: Vec<String> = (rows.iter().take(1))
        .map(|row| sizes(&row.runs[0]))
        .collect();
    lines.extend(aligned(&cells));
    lines.push(
        "\nmean (standard error) over the seeds; the paper is arXiv:2604.00697, Table 2, kernel RBF, \
         750 inducing points\nafter 450 000 steps"
            .into(),
    );
    if !is_paper {
        lines.push(NOT_COMPARABLE.into());
    }
    lines.push(format!("all of it in {}\n", folder.path().display()));
    lines.join("\n")
}

/// One line a model.
fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "method,seeds,error,error_error,paper_error,paper_error_error,nlpd,milliseconds_per_step\n",
    );
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mean = |summary: Option<Summary>| number(summary.map(|summary| summary.mean));
    for row in rows {
        let fields = [
            name_of(row.method),
            row.runs.len().to_string(),
            mean(row.error),
            number(row.error.and_then(|summary| summary.standard_error)),
            row.paper_error.mean.to_string(),
            row.paper_error.standard_error.to_string(),
            mean(row.nlpd),
            mean(row.milliseconds_per_step),
        ];
        text += &(fields.join(",") + "\n");
    }
    text
}
