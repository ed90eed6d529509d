//! The description of the data in a saved model, for reading new rows and predicting in their units.

use burn_gp_core::likelihoods::LikelihoodName;
use burn_gp_datasets::{Schema, Standardizer};
use burn_gp_models::Calibration;
use serde::{Deserialize, Serialize};

use crate::input_noise::InputNoiseReport;

/// The part of `model.json` besides the configuration of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelContext {
    /// The name of the training data.
    pub data: String,
    /// The columns and the class labels.
    pub schema: Schema,
    /// The columns of the training data that are not inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The names of the columns in which a missing value is an unknown level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// The statistics of the training rows.
    pub standardizer: Standardizer,
    /// The name of the likelihood.
    pub likelihood: LikelihoodName,
    /// The calibration of the predictions, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// The errors of the training inputs, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_noise: Option<InputNoiseReport>,
}
