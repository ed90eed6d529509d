//! The scores of predictions: one table, from which `metrics.json`, the terminal, pages, learning curves and
//! cross-validation take them.

use std::collections::BTreeMap;

use burn_gp_core::{likelihoods::Interval, metrics};
use burn_gp_models::Predictions;
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::coverage::{Coverage, LEVEL};
use crate::plots::CALIBRATION_BINS;

/// A score of held-out rows.
pub struct Score {
    /// Its name in files.
    pub key: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What follows its value on the terminal.
    pub explanation: &'static str,
    /// Its unit.
    pub unit: ScoreUnit,
    /// The number of decimal digits in tables.
    pub digits: usize,
    /// Where it is shown.
    pub shown: Shown,
    /// Computes it, in standardized units; `None` if it has no meaning for the rows.
    compute: fn(&ScoredRows<'_>) -> Option<f64>,
}

/// The unit of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreUnit {
    /// None.
    None,
    /// That of the targets. Files also have the score in the units of the data, as `KEY_original`.
    Target,
    /// A share, shown in percent.
    Percent,
}

/// Where a score is shown, from the widest choice to the narrowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// In tables of several models, and everywhere else.
    InComparisons,
    /// On the terminal, on pages and in files.
    OnTerminal,
    /// On pages and in files.
    OnPages,
    /// In files.
    InFiles,
}

/// Held-out rows with their predictions, in standardized units.
pub struct ScoredRows<'a> {
    /// The targets, or the numbers of their classes. If targets are intervals, these and all but the log densities are those
    /// of the rows whose targets are known exactly, if there are any.
    pub targets: &'a [f64],
    /// The predictions.
    pub predictions: &'a Predictions,
    /// The log density of every target.
    pub log_densities: Vec<f64>,
    /// The log density of every target under every draw of the hidden layers.
    pub components: &'a [Vec<f64>],
    /// Whether there are hidden layers.
    pub has_draws: bool,
    /// The number of classes, if the targets are labels.
    pub classes: Option<usize>,
    /// The continuous ranked probability scores of the targets; absent for unordered labels.
    pub crps: Option<Vec<f64>>,
    /// The central 95 % intervals; absent for unordered labels.
    pub interval: Option<Interval>,
    /// The quantile that the function of the model follows, and its probability, if it follows one.
    pub quantile: Option<(f64, &'a [f64])>,
    /// The smallest level whose central interval contains the target; absent for labels.
    pub central_level: Option<&'a [f64]>,
    /// The scale of the targets, by which scores in the units of the data are larger.
    pub target_scale: f64,
    /// Whether the training targets have mean 0 and variance 1.
    pub is_standardized: bool,
}

/// The root mean squared error; for classification, of the probabilities.
pub const RMSE: &str = "rmse";
/// The mean absolute error; for classification, of the probabilities.
pub const MAE: &str = "mae";
/// The mean negative log predictive density, noise included.
pub const NLPD: &str = "nlpd";
/// The mean of the log densities under each draw of the hidden layers.
const AVERAGE: &str = "average_log_density";
/// The share of the rows inside their central 95 % intervals.
pub const COVERAGE: &str = "coverage95";
/// The share of wrong labels.
pub const ERROR: &str = "error";
/// The expected calibration error.
pub const ECE: &str = "ece";
/// The mean pinball loss of the quantile that a model follows.
pub const PINBALL: &str = "pinball";

/// All scores, in the order of tables.
pub static SCORES: &[Score] = &[
    Score {
        key: ERROR,
        title: "error",
        explanation: "of the test rows",
        unit: ScoreUnit::Percent,
        digits: 2,
        shown: Shown::InComparisons,
        compute: |rows| {
            let probabilities = &rows.predictions.probabilities;
            Some(1.0 - metrics::accuracy(rows.targets, probabilities, rows.classes?))
        },
    },
    Score {
        key: RMSE,
        title: "RMSE",
        explanation: "",
        unit: ScoreUnit::Target,
        digits: 4,
        shown: Shown::InComparisons,
        compute: |rows| {
            Some(metrics::root_mean_squared_error(
                &rows.as_predicted(),
                &rows.predictions.mean,
            ))
        },
    },
    Score {
        key: MAE,
        title: "MAE",
        explanation: "",
        unit: ScoreUnit::Target,
        digits: 4,
        shown: Shown::InComparisons,
        compute: |rows| {
            Some(metrics::mean_absolute_error(
                &rows.as_predicted(),
                &rows.predictions.mean,
            ))
        },
    },
    Score {
        key: NLPD,
        title: "NLPD",
        explanation: "",
        unit: ScoreUnit::None,
        digits: 4,
        shown: Shown::InComparisons,
        compute: |rows| Some(metrics::negative_log_density(&rows.log_densities)),
    },
    // The mean standardized log loss compares densities with those of a constant normal prediction.
    Score {
        key: "msll",
        title: "MSLL",
        explanation: "",
        unit: ScoreUnit::None,
        digits: 4,
        shown: Shown::OnPages,
        compute: |rows| {
            let (densities, targets) = (&rows.log_densities, rows.targets);
            (rows.is_standardized)
                .then(|| metrics::mean_standardized_log_loss(densities, targets, 0.0, 1.0))
        },
    },
    // At most the negative NLPD, which scores the mixture of the draws.
    Score {
        key: AVERAGE,
        title: "mean of log densities",
        explanation: "",
        unit: ScoreUnit::None,
        digits: 4,
        shown: Shown::InFiles,
        compute: |rows| (rows.has_draws).then(|| metrics::average_log_density(rows.components)),
    },
    Score {
        key: "crps",
        title: "CRPS",
        explanation: "",
        unit: ScoreUnit::Target,
        digits: 4,
        shown: Shown::OnTerminal,
        compute: |rows| {
            let each = rows.crps.as_ref().filter(|_| rows.classes.is_none())?;
            Some(each.iter().sum::<f64>() / each.len() as f64)
        },
    },
    Score {
        key: "interval_score95",
        title: "interval score",
        explanation: "",
        unit: ScoreUnit::Target,
        digits: 4,
        shown: Shown::OnPages,
        compute: |rows| {
            let interval = (rows.interval.as_ref()).filter(|_| rows.classes.is_none())?;
            let (lower, upper) = (&interval.lower, &interval.upper);
            Some(metrics::interval_score(rows.targets, lower, upper, LEVEL))
        },
    },
    // The loss of quantile regression.
    Score {
        key: PINBALL,
        title: "pinball loss",
        explanation: "",
        unit: ScoreUnit::Target,
        digits: 4,
        shown: Shown::OnTerminal,
        compute: |rows| {
            let (level, quantiles) = rows.quantile?;
            Some(metrics::pinball_loss(rows.targets, quantiles, level))
        },
    },
    Score {
        key: COVERAGE,
        title: "coverage",
        explanation: "of the test rows in their 95 % intervals",
        unit: ScoreUnit::Percent,
        digits: 1,
        shown: Shown::InComparisons,
        compute: |rows| {
            let levels = rows.central_level?.iter().copied();
            Some(Coverage::of_levels(levels).observed(LEVEL))
        },
    },
    Score {
        key: ECE,
        title: "ECE",
        explanation: "(expected calibration error)",
        unit: ScoreUnit::None,
        digits: 4,
        shown: Shown::InComparisons,
        compute: |rows| {
            let probabilities = &rows.predictions.probabilities;
            Some(metrics::expected_calibration_error(
                rows.targets,
                probabilities,
                rows.classes?,
                CALIBRATION_BINS,
            ))
        },
    },
];

impl ScoredRows<'_> {
    /// The targets in the form of the predictions: unchanged, or one indicator for each class.
    fn as_predicted(&self) -> Vec<f64> {
        let each = self.predictions.mean.len() / self.targets.len().max(1);
        if each <= 1 {
            return self.targets.to_vec();
        }
        let indicators =
            |&label: &f64| (0..each).map(move |class| f64::from(u8::from(label == class as f64)));
        self.targets.iter().flat_map(indicators).collect()
    }
}

impl Score {
    /// Its name in files, in the units of the data if `original`.
    fn name(&self, original: bool) -> String {
        match original {
            true => format!("{}_original", self.key),
            false => self.key.to_owned(),
        }
    }

    /// Whether it is one of log densities alone, which intervals have, too.
    fn is_of_densities(&self) -> bool {
        [NLPD, AVERAGE].contains(&self.key)
    }

    /// Its title in tables of numbers, with the sign of percent.
    pub fn column(&self) -> String {
        match self.unit {
            ScoreUnit::Percent => format!("{} %", self.title),
            _ => self.title.to_owned(),
        }
    }
}

/// The scores of held-out rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// By their names in files, in the order of [`SCORES`].
    values: Vec<(String, f64)>,
}

/// One score of held-out rows.
#[derive(Clone, Copy)]
pub struct Scored {
    /// The score.
    pub score: &'static Score,
    /// Its value, in standardized units.
    pub value: f64,
    /// Its value in the units of the data, if it has the units of the targets.
    pub original: Option<f64>,
}

impl Scores {
    /// Computes all scores of the rows.
    pub fn new(rows: &ScoredRows<'_>) -> Self {
        let mut values = Vec::new();
        for score in SCORES {
            if rows.targets.is_empty() && !score.is_of_densities() {
                continue;
            }
            let Some(value) = (score.compute)(rows) else {
                continue;
            };
            values.push((score.name(false), value));
            if score.unit == ScoreUnit::Target {
                values.push((score.name(true), rows.target_scale * value));
            }
        }
        Self { values }
    }

    /// With another value of the score with this name in files.
    pub fn with(mut self, name: &str, value: f64) -> Self {
        let mut values = self.values.iter_mut();
        if let Some((_, own)) = values.find(|(own, _)| own == name) {
            *own = value;
        }
        self
    }

    /// The score with this name in files.
    pub fn get(&self, name: &str) -> Option<f64> {
        let mut values = self.values.iter();
        values.find_map(|(own, value)| (own == name).then_some(*value))
    }

    /// The score with this name in files; NaN if there is none.
    pub fn number(&self, name: &str) -> f64 {
        self.get(name).unwrap_or(f64::NAN)
    }

    /// Whether the targets are labels.
    fn are_of_labels(&self) -> bool {
        self.get(ERROR).is_some()
    }

    /// All scores by their names in files.
    pub fn named(&self) -> impl Iterator<Item = (&str, f64)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
    }

    /// The scores that are shown in a place, in the order of tables. Errors of probabilities, in the units of
    /// the targets, are only in files.
    pub fn shown(&self, place: Shown) -> impl Iterator<Item = Scored> {
        let are_of_labels = self.are_of_labels();
        let is_shown = move |score: &&Score| {
            let is_in_files = are_of_labels && score.unit == ScoreUnit::Target;
            score.shown <= place && !is_in_files
        };
        SCORES.iter().filter(is_shown).filter_map(|score| {
            Some(Scored {
                score,
                value: self.get(score.key)?,
                original: self.get(&score.name(true)),
            })
        })
    }
}

impl Scored {
    /// The value in tables of numbers: in the units of the data, or in percent.
    pub fn number(&self) -> f64 {
        match self.score.unit {
            ScoreUnit::Percent => 100.0 * self.value,
            _ => self.original.unwrap_or(self.value),
        }
    }

    /// [`number`](Self::number) as text with the sign of percent.
    pub fn text(&self) -> String {
        let sign = match self.score.unit {
            ScoreUnit::Percent => " %",
            _ => "",
        };
        match self.original {
            Some(value) if self.score.digits == 4 => four_decimals(value),
            _ => format!("{:.*}{sign}", self.score.digits, self.number()),
        }
    }

    /// The name of the number in files.
    pub fn key(&self) -> String {
        self.score.name(self.original.is_some())
    }
}

/// A number in the units of the data with four decimals, or as a power of ten if these say little of it.
pub fn four_decimals(value: f64) -> String {
    match value == 0.0 || (1e-3..1e6).contains(&value.abs()) || !value.is_finite() {
        true => format!("{value:.4}"),
        false => format!("{value:.3e}"),
    }
}

impl Serialize for Scores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        for (name, value) in &self.values {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Scores {
    /// Takes the scores out of a map with other entries.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut entries = BTreeMap::<String, serde_json::Value>::deserialize(deserializer)?;
        let mut take = |score: &Score, original| {
            let name = score.name(original);
            let value = entries.remove(&name)?.as_f64()?;
            Some((name, value))
        };
        let each = SCORES.iter();
        let values = each.flat_map(|score| [take(score, false), take(score, true)]);
        let values: Vec<(String, f64)> = values.flatten().collect();
        match values.is_empty() {
            true => Err(D::Error::custom("there are no scores")),
            false => Ok(Self { values }),
        }
    }
}
