//! The results of training on several outputs: what is printed and written.

use std::path::Path;

use burn_gp_datasets::Split;
use burn_gp_models::{Fitted, FittedPredictions};
use serde_json::{Map, Value, json};

use super::files::{OutputsContext, prediction_table};
use super::scores::{ScoredOutput, named_scores};
use super::signal::Signals;
use super::table::OutputsTable;
use super::{NAME, failure};
use crate::coverage::LEVEL;
use crate::diagnostics::{no_better_than_moments, wrong_coverage};
use crate::failure::Failure;

use crate::output::{METRICS, PREDICTIONS, write_text};
use crate::report::line;
use crate::text_table::aligned;

/// A trained model with its predictions of all rows.
pub struct Results {
    table: OutputsTable,
    model: Fitted,
    signals: Signals,
    warnings: Vec<String>,
    is_test: Vec<bool>,
    predicted: FittedPredictions,
    scored: Vec<ScoredOutput>,
}

impl Results {
    /// Predicts all rows, and scores the test rows. `warning` is one about training.
    ///
    /// # Errors
    ///
    /// If an input is not finite.
    pub fn new(
        table: OutputsTable,
        split: &Split,
        model: Fitted,
        warning: Option<String>,
    ) -> Result<Self, Failure> {
        let rows: Vec<&[f64]> = table.inputs.chunks_exact(table.dimensions()).collect();
        let rows: Vec<Vec<f64>> = rows.into_iter().map(<[f64]>::to_vec).collect();
        let predicted = model.predict(&rows).map_err(failure)?;
        let predictions = predicted.predictions();
        let interval = predictions.interval(LEVEL).unwrap_or_default();
        let mut is_test = vec![false; table.rows()];
        split.test.iter().for_each(|&row| is_test[row] = true);
        let outputs = table.outputs.len();
        let scored = (0..outputs).map(|output| {
            let places = split.test.iter().map(|row| row * outputs + output);
            let known = places.filter(|&place| !table.targets[place].is_nan());
            let known: Vec<usize> = known.collect();
            let of = |values: &[f64]| known.iter().map(|&place| values[place]).collect();
            ScoredOutput {
                targets: of(&table.targets),
                mean: of(&predictions.mean),
                variance: of(&predictions.variance),
                lower: of(&interval.lower),
                upper: of(&interval.upper),
                training: moments(&table.targets_of(output, &split.train)),
            }
        });
        let scored: Vec<ScoredOutput> = scored.collect();
        let named = table.outputs.iter().zip(&scored);
        let found = named.flat_map(|(name, own)| warnings_of(name, own));
        Ok(Self {
            warnings: warning.into_iter().chain(found).collect(),
            scored,
            signals: Signals::of(&model),
            table,
            model,
            is_test,
            predicted,
        })
    }

    /// Everything that was scored and learned about the outputs.
    fn metrics(&self) -> Value {
        let mut metrics = Map::new();
        metrics.insert("data".into(), json!(self.table.data));
        metrics.insert("model".into(), json!(NAME));
        metrics.insert("outputs".into(), json!(self.table.outputs));
        let tested = self.is_test.iter().filter(|is_test| **is_test).count();
        metrics.insert("n_train".into(), json!(self.table.rows() - tested));
        metrics.insert("n_test".into(), json!(tested));
        metrics.extend(named_scores(&self.table.outputs, &self.scored));
        let signals = &self.signals;
        for (kind, values) in [("signal", &signals.signal), ("noise", &signals.noise)] {
            for (name, value) in self.table.outputs.iter().zip(values) {
                metrics.insert(format!("{kind}[{name}]"), json!(value));
            }
        }
        metrics.insert("correlations".into(), json!(signals.correlations));
        if !self.warnings.is_empty() {
            metrics.insert("warnings".into(), json!(self.warnings));
        }
        Value::Object(metrics)
    }

    /// A table of scores with a row for each output, the correlations of outputs, and warnings.
    pub fn report(&self) -> String {
        let titles = [
            "output",
            "test targets",
            "RMSE",
            "NLPD",
            "coverage %",
            "signal",
            "noise",
        ];
        let mut rows = vec![titles.map(str::to_owned).to_vec()];
        let number = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
        };
        for (output, (name, own)) in self.table.outputs.iter().zip(&self.scored).enumerate() {
            let scores = own.scores();
            let score = |place: usize| number(scores.map(|scores| scores[place]));
            rows.push(vec![
                name.clone(),
                own.targets.len().to_string(),
                score(0),
                score(2),
                scores.map_or_else(
                    || "-".to_owned(),
                    |scores| format!("{:.1}", 100.0 * scores[4]),
                ),
                number(self.signals.signal.get(output).copied()),
                number(self.signals.noise.get(output).copied()),
            ]);
        }
        let lines = aligned(&rows).join("\n");
        let warnings = self.warnings.iter();
        let warnings: String = warnings.map(|text| line("warning", text) + "\n").collect();
        format!(
            "{lines}\n{}{warnings}",
            self.signals.lines(&self.table.outputs)
        )
    }

    /// Writes the model, its predictions and its scores into a folder.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let part = |is_test: &bool| if *is_test { "test" } else { "train" }.to_owned();
        let parts = self.is_test.iter().map(part).collect();
        let (names, targets) = (&self.table.outputs, &self.table.targets);
        let rows = self.table.positions.iter().copied();
        let predictions = self.predicted.predictions();
        let predictions = prediction_table(names, rows, targets, predictions, LEVEL);
        let predictions = predictions.carrying(vec![("part".to_owned(), parts)]);
        let context = OutputsContext {
            data: self.table.data.clone(),
            outputs: names.clone(),
            schemas: self.table.schemas.clone(),
            task_column: self.table.task_column.clone(),
            n_train: self.is_test.iter().filter(|is_test| !**is_test).count(),
        };
        self.model.save(folder).map_err(failure)?;
        context.write(folder)?;
        for (name, text) in [
            (PREDICTIONS, predictions.to_csv()),
            (METRICS, format!("{:#}\n", self.metrics())),
        ] {
            write_text(&folder.join(name), &text)?;
        }
        Ok(())
    }
}

/// Warnings about an output: it is predicted no better than by a constant, or its intervals are wrong.
fn warnings_of(name: &str, own: &ScoredOutput) -> Vec<String> {
    let Some([_, _, nlpd, gain, coverage]) = own.scores() else {
        return Vec::new();
    };
    let count = own.targets.len();
    let found = [
        no_better_than_moments(nlpd, nlpd - gain, count),
        wrong_coverage(coverage, count),
    ];
    let found = found.into_iter().flatten();
    found.map(|text| format!("{name}: {text}")).collect()
}

/// The mean and the population variance of known targets.
fn moments(targets: &[f64]) -> (f64, f64) {
    let known: Vec<f64> = targets
        .iter()
        .copied()
        .filter(|target| !target.is_nan())
        .collect();
    let count = known.len() as f64;
    let mean = known.iter().sum::<f64>() / count;
    let squares = known.iter().map(|target| (target - mean).powi(2));
    (mean, squares.sum::<f64>() / count)
}
