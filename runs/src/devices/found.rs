//! The list of backends and their devices.

use burn::tensor::{DType, Device};
use burn_gp_datasets::counted;
use clap::ValueEnum;

use super::{BUILT, computes_in, of_backend};
use crate::arguments::{BackendName, DeviceName};
use crate::threads;

/// A device of this machine, or a backend without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundDevice {
    /// A device.
    Here {
        /// The name on the command line.
        name: DeviceName,
        /// Its name according to the driver.
        description: String,
        /// Whether it supports single and double precision.
        precisions: [bool; 2],
        /// Whether it is the default.
        is_default: bool,
    },
    /// A backend of this program that finds no device.
    None {
        /// The backend.
        backend: BackendName,
    },
    /// A backend that is not in this program.
    NotBuilt {
        /// The backend.
        backend: BackendName,
    },
}

/// The devices of every backend, in the order of the backends' names.
pub fn found() -> Vec<FoundDevice> {
    let backends = BackendName::value_variants().iter().copied();
    backends.flat_map(of).collect()
}

fn of(backend: BackendName) -> Vec<FoundDevice> {
    match of_backend(backend) {
        None => vec![FoundDevice::NotBuilt { backend }],
        Some(devices) if devices.is_empty() => vec![FoundDevice::None { backend }],
        Some(devices) => (devices.iter().enumerate())
            .map(|(index, device)| FoundDevice::Here {
                name: DeviceName::Local { backend, index },
                description: description(backend, device),
                precisions: [DType::F32, DType::F64]
                    .map(|dtype| computes_in(&DeviceName::from(backend), device, dtype)),
                is_default: index == 0 && BUILT.first() == Some(&backend),
            })
            .collect(),
    }
}

/// Details about a device: for a GPU, its name according to the driver and the target that its kernels are
/// compiled for; for a CPU, the number of threads.
pub fn details(name: &DeviceName, device: &Device) -> String {
    match name {
        DeviceName::Local { backend, .. } => description(*backend, device),
        DeviceName::Remote { .. } => "device of a worker".to_owned(),
    }
}

fn description(backend: BackendName, device: &Device) -> String {
    if !backend.is_gpu() {
        return format!("CPU, {}", counted(threads::count(), "thread"));
    }
    #[cfg(feature = "cube")]
    if let Some(identity) = device.identity() {
        return format!("{}, {}", identity.name, identity.fingerprint);
    }
    format!("{device:?}")
}
