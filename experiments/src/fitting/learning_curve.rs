//! The learning curve of a run: scores of the test rows in the course of training.

use burn_gp_datasets::Standardizer;
use burn_gp_models::{AnyModel, PredictionError, training::TrainingData};

use super::TrainingLog;
use crate::evaluation::{LEVEL, evaluate};
use crate::preparation::{Part, PreparedData};
use crate::progress::RowProgress;

/// The numbers of every look at the test rows, each with a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearningCurve {
    names: Vec<String>,
    looks: Vec<Vec<f64>>,
}

impl LearningCurve {
    /// Adds a look. All looks of a curve have the same names.
    pub fn push(&mut self, look: Vec<(&str, f64)>) {
        let (names, numbers): (Vec<&str>, Vec<f64>) = look.into_iter().unzip();
        if self.looks.is_empty() {
            self.names = names.into_iter().map(str::to_owned).collect();
        }
        self.looks.push(numbers);
    }

    /// Whether there are no looks.
    pub fn is_empty(&self) -> bool {
        self.looks.is_empty()
    }

    /// Every number by its name, in all looks.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Vec<f64>)> {
        let column = |index: usize| self.looks.iter().map(|look| look[index]).collect();
        let names = self.names.iter().enumerate();
        names.map(move |(index, name)| (name.as_str(), column(index)))
    }

    /// A number in all looks; `None` if the curve has no such number.
    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        let mut columns = self.columns();
        columns.find_map(|(own, numbers)| (own == name).then_some(numbers))
    }

    /// As CSV, exactly; a number that is not a number is empty.
    pub fn to_csv(&self) -> String {
        let cell = |number: &f64| match number.is_nan() {
            true => String::new(),
            false => number.to_string(),
        };
        let line = |look: &Vec<f64>| look.iter().map(cell).collect::<Vec<String>>().join(",");
        let lines = self.looks.iter().map(line);
        let header = (!self.is_empty()).then(|| self.names.join(","));
        let lines = header.into_iter().chain(lines);
        lines.map(|line| line + "\n").collect()
    }

    /// From CSV; `None` when the text is not such a curve.
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
        let look = |line: &str| line.split(',').map(number).collect::<Option<Vec<f64>>>();
        let looks: Vec<Vec<f64>> = lines.map(look).collect::<Option<_>>()?;
        let are_whole = looks.iter().all(|look| look.len() == names.len());
        are_whole.then_some(Self { names, looks })
    }
}

/// Scores the test rows in the course of training.
pub struct TestScores {
    test: Part,
    standardizer: Standardizer,
    training_data: TrainingData,
    interval: usize,
    /// The scores so far.
    pub curve: LearningCurve,
}

impl TestScores {
    /// Scores models trained on `training_data` after every `every` steps. A number below one is a
    /// share of all `steps`.
    pub fn new(data: &PreparedData, training_data: TrainingData, every: f64, steps: usize) -> Self {
        let interval = if every < 1.0 {
            every * steps as f64
        } else {
            every
        };
        Self {
            test: data.test.clone(),
            standardizer: data.standardizer.clone(),
            training_data,
            interval: (interval as usize).max(1),
            curve: LearningCurve::default(),
        }
    }

    /// Whether to score after `step`.
    pub fn is_due(&self, step: usize, is_last: bool) -> bool {
        is_last || step.is_multiple_of(self.interval)
    }

    /// Scores the model after the last step in `log`.
    ///
    /// # Errors
    ///
    /// If the model cannot predict the rows.
    pub fn look_at(&mut self, model: &AnyModel, log: &TrainingLog) -> Result<(), PredictionError> {
        let Some(entry) = log.entries.last() else {
            return Ok(());
        };
        let predictor = model.trained(&self.training_data)?.predictor()?;
        let progress = RowProgress::new("test row", self.test.len(), true);
        let evaluation = evaluate(&predictor, &self.test, &self.standardizer, LEVEL, progress)?;
        let scores = evaluation.scores;
        let present = |name, score: Option<f64>| score.map(|score| (name, score));
        let mut look = vec![
            ("step", entry.report.step as f64),
            ("seconds", entry.seconds),
            ("loss", self.loss_since_the_last_look(log)),
            ("rmse", scores.rmse),
            ("mae", scores.mae),
            ("nlpd", scores.nlpd),
        ];
        look.extend(present("average_log_density", scores.average_log_density));
        look.extend(present("coverage95", scores.coverage95));
        look.extend(present("error", scores.error));
        look.extend(present("ece", scores.ece));
        self.curve.push(look);
        Ok(())
    }

    /// The mean loss of the steps after the last look.
    fn loss_since_the_last_look(&self, log: &TrainingLog) -> f64 {
        let steps = self.curve.numbers("step").unwrap_or_default();
        let last = steps.last().copied().unwrap_or(0.0);
        let reports = log.entries.iter().map(|entry| entry.report);
        let since = reports.skip_while(|report| report.step as f64 <= last);
        let losses: Vec<f64> = since.map(|report| report.loss).collect();
        losses.iter().sum::<f64>() / losses.len() as f64
    }
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
        curve.push(vec![("step", 1.0), ("nlpd", 0.1 + 0.2)]);
        curve.push(vec![("step", 2.0), ("nlpd", -1.0 / 3.0)]);
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
        curve.push(vec![("step", 3.0), ("nlpd", f64::NAN)]);
        let read = LearningCurve::from_csv(&curve.to_csv()).unwrap();
        assert!(read.numbers("nlpd").unwrap()[2].is_nan());
        assert_eq!(LearningCurve::from_csv("step,nlpd\n1\n"), None);
    }
}
