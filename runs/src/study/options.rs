//! The options of every experiment.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::arguments::{DataDirectory, DeviceName, DtypeName, RunOptions, ScaleName};
use crate::devices::ComputeTarget;
use crate::option_error::OptionError;

/// The options of every experiment.
#[derive(Args, Clone, Debug)]
pub struct CommonOptions {
    /// Scale of the experiment
    #[arg(long, value_name = "SCALE", default_value = "quick")]
    pub scale: ScaleName,
    /// Folder to write to or continue [default: out/experiment-NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the folder instead of continuing in it
    #[arg(long)]
    pub overwrite: bool,
    /// The folder of the registered data sets
    #[command(flatten)]
    data_directory: DataDirectory,
    /// First seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    /// Device, listed by `burn-gp devices` [default: marked there]
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceName>,
    /// Floating-point type [default: f64 on CPUs, f32 on GPUs]
    #[arg(long, value_name = "DTYPE")]
    dtype: Option<DtypeName>,
    /// Print errors and warnings only
    #[arg(long)]
    pub quiet: bool,
}

impl CommonOptions {
    /// The options of a single run, which has no scale.
    pub fn of_run(options: &RunOptions, out: PathBuf, overwrite: bool, quiet: bool) -> Self {
        Self {
            scale: ScaleName::Quick,
            out: Some(out),
            overwrite,
            data_directory: DataDirectory::new(options.data_dir.clone()),
            seed: 0,
            device: options.device.clone(),
            dtype: options.dtype,
            quiet,
        }
    }

    /// Whether the scale is that of the paper.
    pub fn is_paper(&self) -> bool {
        self.scale == ScaleName::Paper
    }

    /// The same options at paper scale.
    pub fn as_in_paper(&self) -> Self {
        Self {
            scale: ScaleName::Paper,
            ..self.clone()
        }
    }

    /// Chooses a value by the scale.
    pub fn by_scale<T>(&self, quick: T, paper: T) -> T {
        if self.is_paper() { paper } else { quick }
    }

    /// The folder of the experiment called `name`.
    pub fn folder(&self, name: &str) -> PathBuf {
        let default = || Path::new("out").join(format!("experiment-{name}"));
        self.out.clone().unwrap_or_else(default)
    }

    /// The folder of the data sets, as an absolute path.
    pub fn data_dir(&self) -> Option<PathBuf> {
        let folder = self.data_directory.path()?;
        Some(std::path::absolute(&folder).unwrap_or(folder))
    }

    /// The device and the floating-point type.
    ///
    /// # Errors
    ///
    /// If no device is available.
    pub fn place(&self) -> Result<ComputeTarget, OptionError> {
        ComputeTarget::new(self.device.clone(), self.dtype)
    }

    /// The device and the floating-point type, with single precision as the default.
    ///
    /// # Errors
    ///
    /// If no device is available.
    pub fn place_in_single_precision(&self) -> Result<ComputeTarget, OptionError> {
        Ok(ComputeTarget {
            dtype: self.dtype.unwrap_or(DtypeName::F32),
            ..self.place()?
        })
    }
}
