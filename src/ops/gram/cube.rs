//! `AAᵀ` and `AᵀA` on GPUs.

use burn::backend::ops::FloatTensorOps;

use super::GramOps;
use crate::ops::{
    cpu::Side,
    cube::{CubeBackend, CubeTensor, Part, Target, product, transposed},
};

impl GramOps for CubeBackend {
    fn gram(basis: CubeTensor, side: Side) -> CubeTensor {
        let other = transposed(basis.clone());
        let (left, right) = match side {
            Side::Lower => (basis, other),
            Side::Transposed => (other, basis),
        };
        product(left, right, Target::New, Part::Symmetric)
    }

    fn gram_backward(basis: CubeTensor, gradient: CubeTensor, side: Side) -> CubeTensor {
        let symmetric = Self::float_add(gradient.clone(), transposed(gradient));
        let (left, right) = match side {
            Side::Lower => (symmetric, basis),
            Side::Transposed => (basis, symmetric),
        };
        product(left, right, Target::New, Part::Whole)
    }
}
