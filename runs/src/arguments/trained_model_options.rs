//! The options of every command that uses a trained model.

use std::path::PathBuf;

use clap::Args;

use super::{DeviceName, RunOptions};

/// The options that `predict`, `sample` and `report` share.
#[derive(Debug, Args)]
pub struct TrainedModelOptions {
    /// Replace the file if it exists
    #[arg(long)]
    pub overwrite: bool,
    /// Device; `burn-gp devices` lists the devices and marks the default
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceName>,
    /// Folder of the registered data sets [default: the environment variable BURN_GP_DATA]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

impl TrainedModelOptions {
    /// The folder of the registered data sets, from the option or the environment.
    pub fn data_dir(&self) -> Option<PathBuf> {
        let typed = self.data_dir.clone();
        typed.or_else(|| RunOptions::environment().data_dir)
    }
}
