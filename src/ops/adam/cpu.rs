//! An Adam step on the CPU in one pass over four arrays.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{AdamOps, AdamStep};
use crate::ops::cpu::{
    CpuMemory, Kernel, Scalar, in_parts, threads, vectorized, with_element, write,
};

/// Array length from which a step is split across threads.
const PARALLEL_FROM: usize = 1 << 15;

impl<B: CpuMemory> AdamOps for B {
    /// Works in place on tensors that are not shared.
    fn adam(
        parameter: FloatTensor<B>,
        gradient: FloatTensor<B>,
        first: FloatTensor<B>,
        second: FloatTensor<B>,
        step: AdamStep,
    ) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
        let (shape, device) = (parameter.shape(), parameter.device());
        with_element!(parameter, T => {
            let old = B::read::<T>(&parameter);
            let [mut new, mut first, mut second] = [gradient, first, second].map(B::take::<T>);
            adam_in_place(&old, &mut new, (&mut first, &mut second), step);
            let tensor = |values: Vec<T>| write::<B, T>(values, shape.clone(), &device);
            (tensor(new), tensor(first), tensor(second))
        })
    }

    fn adam_if(
        parameter: FloatTensor<B>,
        gradient: FloatTensor<B>,
        first: FloatTensor<B>,
        second: FloatTensor<B>,
        ok: FloatTensor<B>,
        step: AdamStep,
    ) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
        if with_element!(ok, T => B::read::<T>(&ok)[0].to_f64() > 0.0) {
            Self::adam(parameter, gradient, first, second, step)
        } else {
            (parameter, first, second)
        }
    }
}

/// The arrays that a step reads and writes.
struct Arrays<'a, T> {
    parameter: &'a [T],
    /// The gradient on entry, the parameter after the step on exit.
    gradient: &'a mut [T],
    first: &'a mut [T],
    second: &'a mut [T],
}

struct Pass<'a, 'b, T> {
    arrays: &'b mut Arrays<'a, T>,
    step: AdamStep,
}

impl<T: Scalar> Kernel for Pass<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let AdamStep {
            beta_1,
            beta_2,
            rate,
            epsilon,
        } = self.step;
        let (keep_first, new_first) = (T::from_f64(beta_1), T::from_f64(1.0 - beta_1));
        let (keep_second, new_second) = (T::from_f64(beta_2), T::from_f64(1.0 - beta_2));
        let (rate, epsilon) = (T::from_f64(rate), T::from_f64(epsilon));
        let moments = (self.arrays.first.iter_mut()).zip(self.arrays.second.iter_mut());
        let values = (self.arrays.gradient.iter_mut()).zip(self.arrays.parameter);
        for ((gradient, &parameter), (first, second)) in values.zip(moments) {
            let slope = *gradient;
            *first = first.multiply_add::<FUSED>(keep_first, new_first * slope);
            *second = second.multiply_add::<FUSED>(keep_second, new_second * slope * slope);
            *gradient = parameter - rate * *first / (second.square_root() + epsilon);
        }
    }
}

/// Makes a step. Afterwards `gradient` holds the parameter, and `first` and `second` hold the
/// moments.
fn adam_in_place<T: Scalar>(
    parameter: &[T],
    gradient: &mut [T],
    (first, second): (&mut [T], &mut [T]),
    step: AdamStep,
) {
    let count = parameter.len();
    let parts = threads::count_for(count, PARALLEL_FROM);
    let length = count.div_ceil(parts).max(1);
    let mut pieces: Vec<Arrays<'_, T>> = (parameter.chunks(length))
        .zip(gradient.chunks_mut(length))
        .zip(first.chunks_mut(length).zip(second.chunks_mut(length)))
        .map(|((parameter, gradient), (first, second))| Arrays {
            parameter,
            gradient,
            first,
            second,
        })
        .collect();
    in_parts(&mut pieces, 1, parts, &|pieces, _| {
        for arrays in pieces {
            vectorized::run(Pass { arrays, step });
        }
    });
}
