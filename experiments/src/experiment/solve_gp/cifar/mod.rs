//! CIFAR-10 (Section 6.2, Tables 1, 3, 8 to 10).
//!
//! As in the paper: squared-exponential kernels of patches with one lengthscale, which starts at 5 as
//! the variance does, a Matérn-3/2 kernel of the places of patches in the last layer, with a
//! lengthscale of 3, robust-max likelihood, 300 000 steps of Adam with learning rate 0.003, a quarter
//! of the rate before after every sixth of them, batches of 64, 1000 inducing patches in the last
//! layer and 384 in each before, first at the centers of clusters. One layer is whitened, several are
//! not.
//!
//! Where the paper is silent, colors are between 0 and 1, weights of patches start at the same
//! value, hidden layers are drawn from once in training and ten times in prediction. Unlike those of
//! the last layer, the first standard deviations of the hidden layers' inducing variables are not the
//! prior's but a hundredth of them: with `--hidden-deviation 1`, where draws from hidden layers are
//! noise at first, a bound may stay for long where it begins. The means of the hidden layers are zero
//! as in the paper; with `--hidden-mean identity` they are the principal components of patches, so
//! that the last layer sees something of the images from the first step on.
//!
//! The expected log density of robust-max is linear in the probability of the label: beyond the
//! divergence from the prior, nothing keeps a bound from calling labels impossible that are rare, and
//! where few labels are predicted a tighter bound can have the lower density of test labels.
//! `--likelihood softmax` takes probabilities by the logarithm.

mod rows;
mod table;

use std::path::PathBuf;

use burn_gp::ops::Stationary;
use burn_gp_datasets::DataSource;
use clap::Args;
use serde_json::json;

use crate::arguments::{
    HiddenMeanName, InitializerName, LayerOptions, MeanName, ModelName, RunOptions, ScheduleName,
    name_of,
};
use crate::experiment::{
    CommonOptions, ExperimentFolder,
    options::Place,
    watch::{Watch, all_made},
};
use crate::failure::Failure;
use crate::kernel_expression::KernelExpression;
use crate::likelihood::ROBUST_MAX_ERRORS;
use crate::standard_output::print;
use crate::training_run::TrainingRun;
use rows::{CifarModel, CifarRow, LabelLikelihood, Patches};
use table::CifarTable;

/// First variance of every kernel.
const VARIANCE: f64 = 5.0;

const DATA: &str = "cifar-10";

/// Of the paper.
const STEPS: usize = 300_000;
const BATCH: usize = 64;
const PATCHES: Patches = Patches {
    output: 1000,
    hidden: 384,
};

/// What both experiments take.
#[derive(Args, Clone, Debug)]
pub struct CifarOptions {
    /// Models [default: those of the paper's tables]
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    models: Vec<CifarModel>,
    /// Inducing patches M of the last layer [default: 1000; quick: 64]
    #[arg(long, value_name = "M")]
    inducing: Option<usize>,
    /// Seeds, the first one and those after it [default: 1]
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    seeds: u64,
    /// Optimizer steps [default: 300000; quick: 150]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// Images in a batch [default: 64]
    #[arg(long, value_name = "B")]
    batch_size: Option<usize>,
    /// Adam's first learning rate [default: 0.003; quick: 0.01]
    #[arg(long, value_name = "RATE")]
    learning_rate: Option<f64>,
    /// Distribution of the labels; the paper's is robust-max
    #[arg(long, value_name = "LIKELIHOOD", value_enum, default_value_t)]
    likelihood: LabelLikelihood,
    /// What every experiment takes.
    #[command(flatten)]
    common: CommonOptions,
}

/// What `experiment conv-cifar10` takes.
#[derive(Args, Clone, Debug)]
pub struct ConvCifarOptions {
    /// What both experiments take.
    #[command(flatten)]
    cifar: CifarOptions,
}

/// What `experiment deep-conv-cifar10` takes.
#[derive(Args, Clone, Debug)]
pub struct DeepConvCifarOptions {
    /// Numbers of layers, 2 or 3 [default: 2,3]
    #[arg(
        long,
        value_name = "L",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u8).range(2..=3)
    )]
    layers: Vec<u8>,
    /// Inducing patches of each layer before the last [default: 384; quick: 32]
    #[arg(long, value_name = "M")]
    hidden_inducing: Option<usize>,
    /// First standard deviations of the inducing variables of the layers before the last, times those
    /// of the prior [default: 0.01]
    #[arg(long, value_name = "F")]
    hidden_deviation: Option<f64>,
    /// Mean functions of the layers before the last; the paper's are zero [default: zero]
    #[arg(long, value_name = "MEAN", value_enum)]
    hidden_mean: Option<HiddenMeanName>,
    /// First variance of the kernels before the last layer [default: 5]
    #[arg(long, value_name = "V")]
    hidden_variance: Option<f64>,
    /// What both experiments take.
    #[command(flatten)]
    cifar: CifarOptions,
}

/// Runs `burn-gp experiment conv-cifar10`.
///
/// # Errors
///
/// [`Failure`], which says what to do; runs that break off are named and left out.
pub(in crate::experiment) fn conv_cifar(options: &ConvCifarOptions) -> Result<(), Failure> {
    options
        .cifar
        .run("conv-cifar10", &[1], HiddenOptions::default())
}

/// Runs `burn-gp experiment deep-conv-cifar10`.
///
/// # Errors
///
/// As [`conv_cifar`].
pub(in crate::experiment) fn deep_conv_cifar(
    options: &DeepConvCifarOptions,
) -> Result<(), Failure> {
    let layers: Vec<usize> = match options.layers.as_slice() {
        [] => vec![2, 3],
        layers => layers.iter().map(|&count| count.into()).collect(),
    };
    let hidden = options.hidden();
    options.cifar.run("deep-conv-cifar10", &layers, hidden)
}

impl DeepConvCifarOptions {
    fn hidden(&self) -> HiddenOptions {
        HiddenOptions {
            inducing: self.hidden_inducing,
            deviation: self.hidden_deviation,
            mean: self.hidden_mean,
            variance: self.hidden_variance,
        }
    }
}

/// What is asked of the layers before the last.
#[derive(Clone, Copy, Default)]
struct HiddenOptions {
    inducing: Option<usize>,
    deviation: Option<f64>,
    mean: Option<HiddenMeanName>,
    variance: Option<f64>,
}

impl HiddenOptions {
    /// With the paper's zero means and the variance of every kernel unless told otherwise.
    fn applied_to(self, options: RunOptions) -> RunOptions {
        if !options.model.is_some_and(ModelName::is_deep) {
            return options;
        }
        RunOptions {
            layers: LayerOptions {
                hidden_deviation: self.deviation,
                hidden_mean: self.mean.or(Some(HiddenMeanName::Zero)),
                hidden_variance: self.variance.or(Some(VARIANCE)),
                ..options.layers
            },
            ..options
        }
    }
}

/// The options of a row in the paper, given those of all its rows.
fn told_in_paper(row: CifarRow, shared: &RunOptions) -> RunOptions {
    HiddenOptions::default().applied_to(row.with_model(shared.clone(), PATCHES))
}

impl CifarOptions {
    /// The experiment called `name`.
    fn run(&self, name: &str, layers: &[usize], hidden: HiddenOptions) -> Result<(), Failure> {
        let common = &self.common;
        let place = common.place_in_single_precision()?;
        place.open()?;
        DataSource::resolve(DATA, common.data_dir().as_deref())?;
        let patches = self.patches(hidden);
        let shared = self.shared(place);
        let settings = json!({
            "patches": patches,
            "steps": shared.steps,
            "hidden_deviation": hidden.deviation,
            "hidden_mean": hidden.mean,
            "hidden_variance": hidden.variance,
            "batch_size": shared.batch_size,
            "learning_rate": shared.learning_rate,
            "likelihood": self.likelihood,
            "dtype": place.dtype,
            "device": place.device,
        });
        let folder = ExperimentFolder::open(name, common, &settings)?;
        let watch = Watch::new(&folder, common.quiet)?;
        let mut broken = Vec::new();
        for seed in common.seed..common.seed + self.seeds {
            for row in self.rows(layers) {
                let title = format!("{}, seed {seed}", row.title(patches));
                let run = TrainingRun {
                    folder: runs_of(&folder, row).join(format!("seed-{seed}")),
                    options: RunOptions {
                        seed: Some(seed),
                        ..hidden.applied_to(row.with_model(shared.clone(), patches))
                    },
                };
                if !watch.run(&run, &title)? {
                    broken.push(title);
                }
            }
        }
        let table = CifarTable {
            rows: table::finished(&folder, &self.in_paper(place))?,
            patches,
        };
        table.write(&folder)?;
        print(&table.text(folder.path()))?;
        all_made(broken)
    }

    fn patches(&self, hidden: HiddenOptions) -> Patches {
        let common = &self.common;
        Patches {
            output: (self.inducing).unwrap_or(common.by_scale(64, PATCHES.output)),
            hidden: (hidden.inducing).unwrap_or(common.by_scale(32, PATCHES.hidden)),
        }
    }

    /// What all runs have in common in the paper.
    fn in_paper(&self, place: Place) -> RunOptions {
        let paper = Self {
            models: Vec::new(),
            inducing: None,
            steps: None,
            batch_size: None,
            learning_rate: None,
            likelihood: LabelLikelihood::RobustMax,
            common: self.common.as_in_paper(),
            ..*self
        };
        paper.shared(place)
    }

    /// The rows that are asked for.
    fn rows(&self, layers: &[usize]) -> Vec<CifarRow> {
        if self.models.is_empty() {
            return CifarRow::all(layers);
        }
        let of =
            |&layers: &usize| (self.models.iter()).map(move |&model| CifarRow { layers, model });
        layers.iter().flat_map(of).collect()
    }

    /// What all runs have in common.
    fn shared(&self, place: Place) -> RunOptions {
        let common = &self.common;
        let kernel = KernelExpression::starting_at(Stationary::SquaredExponential, 5.0, VARIANCE);
        RunOptions {
            data: Some(DATA.into()),
            data_dir: common.data_dir(),
            split: Some(0),
            kernel: Some(kernel),
            isotropic: Some(true),
            mean: Some(MeanName::Zero),
            likelihood: Some(self.likelihood.into()),
            fix: (self.likelihood == LabelLikelihood::RobustMax)
                .then(|| vec![ROBUST_MAX_ERRORS.into()]),
            initializer: Some(InitializerName::KMeans),
            steps: Some(self.steps.unwrap_or(common.by_scale(150, STEPS))),
            batch_size: Some(self.batch_size.unwrap_or(BATCH)),
            learning_rate: Some(self.learning_rate.unwrap_or(common.by_scale(1e-2, 3e-3))),
            schedule: Some(ScheduleName::Stairs),
            stages: Some(6),
            stage_factor: Some(0.25),
            dtype: Some(place.dtype),
            device: Some(place.device),
            ..RunOptions::default()
        }
    }
}

/// The folder of the runs of a row.
fn runs_of(folder: &ExperimentFolder, row: CifarRow) -> PathBuf {
    let layers = format!("{}-layer", row.layers);
    folder.runs().join(layers).join(name_of(row.model))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::departures::testing::{departures_between, typed};

    #[test]
    fn other_rates_likelihoods_and_means_are_departures_from_the_paper() {
        for (line, expected) in [
            ("--scale paper", ""),
            (
                "--scale paper --learning-rate 0.01",
                "learning-rate 0.01 instead of 0.003",
            ),
            (
                "--scale paper --likelihood softmax --batch-size 8",
                "batch-size 8 instead of 64; fix none instead of [\"likelihood.epsilon\"]; likelihood softmax \
                 instead of robust-max",
            ),
            (
                "--scale paper --hidden-mean identity --hidden-inducing 12",
                "hidden-inducing 12 instead of 384; hidden-mean identity instead of zero",
            ),
        ] {
            let options: DeepConvCifarOptions = typed(line);
            let (cifar, hidden) = (&options.cifar, options.hidden());
            let place = cifar.common.place_in_single_precision().unwrap();
            let row = CifarRow {
                layers: 2,
                model: CifarModel::Single,
            };
            let patches = cifar.patches(hidden);
            let here = hidden.applied_to(row.with_model(cifar.shared(place), patches));
            let paper = told_in_paper(row, &cifar.in_paper(place));
            let mut found: Vec<String> = (departures_between(here, paper).split("; "))
                .map(str::to_owned)
                .collect();
            found.sort();
            assert_eq!(found.join("; "), expected, "{line}");
        }
    }
}
