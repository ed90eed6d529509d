//! What a saved model needs to read new rows and to answer in their units.

use burn_gp_datasets::{Schema, Standardizer};
use serde::{Deserialize, Serialize};

use crate::arguments::LikelihoodName;

/// Kept in `model.json` beside the model's own configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelContext {
    /// The data that the model was trained on.
    pub data: String,
    /// The columns, and which label is which class.
    pub schema: Schema,
    /// The statistics of the training rows.
    pub standardizer: Standardizer,
    /// The likelihood's name.
    pub likelihood: LikelihoodName,
}
