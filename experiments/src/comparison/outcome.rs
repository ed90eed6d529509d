//! What the runs of a comparison found.

use serde::Serialize;

use crate::arguments::{ModelName, name_of};
use crate::report::Metrics;

/// One run.
#[derive(Clone, Debug)]
pub(super) struct RunOutcome {
    /// The model.
    pub(super) model: ModelName,
    /// The seed.
    pub(super) seed: u64,
    /// The scores; none when the run broke off.
    pub(super) metrics: Option<Metrics>,
}

impl RunOutcome {
    /// Model and seed.
    pub(super) fn name(&self) -> String {
        format!("{}, seed {}", name_of(self.model), self.seed)
    }
}

/// All runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcomes {
    runs: Vec<RunOutcome>,
}

impl Outcomes {
    /// Adds a run.
    pub(super) fn push(&mut self, outcome: RunOutcome) {
        self.runs.push(outcome);
    }

    /// The scores of every run that has some.
    pub(super) fn metrics(&self) -> impl Iterator<Item = &Metrics> {
        self.runs.iter().filter_map(|run| run.metrics.as_ref())
    }

    /// The runs that broke off.
    pub(super) fn broken(&self) -> Vec<RunOutcome> {
        let broken = self.runs.iter().filter(|run| run.metrics.is_none());
        broken.cloned().collect()
    }

    /// The data's name.
    pub(super) fn data(&self) -> Option<&str> {
        self.metrics().next().map(|metrics| metrics.data.as_str())
    }

    /// The scores that tell the models apart: those of classification or those of regression.
    pub(super) fn scores(&self) -> &'static [Score] {
        let classified = |metrics: &Metrics| metrics.scores.error.is_some();
        if self.metrics().next().is_some_and(classified) {
            &CLASSIFICATION
        } else {
            &REGRESSION
        }
    }

    /// A model's values of a score, one a run that has it.
    pub(super) fn values(&self, model: ModelName, score: &Score) -> Vec<f64> {
        let runs = self.runs.iter().filter(|run| run.model == model);
        let metrics = runs.filter_map(|run| run.metrics.as_ref());
        metrics.filter_map(score.value).collect()
    }
}

/// A number of a run that is compared.
pub(super) struct Score {
    /// Its name in files.
    pub(super) key: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    /// Its unit, where there is one.
    pub(super) unit: Option<&'static str>,
    /// Digits behind the point.
    pub(super) digits: usize,
    /// The number.
    pub(super) value: fn(&Metrics) -> Option<f64>,
}

const NLPD: Score = Score {
    key: "nlpd",
    title: "NLPD",
    unit: None,
    digits: 4,
    value: |metrics| Some(metrics.scores.nlpd),
};

const SECONDS: Score = Score {
    key: "train_seconds",
    title: "training",
    unit: Some("s"),
    digits: 1,
    value: |metrics| Some(metrics.train_seconds),
};

const MEMORY: Score = Score {
    key: "peak_memory_mb",
    title: "memory",
    unit: Some("MB"),
    digits: 0,
    value: |metrics| metrics.peak_memory.map(|bytes| bytes as f64 / 1e6),
};

const REGRESSION: [Score; 6] = [
    Score {
        key: "rmse",
        title: "RMSE",
        unit: None,
        digits: 4,
        value: |metrics| Some(metrics.scores.rmse),
    },
    Score {
        key: "mae",
        title: "MAE",
        unit: None,
        digits: 4,
        value: |metrics| Some(metrics.scores.mae),
    },
    NLPD,
    Score {
        key: "coverage95",
        title: "coverage",
        unit: Some("%"),
        digits: 1,
        value: |metrics| metrics.scores.coverage95.map(|share| 100.0 * share),
    },
    SECONDS,
    MEMORY,
];

const CLASSIFICATION: [Score; 5] = [
    Score {
        key: "error",
        title: "error",
        unit: Some("%"),
        digits: 2,
        value: |metrics| metrics.scores.error.map(|share| 100.0 * share),
    },
    NLPD,
    Score {
        key: "ece",
        title: "ECE",
        unit: None,
        digits: 4,
        value: |metrics| metrics.scores.ece,
    },
    SECONDS,
    MEMORY,
];

/// Mean and standard error of a score over the runs of a model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Summary {
    /// The mean.
    pub(super) mean: f64,
    /// `s/√n`, s the standard deviation of the sample; none for a single run.
    pub(super) standard_error: Option<f64>,
    /// n
    pub(super) runs: usize,
}

impl Summary {
    /// The summary of at least one value.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let runs = values.len();
        let mean = values.iter().sum::<f64>() / runs as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_error =
            (runs > 1).then(|| (squares / (runs as f64 - 1.0) / runs as f64).sqrt());
        (runs > 0).then_some(Self {
            mean,
            standard_error,
            runs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        // Deviations −3, −1, 1, 3: sample variance 20/3, standard error √(20/3/4).
        let summary = Summary::of(&[1.0, 3.0, 5.0, 7.0]).unwrap();
        assert_eq!((summary.mean, summary.runs), (4.0, 4));
        let error = summary.standard_error.unwrap();
        assert!((error - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Summary::of(&[2.0]).unwrap().standard_error, None);
        assert_eq!(Summary::of(&[]), None);
    }
}
