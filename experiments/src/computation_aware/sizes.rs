//! The sizes of synthetic examples.

use burn_gp_runs::{
    failure::Failure,
    option_error::OptionError,
    ranges::{at_least_one, at_most_rows},
    study::{CommonOptions, Experiment},
};
use serde_json::json;

/// The sizes of a synthetic example and of its models.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Rows.
    pub rows: usize,
    /// The number of actions.
    pub actions: usize,
    /// The number of optimizer steps.
    pub steps: usize,
    /// The number of seeds.
    pub seeds: u64,
}

impl Sizes {
    /// Opens the experiment called `name`, whose parts all have these sizes.
    ///
    /// # Errors
    ///
    /// If a size is zero, there are more actions than rows, or the device or the folder is not
    /// available.
    pub fn open(&self, name: &str, common: &CommonOptions) -> Result<Experiment, Failure> {
        self.check()?;
        let settings = json!({
            "rows": self.rows,
            "actions": self.actions,
            "steps": self.steps,
        });
        Experiment::open(name, common, common.place()?, settings)
    }

    fn check(&self) -> Result<(), OptionError> {
        at_least_one("--rows", Some(self.rows))?;
        at_least_one("--actions", Some(self.actions))?;
        at_least_one("--steps", Some(self.steps))?;
        at_least_one("--seeds", Some(self.seeds))?;
        at_most_rows("--actions", self.actions, self.rows)
    }
}
