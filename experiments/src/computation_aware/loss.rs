//! The effect of the loss on the model (Section S2.3, Figures S1 and S2).
//!
//! CaGP-CG and CaGP-Opt are each trained with the evidence lower bound (eq. 11) and with the
//! density of the projected data (eq. 9). The data are one synthetic function of one input with
//! noise of standard deviation 0.1; equally many rows are held out. The prior has zero mean and a
//! Matérn-3/2 kernel. Adam trains in double precision with a learning rate that decreases linearly
//! to a tenth; nothing is standardized. The paper does not state the sizes of its example.

use burn_gp_core::{inference::ActionLoss, likelihoods::GaussianConfig, metrics};
use burn_gp_datasets::{DataSource, Dataset};
use burn_gp_models::{
    ActionsConfig, AnyComputationAware, ComputationAwareConfig,
    training::{FullBatchTrainer, Model, Trainer, TrainingData},
};
use burn_gp_runs::{
    evenly_spaced::evenly_spaced,
    failure::Failure,
    plots::PredictedCurve,
    study::{CommonOptions, Experiment},
};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::hyperparameters::value_at;
use super::loss_report::report;
use super::models::{self, ADAM, by_residuals, kernel, training};
use super::sizes::Sizes;

/// The name of the experiment.
pub(super) const NAME: &str = "cagp-loss";

/// The standard deviation of the noise in the data.
pub(super) const NOISE: f64 = 0.1;
const FIRST_NOISE: f64 = 0.1;

/// Evaluations of the held-out rows during training.
const LOOKS: usize = 40;

/// The number of inputs at which a model is drawn.
const CURVE_POINTS: usize = 301;

/// The domain of the function.
const DOMAIN: (f64, f64) = (0.0, 6.0);

/// The options of `experiment cagp-loss`.
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
pub(super) enum Trained {
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
pub(super) struct Snapshot {
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
pub(super) struct Run {
    pub trained: Trained,
    pub seed: u64,
    pub snapshots: Vec<Snapshot>,
    /// The predictions of targets over the domain.
    #[serde(flatten)]
    pub curve: PredictedCurve,
}

/// Runs `burn-gp experiment cagp-loss`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub(crate) fn loss(options: &LossOptions) -> Result<(), Failure> {
    let common = &options.common;
    let sizes = Sizes {
        rows: options.rows.unwrap_or(common.by_scale(200, 500)),
        actions: options.actions,
        steps: options.steps.unwrap_or(common.by_scale(300, 1000)),
        seeds: options.seeds.unwrap_or(common.by_scale(2, 10)),
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
