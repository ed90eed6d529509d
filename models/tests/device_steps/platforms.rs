//! The GPUs that are compiled in, and data on them.

use burn::tensor::{DType, Device};
use burn_gp_models::training::TrainingData;

/// The GPUs of this build.
pub fn gpus() -> Vec<Device> {
    let gpus = vec![
        #[cfg(feature = "wgpu")]
        Device::wgpu(burn::tensor::DeviceKind::DefaultDevice),
        #[cfg(feature = "cuda")]
        Device::cuda(0),
        #[cfg(feature = "rocm")]
        Device::rocm(0),
    ];
    if gpus.is_empty() {
        println!("skipped: no GPU in this build");
    }
    gpus
}

/// Rows of inputs and targets.
#[derive(Clone)]
pub struct Rows {
    pub inputs: Vec<f64>,
    pub targets: Vec<f64>,
}

impl Rows {
    /// The rows on a device.
    pub fn on(&self, device: &Device, dtype: DType) -> TrainingData {
        TrainingData::new(&self.inputs, &self.targets, device, dtype)
    }
}
