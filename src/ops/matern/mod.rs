//! The Matérn covariance of any smoothness, as a function of squared distances and of the smoothness.

mod composed;
mod cpu;
mod mixture;
mod nodes;

use burn::{
    backend::{Dispatch, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{cpu::is_on_cpu, declaration::operations};

operations! {
    /// Backend implementation of the profile.
    trait MaternOps on cpu {
        /// φ, [B, N1, N2], from squared distances, [B, N1, N2], and smoothness, [B].
        fn matern(squares, smoothness) -> FloatTensor<Self>,
            |gradient, _| B::matern_backward([squares, smoothness], gradient).map(Some);
    } backward {
        /// The gradients of the squared distances and of the smoothness.
        fn matern_backward([squares, smoothness], gradient) -> [FloatTensor<Self>; 2];
    }
}

/// `φ = 2^(1−ν)/Γ(ν)·z^ν·K_ν(z)` with `z = √(2ν·r²)`: the Matérn covariance of smoothness ν with variance one,
/// differentiable in r² and in ν (Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, eq. 4.14).
/// For ν = ½, 3/2, 5/2 it is that of [`Stationary`](super::Stationary), and for large ν the squared exponential.
///
/// With `t = eᵘ` in an integral for the modified Bessel function K_ν (NIST Digital Library of Mathematical Functions,
/// 10.32.10), the covariance is a mixture of squared exponentials,
///
/// ```text
/// φ = 1/Γ(ν)·∫ exp(ν·u − eᵘ − (z/2)²·e⁻ᵘ) du,
/// ```
///
/// and so are its derivatives. The trapezoidal rule converges exponentially for such integrals (L. Trefethen and J.
/// Weideman, *The Exponentially Convergent Trapezoidal Rule*, SIAM Review 56, 2014). On the CPU it is computed in double
/// precision, to about 14 digits for any positive ν. GPUs compose it of other operations, to the digits of the
/// tensor's type.
///
/// Where two points coincide, φ is one, and both derivatives are zero: the difference of the points is too, with which
/// the chain rule multiplies the slope, which is infinite for ν ≤ 1.
///
/// # Shapes
///
/// - `squares` (r²): `[B, N1, N2]`, not negative
/// - `smoothness` (ν): `[B]`, positive
/// - result: `[B, N1, N2]`
///
/// # Panics
///
/// If the numbers of members differ.
#[track_caller]
pub fn matern(squares: Tensor<3>, smoothness: Tensor<1>) -> Tensor<3> {
    assert!(
        squares.dims()[0] == smoothness.dims()[0],
        "matern: squared distances {:?}, smoothness {:?}; expected [B, N1, N2] and [B]",
        squares.dims(),
        smoothness.dims()
    );
    if !is_on_cpu(&squares) {
        return composed::matern(squares, smoothness);
    }
    Tensor::from_dispatch(<Dispatch as Dispatched>::matern(
        squares.into_dispatch(),
        smoothness.into_dispatch(),
    ))
}
