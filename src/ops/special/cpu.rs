//! Special functions on the CPU.

use burn::backend::tensor::FloatTensor;

use super::{
    SpecialFunction, SpecialOps,
    elementwise::{self, Part},
    functions, normal, tanh,
};
use crate::ops::cpu::{CpuMemory, Element, Scalar, in_parts, threads, with_element, write_like};

/// Number of function values from which two threads are faster than one.
const PARALLEL_FROM: usize = 1 << 11;

impl SpecialFunction {
    /// The function, or its derivative, at each of the arguments.
    fn evaluate<T: Scalar>(self, arguments: &[T], part: Part, results: &mut [T]) {
        let scalar = match self {
            Self::LogNormalCdf => {
                return elementwise::evaluate::<T, normal::LogNormalCdf>(arguments, part, results);
            }
            Self::Tanh => {
                return elementwise::evaluate::<T, tanh::Tanh>(arguments, part, results);
            }
            Self::ArcSine => functions::arc_sine,
            Self::Softplus => functions::softplus,
            Self::LogGamma => functions::log_gamma,
            Self::LogOneMinusExp => functions::log_one_minus_exp,
            Self::ExpMinusOne => functions::exp_minus_one,
            Self::LogRatio => functions::log_ratio,
            Self::StirlingRemainder => functions::stirling_remainder,
        };
        for (result, argument) in results.iter_mut().zip(arguments) {
            *result = T::from_f64(part.of(scalar(argument.to_f64())));
        }
    }
}

/// A special function, or its derivative, at each of the arguments.
fn values<T: Element>(arguments: &[T], function: SpecialFunction, part: Part) -> Vec<T> {
    let mut values = vec![T::default(); arguments.len()];
    let parts = threads::count_for(values.len(), PARALLEL_FROM);
    in_parts(&mut values, 1, parts, &|values, first| {
        function.evaluate(&arguments[first..][..values.len()], part, values);
    });
    values
}

impl<B: CpuMemory> SpecialOps for B {
    fn special(x: FloatTensor<B>, function: SpecialFunction) -> FloatTensor<B> {
        with_element!(x, T => {
            write_like::<B, T>(values(&B::read::<T>(&x), function, Part::Value), &x)
        })
    }

    fn special_backward(
        x: FloatTensor<B>,
        gradient: FloatTensor<B>,
        function: SpecialFunction,
    ) -> FloatTensor<B> {
        with_element!(x, T => {
            let mut values = values(&B::read::<T>(&x), function, Part::Slope);
            for (value, &gradient) in values.iter_mut().zip(B::read::<T>(&gradient).iter()) {
                *value *= gradient;
            }
            write_like::<B, T>(values, &x)
        })
    }
}
