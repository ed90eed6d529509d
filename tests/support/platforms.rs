//! The devices compiled in, each with the floating-point types it supports.

use std::fmt::{self, Display, Formatter};

use burn::tensor::{DType, Device, Tensor, TensorData};

use super::Dense;

/// The backends whose tensors are in the host's memory.
const HOST: [&str; 2] = ["flex", "ndarray"];

/// A device and the type of the tensors made on it.
#[derive(Clone, Debug)]
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

/// The devices that the features of this build give.
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

/// Every device compiled in, in every precision it has.
pub fn platforms() -> Vec<Platform> {
    let all: Vec<_> = devices()
        .into_iter()
        .flat_map(|(backend, device)| {
            // A GPU may claim double precision and still evaluate parts of an expression in
            // single: only the host's is tested.
            let precisions: &[DType] = if HOST.contains(&backend) {
                &[DType::F64, DType::F32]
            } else {
                &[DType::F32]
            };
            precisions
                .iter()
                .copied()
                .filter(|&dtype| device.supports_dtype(dtype))
                .map(|dtype| Platform {
                    backend,
                    device: device.clone(),
                    dtype,
                })
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(!all.is_empty(), "no backend is compiled in");
    all
}

/// The platforms that compute in double precision.
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

    /// Whether the tensors are in the host's memory.
    pub fn is_host(&self) -> bool {
        HOST.contains(&self.backend)
    }

    /// One of two tolerances, by precision.
    pub fn tolerance(&self, double: f64, single: f64) -> f64 {
        if self.is_double() { double } else { single }
    }

    /// The distance from one to the next number.
    pub fn epsilon(&self) -> f64 {
        self.tolerance(f64::EPSILON, f64::from(f32::EPSILON))
    }

    /// The same platform with gradients.
    pub fn autodiff(&self) -> Self {
        Self {
            device: self.device.clone().autodiff(),
            ..self.clone()
        }
    }

    /// What a tensor is created with.
    pub fn options(&self) -> (&Device, DType) {
        (&self.device, self.dtype)
    }

    /// A tensor of the given values, row-major.
    pub fn tensor<const D: usize>(&self, values: &[f64], shape: [usize; D]) -> Tensor<D> {
        Tensor::from_data(TensorData::new(values.to_vec(), shape), self.options())
    }

    /// A matrix.
    pub fn matrix(&self, matrix: &Dense) -> Tensor<2> {
        self.tensor(&matrix.values, [matrix.rows, matrix.columns])
    }

    /// A batch of matrices of one size.
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
