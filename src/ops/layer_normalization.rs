//! Rows of mean zero and variance one.

use burn::{backend::Dispatch, tensor::Tensor};

use super::extension::LinearAlgebra;

/// `γ_d·(x_nd − μ_n)/√(v_n + ε) + β_d` with the mean μ_n and the variance v_n of row n, a part `1/D` of
/// the squares (J. Ba, J. Kiros and G. Hinton, *Layer Normalization*, arXiv:1607.06450, eq. 3 and 4).
///
/// One pass over memory in either direction where the host computes; on a GPU the backend's own.
///
/// # Shapes
///
/// - `x` and the result: `[N, D]`
/// - `scale` (γ) and `shift` (β): `[D]`
///
/// # Panics
///
/// If the shapes do not fit together.
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
    Tensor::from_dispatch(<Dispatch as LinearAlgebra>::layer_normalization(
        x.into_dispatch(),
        scale.into_dispatch(),
        shift.into_dispatch(),
        epsilon,
    ))
}
