//! Scalar functions and their derivatives at many arguments, in loops that vectorize.

use core::marker::PhantomData;

use crate::ops::cpu::{Kernel, Scalar, vectorized};

/// Selects the value or the derivative of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The value.
    Value,
    /// The derivative.
    Slope,
}

impl Part {
    /// Selects this part of a value and its derivative.
    #[inline(always)]
    pub fn of<T>(self, (value, slope): (T, T)) -> T {
        match self {
            Self::Value => value,
            Self::Slope => slope,
        }
    }
}

/// A function whose loop vectorizes: without branches, and `#[inline(always)]`.
pub trait Function<T> {
    /// The value and the derivative. `FUSED` is true if the processor has fused multiply-add.
    fn at<const FUSED: bool>(x: T) -> (T, T);
}

/// The value or the derivative of the function F at every argument.
pub fn evaluate<T: Scalar, F: Function<T>>(arguments: &[T], part: Part, results: &mut [T]) {
    vectorized::run(Loop::<T, F> {
        arguments,
        part,
        results,
        function: PhantomData,
    });
}

struct Loop<'a, T, F> {
    arguments: &'a [T],
    part: Part,
    results: &'a mut [T],
    function: PhantomData<F>,
}

impl<T: Scalar, F: Function<T>> Kernel for Loop<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        // Each of the separate loops omits the computations that only the other part needs.
        // Closures would keep the baseline instructions.
        let both = self.results.iter_mut().zip(self.arguments);
        match self.part {
            Part::Value => {
                for (result, &x) in both {
                    *result = F::at::<FUSED>(x).0;
                }
            }
            Part::Slope => {
                for (result, &x) in both {
                    *result = F::at::<FUSED>(x).1;
                }
            }
        }
    }
}
