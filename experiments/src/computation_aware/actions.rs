//! Actions and their distance to the eigenvectors (Figure 2, Section S5.2).
//!
//! The data are a function of two inputs, uniform on [−1, 1]², with noise of standard deviation
//! 0.1. The prior has zero mean and a Matérn-3/2 kernel. CaGP-CG and CaGP-Opt are trained by Adam
//! in double precision; the learning rate decreases linearly to a tenth. The distance is between
//! the span of the I actions and the span of the I eigenvectors of `K + σ²I` with the largest
//! eigenvalues, under the hyperparameters of the same step. The paper does not state the sizes of
//! its example.

use std::f64::consts::FRAC_PI_2;
use std::path::Path;

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inference::{
        Actions, AnyActionPolicy, IterationRule, Iterations, Regression, grassmann_distance,
    },
    likelihoods::GaussianConfig,
    ops::NotPositiveDefinite,
};
use burn_gp_models::{
    ActionsConfig, AnyComputationAware, ComputationAwareConfig, ModelDefinition,
    training::{FullBatchTrainer, Trainer, TrainingData},
};
use burn_gp_runs::{
    failure::Failure,
    plots::{self, Caption, CurveName, CurvePanel, PlotError, PointMaps, Quantity, Span},
    study::{CommonOptions, Experiment, ExperimentFolder, ResultRow, RunSupervisor, points, table},
    summary::Summary,
};
use clap::Args;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::models::{ADAM, by_residuals, kernel, trained, training};
use super::sizes::Sizes;
use crate::figure::{Figure, Registration};

/// The name of the experiment.
const NAME: &str = "cagp-actions";

const NOISE: f64 = 0.1;

/// Evaluations of the actions during training.
const LOOKS: usize = 20;

/// The number of vectors drawn.
const DRAWN: usize = 5;

/// Actions and the eigenvectors of the covariance matrix (arXiv:2411.01036, Figure 2)
///
/// The first actions of CaGP-CG and CaGP-Opt over two inputs, and the distance from their span,
/// and from the span of random vectors, to the first eigenvectors during training.
#[derive(Args, Clone, Debug)]
pub struct ActionsOptions {
    /// Rows [default: 500; quick: 200]
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// Number of actions and of eigenvectors
    #[arg(long, value_name = "I", default_value_t = 16)]
    actions: usize,
    /// Steps of Adam [default: 1000; quick: 200]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// Number of seeds, counted from --seed [default: 10; quick: 3]
    #[arg(long, value_name = "COUNT")]
    seeds: Option<u64>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// Distances of actions to the eigenvectors after a step.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Distances {
    pub step: usize,
    /// CaGP-CG, during its own training.
    pub cagp_cg: f64,
    /// CaGP-Opt, during its own training.
    pub cagp_opt: f64,
    /// Conjugate gradients, under the hyperparameters of CaGP-Opt.
    pub residuals: f64,
    /// Random vectors, under the hyperparameters of CaGP-Opt.
    pub random: f64,
}

/// The first few vectors of a kind, with one entry for each row.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Drawn {
    pub name: String,
    pub vectors: Vec<Vec<f64>>,
}

/// A finished run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
    pub seed: u64,
    pub distances: Vec<Distances>,
    /// The inputs.
    pub points: Vec<[f64; 2]>,
    /// The vectors under the trained hyperparameters of CaGP-Opt.
    pub drawn: Vec<Drawn>,
}

inventory::submit! { Registration::of::<ActionsOptions>(NAME) }

impl Figure for ActionsOptions {
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        let sizes = Sizes {
            rows: self.rows.unwrap_or(common.by_scale(200, 500)),
            actions: self.actions,
            steps: self.steps.unwrap_or(common.by_scale(200, 1000)),
            seeds: self.seeds.unwrap_or(common.by_scale(3, 10)),
        };
        let experiment = sizes.open(NAME, common)?;
        for seed in common.seed..common.seed + sizes.seeds {
            experiment
                .folder
                .load_or_compute(&format!("seed-{seed}"), || {
                    let example = Example::new((sizes.rows, sizes.actions), seed, &experiment);
                    example.run(sizes.steps, &experiment.watch)
                })?;
        }
        report(&experiment.folder, sizes.actions)
    }
}

/// The data of one seed.
struct Example {
    points: Vec<[f64; 2]>,
    /// The data on the device with autodiff.
    data: TrainingData,
    /// The inputs without autodiff.
    inputs: Tensor<2>,
    targets: Tensor<2>,
    count: usize,
    seed: u64,
}

/// Spans to compare actions with, under the hyperparameters of a step.
struct Spans {
    eigenvectors: Tensor<2>,
    residuals: Tensor<2>,
    random: Tensor<2>,
}

impl Example {
    fn new((rows, count): (usize, usize), seed: u64, experiment: &Experiment) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let points: Vec<[f64; 2]> = (0..rows)
            .map(|_| [(); 2].map(|()| random.random_range(-1.0..1.0)))
            .collect();
        let targets = points.iter().map(|point: &[f64; 2]| {
            let noise: f64 = StandardNormal.sample(&mut random);
            (3.0 * point[0]).sin() * (2.0 * point[1]).cos() + NOISE * noise
        });
        let targets: Vec<f64> = targets.collect();
        let flat: Vec<f64> = points.iter().flatten().copied().collect();
        Self {
            data: experiment.data(&flat, &targets),
            inputs: experiment.matrix(&flat, 2),
            targets: experiment.matrix(&targets, 1),
            points,
            count,
            seed,
        }
    }

    fn run(&self, steps: usize, watch: &RunSupervisor) -> Result<Run, Failure> {
        let (count, seed) = (self.count, self.seed);
        watch.announce(&format!("CaGP-CG, seed {seed}"));
        let mut own = Vec::new();
        self.train(by_residuals(count, 0.0, seed), steps, watch, |_, model| {
            let spans = self.spans(model)?;
            own.push(grassmann_distance(spans.eigenvectors, spans.residuals));
            Ok(())
        })?;
        watch.announce(&format!("CaGP-Opt, seed {seed}"));
        let mut distances = Vec::new();
        let model = self.train(trained(count, seed), steps, watch, |step, model| {
            let (spans, actions) = (self.spans(model)?, trained_actions(model));
            let to = |actions| grassmann_distance(spans.eigenvectors.clone(), actions);
            distances.push(Distances {
                step,
                cagp_cg: own.get(distances.len()).copied().unwrap_or(f64::NAN),
                cagp_opt: actions.map_or(f64::NAN, to),
                residuals: to(spans.residuals.clone()),
                random: to(spans.random.clone()),
            });
            Ok(())
        })?;
        Ok(Run {
            seed,
            distances,
            points: self.points.clone(),
            drawn: self.drawn(&model)?,
        })
    }

    /// Trains CaGP with these actions and calls `snapshot` during training, first before step one.
    fn train(
        &self,
        actions: ActionsConfig,
        steps: usize,
        watch: &RunSupervisor,
        mut snapshot: impl FnMut(usize, &AnyComputationAware) -> Result<(), Failure>,
    ) -> Result<AnyComputationAware, Failure> {
        let config =
            ComputationAwareConfig::new(kernel(1.0)).with_likelihood(GaussianConfig { noise: 0.1 });
        let config = config.with_actions(actions);
        let data = config.arranged(self.data.clone());
        let model = config.init(&data)?;
        snapshot(0, &model)?;
        let interval = (steps / LOOKS).max(1);
        let mut trainer = FullBatchTrainer::new(model, data, training(steps, ADAM));
        watch.train_with_snapshots(&mut trainer, interval, |trainer, step| {
            snapshot(step, trainer.model())
        })?;
        Ok(trainer.into_model())
    }

    fn spans(&self, model: &AnyComputationAware) -> Result<Spans, NotPositiveDefinite> {
        let model = model.valid();
        let noise = model.likelihood().noise();
        let problem = Regression {
            kernel: model.kernel(),
            noise: &noise,
            inputs: &self.inputs,
            residual: &self.targets,
        };
        let by = |rule| {
            let policy = Iterations::new(rule, self.count, 0.0).with_seed(self.seed);
            Ok(policy.run(&problem)?.actions)
        };
        Ok(Spans {
            eigenvectors: by(IterationRule::Eigenvectors)?,
            residuals: by(IterationRule::Residuals)?,
            random: by(IterationRule::RandomVectors)?,
        })
    }

    fn drawn(&self, model: &AnyComputationAware) -> Result<Vec<Drawn>, NotPositiveDefinite> {
        let spans = self.spans(model)?;
        let all = [
            ("eigenvectors", Some(spans.eigenvectors)),
            ("by CG", Some(spans.residuals)),
            ("trained", trained_actions(model)),
            ("random", Some(spans.random)),
        ];
        let drawn = all.into_iter().filter_map(|(name, actions)| {
            Some(Drawn {
                name: name.to_owned(),
                vectors: first_columns(actions?),
            })
        });
        Ok(drawn.collect())
    }
}

/// The trained actions as columns, `[N, I]`.
fn trained_actions(model: &AnyComputationAware) -> Option<Tensor<2>> {
    let model = model.valid();
    match model.policy() {
        AnyActionPolicy::Blocks(actions) => {
            let values = actions.values();
            let unit = Tensor::<2>::eye(actions.count(), &values.device());
            Some(actions.combine(unit.cast(values.dtype())))
        }
        AnyActionPolicy::Iterations(_) => None,
    }
}

/// The first columns, as vectors.
fn first_columns(columns: Tensor<2>) -> Vec<Vec<f64>> {
    let [rows, count] = columns.dims();
    let drawn = columns.narrow(1, 0, DRAWN.min(count)).transpose();
    let values: Vec<f64> = drawn.into_data().iter::<f64>().collect();
    values.chunks(rows).map(<[f64]>::to_vec).collect()
}

/// Display name, name in files, and the distance.
type Compared = (&'static str, &'static str, fn(&Distances) -> f64);

/// The compared actions.
const ACTIONS: [Compared; 4] = [
    ("CaGP-CG", "cagp_cg", |at| at.cagp_cg),
    ("CG, as CaGP-Opt", "residuals", |at| at.residuals),
    ("CaGP-Opt", "cagp_opt", |at| at.cagp_opt),
    ("random", "random", |at| at.random),
];

/// The results as JSON.
#[derive(Serialize)]
struct Record {
    seeds: usize,
    /// Distances after some steps, summarized over the seeds.
    snapshots: Vec<ResultRow>,
    /// The number of seeds for which CaGP-CG ends closest to the eigenvectors and random vectors
    /// end farthest.
    in_the_order_of_the_paper: usize,
}

/// Writes the table and the plots of all runs in the folder.
fn report(folder: &ExperimentFolder, count: usize) -> Result<(), Failure> {
    let mut runs: Vec<Run> = folder.load_all()?;
    runs.sort_by_key(|run| run.seed);
    let snapshots = runs.iter().map(|run| run.distances.len()).min();
    let record = Record {
        seeds: runs.len(),
        snapshots: (0..snapshots.unwrap_or(0))
            .map(|index| snapshot(&runs, index))
            .collect(),
        in_the_order_of_the_paper: runs.iter().filter(|run| is_ordered(run)).count(),
    };
    let own = |run: &Run| {
        run.distances
            .iter()
            .map(|at| line(run, at))
            .collect::<Vec<_>>()
    };
    let lines: Vec<ResultRow> = runs.iter().flat_map(own).collect();
    folder.write_results(&record, &lines)?;
    if let Some(run) = runs.first() {
        folder.draw("maps.svg", |path| draw_maps(path, run));
    }
    folder.draw("distances.svg", |path| draw_distances(path, &record));
    folder.print(text(&record, count));
    Ok(())
}

fn is_ordered(run: &Run) -> bool {
    let last = run.distances.last();
    last.is_some_and(|at| at.cagp_cg < at.cagp_opt && at.cagp_opt < at.random)
}

/// The distances at one evaluation of all runs.
fn snapshot(runs: &[Run], index: usize) -> ResultRow {
    let line = ResultRow::default().with("step", runs[0].distances[index].step);
    ACTIONS.iter().fold(line, |line, &(_, key, number)| {
        let values = runs.iter().map(|run| number(&run.distances[index]));
        line.with(key, Summary::of(values))
    })
}

/// The distances at one evaluation of a run.
fn line(run: &Run, at: &Distances) -> ResultRow {
    let line = ResultRow::default()
        .with("seed", run.seed)
        .with("step", at.step);
    (ACTIONS.iter()).fold(line, |line, &(_, key, number)| line.with(key, number(at)))
}

fn text(record: &Record, count: usize) -> Vec<String> {
    let (Some(first), Some(last)) = (record.snapshots.first(), record.snapshots.last()) else {
        return Vec::new();
    };
    let title = |snapshot: &ResultRow| format!("after {} steps", snapshot.text("step", 0));
    let rows = ACTIONS.map(|(name, key, _)| {
        ResultRow::default()
            .shown("actions", name)
            .shown(title(first), first.text(key, 3))
            .shown(title(last), last.text(key, 3))
    });
    let mut lines = vec![format!(
        "{NAME}: distance between the span of {count} actions and that of the first {count} eigenvectors, \
         at most {:.3}",
        (count as f64).sqrt() * FRAC_PI_2
    )];
    lines.extend(table(&rows));
    let (ordered, seeds) = (record.in_the_order_of_the_paper, record.seeds);
    lines.push(format!(
        "mean (standard error) over the seeds; CG, as CaGP-Opt: actions of conjugate gradients under the \
         hyperparameters\nof CaGP-Opt, which random vectors use too. The paper (arXiv:2411.01036, Figure 2) has \
         no numbers: CaGP-CG is closer than\nCaGP-Opt, and both are closer than random vectors. This order \
         holds here for {ordered} of {seeds} seeds."
    ));
    lines
}

/// Draws the first vectors of a seed.
fn draw_maps(path: &Path, run: &Run) -> Result<(), PlotError> {
    let maps: Vec<PointMaps<'_>> = (run.drawn.iter())
        .map(|drawn| PointMaps {
            name: &drawn.name,
            vectors: &drawn.vectors,
        })
        .collect();
    let caption = Caption::new(
        "two inputs",
        "entries of the first vectors, under the hyperparameters of CaGP-Opt",
    );
    plots::point_maps(path, caption, &run.points, &maps)
}

fn draw_distances(path: &Path, record: &Record) -> Result<(), PlotError> {
    let names = ACTIONS.map(|(title, ..)| CurveName::dashed_if(title == "CG, as CaGP-Opt", title));
    let curves = ACTIONS.map(|(_, key, _)| points(&record.snapshots, "step", key));
    let panel = CurvePanel {
        value: Quantity::of("Grassmann distance"),
        ..CurvePanel::new("to the first eigenvectors", Span::FromZero, curves.into())
    };
    let caption = Caption::new(
        "two inputs",
        "spans of actions during training, means over the seeds",
    );
    let along = Quantity::of("step");
    plots::curves(path, "Distances", caption, &names, along, &[panel])
}
