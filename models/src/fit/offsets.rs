//! Inputs that are added to the functions as they are.

use burn_gp_core::features::Standardization;

use super::{Error, Fit};
use crate::{InitError, ModelConfig};

/// The dimensions that the mean of a model adds to its functions.
pub(super) struct Offsets {
    dimensions: Vec<usize>,
}

impl Offsets {
    /// Those of a model of inputs with `columns` dimensions.
    ///
    /// # Errors
    ///
    /// When the inputs have no such dimension.
    pub fn of(config: &ModelConfig, columns: usize) -> Result<Self, Error> {
        let Some(mean) = config.mean() else {
            let dimensions = Vec::new();
            return Ok(Self { dimensions });
        };
        mean.check_for("mean", columns).map_err(InitError::from)?;
        let dimensions = mean.offset_dimensions();
        Ok(Self { dimensions })
    }

    /// Whether targets are scaled, if the likelihood is one whose targets `may` be. An offset is scaled with the targets
    /// of one output, if inputs are scaled.
    ///
    /// # Errors
    ///
    /// When targets are to be scaled that cannot be.
    pub fn scale_targets(
        &self,
        fit: &Fit,
        may: bool,
        (outputs, scales_inputs): (usize, bool),
    ) -> Result<bool, Error> {
        let is_shared = !self.dimensions.is_empty() && (outputs > 1 || !scales_inputs);
        match may && is_shared {
            true => fit.scales_targets_with_offset(),
            false => fit.scales_targets(may),
        }
    }

    /// Keeps the offsets in the units of the functions: in those of the data around zero if targets are not scaled.
    pub fn rescale(&self, inputs: &mut Standardization, targets: Option<&Standardization>) {
        for &dimension in &self.dimensions {
            match targets {
                None => (inputs.means[dimension], inputs.deviations[dimension]) = (0.0, 1.0),
                // Targets lose their mean, and so do their known terms.
                Some(targets) => inputs.deviations[dimension] = targets.deviations[0],
            }
        }
    }
}
