//! What operations may exploit in a kernel.

use burn::tensor::{DType, Tensor};

use super::{
    AnyKernel, Kernel,
    points::{covariance_shape, expanded, require_type},
};
use crate::ops::{self, Stationary};

/// The form of a kernel, as far as operations exploit it. Products with vectors, combinations of points and
/// sums over patches never store the covariances of stationary kernels, and are linear in the kernel.
///
/// ```
/// use burn::tensor::Device;
/// use burn_gp_core::kernels::{Kernel, Scaled, StationaryConfig, Structure};
///
/// let device = Device::default();
/// let kernel = Scaled::new(StationaryConfig::rbf().init(2, &device), 3.0, &device);
/// let Structure::Scaled(base, _) = kernel.structure() else {
///     panic!("not a scaled kernel")
/// };
/// assert!(matches!(base.structure(), Structure::Stationary(_)));
/// ```
#[allow(
    clippy::large_enum_variant,
    reason = "it is taken apart at once, and a box would cost an allocation in every call"
)]
#[derive(Debug)]
pub enum Structure<'a> {
    /// `σ²·φ(r²)`
    Stationary(StationaryParameters),
    /// The sum of two kernels.
    Sum(&'a AnyKernel, &'a AnyKernel),
    /// A kernel times a scale, `[1]`.
    Scaled(&'a AnyKernel, Tensor<1>),
    /// A kernel on some input dimensions, counted from zero.
    ActiveDimensions(&'a AnyKernel, &'a [usize]),
    /// Any other form.
    General,
}

/// The scales of a kernel of differences: see [`Kernel::input_scales`].
#[derive(Clone, Debug, PartialEq)]
pub struct InputScales {
    /// σ²
    pub variance: f64,
    /// ℓ, one for each input dimension
    pub lengthscales: Vec<f64>,
}

/// A stationary kernel `σ²·φ(r²)`, `r² = Σ_d (x_d − x′_d)²/ℓ_d²`.
#[derive(Clone, Debug)]
pub struct StationaryParameters {
    /// φ
    pub profile: Stationary,
    /// ℓ, `[D]`, or `[1]` if shared by all dimensions; those of B members one after the other
    pub lengthscales: Tensor<1>,
    /// σ², `[1]`, or `[B]` for B members
    pub variance: Tensor<1>,
}

impl StationaryParameters {
    /// The covariances of B pairs of sets of points, or of one pair for each of B members, `[B, N1, N2]`.
    pub(super) fn covariance(self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let ([sets, ..], [members]) = (covariance_shape(&x1, &x2), self.variance.dims());
        let batch = sets.max(members);
        let lengthscales = match members == batch {
            true => self.lengthscales,
            false => expanded(self.lengthscales.unsqueeze::<2>(), batch).flatten(0, 1), // [B·D]
        };
        ops::covariances(
            self.profile,
            expanded(x1, batch),
            expanded(x2, batch),
            lengthscales,
            expanded(self.variance, batch),
        )
    }
}

/// A quantity that is linear in the covariance: `stationary` computes it for the stationary parts of a sum,
/// and `general` for the others. Points are of type `points`.
#[track_caller]
pub(super) fn linear<const D: usize>(
    kernel: &dyn Kernel,
    points: DType,
    stationary: &dyn Fn(StationaryParameters) -> Tensor<D>,
    general: &dyn Fn(&dyn Kernel) -> Tensor<D>,
) -> Tensor<D> {
    let part = |kernel: &AnyKernel| linear(kernel, points, stationary, general);
    match kernel.structure() {
        Structure::Stationary(parameters) => {
            require_type("stationary", parameters.lengthscales.dtype(), points);
            stationary(parameters)
        }
        Structure::Sum(first, second) => part(first) + part(second),
        Structure::Scaled(base, scale) => part(base) * scale.reshape([1; D]),
        Structure::ActiveDimensions(..) | Structure::General => general(kernel),
    }
}
