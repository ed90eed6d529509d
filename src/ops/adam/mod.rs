//! An Adam step on one parameter as a single operation.

mod cpu;
#[cfg(feature = "cube")]
mod cube;

use burn::{
    backend::{Dispatch, tensor::FloatTensor},
    tensor::Tensor,
};

use super::declaration::operations;

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

#[cfg(feature = "remote")]
crate::ops::remote::sent_as_numbers!(AdamStep {
    beta_1,
    beta_2,
    rate,
    epsilon
});

operations! {
    /// Backend implementation of the step.
    trait AdamOps on devices without autodiff {
        /// The parameter and the two moments after the step, from the parameter, its gradient and the
        /// previous moments.
        fn adam(parameter, gradient, first, second; step: AdamStep)
            -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>)
            = (like(parameter), like(first), like(second));

        /// The same as `adam` if the value of `ok`, `[1]`, is positive. Otherwise the parameter and the moments
        /// are unchanged.
        fn adam_if(parameter, gradient, first, second, ok; step: AdamStep)
            -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>)
            = (like(parameter), like(first), like(second));
    }
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
        None => <Dispatch as Dispatched>::adam(parameter, gradient, first, second, step),
        Some(ok) => {
            let ok = ok.into_dispatch();
            <Dispatch as Dispatched>::adam_if(parameter, gradient, first, second, ok, step)
        }
    };
    (
        Tensor::from_dispatch(parameter),
        [first, second].map(Tensor::from_dispatch),
    )
}
