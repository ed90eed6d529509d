//! Training steps of the mini-batch models on a device: their time, the kernels they launch and
//! how often they wait for the device.

mod configurations;
mod measurement;

pub use configurations::{StepModel, StepSizes, step_models};
pub use measurement::{StepMeasurement, measure_steps};
