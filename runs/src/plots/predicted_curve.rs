//! Predictions over one input.

use serde::{Deserialize, Serialize};

/// A model of one input, evaluated on a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictedCurve {
    /// The inputs of the grid in increasing order, `[G]`.
    pub x: Vec<f64>,
    /// The predicted means, `[G]`.
    pub mean: Vec<f64>,
    /// The predicted standard deviations, `[G]`.
    pub deviation: Vec<f64>,
}

impl PredictedCurve {
    /// Means and variances at the inputs `x`.
    pub fn new(x: Vec<f64>, mean: Vec<f64>, variance: Vec<f64>) -> Self {
        let deviation = variance.into_iter().map(f64::sqrt).collect();
        Self { x, mean, deviation }
    }

    /// The inputs with the means.
    pub(super) fn points(&self) -> Vec<(f64, f64)> {
        let means = self.mean.iter().copied();
        self.x.iter().copied().zip(means).collect()
    }

    /// The inputs with the lower and upper edge of a band of this many standard deviations to each
    /// side.
    pub(super) fn edges(&self, deviations: f64) -> Vec<[f64; 3]> {
        let rows = (self.x.iter().zip(&self.mean)).zip(&self.deviation);
        rows.map(|((&x, mean), deviation)| {
            let half = deviations * deviation;
            [x, mean - half, mean + half]
        })
        .collect()
    }
}
