//! The plots of a run.

mod images;
mod maps;
mod parts;
mod plane;

use std::path::{Path, PathBuf};

use burn_gp_core::{
    likelihoods::{Interval, TargetKind},
    metrics,
};
use burn_gp_datasets::Matrix;
use burn_gp_models::{AnyTrained, Predictions, Predictor};

use crate::arguments::RunOptions;
use crate::coverage::LEVEL;
use crate::evaluation::{Evaluation, InOriginalUnits, Levels, in_original_units};
use crate::failure::Failure;
use crate::fitting::{LearningCurve, TrainingLog};
use crate::output;
use crate::plots::{
    self, Caption, CurvePanel, LossPoint, PlotError, ProbabilityOf, Quantity, Span,
};
use crate::preparation::{Part, PreparedData};
use crate::scores::{ECE, ERROR};

/// The number of points at which a model with one input is drawn.
const CURVE_POINTS: usize = 400;

/// The contents of the plots of a run.
pub struct RunPlots<'a> {
    /// The folder of the plots.
    pub folder: &'a Path,
    /// The subject of all plots.
    pub caption: Caption<'a>,
    /// The data.
    pub data: &'a PreparedData,
    /// The options of the run, including all defaults.
    pub options: &'a RunOptions,
    /// The log of the training steps.
    pub log: &'a TrainingLog,
    /// The scores of the test rows during training, if requested.
    pub curve: Option<&'a LearningCurve>,
    /// The step of the kept model, with its loss on all training rows.
    pub kept: LossPoint,
    /// The predictor of the trained model.
    pub predictor: &'a Predictor,
    /// The trained model with its inducing points.
    pub model: &'a AnyTrained,
    /// The predictions of the test rows.
    pub evaluation: Option<&'a Evaluation>,
}

/// The name of the model of a run, with the number of its inducing points.
pub fn model_name(options: &RunOptions) -> String {
    let name = options.model().name();
    match (options.inducing, options.orthogonal) {
        (Some(count), Some(orthogonal)) => format!("{name}, M = {count}+{orthogonal}"),
        (Some(count), None) => format!("{name}, M = {count}"),
        (None, _) => name.to_owned(),
    }
}

impl RunPlots<'_> {
    /// Draws all plots that suit the data and returns the errors of plots that could not be drawn.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn draw(&self) -> Result<Vec<PlotError>, Failure> {
        // A model whose parameters are all fixed makes no steps.
        let has_steps = !self.log.entries.is_empty();
        let mut attempts: Vec<Result<(), PlotError>> =
            has_steps.then(|| self.loss()).into_iter().collect();
        let curve = self.curve.filter(|curve| !curve.is_empty());
        attempts.extend(curve.map(|curve| self.learning_curve(curve)));
        if let Some(evaluation) = self.evaluation {
            attempts.extend(self.of_test_rows(evaluation));
        }
        let has_classes = self.data.schema.classes.is_some();
        if !has_classes && self.data.dimensions() == 1 {
            attempts.push(self.fit());
        }
        attempts.extend(self.parts());
        attempts.extend(self.map());
        attempts.extend(self.of_images());
        let mut undrawn = Vec::new();
        for attempt in attempts {
            match attempt {
                Ok(()) => {}
                Err(error @ PlotError::Write { .. }) => return Err(error.into()),
                Err(error) => undrawn.push(error),
            }
        }
        Ok(undrawn)
    }

    /// The path of the plot with this name.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The plots of the predictions of the test rows.
    fn of_test_rows(&self, evaluation: &Evaluation) -> Vec<Result<(), PlotError>> {
        match self.data.classes() {
            // A likelihood of another crate may have no intervals.
            0 if evaluation.original.central_level.is_empty() => Vec::new(),
            0 => {
                let known = evaluation.original.of_known_targets();
                match known.observed.is_empty() {
                    true => Vec::new(),
                    false => vec![self.predicted_observed(&known), self.calibration(&known)],
                }
            }
            2 => vec![self.reliability(evaluation)],
            _ => vec![self.reliability(evaluation), self.confusion(evaluation)],
        }
    }

    fn loss(&self) -> Result<(), PlotError> {
        let point = |entry: &crate::fitting::LogEntry| plots::LossPoint {
            step: entry.report.step as u64,
            loss: entry.report.loss,
        };
        let points: Vec<plots::LossPoint> = self.log.entries.iter().map(point).collect();
        let progress = match self.options.is_mini_batch() {
            true => plots::Progress::MiniBatches,
            false => plots::Progress::FullBatch,
        };
        plots::loss(
            &self.path(output::LOSS),
            &points,
            self.kept,
            progress,
            self.caption,
        )
    }

    fn learning_curve(&self, curve: &LearningCurve) -> Result<(), PlotError> {
        let numbers = |name: &str| curve.numbers(name).unwrap_or_default();
        let panel = |title, score, name| {
            let curve = numbers("step").into_iter().zip(numbers(score)).collect();
            CurvePanel {
                title,
                ..CurvePanel::new(name, Span::Values, vec![curve])
            }
        };
        let error = match self.data.schema.classes {
            Some(_) => panel("wrong labels of the test rows", "error", "share"),
            None => panel("error of the test rows", "rmse", "RMSE"),
        };
        let panels = [error, panel("density of the test rows", "nlpd", "NLPD")];
        plots::curves(
            &self.path(output::LEARNING_CURVE_PLOT),
            "Learning curve",
            self.caption,
            &["test rows".into()],
            Quantity::of("step"),
            &panels,
        )
    }

    fn target(&self) -> Quantity<'_> {
        Quantity::of(&self.data.schema.target_name)
    }

    fn input(&self, column: usize) -> Quantity<'_> {
        Quantity::of(&self.data.schema.input_names[column])
    }

    fn predicted_observed(&self, original: &InOriginalUnits) -> Result<(), PlotError> {
        let predictions = plots::Predictions {
            observed: &original.observed,
            mean: &original.mean,
            lower: &original.interval.lower,
            upper: &original.interval.upper,
        };
        let path = self.path(output::PREDICTED_OBSERVED);
        plots::predicted_observed(&path, &predictions, self.target(), self.caption)
    }

    fn calibration(&self, original: &InOriginalUnits) -> Result<(), PlotError> {
        let path = self.path(output::CALIBRATION);
        plots::calibration(&path, &original.central_level, self.caption)
    }

    fn reliability(&self, evaluation: &Evaluation) -> Result<(), PlotError> {
        let original = &evaluation.original;
        let classes = self.data.classes();
        let likeliest = metrics::likeliest_classes(&original.probabilities, classes);
        let rows = likeliest.iter().zip(&original.observed);
        let (of, events): (_, Vec<(f64, bool)>) = if classes == 2 {
            let positive = original.probabilities.iter().skip(1).step_by(2);
            let labels = original.observed.iter().map(|&label| label == 1.0);
            (
                ProbabilityOf::PositiveClass,
                positive.copied().zip(labels).collect(),
            )
        } else {
            let right =
                rows.map(|(&(class, probability), &label)| (probability, label == class as f64));
            (ProbabilityOf::LikeliestClass, right.collect())
        };
        let (probability, happened): (Vec<f64>, Vec<bool>) = events.into_iter().unzip();
        let scores = &evaluation.scores;
        let content = plots::Reliability {
            of,
            probability: &probability,
            happened: &happened,
            error: scores.number(ERROR),
            ece: scores.number(ECE),
        };
        plots::reliability(&self.path(output::RELIABILITY), &content, self.caption)
    }

    fn confusion(&self, evaluation: &Evaluation) -> Result<(), PlotError> {
        let Some(classes) = &self.data.schema.classes else {
            return Ok(());
        };
        let predictions = &evaluation.original;
        let probabilities = &predictions.probabilities;
        let counts =
            metrics::confusion_matrix(&predictions.observed, probabilities, classes.count());
        let content = plots::Confusion {
            counts: &counts,
            names: classes.names(),
        };
        plots::confusion(&self.path(output::CONFUSION), content, self.caption)
    }

    /// The inputs of some rows in the units of the data, row-major.
    fn inputs(&self, part: &Part) -> Vec<f64> {
        let inputs = self.data.standardizer.inverse_inputs(&part.inputs);
        inputs.into_values()
    }

    fn inducing(&self) -> Vec<f64> {
        let dimensions = self.data.dimensions();
        let inducing = self.model.inducing_points();
        let rows = inducing.len() / dimensions;
        let points = Matrix::new(rows, dimensions, inducing);
        self.data.standardizer.inverse_inputs(&points).into_values()
    }

    fn fit(&self) -> Result<(), PlotError> {
        let standardizer = &self.data.standardizer;
        let (train, test) = (self.inputs(&self.data.train), self.inputs(&self.data.test));
        let all = train.iter().chain(&test).copied();
        let mut grid = plots::evaluation_grid(all, CURVE_POINTS)?;
        grid.retain(|&place| standardizer.takes_input(0, place));
        let places = Matrix::new(grid.len(), 1, grid.clone());
        let places = standardizer.transform_inputs(&places);
        let predictions = self.predictor.predict(places.values(), 1);
        let curve = in_original_units(&predictions, standardizer, &Levels::default());
        let function = self.function_interval(&predictions);
        // With fixed noise, the noise of new targets is unknown.
        let has_noise = self.data.likelihood.target() != TargetKind::Measurements;
        let has_interval = has_noise && !curve.interval.lower.is_empty();
        let targets = has_interval.then_some(curve.interval);
        let bands: Vec<(&str, Interval)> = match (targets, function) {
            (Some(targets), None) => vec![("95 % band", targets)],
            (targets, function) => (targets.map(|targets| ("95 % with noise", targets)))
                .into_iter()
                .chain(function.map(|function| ("95 % of the function", function)))
                .collect(),
        };
        let edges = |(_, Interval { lower, upper }): &(&str, Interval)| {
            let ends = lower.iter().zip(upper).zip(&grid);
            ends.map(|((&low, &high), &x)| [x, low, high]).collect()
        };
        let observed = [&self.data.train, &self.data.test].map(Part::observed_shares);
        let (train, test) = (
            plots::Points {
                x: &train,
                y: &observed[0],
            },
            plots::Points {
                x: &test,
                y: &observed[1],
            },
        );
        let content = plots::FitPanel {
            title: "",
            means: grid.iter().copied().zip(curve.mean).collect(),
            bands: bands.iter().map(edges).collect(),
            inducing: &self.inducing(),
            orthogonal: &[],
        };
        let texts: Vec<&str> = bands.iter().map(|(text, _)| *text).collect();
        let quantities = (self.input(0), self.target());
        let path = self.path(output::FIT);
        plots::fits(
            &path,
            self.caption,
            &texts,
            (train, test),
            quantities,
            &[content],
        )
    }

    /// The central intervals of the function without noise, in the units of the data; `None` if
    /// targets are not a sum of the function and noise.
    fn function_interval(&self, predictions: &Predictions) -> Option<Interval> {
        let target = self.data.likelihood.target();
        if !target.is_any_number() {
            return None;
        }
        let functions = predictions.distribution.as_ref()?.of_function();
        let Interval { lower, upper } = functions.interval(LEVEL);
        let standardizer = &self.data.standardizer;
        Some(Interval {
            lower: standardizer.inverse_targets(&lower),
            upper: standardizer.inverse_targets(&upper),
        })
    }
}
