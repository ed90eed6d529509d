//! The sizes of generated examples.

use burn::tensor::{DType, Device};
use serde_json::json;

use crate::failure::Failure;
use crate::settings::{SettingError, at_least_one, enough_rows};
use crate::study::{CommonOptions, ExperimentFolder};

/// The sizes of an example that is generated for every seed, and of what is trained on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Rows.
    pub rows: usize,
    /// Combinations of rows.
    pub actions: usize,
    /// Steps of the optimizer.
    pub steps: usize,
    /// The number of seeds.
    pub seeds: u64,
}

impl Sizes {
    /// The folder of the experiment called `name`, whose parts have these sizes in common, and where
    /// to compute.
    ///
    /// # Errors
    ///
    /// Where something is zero, or there are more combinations than rows; when there is no such
    /// device or folder.
    pub fn open(
        &self,
        name: &str,
        common: &CommonOptions,
    ) -> Result<(ExperimentFolder, (Device, DType)), Failure> {
        self.check()?;
        let place = common.place()?;
        let device = place.open()?;
        let settings = json!({
            "rows": self.rows,
            "actions": self.actions,
            "steps": self.steps,
            "dtype": place.dtype,
            "device": place.device,
        });
        Ok((ExperimentFolder::open(name, common, &settings)?, device))
    }

    fn check(&self) -> Result<(), SettingError> {
        at_least_one("--rows", Some(self.rows))?;
        at_least_one("--actions", Some(self.actions))?;
        at_least_one("--steps", Some(self.steps))?;
        at_least_one("--seeds", Some(self.seeds))?;
        enough_rows(self.actions, self.rows)
    }
}
