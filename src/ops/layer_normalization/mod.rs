//! Layer normalization.

mod backward;
mod cpu;
mod rows;

use burn::{
    backend::{Backend, TensorMetadata, backend_extension, tensor::FloatTensor},
    tensor::Tensor,
};

use super::dispatch::dispatch;

/// Backend implementation of the normalization. The defaults use the backend's own operations.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(any(feature = "wgpu", feature = "cuda")),
)]
pub trait LayerNormalizationOps: Backend {
    /// `γ_d·(x_nd − μ_n)/√(v_n + ε) + β_d`, [N, D].
    fn layer_normalization(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        epsilon: f64,
    ) -> FloatTensor<Self> {
        Self::layer_norm(x, scale, Some(shift), epsilon)
    }
}

/// Gradients of the normalization.
pub trait LayerNormalizationBackward: LayerNormalizationOps {
    /// The gradients of x, `(h − mean h − n·mean(h·n))/√(v + ε)` with `h = γ·G`, γ and β.
    fn layer_normalization_backward(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        epsilon: f64,
    ) -> [FloatTensor<Self>; 3] {
        let (shape, width) = (scale.shape(), scale.shape()[0]);
        let row = Self::float_reshape(scale, [1, width].into());
        let centered = Self::float_sub(x.clone(), Self::float_mean_dim(x, 1));
        let variance = Self::float_mean_dim(Self::float_mul(centered.clone(), centered.clone()), 1);
        let deviation = Self::float_sqrt(Self::float_add_scalar(variance, epsilon.into()));
        let normal = Self::float_div(centered, deviation.clone());
        let columns = |sums: FloatTensor<Self>| {
            Self::float_reshape(Self::float_sum_dim(sums, 0), shape.clone())
        };
        let scales = columns(Self::float_mul(gradient.clone(), normal.clone()));
        let shifts = columns(gradient.clone());
        let pulled = Self::float_mul(gradient, row);
        let mean = Self::float_mean_dim(pulled.clone(), 1);
        let along = Self::float_mean_dim(Self::float_mul(pulled.clone(), normal.clone()), 1);
        let rest = Self::float_sub(
            Self::float_sub(pulled, mean),
            Self::float_mul(normal, along),
        );
        [Self::float_div(rest, deviation), scales, shifts]
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
impl LayerNormalizationOps for burn::backend::Cube {}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
impl LayerNormalizationBackward for burn::backend::Cube {}

/// `γ_d·(x_nd − μ_n)/√(v_n + ε) + β_d` with the mean μ_n and the biased variance v_n (divided by D)
/// of row n (J. Ba, J. Kiros and G. Hinton, *Layer Normalization*, arXiv:1607.06450, eq. 3 and 4).
///
/// On the CPU, one pass over memory in each direction; on a GPU, the backend's own operations.
///
/// # Shapes
///
/// - `x` and the result: `[N, D]`
/// - `scale` (γ) and `shift` (β): `[D]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn layer_normalization(
    x: Tensor<2>,
    scale: Tensor<1>,
    shift: Tensor<1>,
    epsilon: f64,
) -> Tensor<2> {
    let ([rows, width], [scales], [shifts]) = (x.dims(), scale.dims(), shift.dims());
    assert!(
        scales == width && shifts == width,
        "layer_normalization: x [{rows}, {width}], {scales} scales, {shifts} shifts; expected [N, D] \
         and D of each"
    );
    dispatch!(LayerNormalizationOps::layer_normalization(x, scale, shift; epsilon))
}
