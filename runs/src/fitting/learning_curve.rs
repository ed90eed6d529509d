//! The learning curve of a run: scores of the test rows and hyperparameters during training.

use std::path::Path;

use burn_gp_core::parameter::Hyperparameter;
use burn_gp_datasets::Standardizer;
use burn_gp_models::{AnyModel, PredictionError, training::TrainingData};

use super::TrainingLog;
use crate::checksums::{Links, read_text};
use crate::csv_text::csv_text;
use crate::evaluation::{Levels, evaluate};
use crate::failure::FolderError;
use crate::preparation::{Part, PreparedData};
use crate::progress::RowProgress;

/// The named values of every evaluation on the test rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearningCurve {
    names: Vec<String>,
    snapshots: Vec<Vec<f64>>,
}

impl LearningCurve {
    /// Adds the values of one evaluation. All evaluations of a curve have the same names.
    pub fn push(&mut self, snapshot: Vec<(String, f64)>) {
        let (names, numbers) = snapshot.into_iter().unzip();
        self.names = names;
        self.snapshots.push(numbers);
    }

    /// Reads the curve in a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a learning curve.
    pub fn read(path: &Path) -> Result<Self, FolderError> {
        Self::from_csv(&read_text(path, Links::Followed)?).ok_or_else(|| {
            FolderError::DamagedCheckpoint {
                path: path.to_owned(),
                reason: "it is not a learning curve".into(),
            }
        })
    }

    /// Whether the curve is empty.
    pub fn is_empty(&self) -> bool {
        self.snapshots.is_empty()
    }

    /// The names, each with its values in all evaluations.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Vec<f64>)> {
        let column = |index: usize| {
            self.snapshots
                .iter()
                .map(|snapshot| snapshot[index])
                .collect()
        };
        let names = self.names.iter().enumerate();
        names.map(move |(index, name)| (name.as_str(), column(index)))
    }

    /// The values with this name; `None` if the curve has none.
    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        let mut columns = self.columns();
        columns.find_map(|(own, numbers)| (own == name).then_some(numbers))
    }

    /// The curve as CSV with exact numbers. NaN is an empty field.
    pub fn to_csv(&self) -> String {
        let cell = |number: &f64| match number.is_nan() {
            true => String::new(),
            false => number.to_string(),
        };
        let row = |snapshot: &Vec<f64>| snapshot.iter().map(cell).collect();
        let rows = self.snapshots.iter().map(row);
        let header: Option<Vec<String>> = (!self.is_empty()).then(|| self.names.clone());
        csv_text(header.into_iter().chain(rows))
    }

    /// Reads a curve from CSV; `None` if the text is not a learning curve.
    pub fn from_csv(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let Some(header) = lines.next() else {
            return Some(Self::default());
        };
        let names: Vec<String> = header.split(',').map(str::to_owned).collect();
        let number = |cell: &str| match cell {
            "" => Some(f64::NAN),
            number => number.parse().ok(),
        };
        let snapshot = |line: &str| line.split(',').map(number).collect::<Option<Vec<f64>>>();
        let snapshots: Vec<Vec<f64>> = lines.map(snapshot).collect::<Option<_>>()?;
        let are_whole = snapshots
            .iter()
            .all(|snapshot| snapshot.len() == names.len());
        are_whole.then_some(Self { names, snapshots })
    }
}

/// Scores the test rows during training.
pub struct TestScores {
    test: Part,
    standardizer: Standardizer,
    training_data: TrainingData,
    /// The number of steps between two evaluations.
    interval: f64,
    /// The scores so far.
    pub curve: LearningCurve,
}

impl TestScores {
    /// Scores models trained on `training_data` every `every` steps. A number below one is a share of all
    /// `steps`. Each multiple is rounded up to a whole step.
    pub fn new(data: &PreparedData, training_data: TrainingData, every: f64, steps: usize) -> Self {
        let share = if every < 1.0 { steps as f64 } else { 1.0 };
        Self {
            test: data.test.clone(),
            standardizer: data.standardizer.clone(),
            training_data,
            interval: every * share,
            curve: LearningCurve::default(),
        }
    }

    /// Whether to score after `step`.
    pub fn is_due(&self, step: usize, is_last: bool) -> bool {
        let snapshots = |steps: usize| (steps as f64 / self.interval).floor();
        is_last || snapshots(step) > snapshots(step - 1)
    }

    /// Scores the model after the last step in `log`.
    ///
    /// # Errors
    ///
    /// If the model cannot predict the rows.
    pub fn record(&mut self, model: &AnyModel, log: &TrainingLog) -> Result<(), PredictionError> {
        let Some(entry) = log.entries.last() else {
            return Ok(());
        };
        let model = model.trained(&self.training_data)?;
        let progress = RowProgress::new("test row", self.test.len(), true);
        let (test, standardizer) = (&self.test, &self.standardizer);
        let scores = evaluate(
            &model.predictor()?,
            test,
            standardizer,
            &Levels::default(),
            progress,
        )?
        .scores;
        let mut snapshot = vec![
            ("step".to_owned(), entry.report.step as f64),
            ("seconds".to_owned(), entry.seconds),
            ("loss".to_owned(), self.loss_since_the_last_look(log)),
        ];
        snapshot.extend(scores.named().map(|(name, score)| (name.to_owned(), score)));
        snapshot.extend(named_values(&model.hyperparameters()));
        self.curve.push(snapshot);
        Ok(())
    }

    /// The mean loss of the steps since the last evaluation.
    fn loss_since_the_last_look(&self, log: &TrainingLog) -> f64 {
        let steps = self.curve.numbers("step").unwrap_or_default();
        let last = steps.last().copied().unwrap_or(0.0);
        let reports = log.entries.iter().map(|entry| entry.report);
        let since = reports.skip_while(|report| report.step as f64 <= last);
        let losses = since.map(|report| report.loss);
        // A skipped step has no loss.
        let losses: Vec<f64> = losses.filter(|loss| loss.is_finite()).collect();
        losses.iter().sum::<f64>() / losses.len() as f64
    }
}

/// Hyperparameters by their paths. Several values of a path are numbered from 1.
fn named_values(hyperparameters: &[Hyperparameter]) -> impl Iterator<Item = (String, f64)> {
    hyperparameters.iter().flat_map(|parameter| {
        let path = &parameter.path;
        let is_single = parameter.values.len() == 1;
        let values = parameter.values.iter().enumerate();
        values.map(move |(index, &value)| match is_single {
            true => (path.clone(), value),
            false => (format!("{path}.{}", index + 1), value),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_read_back_exactly() {
        let mut curve = LearningCurve::default();
        assert_eq!(
            LearningCurve::from_csv(&curve.to_csv()),
            Some(curve.clone())
        );
        let snapshot = |step, nlpd| vec![("step".to_owned(), step), ("nlpd".to_owned(), nlpd)];
        curve.push(snapshot(1.0, 0.1 + 0.2));
        curve.push(snapshot(2.0, -1.0 / 3.0));
        assert!(
            curve
                .to_csv()
                .starts_with("step,nlpd\n1,0.30000000000000004\n2,")
        );
        assert_eq!(
            LearningCurve::from_csv(&curve.to_csv()),
            Some(curve.clone())
        );
        assert_eq!(curve.numbers("step"), Some(vec![1.0, 2.0]));
        assert_eq!(curve.numbers("rmse"), None);
        curve.push(snapshot(3.0, f64::NAN));
        let read = LearningCurve::from_csv(&curve.to_csv()).unwrap();
        assert!(read.numbers("nlpd").unwrap()[2].is_nan());
        assert_eq!(LearningCurve::from_csv("step,nlpd\n1\n"), None);
    }
}
