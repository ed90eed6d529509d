//! Products with triangular matrices on GPUs.

use super::TriangularProductOps;
use crate::ops::{
    cpu::Side,
    cube::{CubeBackend, CubeTensor, Entries, Form, Part, Target, product, product_of, transposed},
};

/// `L·B` or `Lᵀ·B`, reading only the lower triangle of L.
pub fn triangular(lower: CubeTensor, rhs: CubeTensor, side: Side) -> CubeTensor {
    let (left, entries) = match side {
        Side::Lower => (lower, Entries::Lower),
        Side::Transposed => (transposed(lower), Entries::Upper),
    };
    product_of(left, rhs, Target::New, Form::triangular(entries))
}

impl TriangularProductOps for CubeBackend {
    fn triangular_product(lower: CubeTensor, rhs: CubeTensor, side: Side) -> CubeTensor {
        triangular(lower, rhs, side)
    }

    fn lower_of_product(left: CubeTensor, right: CubeTensor, sign: f64) -> CubeTensor {
        let target = if sign > 0.0 {
            Target::New
        } else {
            Target::Negative
        };
        product(left, transposed(right), target, Part::Lower)
    }
}
