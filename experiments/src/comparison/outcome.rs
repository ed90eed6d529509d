//! What the runs of a comparison found.

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

    /// The seeds whose runs did not train, or were not tested, on the same number of rows.
    pub(super) fn uneven_seeds(&self) -> Vec<u64> {
        let mut seeds: Vec<u64> = self.runs.iter().map(|run| run.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let is_uneven = |&seed: &u64| {
            let own = self.metrics().filter(|metrics| metrics.seed == seed);
            let mut sizes =
                own.map(|metrics| (metrics.n_train, metrics.n_validation, metrics.n_test));
            let first = sizes.next();
            sizes.any(|size| Some(size) != first)
        };
        seeds.into_iter().filter(is_uneven).collect()
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
    /// Its unit for people, where there is one.
    pub(super) unit: Option<&'static str>,
    /// How many of that unit one is.
    pub(super) scale: f64,
    /// Digits behind the point.
    pub(super) digits: usize,
    /// The number, as in the file of the run.
    pub(super) value: fn(&Metrics) -> Option<f64>,
}

const NLPD: Score = Score {
    key: "nlpd",
    title: "NLPD",
    unit: None,
    scale: 1.0,
    digits: 4,
    value: |metrics| Some(metrics.scores.nlpd),
};

const SECONDS: Score = Score {
    key: "train_seconds",
    title: "steps",
    unit: Some("s"),
    scale: 1.0,
    digits: 1,
    value: |metrics| Some(metrics.train_seconds),
};

const MEMORY: Score = Score {
    key: "peak_memory_mb",
    title: "memory",
    unit: Some("MB"),
    scale: 1.0,
    digits: 0,
    value: |metrics| metrics.peak_memory.map(|bytes| bytes as f64 / 1e6),
};

const REGRESSION: [Score; 6] = [
    Score {
        key: "rmse",
        title: "RMSE",
        unit: None,
        scale: 1.0,
        digits: 4,
        value: |metrics| Some(metrics.scores.rmse),
    },
    Score {
        key: "mae",
        title: "MAE",
        unit: None,
        scale: 1.0,
        digits: 4,
        value: |metrics| Some(metrics.scores.mae),
    },
    NLPD,
    Score {
        key: "coverage95",
        title: "coverage",
        unit: Some("%"),
        scale: 100.0,
        digits: 1,
        value: |metrics| metrics.scores.coverage95,
    },
    SECONDS,
    MEMORY,
];

const CLASSIFICATION: [Score; 5] = [
    Score {
        key: "error",
        title: "error",
        unit: Some("%"),
        scale: 100.0,
        digits: 2,
        value: |metrics| metrics.scores.error,
    },
    NLPD,
    Score {
        key: "ece",
        title: "ECE",
        unit: None,
        scale: 1.0,
        digits: 4,
        value: |metrics| metrics.scores.ece,
    },
    SECONDS,
    MEMORY,
];
