//! SVGP and CaGP-Opt in the course of training (Figures 3, 4 and S5).
//!
//! In all else as `studies/cagp-uci.toml`. The paper shows the means over the seeds, Figure 4 on Power
//! alone.

use burn_gp_datasets::DataSource;
use burn_gp_models::{
    AnyModel, TrainedModel,
    training::{AnyTrainer, Trainer, TrainingData},
};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::course_report::report;
use super::hyperparameters::{value_at, values_at};
use super::{CellsOfTable1, TABLE_1};
use crate::arguments::{RunOptions, name_of};
use crate::devices::Place;
use crate::evaluation::{LEVEL, evaluate};
use crate::failure::Failure;
use crate::plan::{Plan, check, resolve};
use crate::preparation::PreparedData;
use crate::progress::RowProgress;
use crate::study::{self, CommonOptions, ExperimentFolder, Watch, Whose};

/// Its name.
pub(super) const NAME: &str = "cagp-course";

/// The models, unless some are asked for.
const DEFAULT: [&str; 2] = ["svgp", "cagp-opt-adam"];

/// Looks at the test rows in the course of training.
const LOOKS: usize = 40;

/// Lengthscales that are shown.
pub(super) const LENGTHSCALES: usize = 3;

/// The nominal coverage in Figure 4.
pub(super) const NOMINAL: f64 = 0.95;

/// The options of `experiment cagp-course`.
#[derive(Args, Clone, Debug)]
pub struct CourseOptions {
    /// Which runs, and how large they are.
    #[command(flatten)]
    runs: CellsOfTable1,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// A look at a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Look {
    /// After this step.
    pub step: usize,
    /// Of the steps alone.
    pub seconds: f64,
    /// The mean loss a row of the steps since the look before.
    pub loss: f64,
    /// Scores of the test rows.
    pub nlpd: f64,
    pub rmse: f64,
    pub coverage95: f64,
    /// Deviations.
    pub noise: f64,
    pub outputscale: f64,
    /// The first of them.
    pub lengthscales: Vec<f64>,
}

/// A finished run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub data: String,
    /// The method's name in Table 1.
    pub method: String,
    /// The method's name for people.
    pub title: String,
    pub seed: u64,
    /// Training rows.
    pub rows: usize,
    pub looks: Vec<Look>,
}

/// Runs `burn-gp experiment cagp-course`.
///
/// # Errors
///
/// [`Failure`]. Data sets that are absent are named and left out.
pub(in crate::experiment) fn course(options: &CourseOptions) -> Result<(), Failure> {
    let common = &options.common;
    let (table, mut request) = (study::study(TABLE_1), options.runs.request(common));
    request.choice.among = Some(DEFAULT.iter().map(ToString::to_string).collect());
    request.choice.check(table)?;
    let place = common.place()?;
    place.open()?;
    let data_sets = request.data_sets(table)?;
    let given: Vec<_> = request
        .choice
        .options
        .iter()
        .map(|(_, fields)| fields)
        .collect();
    let settings = json!({
        "scale": name_of(common.scale),
        "budget": given,
        "device": place.device,
    });
    let folder = ExperimentFolder::open(NAME, common, &settings)?;
    let watch = Watch::new(&folder, common.quiet)?;
    for seed in request.seeds(table) {
        for data in &data_sets {
            for cell in request.cells(table, data) {
                let method = cell.values[0].clone();
                folder.once(&format!("{data}-{method}-seed-{seed}"), || {
                    let told = table.options(&cell, &request, Whose::Ours, 0)?;
                    let title = table.title_of(&cell, &request, &told);
                    watch.announce(&format!("{data}, {title}, seed {seed}"));
                    let told = RunOptions {
                        seed: Some(seed),
                        ..told
                    };
                    Course::new(told, (method, title))?.run(&watch)
                })?;
            }
        }
    }
    report(&folder)
}

/// A training that is looked at.
struct Course {
    method: String,
    title: String,
    seed: u64,
    data: PreparedData,
    training_data: TrainingData,
    plan: Plan,
}

impl Course {
    fn new(told: RunOptions, (method, title): (String, String)) -> Result<Self, Failure> {
        let data_dir = told.data_dir.clone();
        let source = DataSource::resolve(
            told.data.as_deref().unwrap_or_default(),
            data_dir.as_deref(),
        )?;
        let told = check(&told, &source)?;
        let (device, dtype) = Place::of(&told)?.open()?;
        let data = PreparedData::load(&source, &told)?;
        let (told, plan) = resolve(&told, &data)?;
        let (inputs, targets) = (data.train.inputs.values(), &data.train.targets);
        let training_data = TrainingData::new(inputs, targets, &device.autodiff(), dtype);
        Ok(Self {
            method,
            title,
            seed: told.seed(),
            data,
            training_data,
            plan,
        })
    }

    fn run(&self, watch: &Watch<'_>) -> Result<Run, Failure> {
        let (model, data) = self.plan.model.init(self.training_data.clone())?;
        let trainer = AnyTrainer::new(model, data, self.plan.training.clone());
        let looks = self.looks(trainer, watch)?;
        Ok(Run {
            data: self.data.name.clone(),
            method: self.method.clone(),
            title: self.title.clone(),
            seed: self.seed,
            rows: self.data.train.len(),
            looks,
        })
    }

    /// Makes all steps, and looks at the model on the way.
    fn looks(
        &self,
        mut trainer: AnyTrainer<AnyModel>,
        watch: &Watch<'_>,
    ) -> Result<Vec<Look>, Failure> {
        let interval = trainer.steps_planned() as f64 / LOOKS as f64;
        let (mut looks, mut losses): (Vec<Look>, Vec<f64>) = (Vec::new(), Vec::new());
        watch.train(&mut trainer, |trainer, entry| {
            losses.push(entry.report.loss);
            let step = entry.report.step;
            let due = (looks.len() + 1) as f64 * interval;
            if (step as f64) < due && !trainer.is_finished() {
                return Ok(());
            }
            let model = trainer.model().trained(trainer.data())?;
            let loss = losses.iter().sum::<f64>() / losses.len() as f64;
            let progress = watch.rows(self.data.test.len());
            looks.push(self.look(&model, step, (entry.seconds, loss), progress)?);
            losses.clear();
            Ok(())
        })?;
        Ok(looks)
    }

    fn look(
        &self,
        model: &TrainedModel,
        step: usize,
        (seconds, loss): (f64, f64),
        progress: RowProgress,
    ) -> Result<Look, Failure> {
        let (test, standardizer) = (&self.data.test, &self.data.standardizer);
        let scores = evaluate(&model.predictor()?, test, standardizer, LEVEL, progress)?.scores;
        let hyperparameters = model.hyperparameters();
        let deviation = |path: &str| value_at(&hyperparameters, path).sqrt();
        let mut lengthscales = values_at(&hyperparameters, "kernel.lengthscale").to_vec();
        lengthscales.truncate(LENGTHSCALES);
        Ok(Look {
            step,
            seconds,
            loss,
            nlpd: scores.nlpd,
            rmse: scores.rmse,
            coverage95: scores.coverage95.unwrap_or(f64::NAN),
            noise: deviation("likelihood.noise"),
            outputscale: deviation("kernel.variance"),
            lengthscales,
        })
    }
}
