//! The training rows that predictions are calibrated on.

use burn_gp_core::likelihoods::Recalibration;
use burn_gp_datasets::{Dataset, EqualInputs, RowRole, Split, SplitError};

use super::PreparedData;
use crate::arguments::RunOptions;
use crate::option_error::OptionError;

/// The split without the training rows that predictions are calibrated on, and these rows.
pub(super) fn calibration_rows(
    split: Split,
    dataset: &Dataset,
    equal: &EqualInputs,
    options: &RunOptions,
) -> Result<(Split, Vec<usize>), SplitError> {
    let Some(share) = options.calibration_share() else {
        return Ok((split, Vec::new()));
    };
    let groups = dataset.attributes.texts(RowRole::Group);
    let together = groups.map(EqualInputs::of_groups);
    let together = together.as_ref().unwrap_or(equal);
    split.hold_out("calibration", together, share, options.seed())
}

impl PreparedData {
    /// Fails if there are too few rows to calibrate predictions on.
    ///
    /// # Errors
    ///
    /// [`OptionError::FewCalibrationRows`].
    pub fn check_calibration(&self, options: &RunOptions) -> Result<(), OptionError> {
        let (rows, fewest) = (self.calibration.len(), Recalibration::FEWEST_ROWS);
        match options.calibration_share() {
            Some(_) if rows < fewest => Err(OptionError::FewCalibrationRows { rows, fewest }),
            _ => Ok(()),
        }
    }
}
