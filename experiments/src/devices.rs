//! The devices in this program.

use burn::tensor::{DType, Device, FloatDType};
use burn_gp_models::Precision;

use crate::arguments::{DeviceName, DtypeName, RunOptions, name_of};
use crate::setting_error::SettingError;

/// The devices in this program, the preferred one first.
const BUILT: &[DeviceName] = &[
    #[cfg(feature = "flex")]
    DeviceName::Flex,
    #[cfg(feature = "ndarray")]
    DeviceName::Ndarray,
    #[cfg(feature = "vulkan")]
    DeviceName::Vulkan,
    #[cfg(feature = "wgpu")]
    DeviceName::Wgpu,
    #[cfg(feature = "cuda")]
    DeviceName::Cuda,
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
    BUILT.first().copied().ok_or(SettingError::NoDevice)
}

/// The default floating-point type of a device: double precision where it costs little, because its
/// fits are more reliable.
fn default_dtype(device: DeviceName) -> DtypeName {
    match device {
        DeviceName::Flex | DeviceName::Ndarray => DtypeName::F64,
        DeviceName::Wgpu | DeviceName::Vulkan | DeviceName::Cuda => DtypeName::F32,
    }
}

/// Opens a device that computes in `dtype`.
///
/// # Errors
///
/// If the program or the machine does not have the device, or the device does not support `dtype`.
pub fn open(name: DeviceName, dtype: DType) -> Result<Device, SettingError> {
    let device = find(name)?;
    // Shaders have no double-precision literals. A device that claims to support the type still
    // evaluates parts of an expression in single precision.
    let shaders = matches!(name, DeviceName::Wgpu | DeviceName::Vulkan);
    if device.supports_dtype(dtype) && !(shaders && dtype == DType::F64) {
        return Ok(device);
    }
    Err(SettingError::DtypeUnsupported {
        device: name_of(name),
        dtype: dtype.name().to_owned(),
    })
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
    match name {
        #[cfg(feature = "flex")]
        DeviceName::Flex => Ok(Device::flex()),
        #[cfg(feature = "ndarray")]
        DeviceName::Ndarray => Ok(ndarray()),
        #[cfg(feature = "wgpu")]
        DeviceName::Wgpu => first(name, burn::tensor::DeviceType::Wgpu),
        #[cfg(feature = "vulkan")]
        DeviceName::Vulkan => first(name, burn::tensor::DeviceType::Vulkan),
        #[cfg(feature = "cuda")]
        DeviceName::Cuda => first(name, burn::tensor::DeviceType::Cuda),
        #[allow(unreachable_patterns)] // with every device built in
        _ => Err(SettingError::DeviceNotBuilt {
            device: name_of(name),
        }),
    }
}

#[cfg(feature = "ndarray")]
#[allow(deprecated)] // supported for as long as burn has it
fn ndarray() -> Device {
    Device::ndarray()
}

/// The first device of a kind on this machine.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn first(name: DeviceName, kind: burn::tensor::DeviceType) -> Result<Device, SettingError> {
    let found = Device::enumerate(kind).into_vec().into_iter().next();
    found.ok_or_else(|| SettingError::DeviceMissing {
        device: name_of(name),
    })
}
