//! Scores of leave-one-out predictions of the training rows.

use burn::tensor::{Tensor, TensorData};
use burn_gp_core::{
    inference::LeaveOneOut, likelihoods::PredictiveDistribution, metrics, ops::numbers,
};
use burn_gp_datasets::{Standardizer, counted};
use serde::{Deserialize, Serialize};

use crate::coverage::{Coverage, LEVEL};
use crate::scores::four_decimals;
use crate::transformed::in_units_of_data;

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
    /// The scores of predictions of standardized `targets`, which are `observed` in the units of the data, `[N]` both.
    /// `None` for several outputs.
    pub fn new(
        predictions: &LeaveOneOut,
        (targets, observed): (&[f64], &[f64]),
        standardizer: &Standardizer,
    ) -> Option<Self> {
        let [rows, outputs] = predictions.mean.dims();
        if outputs != 1 || rows != targets.len() {
            return None;
        }
        let means = numbers(predictions.mean.clone());
        let variances = numbers(predictions.variance.clone());
        let distribution = PredictiveDistribution::of_normals(means, variances);
        let levels = distribution.central_level(targets);
        let means = match &standardizer.target_transform {
            Some(own) => {
                in_units_of_data(&distribution, own, standardizer)
                    .moments()
                    .0
            }
            None => standardizer.inverse_targets(&numbers(predictions.mean.clone())),
        };
        let slopes = standardizer.log_slopes(observed);
        let data = TensorData::new(targets.to_vec(), [rows, 1]);
        let place = (&predictions.mean.device(), predictions.mean.dtype());
        let densities = numbers(predictions.log_density(Tensor::from_data(data, place)));
        let densities: Vec<f64> = densities
            .iter()
            .zip(slopes)
            .map(|(own, slope)| own + slope)
            .collect();
        let rmse = metrics::root_mean_squared_error(observed, &means);
        Some(Self {
            rows,
            rmse: rmse / standardizer.data_scale(),
            rmse_original: rmse,
            nlpd: metrics::negative_log_density(&densities),
            coverage95: Coverage::of_levels(levels).observed(LEVEL),
        })
    }

    /// The scores as text, in the units of the target.
    pub fn text(&self, target: &str) -> String {
        format!(
            "RMSE {} in the units of {target}, NLPD {:.4}, coverage {:.1} % of the {}, each \
             predicted from all others",
            four_decimals(self.rmse_original),
            self.nlpd,
            100.0 * self.coverage95,
            counted(self.rows, "training row")
        )
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device};
    use burn_gp_datasets::{TargetTransform, Transform};

    use super::*;

    #[test]
    fn scores_by_hand() {
        let place = (&Device::default(), DType::F64);
        let predictions = LeaveOneOut {
            mean: Tensor::from_data([[0.0], [1.0], [2.0], [0.0]], place),
            variance: Tensor::from_data([1.0, 4.0, 1.0, 0.25], place),
        };
        let mut standardizer = Standardizer {
            target_scale: 10.0,
            ..Standardizer::identity(1)
        };
        let observed = [19.0, 10.0, 20.0, -10.0];
        let targets = standardizer.transform_targets(&observed);
        let of = |standardizer: &Standardizer| {
            LeaveOneOutScores::new(&predictions, (&targets, &observed), standardizer).unwrap()
        };
        let found = of(&standardizer);
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
        // A power of one is no transformation, whatever the standardization after it.
        standardizer.target_transform = Some(TargetTransform {
            transform: Transform::YeoJohnson { power: 1.0 },
            data_mean: 0.0,
            data_scale: 10.0,
        });
        let same = of(&standardizer);
        assert!((same.rmse - rmse).abs() < 1e-9 && (same.nlpd - nlpd).abs() < 1e-12);
    }
}
