//! The folder of the registered data sets.

use std::path::PathBuf;

use clap::Args;

/// The folder of the registered data sets, of commands without the options of `train`.
#[derive(Args, Clone, Debug, Default)]
pub struct DataDirectory {
    /// Folder of the registered data sets [default: the environment variable BURN_GP_DATA]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl DataDirectory {
    /// The folder of an option that was read elsewhere.
    pub fn new(data_dir: Option<PathBuf>) -> Self {
        Self { data_dir }
    }

    /// The environment variable's folder. Files of options take precedence over it, and therefore `train` does not
    /// read it as an option.
    pub fn of_environment() -> Option<PathBuf> {
        std::env::var_os("BURN_GP_DATA").map(PathBuf::from)
    }

    /// The folder of the option.
    pub fn typed(&self) -> Option<PathBuf> {
        self.data_dir.clone()
    }

    /// The folder of the option or the environment.
    pub fn path(&self) -> Option<PathBuf> {
        self.typed().or_else(Self::of_environment)
    }
}
