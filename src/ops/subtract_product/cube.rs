//! The remainder on GPUs.

use super::SubtractProductOps;
use crate::ops::cube::{CubeBackend, CubeTensor, Part, Target, product, transposed};

impl SubtractProductOps for CubeBackend {
    fn subtract_product(matrix: CubeTensor, left: CubeTensor, right: CubeTensor) -> CubeTensor {
        product(
            transposed(left),
            right,
            Target::Difference(matrix),
            Part::Whole,
        )
    }

    fn subtract_product_backward(
        [left, right]: [CubeTensor; 2],
        gradient: CubeTensor,
        wanted: [bool; 2],
    ) -> [Option<CubeTensor>; 2] {
        let negative = |left, right| product(left, right, Target::Negative, Part::Whole);
        [
            wanted[0].then(|| negative(right, transposed(gradient.clone()))),
            wanted[1].then(|| negative(left, gradient)),
        ]
    }
}
