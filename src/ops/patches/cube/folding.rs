//! Converts weights of ordered pairs to weights of unordered pairs.

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use crate::ops::cube::{Argument, CubeTensor, cubes_for, element, empty_like};

/// `B + Bᵀ` below the diagonal, B on it and zeros above, for a contiguous B, [P, P].
pub fn folded(weights: CubeTensor) -> CubeTensor {
    let out = empty_like(&weights, weights.shape());
    let (cubes, dim) = cubes_for(&out, out.shape().num_elements());
    let (client, dtype) = (out.client.clone(), element(&out));
    // SAFETY: the kernel stops if its position is past the end of the output, which has the shape of the
    // square input.
    unsafe {
        fold::launch_unchecked(
            &client,
            cubes,
            dim,
            out.required_address_type(),
            weights.argument(),
            out.clone().argument(),
            dtype,
        );
    }
    out
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn fold<F: Float>(weights: &Tensor<F>, out: &mut Tensor<F>, #[define(F)] _dtype: ElemType) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let patches = out.shape(0);
    let (row, column) = (ABSOLUTE_POS / patches, ABSOLUTE_POS % patches);
    let mut weight = F::new(0.0);
    if column <= row {
        weight = weights[ABSOLUTE_POS];
        if column < row {
            weight += weights[column * patches + row];
        }
    }
    out[ABSOLUTE_POS] = weight;
}
