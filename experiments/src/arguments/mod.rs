//! The options of a run, and the names of their values.

mod applicability;
mod before_data;
mod choices;
mod configuration;
mod full_batch;
mod layers;
mod merge;
mod network;
mod pseudo_observations;
mod run_options;
mod usage_error;

pub use before_data::DEFAULT_DATA;
pub use choices::{
    ActionRowsName, ActionStartName, AuxiliaryName, CorrectionName, CovarianceName, DeviceName,
    DtypeName, HiddenMeanName, InitializerName, InputScaleName, InversionName, KeepName, ModelName,
    OptimizerName, PolicyName, ScaleName, ScheduleName, name_of,
};
pub use configuration::{CONFIG, configuration_in, read_configuration, to_toml};
pub use full_batch::FullBatchOptions;
pub use layers::{ImageOption, LayerOptions};
pub use network::NetworkOptions;
pub use pseudo_observations::PseudoObservationOptions;
pub use run_options::RunOptions;
pub use usage_error::usage_error;
