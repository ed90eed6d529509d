//! Scores of leave-one-out predictions of the training rows.

use burn::tensor::Tensor;
use burn_gp_core::{inference::LeaveOneOut, metrics, ops::numbers};
use serde::{Deserialize, Serialize};

use crate::coverage::HALF_WIDTH;

/// The scores of the prediction of each training target from all others, at the hyperparameters that all rows
/// determined: models with many hyperparameters look slightly better than they are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeaveOneOutScores {
    /// The number of rows.
    pub rows: usize,
    /// The root mean squared error, in standardized units.
    pub rmse: f64,
    /// The root mean squared error in the units of the data.
    pub rmse_original: f64,
    /// The mean negative log predictive density, noise included, in standardized units.
    pub nlpd: f64,
    /// The share of the targets in their central 95 % intervals.
    pub coverage95: f64,
}

impl LeaveOneOutScores {
    /// The scores of predictions of `targets`, `[N, 1]`, whose scale in the units of the data is `scale`. `None`
    /// for several outputs.
    pub fn new(predictions: &LeaveOneOut, targets: Tensor<2>, scale: f64) -> Option<Self> {
        let [rows, outputs] = targets.dims();
        if outputs != 1 {
            return None;
        }
        let densities = numbers(predictions.log_density(targets.clone()));
        let (targets, means) = (numbers(targets), numbers(predictions.mean.clone()));
        let half_widths: Vec<f64> = (numbers(predictions.variance.clone()).iter())
            .map(|variance| HALF_WIDTH * variance.sqrt())
            .collect();
        let ends = |sign: f64| -> Vec<f64> {
            let each = means.iter().zip(&half_widths);
            each.map(|(mean, half)| mean + sign * half).collect()
        };
        let rmse = metrics::root_mean_squared_error(&targets, &means);
        Some(Self {
            rows,
            rmse,
            rmse_original: scale * rmse,
            nlpd: metrics::negative_log_density(&densities),
            coverage95: metrics::coverage(&targets, &ends(-1.0), &ends(1.0)),
        })
    }

    /// The scores as text, in the units of the target.
    pub fn text(&self, target: &str) -> String {
        format!(
            "RMSE {:.4} in the units of {target}, NLPD {:.4}, coverage {:.1} % of the {} training rows, each \
             predicted from all others",
            self.rmse_original,
            self.nlpd,
            100.0 * self.coverage95,
            self.rows
        )
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device};

    use super::*;

    #[test]
    fn scores_by_hand() {
        let place = (&Device::default(), DType::F64);
        let predictions = LeaveOneOut {
            mean: Tensor::from_data([[0.0], [1.0], [2.0], [0.0]], place),
            variance: Tensor::from_data([1.0, 4.0, 1.0, 0.25], place),
        };
        let targets = Tensor::from_data([[1.9], [1.0], [2.0], [-1.0]], place);
        let found = LeaveOneOutScores::new(&predictions, targets, 10.0).unwrap();
        assert_eq!(found.rows, 4);
        // Only the last target is more than 1.96 standard deviations away.
        assert_eq!(found.coverage95, 0.75);
        // √((1.9² + 1)/4)
        let rmse = (4.61f64 / 4.0).sqrt();
        assert!(
            (found.rmse - rmse).abs() < 1e-12 && (found.rmse_original - 10.0 * rmse).abs() < 1e-11
        );
        let squares = 1.9f64.powi(2) + 1.0 / 0.25;
        let logarithms = [1.0, 4.0, 1.0, 0.25].map(|v: f64| (2.0 * std::f64::consts::PI * v).ln());
        let nlpd = (squares + logarithms.iter().sum::<f64>()) / 8.0;
        assert!((found.nlpd - nlpd).abs() < 1e-12, "{}, {nlpd}", found.nlpd);
        let several = Tensor::zeros([4, 2], place);
        assert_eq!(LeaveOneOutScores::new(&predictions, several, 1.0), None);
    }
}
