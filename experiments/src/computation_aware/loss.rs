//! The effect of the loss on the model (Section S2.3, Figures S1 and S2).
//!
//! CaGP-CG and CaGP-Opt are each trained with the evidence lower bound (eq. 11) and with the
//! density of the projected data (eq. 9). The data are one synthetic function of one input with
//! noise of standard deviation 0.1; equally many rows are held out. The prior has zero mean and a
//! Matérn-3/2 kernel. Adam trains in double precision with a learning rate that decreases linearly
//! to a tenth; nothing is standardized. The paper does not state the sizes of its example.

use std::path::Path;

use burn_gp_core::{inference::ActionLoss, likelihoods::GaussianConfig, metrics};
use burn_gp_datasets::{DataSource, Dataset};
use burn_gp_models::{
    ActionsConfig, AnyComputationAware, ComputationAwareConfig, ModelDefinition,
    training::{FullBatchTrainer, Model, Trainer, TrainingData},
};
use burn_gp_runs::{
    evenly_spaced::evenly_spaced,
    failure::Failure,
    plots::{
        self, Bands, Caption, CurveName, CurvePanel, FitPanel, PlotError, Points, PredictedCurve,
        Quantity, Span,
    },
    study::{CommonOptions, Experiment, ExperimentFolder, ResultRow, table},
    summary::{Summary, mean_curve},
};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::hyperparameters::value_at;
use super::models::{self, ADAM, by_residuals, kernel, training};
use super::sizes::Sizes;
use crate::figure::{Figure, Registration};

/// The name of the experiment.
const NAME: &str = "cagp-loss";

/// The standard deviation of the noise in the data.
const NOISE: f64 = 0.1;
const FIRST_NOISE: f64 = 0.1;

/// Evaluations of the held-out rows during training.
const LOOKS: usize = 40;

/// The number of inputs at which a model is drawn.
const CURVE_POINTS: usize = 301;

/// The domain of the function.
const DOMAIN: (f64, f64) = (0.0, 6.0);

/// The evidence bound and the density of projected data as losses (arXiv:2411.01036, Figures
/// S1, S2)
///
/// CaGP-CG and CaGP-Opt trained with each loss: densities of held-out rows and the noise during
/// training, and the final predictions.
#[derive(Args, Clone, Debug)]
pub struct LossOptions {
    /// Training rows, and as many test rows [default: 500; quick: 200]
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// Actions
    #[arg(long, value_name = "I", default_value_t = 10)]
    actions: usize,
    /// Steps of Adam [default: 1000; quick: 300]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// Number of seeds, counted from --seed [default: 10; quick: 2]
    #[arg(long, value_name = "COUNT")]
    seeds: Option<u64>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// A model with its training loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Trained {
    CgEvidence,
    CgProjected,
    OptEvidence,
    OptProjected,
}

impl Trained {
    pub const ALL: [Self; 4] = [
        Self::CgEvidence,
        Self::CgProjected,
        Self::OptEvidence,
        Self::OptProjected,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::CgEvidence => "CaGP-CG, bound",
            Self::CgProjected => "CaGP-CG, projected",
            Self::OptEvidence => "CaGP-Opt, bound",
            Self::OptProjected => "CaGP-Opt, projected",
        }
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::CgEvidence => "cagp-cg-bound",
            Self::CgProjected => "cagp-cg-projected",
            Self::OptEvidence => "cagp-opt-bound",
            Self::OptProjected => "cagp-opt-projected",
        }
    }

    fn loss(self) -> ActionLoss {
        match self {
            Self::CgEvidence | Self::OptEvidence => ActionLoss::Evidence,
            Self::CgProjected | Self::OptProjected => ActionLoss::Projected,
        }
    }

    fn actions(self, count: usize, seed: u64) -> ActionsConfig {
        match self {
            Self::CgEvidence | Self::CgProjected => by_residuals(count, 1e-4, seed),
            Self::OptEvidence | Self::OptProjected => models::trained(count, seed),
        }
    }
}

/// An evaluation of a model.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Snapshot {
    /// The number of steps made.
    pub step: usize,
    /// The mean negative log density of the held-out rows.
    pub nlpd: f64,
    pub rmse: f64,
    /// The standard deviation of the noise.
    pub noise: f64,
    pub lengthscale: f64,
}

/// A finished run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
    pub trained: Trained,
    pub seed: u64,
    pub snapshots: Vec<Snapshot>,
    /// The predictions of targets over the domain.
    #[serde(flatten)]
    pub curve: PredictedCurve,
}

inventory::submit! { Registration::of::<LossOptions>(NAME) }

impl Figure for LossOptions {
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        let sizes = Sizes {
            rows: self.rows.unwrap_or(common.by_scale(200, 500)),
            actions: self.actions,
            steps: self.steps.unwrap_or(common.by_scale(300, 1000)),
            seeds: self.seeds.unwrap_or(common.by_scale(2, 10)),
        };
        let experiment = sizes.open(NAME, common)?;
        for seed in common.seed..common.seed + sizes.seeds {
            let example = Example::new(sizes.rows, seed)?;
            for trained in Trained::ALL {
                let name = format!("{}-seed-{seed}", trained.name());
                let title = format!("{}, seed {seed}", trained.title());
                experiment.load_or_compute(&name, &title, || {
                    let actions = trained.actions(sizes.actions, seed);
                    example.run((trained, seed), actions, sizes.steps, &experiment)
                })?;
            }
        }
        let shown = Example::new(sizes.rows, common.seed)?;
        let rows = (shown.train.inputs.values(), &shown.train.targets[..]);
        report(&experiment.folder, rows)
    }
}

/// Training rows and test rows.
struct Example {
    train: Dataset,
    test: Dataset,
}

impl Example {
    fn new(rows: usize, seed: u64) -> Result<Self, Failure> {
        let load = |seed: u64| {
            let text = format!("synthetic:sines?n={rows}&noise={NOISE}&seed={seed}");
            DataSource::resolve(&text, None)?.load(None)
        };
        Ok(Self {
            train: load(2 * seed)?,
            test: load(2 * seed + 1)?,
        })
    }

    fn run(
        &self,
        (trained, seed): (Trained, u64),
        actions: ActionsConfig,
        steps: usize,
        experiment: &Experiment,
    ) -> Result<Run, Failure> {
        let data = experiment.data(self.train.inputs.values(), &self.train.targets);
        let noise = GaussianConfig { noise: FIRST_NOISE };
        let mut config = ComputationAwareConfig::new(kernel(1.0))
            .with_likelihood(noise)
            .with_actions(actions);
        config.loss = trained.loss();
        let data = config.arranged(data);
        let model = config.init(&data)?;
        let mut snapshots = vec![self.snapshot(0, &model, &data)?];
        let interval = (steps / LOOKS).max(1);
        let mut trainer = FullBatchTrainer::new(model, data.clone(), training(steps, ADAM));
        let watch = &experiment.watch;
        watch.train_with_snapshots(&mut trainer, interval, |trainer, step| {
            snapshots.push(self.snapshot(step, trainer.model(), &data)?);
            Ok(())
        })?;
        let model = trainer.model().trained(&data)?;
        let x = evenly_spaced(DOMAIN, CURVE_POINTS);
        let predictions = model.predictor()?.predict(&x, 1);
        Ok(Run {
            trained,
            seed,
            snapshots,
            curve: PredictedCurve::new(x, predictions.mean, predictions.variance),
        })
    }

    fn snapshot(
        &self,
        step: usize,
        model: &AnyComputationAware,
        data: &TrainingData,
    ) -> Result<Snapshot, Failure> {
        let model = model.trained(data)?;
        let predictor = model.predictor()?;
        let (inputs, targets) = (self.test.inputs.values(), &self.test.targets);
        let hyperparameters = model.hyperparameters();
        Ok(Snapshot {
            step,
            nlpd: metrics::negative_log_density(&predictor.log_density(inputs, 1, targets)?),
            rmse: metrics::root_mean_squared_error(targets, &predictor.predict(inputs, 1).mean),
            noise: value_at(&hyperparameters, "likelihood.noise").sqrt(),
            lengthscale: value_at(&hyperparameters, "kernel.lengthscale"),
        })
    }
}

const BANDS: Bands<'static> = Bands {
    text: "±2 standard deviations of targets",
    deviations: 2.0,
};

/// A summary over the seeds of a model.
fn cell(trained: Trained, runs: &[&Run]) -> ResultRow {
    let summary = |number: &dyn Fn(&[Snapshot]) -> f64| {
        Summary::of(runs.iter().map(|run| number(&run.snapshots)))
    };
    let last = |number: fn(&Snapshot) -> f64| {
        summary(&|snapshots| snapshots.last().map_or(f64::NAN, number))
    };
    let first = summary(&|snapshots| snapshots.first().map_or(f64::NAN, |snapshot| snapshot.nlpd));
    let best = summary(&|snapshots| {
        let values = snapshots.iter().map(|snapshot| snapshot.nlpd);
        values.fold(f64::NAN, f64::min)
    });
    ResultRow::default()
        .shown("model, loss", trained.title())
        .with("trained", json!(trained))
        .with("seeds", runs.len())
        .column("first NLPD", "first_nlpd", first, 3)
        .column("best NLPD", "best_nlpd", best, 3)
        .column("last NLPD", "nlpd", last(|snapshot| snapshot.nlpd), 3)
        .column("RMSE", "rmse", last(|snapshot| snapshot.rmse), 3)
        .column(
            "noise deviation",
            "noise",
            last(|snapshot| snapshot.noise),
            3,
        )
        .column(
            "lengthscale",
            "lengthscale",
            last(|snapshot| snapshot.lengthscale),
            3,
        )
}

/// An evaluation of a run.
fn line(run: &Run, snapshot: &Snapshot) -> ResultRow {
    ResultRow::default()
        .with("model", run.trained.name())
        .with("seed", run.seed)
        .with("step", snapshot.step)
        .with("nlpd", snapshot.nlpd)
        .with("rmse", snapshot.rmse)
        .with("noise_deviation", snapshot.noise)
        .with("lengthscale", snapshot.lengthscale)
}

/// The shown range of the NLPD. Trained actions leave it when trained with the density of the
/// projected data.
const SHOWN: (f64, f64) = (-1.0, 2.0);

/// Writes the table and the plots of all runs in the folder, with the rows of the first seed.
fn report(folder: &ExperimentFolder, (x, y): (&[f64], &[f64])) -> Result<(), Failure> {
    let mut runs: Vec<Run> = folder.load_all()?;
    runs.sort_by_key(|run| (run.trained, run.seed));
    let groups: Vec<(Trained, Vec<&Run>)> = (Trained::ALL.into_iter())
        .map(|trained| (trained, of_model(&runs, trained)))
        .filter(|(_, own)| !own.is_empty())
        .collect();
    let cells: Vec<ResultRow> = (groups.iter())
        .map(|(trained, own)| cell(*trained, own))
        .collect();
    let own = |run: &Run| {
        run.snapshots
            .iter()
            .map(|snapshot| line(run, snapshot))
            .collect::<Vec<_>>()
    };
    folder.write_results(&cells, &runs.iter().flat_map(own).collect::<Vec<_>>())?;
    folder.draw("course.svg", |path| draw_course(path, &runs));
    folder.draw("fits.svg", |path| draw_fits(path, &runs, Points { x, y }));
    let mut lines = vec![format!(
        "{NAME}: held-out rows; the noise standard deviation of the data is {NOISE}"
    )];
    lines.extend(table(&cells));
    lines.push(
        "mean (standard error) over the seeds; best: during training; bound: the evidence lower bound (eq. 11), \
         projected: the density\nof the projected data (eq. 9). The paper (arXiv:2411.01036, Figures S1 and \
         S2) has no numbers: trained with the latter,\nCaGP-CG gets worse on held-out rows and explains the \
         function as noise. Actions trained with it end up seeing\nalmost none of the data."
            .into(),
    );
    let found = |trained| {
        let place = groups.iter().position(|(own, _)| *own == trained)?;
        Some(&cells[place])
    };
    for (bound, projected) in [
        (Trained::CgEvidence, Trained::CgProjected),
        (Trained::OptEvidence, Trained::OptProjected),
    ] {
        let pair = found(bound).zip(found(projected));
        lines.extend(pair.and_then(|pair| finding(projected, pair)));
    }
    folder.print(lines);
    Ok(())
}

/// The runs of a model.
fn of_model(runs: &[Run], trained: Trained) -> Vec<&Run> {
    runs.iter().filter(|run| run.trained == trained).collect()
}

/// A sentence that compares the two losses for a model.
fn finding(trained: Trained, (bound, projected): (&ResultRow, &ResultRow)) -> Option<String> {
    let (best, last) = (projected.number("best_nlpd")?, projected.number("nlpd")?);
    let course = match last > best + 0.01 {
        true => format!("gets worse during training, from {best:.3} to {last:.3}"),
        false => "does not get worse during training".to_owned(),
    };
    Some(format!(
        "here {}: the NLPD {course}, and ends {:+.3} from that of the bound;\nthe noise standard deviation is \
         {:.1} times that of the data, with the bound {:.1} times",
        trained.title(),
        last - bound.number("nlpd")?,
        projected.number("noise")? / NOISE,
        bound.number("noise")? / NOISE
    ))
}

/// Draws learning curves, averaged over the seeds.
fn draw_course(path: &Path, runs: &[Run]) -> Result<(), PlotError> {
    let names = Trained::ALL.map(|trained| CurveName::from(trained.title()));
    let panel = |title, number: fn(&Snapshot) -> f64, span| {
        let curve = |trained| course(&of_model(runs, trained), number);
        CurvePanel::new(title, span, Trained::ALL.map(curve).into())
    };
    let window = Span::Window(SHOWN.0, SHOWN.1);
    let panels = [
        panel("NLPD of held-out rows", |snapshot| snapshot.nlpd, window),
        panel(
            "noise standard deviation",
            |snapshot| snapshot.noise,
            Span::FromZero,
        ),
    ];
    let caption = Caption::new("sines", "both losses during training, means over the seeds");
    let along = Quantity::of("step");
    plots::curves(path, "Losses", caption, &names, along, &panels)
}

fn course(runs: &[&Run], number: fn(&Snapshot) -> f64) -> Vec<(f64, f64)> {
    let curve = |run: &&Run| -> Vec<(f64, f64)> {
        let snapshots = run.snapshots.iter();
        snapshots
            .map(|snapshot| (snapshot.step as f64, number(snapshot)))
            .collect()
    };
    mean_curve(&runs.iter().map(curve).collect::<Vec<_>>())
}

/// Draws the predictions of the first seed.
fn draw_fits(path: &Path, runs: &[Run], train: Points<'_>) -> Result<(), PlotError> {
    let seed = runs.iter().map(|run| run.seed).min();
    let shown = runs.iter().filter(|run| Some(run.seed) == seed);
    let panels: Vec<FitPanel<'_>> = shown
        .map(|run| FitPanel::new(run.trained.title(), &run.curve, BANDS))
        .collect();
    plots::fits(
        path,
        Caption::new("sines", "after the last step, with noise"),
        &[BANDS.text],
        (train, Points::default()),
        (Quantity::of("x"), Quantity::of("y")),
        &panels,
    )
}
