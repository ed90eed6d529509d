//! The enabled devices, each with its supported floating-point types.

use std::fmt::{self, Display, Formatter};

use burn::tensor::{DType, Device, Tensor, TensorData};

use super::Dense;

/// The backends whose tensors are in host memory.
const HOST: [&str; 2] = ["flex", "ndarray"];

/// Environment variable with the backends to test, separated by commas. If it is not set, all backends of the
/// build are tested.
pub const SELECTION: &str = "BURN_GP_TEST_BACKENDS";

/// A device and a floating-point type.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    pub backend: &'static str,
    pub device: Device,
    pub dtype: DType,
}

impl Display for Platform {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:?}", self.backend, self.dtype)
    }
}

/// The devices enabled by the features of this build.
#[allow(deprecated, reason = "ndarray stays supported beside flex")]
fn devices() -> Vec<(&'static str, Device)> {
    vec![
        #[cfg(feature = "flex")]
        ("flex", Device::flex()),
        #[cfg(feature = "ndarray")]
        ("ndarray", Device::ndarray()),
        #[cfg(feature = "wgpu")]
        (
            "wgpu",
            Device::wgpu(burn::tensor::DeviceKind::DefaultDevice),
        ),
        #[cfg(feature = "cuda")]
        ("cuda", Device::cuda(0)),
    ]
}

/// The selected devices of this build in every precision that they have. A device that is not selected is not
/// opened.
fn platforms_with(
    is_selected: impl Fn(&str) -> bool,
    precisions: impl Fn(&str) -> &'static [DType],
) -> Vec<Platform> {
    (devices().into_iter())
        .filter(|(backend, _)| is_selected(backend))
        .flat_map(|(backend, device)| {
            (precisions(backend).iter().copied())
                .filter(|&dtype| device.supports_dtype(dtype))
                .map(|dtype| Platform {
                    backend,
                    device: device.clone(),
                    dtype,
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

const BOTH: &[DType] = &[DType::F64, DType::F32];

/// What models are tested in. A GPU may report double precision and yet have burn's exponential in single
/// precision, as shaders do.
fn of_models(backend: &str) -> &'static [DType] {
    match HOST.contains(&backend) {
        true => BOTH,
        false => &[DType::F32],
    }
}

/// Whether [`SELECTION`] names a backend.
fn is_selected(backend: &str) -> bool {
    match std::env::var(SELECTION) {
        Ok(selection) => selection.split(',').any(|name| name == backend),
        Err(_) => true,
    }
}

/// Every device of this build that [`SELECTION`] names, in every precision that models are tested in.
pub fn platforms() -> Vec<Platform> {
    let all = platforms_with(is_selected, of_models);
    assert!(!all.is_empty(), "no backend of {SELECTION} is compiled in");
    all
}

/// The same in every precision that the device reports, for tests of the library's own operations, which use
/// no function of burn.
pub fn platforms_of_operations() -> Vec<Platform> {
    let all = platforms_with(is_selected, |_| BOTH);
    assert!(!all.is_empty(), "no backend of {SELECTION} is compiled in");
    all
}

/// The first platform of this build with double precision, with which others are compared. It does not depend
/// on [`SELECTION`].
pub fn reference_platform() -> Option<Platform> {
    let all = platforms_with(|backend| HOST.contains(&backend), of_models);
    all.into_iter().find(Platform::is_double)
}

/// The platform for tests that do not depend on the backend: [`reference_platform`], or `None` if
/// [`SELECTION`] does not name it, so that the caller skips its test.
pub fn first_platform() -> Option<Platform> {
    let reference = reference_platform();
    let selected = platforms()
        .into_iter()
        .find(|platform| Some(platform) == reference.as_ref());
    if selected.is_none() {
        let test = std::thread::current();
        let name = test.name().unwrap_or("a test").to_owned();
        eprintln!("{name} does not depend on the backend: skipped, since {SELECTION} names others");
    }
    selected
}

/// The platforms with double precision.
pub fn double_precision_platforms() -> Vec<Platform> {
    platforms()
        .into_iter()
        .filter(Platform::is_double)
        .collect()
}

impl Platform {
    pub fn is_double(&self) -> bool {
        self.dtype == DType::F64
    }

    /// Whether the tensors are in host memory.
    pub fn is_host(&self) -> bool {
        HOST.contains(&self.backend)
    }

    /// Selects one of two tolerances by precision.
    pub fn tolerance(&self, double: f64, single: f64) -> f64 {
        if self.is_double() { double } else { single }
    }

    /// The machine epsilon.
    pub fn epsilon(&self) -> f64 {
        self.tolerance(f64::EPSILON, f64::from(f32::EPSILON))
    }

    /// The same platform with autodiff.
    pub fn autodiff(&self) -> Self {
        Self {
            device: self.device.clone().autodiff(),
            ..self.clone()
        }
    }

    /// The same platform without autodiff.
    pub fn without_autodiff(&self) -> Self {
        Self {
            device: self.device.clone().inner(),
            ..self.clone()
        }
    }

    /// The tensor creation options.
    pub fn options(&self) -> (&Device, DType) {
        (&self.device, self.dtype)
    }

    /// A tensor with the given values, row-major.
    pub fn tensor<const D: usize>(&self, values: &[f64], shape: [usize; D]) -> Tensor<D> {
        Tensor::from_data(TensorData::new(values.to_vec(), shape), self.options())
    }

    /// A matrix.
    pub fn matrix(&self, matrix: &Dense) -> Tensor<2> {
        self.tensor(&matrix.values, [matrix.rows, matrix.columns])
    }

    /// A batch of matrices of the same size.
    pub fn batch(&self, members: &[Dense]) -> Tensor<3> {
        let shape = [members.len(), members[0].rows, members[0].columns];
        self.tensor(&super::dense::flatten(members), shape)
    }

    /// The given values rounded to this platform's precision.
    pub fn rounded(&self, values: &[f64]) -> Vec<f64> {
        let round = |&value: &f64| {
            if self.is_double() {
                value
            } else {
                f64::from(value as f32)
            }
        };
        values.iter().map(round).collect()
    }
}
