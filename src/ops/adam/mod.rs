//! An Adam step on one parameter as a single operation.

mod cpu;
#[cfg(feature = "cube")]
mod cube;

use burn::{
    backend::{Backend, Dispatch, backend_extension, tensor::FloatTensor},
    tensor::Tensor,
};

/// The constants of one Adam step: with `m ← β₁m + (1 − β₁)g` and `v ← β₂v + (1 − β₂)g²`,
/// `θ ← θ − a·m/(√v + e)`.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// β₁
    pub beta_1: f64,
    /// β₂
    pub beta_2: f64,
    /// a
    pub rate: f64,
    /// e
    pub epsilon: f64,
}

/// Backend implementation of the step.
#[backend_extension(
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cube"),
    Remote: cfg(feature = "remote"),
)]
pub trait AdamOps: Backend {
    /// The parameter and the two moments after the step, from the parameter, its gradient and the
    /// previous moments.
    fn adam(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);

    /// The same as `adam` if the value of `ok`, `[1]`, is positive. Otherwise the parameter and the moments
    /// are unchanged.
    fn adam_if(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        ok: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}

/// The parameter and the two moments after a step, from the parameter, its gradient and the
/// previous moments. All tensors have the same shape and are without autodiff.
///
/// If the value of `ok`, `[1]`, is not positive, the step is skipped: the parameter and the moments stay as
/// they are, whatever the gradient. A GPU decides this itself, so the CPU does not wait.
pub(crate) fn adam<const D: usize>(
    parameter: Tensor<D>,
    gradient: Tensor<D>,
    [first, second]: [Tensor<D>; 2],
    step: AdamStep,
    ok: Option<Tensor<1>>,
) -> (Tensor<D>, [Tensor<D>; 2]) {
    let (parameter, gradient) = (parameter.into_dispatch(), gradient.into_dispatch());
    let [first, second] = [first, second].map(Tensor::into_dispatch);
    let (parameter, first, second) = match ok {
        None => <Dispatch as AdamOps>::adam(parameter, gradient, first, second, step),
        Some(ok) => {
            let ok = ok.into_dispatch();
            <Dispatch as AdamOps>::adam_if(parameter, gradient, first, second, ok, step)
        }
    };
    (
        Tensor::from_dispatch(parameter),
        [first, second].map(Tensor::from_dispatch),
    )
}
