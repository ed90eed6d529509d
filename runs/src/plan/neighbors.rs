//! The numbers of neighbors of nearest-neighbor regression.

use burn_gp_core::inference::VecchiaSettings;

use crate::arguments::RunOptions;
use crate::option_error::OptionError;
use crate::ranges::{MOST_SIZE, count};

/// The numbers of neighbors, with their defaults filled in.
pub(super) fn neighbors(resolved: &mut RunOptions) -> Result<VecchiaSettings, OptionError> {
    let default = VecchiaSettings::default();
    let prediction = &mut resolved.prediction_neighbors;
    Ok(VecchiaSettings {
        prediction_neighbors: count(
            MOST_SIZE,
            "--prediction-neighbors",
            prediction,
            default.prediction_neighbors,
        )?,
        neighbors: count(
            MOST_SIZE,
            "--neighbors",
            &mut resolved.neighbors,
            default.neighbors,
        )?,
    })
}

/// Whether new rows are predicted together.
pub(super) fn joint_predictions(resolved: &mut RunOptions) -> bool {
    !*resolved.independent_predictions.get_or_insert(false)
}
