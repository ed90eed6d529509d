//! Layer normalization.

mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod rows;

use burn::{backend::tensor::FloatTensor, tensor::Tensor};

use super::declaration::{dispatch, operations};

operations! {
    /// Backend implementation of the normalization.
    trait LayerNormalizationOps on devices {
        /// `γ_d·(x_nd − μ_n)/√(v_n + ε) + β_d`, [N, D].
        fn layer_normalization(x, scale, shift; epsilon: f64) -> FloatTensor<Self> = like(x),
            |gradient, _| B::layer_normalization_backward(x, scale, gradient, epsilon).map(Some);
    } backward {
        /// The gradients of x, `(h − mean h − n·mean(h·n))/√(v + ε)` with `h = γ·G`, of γ and of β.
        fn layer_normalization_backward(x, scale, gradient; epsilon: f64) -> [FloatTensor<Self>; 3]
            = [like(x), like(scale), like(scale)];
    }
}

/// `γ_d·(x_nd − μ_n)/√(v_n + ε) + β_d` with the mean μ_n and the biased variance v_n (divided by D)
/// of row n (J. Ba, J. Kiros and G. Hinton, *Layer Normalization*, arXiv:1607.06450, eq. 3 and 4).
///
/// One pass over memory in each direction.
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
    dispatch!(layer_normalization(x, scale, shift; epsilon))
}
