//! The options of a run, and the names of their values.

mod all_rows;
mod choices;
mod complaint;
mod layers;
mod merge;
mod network;
mod pseudo_observations;
mod run_options;

pub use all_rows::AllRowsOptions;
pub use choices::{
    ActionRowsName, ActionStartName, AuxiliaryName, BackboneName, CorrectionName, CovarianceName,
    DeviceName, DtypeName, HiddenMeanName, InitializerName, InputScaleName, InversionName,
    KeepName, LikelihoodName, MeanName, ModelName, OptimizerName, PolicyName, PosteriorName,
    ScaleName, ScheduleName, name_of,
};
pub use complaint::complaint;
pub use layers::{ImageOption, LayerOptions};
pub use network::NetworkOptions;
pub use pseudo_observations::PseudoObservationOptions;
pub use run_options::RunOptions;
