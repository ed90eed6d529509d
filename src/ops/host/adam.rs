//! A step of Adam on the CPU: one pass over four arrays.

use super::{
    scalar::Scalar,
    threads::{self, in_parts},
    vectorized::{self, Kernel},
};

/// Numbers from which on a step is cut into parts.
const PARALLEL_FROM: usize = 1 << 15;

/// The constants of one step of Adam: with `m ← β₁m + (1 − β₁)g` and `v ← β₂v + (1 − β₂)g²`,
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

/// The numbers that a step reads and writes.
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

/// Makes a step: `gradient` holds the parameter afterwards, `first` and `second` the moments.
pub fn adam_in_place<T: Scalar>(
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
