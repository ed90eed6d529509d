//! The runs that are asked for, each made once.

use std::path::PathBuf;

use burn_gp::ops::Stationary;
use burn_gp_models::training::FullBatchOptimizer;
use clap::Args;
use serde::Serialize;

use super::cells::Cell;
use super::method::Method;
use super::published::{published, sizes};
use crate::arguments::{
    ActionRowsName, AllRowsOptions, InitializerName, LikelihoodName, MeanName, ModelName,
    OptimizerName, RunOptions, ScheduleName, name_of,
};
use crate::experiment::{
    CommonOptions, ExperimentFolder,
    departures::{Departure, departures_of_runs},
    options::Place,
    watch::Watch,
};
use crate::failure::Failure;
use crate::kernel_expression::KernelExpression;
use crate::parameter_options::ValuesOption;
use crate::settings::{SettingError, at_least_one, positive};
use crate::training_run::TrainingRun;

/// Rows in a mini-batch of SVGP.
const BATCH_SIZE: usize = 1024;

/// The paper's first value of positive parameters: softplus(0).
const FIRST: f64 = std::f64::consts::LN_2;

/// The floor of the noise variance.
const NOISE_FLOOR: &str = "likelihood.noise=1e-4..";

/// The residual at which conjugate gradients end, as a part of the targets.
const TOLERANCE: f64 = 1e-4;

/// The learning rate of Adam where the paper has none.
const LEARNING_RATE: f64 = 0.1;

/// What a departure in the number of inputs is called.
pub(super) const INPUTS: &str = "inputs";

/// Which runs, and how large they are.
#[derive(Args, Clone, Debug, Default, Serialize)]
pub(super) struct Budget {
    /// Models with their optimizers, such as cagp-opt-adam,svgp [default: all; exact on parkinsons and
    /// bike alone, on 3droad and houseelectric svgp and cagp-opt-adam]
    #[arg(long, value_name = "METHODS", value_delimiter = ',')]
    #[serde(skip)]
    methods: Vec<Method>,
    /// Seeds, the first one and those after it [default: 5; quick: 1]
    #[arg(long, value_name = "COUNT")]
    #[serde(skip)]
    seeds: Option<u64>,
    /// Combinations of rows, and iterations of cggp [default: 512; quick: 64]
    #[arg(long, value_name = "I")]
    actions: Option<usize>,
    /// Directions in which cggp makes the variances of its predictions once [default: a solve for each
    /// prediction]
    #[arg(long, value_name = "R")]
    cached_variances: Option<usize>,
    /// Inducing points [default: 1024; quick: 128]
    #[arg(long, value_name = "M")]
    inducing: Option<usize>,
    /// Passes over the rows; for the models with L-BFGS calls of it, 20 iterations each [default:
    /// those of Table S1; quick: a twentieth, at least 30, or 2 calls]
    #[arg(long, value_name = "E")]
    epochs: Option<usize>,
    /// Iterations of the models with L-BFGS, instead of its calls
    #[arg(long, value_name = "S")]
    #[serde(skip_serializing_if = "Option::is_none")]
    line_searches: Option<usize>,
    /// Which rows a trained combination is of; the paper's are given [default: near]
    #[arg(long, value_name = "ROWS")]
    action_rows: Option<ActionRowsName>,
    /// First learning rate [default: the best of the paper's]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    learning_rate: Option<f64>,
}

impl Budget {
    /// Fails on what cannot be.
    ///
    /// # Errors
    ///
    /// [`SettingError`].
    pub fn check(&self) -> Result<(), SettingError> {
        at_least_one("--actions", self.actions)?;
        at_least_one("--cached-variances", self.cached_variances)?;
        at_least_one("--inducing", self.inducing)?;
        at_least_one("--epochs", self.epochs)?;
        at_least_one("--line-searches", self.line_searches)?;
        self.learning_rate
            .map(|rate| positive("--learning-rate", rate))
            .transpose()?;
        at_least_one("--seeds", self.seeds)?;
        Ok(())
    }
}

/// The runs of an experiment.
pub(super) struct Runs<'a> {
    /// Which are asked for.
    pub budget: &'a Budget,
    /// Of the command line.
    pub common: &'a CommonOptions,
    /// Where to compute.
    pub place: Place,
    /// The models, unless some are asked for.
    pub default: &'a [Method],
}

impl Runs<'_> {
    /// Makes all runs on `data_sets`, seed by seed; the names of those that broke off.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written, or the user wants to stop.
    pub fn make(
        &self,
        data_sets: &[String],
        folder: &ExperimentFolder,
    ) -> Result<Vec<String>, Failure> {
        let watch = Watch::new(folder, self.common.quiet)?;
        let (first, seeds) = (self.common.seed, self.seeds());
        let mut broken = Vec::new();
        for seed in first..first + seeds {
            for data in data_sets {
                for method in self.methods(data) {
                    let name = format!("{data}, {}, seed {seed}", method.title());
                    watch.announce(&name);
                    if !watch.run(&self.run(data, method, seed, folder), &name)? {
                        broken.push(name);
                    }
                }
            }
        }
        Ok(broken)
    }

    /// Where the runs of a cell depart from the paper; none where it has no such cell.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn departures(&self, cell: &Cell) -> Result<Option<Vec<Departure>>, Failure> {
        let run = cell.first();
        if published(&run.data, cell.method).is_none() {
            return Ok(None);
        }
        let paper = self.in_paper(&run.data, cell.method);
        let mut departures = departures_of_runs(&cell.folders, &paper)?;
        if let Some([rows, inputs]) = sizes(&run.data) {
            departures.extend(Departure::of_rows("training rows", run.n_train, rows));
            departures.extend(Departure::of(INPUTS, run.d, inputs));
        }
        Ok(Some(departures))
    }

    /// What a run is told in the paper.
    fn in_paper(&self, data: &str, method: Method) -> RunOptions {
        let paper = Runs {
            budget: &Budget {
                action_rows: Some(ActionRowsName::Given),
                ..Budget::default()
            },
            common: &self.common.as_in_paper(),
            ..*self
        };
        paper.run_options(data, method, self.common.seed)
    }

    /// How many there are.
    pub fn seeds(&self) -> u64 {
        let default = self.common.by_scale(1, 5);
        self.budget.seeds.unwrap_or(default)
    }

    /// The models for a data set.
    pub fn methods(&self, data: &str) -> Vec<Method> {
        if !self.budget.methods.is_empty() {
            return self.budget.methods.clone();
        }
        let all = self.default.iter().copied();
        let is_large = ["3droad", "houseelectric"].contains(&data);
        let is_small = ["parkinsons", "bike"].contains(&data);
        all.filter(|method| match method {
            Method::Svgp | Method::CagpOptAdam => true,
            Method::Exact => is_small,
            _ => !is_large,
        })
        .collect()
    }

    fn epochs(&self, method: Method) -> usize {
        let paper = method.epochs();
        let quick = (paper / 20).max(30) / method.iterations_an_epoch();
        let default = self.common.by_scale(quick.max(2), paper);
        self.budget.epochs.unwrap_or(default)
    }

    /// Iterations of L-BFGS, where they are asked for.
    fn line_searches(&self, method: Method) -> Option<usize> {
        let is_l_bfgs = method.optimizer() == OptimizerName::LBfgs;
        self.budget.line_searches.filter(|_| is_l_bfgs)
    }

    fn actions(&self) -> usize {
        let default = self.common.by_scale(64, 512);
        self.budget.actions.unwrap_or(default)
    }

    fn cached_variances(&self, model: ModelName) -> Option<usize> {
        let is_cggp = model == ModelName::Cggp;
        is_cggp.then_some(self.budget.cached_variances).flatten()
    }

    fn action_rows(&self, model: ModelName) -> Option<ActionRowsName> {
        let is_trained = model == ModelName::CagpOpt;
        is_trained.then(|| self.budget.action_rows.unwrap_or(ActionRowsName::Near))
    }

    fn inducing(&self) -> usize {
        let default = self.common.by_scale(128, 1024);
        self.budget.inducing.unwrap_or(default)
    }

    fn run(&self, data: &str, method: Method, seed: u64, folder: &ExperimentFolder) -> TrainingRun {
        TrainingRun {
            folder: self.folder(data, method, seed, folder),
            options: self.run_options(data, method, seed),
        }
    }

    /// What a run is told.
    pub fn run_options(&self, data: &str, method: Method, seed: u64) -> RunOptions {
        RunOptions {
            data: Some(data.to_owned()),
            seed: Some(seed),
            ..self.options(data, method)
        }
    }

    /// Runs of another size, length or learning rate are others.
    fn folder(&self, data: &str, method: Method, seed: u64, folder: &ExperimentFolder) -> PathBuf {
        let model = method.model();
        let mut budget = match self.line_searches(method) {
            Some(iterations) => format!("{iterations}-line-searches"),
            None => format!("{}-epochs", self.epochs(method)),
        };
        if model.has_actions() || model == ModelName::Cggp {
            budget += &format!("-{}-actions", self.actions());
        }
        if let Some(rank) = self.cached_variances(model) {
            budget += &format!("-{rank}-variances");
        }
        if self.action_rows(model) == Some(ActionRowsName::Given) {
            budget += "-given";
        }
        if model.has_inducing() {
            budget += &format!("-{}-points", self.inducing());
        }
        budget += &format!("-rate-{}", self.learning_rate(data, method));
        (folder.runs().join(data).join(name_of(method)).join(budget)).join(format!("seed-{seed}"))
    }

    fn learning_rate(&self, data: &str, method: Method) -> f64 {
        let paper = published(data, method).map(|row| row.learning_rate);
        let given = self.budget.learning_rate;
        given.or(paper).unwrap_or(match method.optimizer() {
            OptimizerName::Adam => LEARNING_RATE,
            OptimizerName::LBfgs => FullBatchOptimizer::QUASI_NEWTON_STEP,
        })
    }

    /// The options of a run, but for data and seed.
    fn options(&self, data: &str, method: Method) -> RunOptions {
        let model = method.model();
        let is_mini_batch = model.is_mini_batch();
        let is_adam = method.optimizer() == OptimizerName::Adam;
        let has_solves = matches!(model, ModelName::CagpCg | ModelName::Cggp);
        let is_fixed = method == Method::SgprFixed;
        let epochs = self.epochs(method) * method.iterations_an_epoch();
        let iterations = self.line_searches(method).unwrap_or(epochs);
        RunOptions {
            model: Some(model),
            fix: is_fixed.then(|| vec!["inducing".to_owned()]),
            inducing: model.has_inducing().then(|| self.inducing()),
            initializer: model.has_inducing().then_some(InitializerName::KMeans),
            actions: model.has_actions().then(|| self.actions()),
            action_rows: self.action_rows(model),
            all_rows: AllRowsOptions {
                optimizer: (!is_mini_batch).then(|| method.optimizer()),
                tolerance: has_solves.then_some(TOLERANCE),
                iterations: (model == ModelName::Cggp).then(|| self.actions()),
                cached_variances: self.cached_variances(model),
                ..AllRowsOptions::default()
            },
            data_dir: self.common.data_dir(),
            test_fraction: Some(0.1),
            epochs: Some(iterations),
            batch_size: is_mini_batch.then_some(BATCH_SIZE),
            learning_rate: Some(self.learning_rate(data, method)),
            schedule: is_adam.then_some(ScheduleName::Linear),
            dtype: Some(method.dtype()),
            device: Some(self.place.device),
            ..prior()
        }
    }
}

/// The paper's prior: zero mean, Matérn-3/2 kernel with a lengthscale for each input, noise with a
/// floor, and where their parameters start.
pub(super) fn prior() -> RunOptions {
    RunOptions {
        kernel: Some(KernelExpression::of_unit_lengthscale(Stationary::Matern32)),
        isotropic: Some(false),
        mean: Some(MeanName::Zero),
        likelihood: Some(LikelihoodName::Gaussian),
        noise: Some(FIRST),
        set: Some(first_values()),
        bound: NOISE_FLOOR.parse().ok().map(|bound| vec![bound]),
        ..RunOptions::default()
    }
}

fn first_values() -> Vec<ValuesOption> {
    ["kernel.lengthscale", "kernel.variance"]
        .map(|path| ValuesOption {
            path: path.to_owned(),
            values: vec![FIRST],
        })
        .to_vec()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::experiment::departures::testing::{departures_between, typed};

    #[derive(Args)]
    struct Typed {
        #[command(flatten)]
        budget: Budget,
        #[command(flatten)]
        common: CommonOptions,
    }

    fn departures(line: &str, method: Method) -> String {
        let typed: Typed = typed(line);
        let runs = Runs {
            budget: &typed.budget,
            common: &typed.common,
            place: typed.common.place().unwrap(),
            default: &[],
        };
        let here = runs.run_options("bike", method, 3);
        departures_between(here, runs.in_paper("bike", method))
    }

    #[test]
    fn other_rows_rates_and_variances_are_departures_from_the_paper() {
        for &method in Method::value_variants() {
            let found = departures("--scale paper --action-rows given", method);
            assert_eq!(found, "", "{method:?}");
        }
        for (line, method, expected) in [
            ("", Method::CagpOptAdam, "action-rows near instead of given"),
            ("--epochs 1", Method::Svgp, "epochs 1 instead of 1000"),
            ("--inducing 64", Method::Svgp, "inducing 64 instead of 1024"),
            (
                "--learning-rate 0.5",
                Method::Svgp,
                "learning-rate 0.5 instead of 0.01",
            ),
            (
                "--cached-variances 8",
                Method::Cggp,
                "cached-variances 8 instead of none",
            ),
        ] {
            let found = departures(&format!("--scale paper {line}"), method);
            assert_eq!(found, expected, "{line}");
        }
    }
}
