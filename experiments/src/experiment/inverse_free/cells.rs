//! Finished regression runs and their summaries over seeds.

use serde::{Deserialize, Serialize};

use super::method::Method;
use crate::arguments::{RunOptions, name_of};
use crate::experiment::course::Look;
use crate::failure::Failure;
use crate::study::{Departure, ExperimentFolder, departures_of};
use crate::summary::Summary;

/// A regression run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    /// The data set.
    pub data: String,
    /// The model.
    pub method: Method,
    /// The number of inducing points, M.
    pub inducing: usize,
    /// The number of probes, K; `None` if traces are exact or absent.
    pub probes: Option<usize>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Evaluations of the test rows during training; empty before the run.
    pub looks: Vec<Look>,
    /// The options with all defaults filled in; `None` before the run.
    #[serde(default)]
    pub options: Option<RunOptions>,
}

impl Run {
    /// The name of the run in the folder.
    pub fn name(&self) -> String {
        let probes = match self.probes {
            Some(count) => format!("-{count}-probes"),
            None => String::new(),
        };
        let (data, method) = (&self.data, name_of(self.method));
        format!(
            "{data}-{method}-{}{probes}-seed-{}",
            self.inducing, self.seed
        )
    }

    /// The display name.
    pub fn title(&self) -> String {
        let probes = match self.probes {
            Some(count) => format!(", K = {count}"),
            None => String::new(),
        };
        format!(
            "{}, {}, M = {}{probes}, seed {}",
            self.data,
            self.method.title(),
            self.inducing,
            self.seed
        )
    }

    /// The fields that runs with other seeds share.
    fn cell(&self) -> (&str, usize, Method, Option<usize>) {
        (&self.data, self.inducing, self.method, self.probes)
    }
}

/// The runs of a model on a data set, one for each seed; at least one.
pub(super) struct Cell {
    /// The departures from the paper's protocol.
    pub departures: Option<Vec<Departure>>,
    /// The runs, sorted by seed.
    pub runs: Vec<Run>,
}

impl Cell {
    /// The finished runs of the experiment in `folder`, by data set, size, model and probes; exact
    /// traces come last. `in_paper` gives the options of a run in the paper.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn finished(
        folder: &ExperimentFolder,
        in_paper: impl Fn(&Run) -> RunOptions,
    ) -> Result<Vec<Self>, Failure> {
        let mut runs: Vec<Run> = folder.made()?;
        runs.sort_by(|a, b| {
            let key = |run: &Run| (run.inducing, run.method, run.probes.unwrap_or(usize::MAX));
            (&a.data, key(a), a.seed).cmp(&(&b.data, key(b), b.seed))
        });
        let cells = runs.chunk_by(|a, b| a.cell() == b.cell());
        Ok(cells
            .map(|runs| Self {
                departures: Some(departures_of(runs[0].options.as_ref(), in_paper(&runs[0]))),
                runs: runs.to_vec(),
            })
            .collect())
    }

    /// One of its runs.
    pub fn first(&self) -> &Run {
        &self.runs[0]
    }

    /// The summary of a number at the end of the runs.
    pub fn at_the_end(&self, number: fn(&Look) -> f64) -> Option<Summary> {
        let last = self.runs.iter().filter_map(|run| run.looks.last());
        Summary::of(&last.map(number).collect::<Vec<f64>>())
    }

    /// A curve of two numbers during training, averaged over the runs.
    pub fn curve(&self, x: fn(&Look) -> f64, y: fn(&Look) -> f64) -> Vec<(f64, f64)> {
        let count = self.runs.iter().map(|run| run.looks.len()).min();
        let mean = |look: usize, number: fn(&Look) -> f64| {
            let values = self.runs.iter().map(|run| number(&run.looks[look]));
            values.sum::<f64>() / self.runs.len() as f64
        };
        (0..count.unwrap_or(0))
            .map(|look| (mean(look, x), mean(look, y)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seed: u64, nlpd: [f64; 2]) -> Run {
        let look = |index: usize| Look {
            step: 10 * (index + 1),
            seconds: (index + 1) as f64 * (seed + 1) as f64,
            loss: 0.0,
            rmse: 1.0,
            nlpd: nlpd[index],
        };
        Run {
            data: "kin40k".into(),
            method: Method::R,
            inducing: 8,
            probes: Some(4),
            seed,
            looks: vec![look(0), look(1)],
            options: None,
        }
    }

    #[test]
    fn curves_are_means_over_the_seeds() {
        let cell = Cell {
            departures: None,
            runs: vec![run(0, [3.0, 1.0]), run(1, [5.0, 2.0])],
        };
        let curve = cell.curve(|look| look.seconds, |look| look.nlpd);
        assert_eq!(curve, [(1.5, 4.0), (3.0, 1.5)]);
        let end = cell.at_the_end(|look| look.nlpd).unwrap();
        assert_eq!((end.mean, end.runs), (1.5, 2));
        assert_eq!(cell.first().name(), "kin40k-r-8-4-probes-seed-0");
    }
}
