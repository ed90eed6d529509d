//! The devices that this program can use on this machine.

mod check;
mod command;
mod double_precision;
mod found;
#[cfg(any(test, feature = "remote"))]
mod front;
#[cfg(feature = "remote")]
mod remote;
mod reports;
mod shared_batches;
mod worker;

#[cfg(feature = "cube")]
use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{DType, Device, FloatDType};
use burn_gp_models::Precision;

use crate::arguments::{BackendName, DeviceName, DtypeName, RunOptions, name_of};
use crate::option_error::OptionError;

pub use check::CheckArguments;
pub use command::{DevicesArguments, DevicesCommand, run};
pub use shared_batches::on_devices;
pub use worker::{WorkerArguments, work};

/// The backends of this program, the preferred one first.
const BUILT: &[BackendName] = &[
    #[cfg(feature = "flex")]
    BackendName::Flex,
    #[cfg(feature = "ndarray")]
    BackendName::Ndarray,
    #[cfg(feature = "cuda")]
    BackendName::Cuda,
    #[cfg(feature = "rocm")]
    BackendName::Rocm,
    #[cfg(feature = "metal")]
    BackendName::Metal,
    #[cfg(feature = "vulkan")]
    BackendName::Vulkan,
    #[cfg(feature = "wgpu")]
    BackendName::Wgpu,
];

/// A device and a floating-point type.
#[derive(Clone, Debug)]
pub struct ComputeTarget {
    /// The device.
    pub device: DeviceName,
    /// The type.
    pub dtype: DtypeName,
}

impl ComputeTarget {
    /// The requested device and type. The defaults are the preferred device of this program and its type.
    ///
    /// # Errors
    ///
    /// [`OptionError::NoDevice`] if the program has none.
    pub fn new(device: Option<DeviceName>, dtype: Option<DtypeName>) -> Result<Self, OptionError> {
        let device = match device {
            Some(device) => device,
            None => default_device()?,
        };
        let dtype = dtype.unwrap_or(default_dtype(&device));
        Ok(Self { device, dtype })
    }

    /// The device and the type of a run.
    ///
    /// # Errors
    ///
    /// [`OptionError::NoDevice`].
    pub fn of(options: &RunOptions) -> Result<Self, OptionError> {
        Self::new(options.main_device().cloned(), options.dtype)
    }

    /// The floating-point type as the models' [`Precision`].
    pub fn precision(&self) -> Precision {
        self.dtype.into()
    }

    /// Opens the devices that share the mini-batches of a run. Empty if the run has a single device.
    ///
    /// # Errors
    ///
    /// The same as [`open`](Self::open).
    pub fn open_all(&self, options: &RunOptions) -> Result<Vec<Device>, OptionError> {
        let names = options.devices.as_deref().unwrap_or_default();
        let dtype = self.precision().dtype();
        let devices = names.iter().map(|name| open(name, dtype));
        match names.len() {
            0 | 1 => Ok(Vec::new()),
            _ => devices.collect(),
        }
    }

    /// Opens the device with this type.
    ///
    /// # Errors
    ///
    /// If the program or the machine does not have the device, or the device does not support the
    /// type.
    pub fn open(&self) -> Result<(Device, DType), OptionError> {
        let dtype = self.precision().dtype();
        let device = open(&self.device, dtype)?;
        prefer(dtype);
        Ok((device, dtype))
    }
}

/// The preferred device of this program.
///
/// # Errors
///
/// [`OptionError::NoDevice`] if there is none.
pub fn default_device() -> Result<DeviceName, OptionError> {
    let backend = BUILT.first().copied().ok_or(OptionError::NoDevice)?;
    Ok(backend.into())
}

/// The default floating-point type of a device: double precision where it costs little, because fits are more
/// reliable in it. A worker's device may be a CPU.
fn default_dtype(device: &DeviceName) -> DtypeName {
    match device.is_local_gpu() {
        true => DtypeName::F32,
        false => DtypeName::F64,
    }
}

/// Opens a device that computes in `dtype`.
///
/// # Errors
///
/// If the program or the machine does not have the device, or the device does not support `dtype`.
pub fn open(name: &DeviceName, dtype: DType) -> Result<Device, OptionError> {
    let device = find(name)?;
    match computes_in(name, &device, dtype) {
        true => Ok(device),
        false => Err(OptionError::DtypeUnsupported {
            device: name.to_string(),
            dtype: dtype.name().to_owned(),
        }),
    }
}

/// Whether a device computes in `dtype`. A GPU that claims to support double precision may still evaluate
/// parts of an expression in single precision, because of its shading language or a kernel, so that is tested.
fn computes_in(name: &DeviceName, device: &Device, dtype: DType) -> bool {
    let may_be_gpu = match name {
        DeviceName::Local { backend, .. } => backend.is_gpu(),
        DeviceName::Remote { .. } => true,
    };
    device.supports_dtype(dtype)
        && (dtype != DType::F64 || !may_be_gpu || double_precision::is_real(device))
}

/// Makes `dtype` the default type of the default device, because burn restores optimizers there.
///
/// This has no effect if a tensor already exists on the device, or if the device does not support the type.
/// Restoring a trainer then fails with a message.
pub fn prefer(dtype: DType) {
    let mut device = Device::default();
    let float = match dtype {
        DType::F64 => FloatDType::F64,
        _ => FloatDType::F32,
    };
    if device.supports_dtype(dtype) {
        // The trainer checks the resulting type.
        let _ = device.configure(float);
    }
}

fn find(name: &DeviceName) -> Result<Device, OptionError> {
    match name {
        DeviceName::Local { backend, index } => find_local(*backend, *index),
        #[cfg(feature = "remote")]
        DeviceName::Remote { address, index } => remote::connect(address, *index),
        #[cfg(not(feature = "remote"))]
        DeviceName::Remote { .. } => Err(worker::not_built()),
    }
}

fn find_local(backend: BackendName, index: usize) -> Result<Device, OptionError> {
    let devices =
        of_backend(backend).ok_or_else(|| OptionError::DeviceNotBuilt(name_of(backend)))?;
    let count = devices.len();
    (devices.into_iter().nth(index)).ok_or_else(|| OptionError::DeviceMissing {
        device: DeviceName::Local { backend, index }.to_string(),
        backend: name_of(backend),
        count,
    })
}

/// The devices of a backend on this machine, in order. `None` if the program has no such backend.
fn of_backend(backend: BackendName) -> Option<Vec<Device>> {
    match backend {
        #[cfg(feature = "flex")]
        BackendName::Flex => Some(vec![Device::flex()]),
        #[cfg(feature = "ndarray")]
        BackendName::Ndarray => Some(vec![ndarray()]),
        #[cfg(feature = "wgpu")]
        BackendName::Wgpu => Some(enumerated(burn::tensor::DeviceType::Wgpu)),
        #[cfg(feature = "vulkan")]
        BackendName::Vulkan => Some(enumerated(burn::tensor::DeviceType::Vulkan)),
        #[cfg(feature = "metal")]
        BackendName::Metal => Some(enumerated(burn::tensor::DeviceType::Metal)),
        #[cfg(feature = "cuda")]
        BackendName::Cuda => Some(enumerated(burn::tensor::DeviceType::Cuda)),
        #[cfg(feature = "rocm")]
        BackendName::Rocm => Some(enumerated(burn::tensor::DeviceType::Rocm)),
        #[allow(unreachable_patterns)] // if every backend is built in
        _ => None,
    }
}

#[cfg(feature = "ndarray")]
#[allow(deprecated)] // supported for as long as burn has it
fn ndarray() -> Device {
    Device::ndarray()
}

/// The devices of a kind. There are none if the driver is not installed.
#[cfg(feature = "cube")]
fn enumerated(kind: burn::tensor::DeviceType) -> Vec<Device> {
    // The CUDA runtime panics without a driver.
    let found = || Device::enumerate(kind).into_vec();
    let found = catch_unwind(AssertUnwindSafe(|| reports::without_reports(found)));
    found.unwrap_or_default()
}
