//! The devices of this program and of this machine.

mod check;
mod command;
mod double_precision;
mod found;
mod reports;

use burn::tensor::{DType, Device, FloatDType};
use burn_gp_models::Precision;

use crate::arguments::{BackendName, DeviceName, DtypeName, RunOptions, name_of};
use crate::setting_error::SettingError;

pub use check::CheckArguments;
pub use command::{DevicesArguments, DevicesCommand, run};

/// The backends in this program, the preferred one first.
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
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The device.
    pub device: DeviceName,
    /// The type.
    pub dtype: DtypeName,
}

impl Place {
    /// The requested place; by default the preferred device in this program and its default type.
    ///
    /// # Errors
    ///
    /// [`SettingError::NoDevice`] if the program has none.
    pub fn new(device: Option<DeviceName>, dtype: Option<DtypeName>) -> Result<Self, SettingError> {
        let device = match device {
            Some(device) => device,
            None => default_device()?,
        };
        Ok(Self {
            device,
            dtype: dtype.unwrap_or(default_dtype(device)),
        })
    }

    /// The place of a run.
    ///
    /// # Errors
    ///
    /// [`SettingError::NoDevice`].
    pub fn of(options: &RunOptions) -> Result<Self, SettingError> {
        Self::new(options.device, options.dtype)
    }

    /// The floating-point type as models name it.
    pub fn precision(&self) -> Precision {
        self.dtype.into()
    }

    /// Opens the device with this type.
    ///
    /// # Errors
    ///
    /// If the program or the machine does not have the device, or the device does not support the
    /// type.
    pub fn open(&self) -> Result<(Device, DType), SettingError> {
        let dtype = self.precision().dtype();
        let device = open(self.device, dtype)?;
        prefer(dtype);
        Ok((device, dtype))
    }
}

/// The preferred device in this program.
///
/// # Errors
///
/// [`SettingError::NoDevice`] if there is none.
pub fn default_device() -> Result<DeviceName, SettingError> {
    let backend = BUILT.first().copied().ok_or(SettingError::NoDevice)?;
    Ok(backend.into())
}

/// The default floating-point type of a device: double precision where it costs little, because its
/// fits are more reliable.
fn default_dtype(device: DeviceName) -> DtypeName {
    match device.backend.is_gpu() {
        true => DtypeName::F32,
        false => DtypeName::F64,
    }
}

/// Opens a device that computes in `dtype`.
///
/// # Errors
///
/// If the program or the machine does not have the device, or the device does not support `dtype`.
pub fn open(name: DeviceName, dtype: DType) -> Result<Device, SettingError> {
    let device = find(name)?;
    match computes_in(name.backend, &device, dtype) {
        true => Ok(device),
        false => Err(SettingError::DtypeUnsupported {
            device: name.to_string(),
            dtype: dtype.name().to_owned(),
        }),
    }
}

/// Whether a device computes in `dtype`. Shaders have no double-precision literals: a device that
/// claims to support the type may still evaluate parts of an expression in single precision, so it
/// has to show that it does not.
fn computes_in(backend: BackendName, device: &Device, dtype: DType) -> bool {
    device.supports_dtype(dtype)
        && (dtype != DType::F64 || !backend.has_shaders() || double_precision::is_real(device))
}

/// Makes `dtype` the default type of the default device, because burn restores optimizers there.
///
/// This has no effect if a tensor already exists on the device, or if the device does not support
/// the type. Restoring a trainer then fails with a message.
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

fn find(name: DeviceName) -> Result<Device, SettingError> {
    let devices = of_backend(name.backend).ok_or_else(|| SettingError::DeviceNotBuilt {
        backend: name_of(name.backend),
    })?;
    let count = devices.len();
    (devices.into_iter().nth(name.index)).ok_or_else(|| SettingError::DeviceMissing {
        device: name.to_string(),
        backend: name_of(name.backend),
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
        #[allow(unreachable_patterns)] // with every backend built in
        _ => None,
    }
}

#[cfg(feature = "ndarray")]
#[allow(deprecated)] // supported for as long as burn has it
fn ndarray() -> Device {
    Device::ndarray()
}

/// The devices of a kind. A driver that is not installed has none.
#[cfg(feature = "cube")]
fn enumerated(kind: burn::tensor::DeviceType) -> Vec<Device> {
    // The CUDA runtime panics without a driver.
    let found = || Device::enumerate(kind).into_vec();
    let found = std::panic::catch_unwind(|| reports::without_reports(found));
    found.unwrap_or_default()
}
