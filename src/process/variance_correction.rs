//! What features leave of the variance.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::kernels::{FeatureMap, squared_norms};

/// Where inference with features φ takes the variance c(x) into account that they leave.
///
/// Where features approximate a kernel (Nyström), `c(x) = k(x, x) − ‖φ(x)‖²`. Where they are all
/// there is (a network), c levels the prior variance to that of the training input with the largest:
/// `c(x) = max_{x′ ∈ X ∪ {x}} ‖φ(x′)‖² − ‖φ(x)‖²` (Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526,
/// section 3.3): without it the evidence may grow without bound as the noise vanishes, and variances
/// with it. The two switches are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VarianceCorrection {
    /// Whether the objective of training has the term `−Σ_n c(x_n)/(2σ²)`; with another likelihood
    /// than the Gaussian, whether its expectation is under variances that have c.
    pub training: bool,
    /// How c enters predictions.
    pub prediction: PredictedVariance,
}

/// How the variance c(x) that features leave enters predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictedVariance {
    /// Not at all.
    Features,
    /// It is added to the variance of predictions, as the collapsed bound's optimum does.
    Added,
    /// It is noise, of training data too: a datum counts with precision `1/(σ² + c(x_n))`, as in
    /// FITC. A posterior that is trained on batches has no such weights, and adds c.
    #[default]
    Reweighted,
}

impl VarianceCorrection {
    /// Neither in training nor in prediction.
    pub const NONE: Self = Self {
        training: false,
        prediction: PredictedVariance::Features,
    };

    /// Whether predictions have the variance c.
    pub(crate) fn is_predicted(self) -> bool {
        self.prediction != PredictedVariance::Features
    }
}

impl Default for VarianceCorrection {
    /// In training, and reweighted in prediction.
    fn default() -> Self {
        Self {
            training: true,
            prediction: PredictedVariance::Reweighted,
        }
    }
}

/// c at x, `[N, D]`, with the given `features`, `[N, R]`; `level` is the largest `‖φ‖²` elsewhere,
/// none if these are all inputs there are. Never below zero where a level is given.
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

/// `max_n ‖φ(x_n)‖²`, `[1]`, at inputs, `[N, D]`, block by block; zero where the map says itself what
/// its features leave.
pub(crate) fn largest_norm(map: &impl FeatureMap, blocks: &[Tensor<2>]) -> Tensor<1> {
    let largest = |block: &Tensor<2>| match map.prior_variance(block.clone().narrow(0, 0, 1)) {
        Some(variance) => variance.zeros_like(),
        None => squared_norms(map.features(block.clone())).max(),
    };
    Tensor::cat(blocks.iter().map(largest).collect(), 0).max()
}
