//! Special functions on GPU backends: tanh uses burn's implementation, the others are computed on
//! the CPU.

use burn::backend::{Cube, ops::FloatTensorOps, tensor::FloatTensor};

use super::{SpecialBackward, SpecialFunction, SpecialOps, cpu};

impl SpecialOps for Cube {
    fn special(x: FloatTensor<Self>, function: SpecialFunction) -> FloatTensor<Self> {
        match function {
            SpecialFunction::Tanh => Self::float_tanh(x),
            _ => cpu::special::<Self>(x, function),
        }
    }
}

impl SpecialBackward for Cube {
    fn special_backward(
        x: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        function: SpecialFunction,
    ) -> FloatTensor<Self> {
        if function != SpecialFunction::Tanh {
            return cpu::special_backward::<Self>(x, gradient, function);
        }
        let values = Self::float_tanh(x);
        let squares = Self::float_mul(values.clone(), values);
        let lost = Self::float_mul(squares, gradient.clone());
        Self::float_sub(gradient, lost)
    }
}
