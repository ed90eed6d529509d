//! The options of every command that uses a trained model.

use clap::Args;

use super::{DataDirectory, DeviceName};

/// The options that `predict`, `sample` and `report` share.
#[derive(Debug, Args)]
pub struct TrainedModelOptions {
    /// Replace the file if it exists
    #[arg(long)]
    pub overwrite: bool,
    /// Device; `burn-gp devices` lists the devices and marks the default
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceName>,
    /// The folder of the registered data sets
    #[command(flatten)]
    pub data_directory: DataDirectory,
}
