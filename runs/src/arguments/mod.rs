//! The options of a run, and the names of their values.

mod applicability;
mod choices;
mod configuration;
mod data_directory;
mod declaration;
mod defaults;
mod device_name;
mod fields;
mod image_option;
mod merge;
mod model_choice;
mod model_fields;
mod run_options;
mod streaming;
mod table_columns;
mod trained_model_options;

pub use choices::{
    ActionRowsName, ActionStartName, AuxiliaryName, BackendName, CorrectionName, CovarianceName,
    DateOrderName, DecimalName, DtypeName, InitializerName, InputScaleName, InversionName,
    KeepName, MissingName, NormalizationName, OptimizerName, PolicyName, ScaleName, ScheduleName,
    TimeName, model, name_of,
};
pub use configuration::{CONFIG, parse_configuration, read_configuration, to_toml};
pub use data_directory::DataDirectory;
pub use declaration::Property;
pub use defaults::DEFAULT_DATA;
pub use device_name::{DeviceName, NoDeviceName};
pub use image_option::ImageOption;
pub use model_choice::ModelChoice;
pub use model_fields::{ModelFields, read};
pub use run_options::RunOptions;
pub use trained_model_options::TrainedModelOptions;
