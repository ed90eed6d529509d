//! Maps of a model of two inputs.

use burn_gp_core::likelihoods::TargetKind;
use burn_gp_datasets::Matrix;

use super::RunPlots;
use super::plane::Plane;
use crate::evaluation::moments;
use crate::output;
use crate::plots::{self, PlotError};

/// How far a decision map extends past the training rows, as a share of their ranges.
const BEYOND: f64 = 0.08;

impl RunPlots<'_> {
    /// The map of a model of two inputs; `None` for other inputs.
    pub(super) fn map(&self) -> Option<Result<(), PlotError>> {
        let plane = Plane::of(self.data)?;
        Some(match self.data.schema.classes.is_some() {
            true => self.decision_map(&plane),
            false => self.prediction_map(&plane),
        })
    }

    fn prediction_map(&self, plane: &Plane<'_>) -> Result<(), PlotError> {
        let grid = plane.grid(0.0)?;
        let inputs = plane.standardized(&grid.nodes());
        let predictions = self.predictor.predict(inputs.values(), inputs.columns());
        let (mean, variances) = moments(&predictions, &self.data.standardizer);
        let deviation: Vec<f64> = variances.iter().map(|variance| variance.sqrt()).collect();
        let content = plots::PredictionMap {
            target: self.target(),
            mean: &mean,
            deviation: &deviation,
            varying: match self.data.likelihood.target() {
                // The noise of new targets is unknown.
                TargetKind::Measurements => "the function",
                // The trials of new targets are unknown.
                TargetKind::Successes => "the share of successes",
                _ => "a new observation",
            },
            test: &plane.positions(&self.data.test.inputs),
            observed: &self.data.test.observed_shares(),
            train: &plane.positions(&self.data.train.inputs),
        };
        let path = self.path(output::PREDICTION_MAP);
        plots::prediction_map(&path, self.caption, (&grid, plane.inputs()), &content)
    }

    fn decision_map(&self, plane: &Plane<'_>) -> Result<(), PlotError> {
        let Some(classes) = &self.data.schema.classes else {
            return Ok(());
        };
        let labels: Vec<usize> = (self.data.train.targets.iter())
            .map(|&label| label as usize)
            .collect();
        let grid = plane.grid(BEYOND)?;
        let inputs = plane.standardized(&grid.nodes());
        let predictions = self.predictor.predict(inputs.values(), inputs.columns());
        let points = plots::ClassifiedPoints {
            x: &plane.positions(&self.data.train.inputs),
            class: &labels,
            names: classes.names(),
        };
        let dimensions = self.data.dimensions();
        let inducing = self.model.inducing_points();
        let inducing = Matrix::new(inducing.len() / dimensions, dimensions, inducing);
        let path = self.path(output::DECISION_MAP);
        plots::decision_map(
            &path,
            &grid,
            &predictions.probabilities,
            points,
            &plane.positions(&inducing),
            plane.inputs(),
            self.caption,
        )
    }
}
