//! Corrections for the variance that features miss.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::kernels::{FeatureMap, squared_norms};

/// Whether training and prediction account for the residual variance c(x), which the features φ
/// miss.
///
/// If features approximate a kernel (Nyström), `c(x) = k(x, x) − ‖φ(x)‖²`. If they define the
/// kernel (a network), c raises the prior variance to the largest one among the training inputs:
/// `c(x) = max_{x′ ∈ X ∪ {x}} ‖φ(x′)‖² − ‖φ(x)‖²` (Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526,
/// section 3.3). Without the correction, the evidence may grow without bound as the noise vanishes,
/// and the variances with it. The two settings are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VarianceCorrection {
    /// Whether the training objective includes the term `−Σ_n c(x_n)/(2σ²)`. With a non-Gaussian
    /// likelihood, whether the expected log density uses variances that include c.
    pub training: bool,
    /// The role of c in predictions.
    pub prediction: PredictedVariance,
}

/// The role of the residual variance c(x) in predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictedVariance {
    /// Predictions ignore c.
    Features,
    /// Predictions add c to the variance, like the optimum of the collapsed bound.
    Added,
    /// Predictions and training data treat c as additional noise: a data point has precision
    /// `1/(σ² + c(x_n))`, as in FITC. A posterior trained on batches has no such weights; it adds c
    /// to the variance of predictions.
    #[default]
    Reweighted,
}

impl VarianceCorrection {
    /// No correction in training or prediction.
    pub const NONE: Self = Self {
        training: false,
        prediction: PredictedVariance::Features,
    };

    /// Whether predictions include the variance c.
    pub(crate) fn is_predicted(self) -> bool {
        self.prediction != PredictedVariance::Features
    }
}

impl Default for VarianceCorrection {
    /// Correction in training, and reweighting in prediction.
    fn default() -> Self {
        Self {
            training: true,
            prediction: PredictedVariance::Reweighted,
        }
    }
}

/// c at x, `[N, D]`, for the given `features`, `[N, R]`. `level` is the largest `‖φ‖²` at other
/// inputs, or `None` if there are no others. With a level, the result is never negative.
///
/// # Shapes
///
/// - `level`: `[1]`
/// - result: `[N]`
pub(crate) fn residual_variance(
    map: &impl FeatureMap,
    x: Tensor<2>,
    features: Tensor<2>,
    level: Option<Tensor<1>>,
) -> Tensor<1> {
    let norms = squared_norms(features);
    match (map.prior_variance(x), level) {
        (Some(variance), None) => variance - norms,
        (Some(variance), Some(_)) => (variance - norms).clamp_min(0.0),
        (None, None) => norms.clone().max() - norms,
        (None, Some(level)) => (level - norms).clamp_min(0.0),
    }
}

/// `max_n ‖φ(x_n)‖²`, `[1]`, over blocks of inputs, `[N, D]`. It is zero if the map knows the prior
/// variance.
pub(crate) fn largest_norm(map: &impl FeatureMap, blocks: &[Tensor<2>]) -> Tensor<1> {
    let largest = |block: &Tensor<2>| match map.prior_variance(block.clone().narrow(0, 0, 1)) {
        Some(variance) => variance.zeros_like(),
        None => squared_norms(map.features(block.clone())).max(),
    };
    Tensor::cat(blocks.iter().map(largest).collect(), 0).max()
}
