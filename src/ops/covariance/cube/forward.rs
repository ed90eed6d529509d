//! The covariance on GPUs in one launch.

use burn_cubecl::cubecl::{self, prelude::*};

use super::{
    Arguments,
    tile::{DEPTH, SIDE, STRIDE, add_squares, load_points, load_scales},
};
use crate::ops::{
    Stationary,
    cube::{Argument, CubeTensor, count_operations, element, empty_like},
    stationary::cube::{PROFILE, profile},
};

/// Rows and columns that one thread computes.
const OWN: usize = 4;
/// Rows and columns that a cube computes.
const TILE: usize = OWN * SIDE;

/// `k(x1, x2)`, [P, N1, N2].
pub fn covariance(arguments: Arguments, kind: Stationary) -> CubeTensor {
    let [batch, rows, columns] = arguments.sizes();
    let out = empty_like(&arguments.x1, [batch, rows, columns]);
    if batch * rows * columns == 0 {
        return out;
    }
    let (client, dtype) = (out.client.clone(), element(&out));
    let count = CubeCount::Static(
        columns.div_ceil(TILE) as u32,
        rows.div_ceil(TILE) as u32,
        batch as u32,
    );
    let shared = arguments.shared;
    count_operations(batch * rows * columns * (3 * arguments.dimensions() + PROFILE));
    // SAFETY: the kernel checks every index against the shapes of the tensors.
    unsafe {
        forward::launch_unchecked(
            &client,
            count,
            CubeDim::new_2d(SIDE as u32, SIDE as u32),
            arguments.address_type().max(out.required_address_type()),
            arguments.x1.argument(),
            arguments.x2.argument(),
            arguments.lengthscales.argument(),
            arguments.variance.argument(),
            out.clone().argument(),
            shared,
            kind,
            dtype,
        );
    }
    out
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn forward<F: Float>(
    x1: &Tensor<F>,
    x2: &Tensor<F>,
    lengthscales: &Tensor<F>,
    variance: &Tensor<F>,
    out: &mut Tensor<F>,
    #[comptime] shared: bool,
    #[comptime] kind: Stationary,
    #[define(F)] _dtype: ElemType,
) {
    let batch = CUBE_POS_Z as usize;
    let first_row = CUBE_POS_Y as usize * TILE;
    let first_column = CUBE_POS_X as usize * TILE;
    let (rows, columns, dimensions) = (x1.shape(1), x2.shape(1), x1.shape(2));
    let mut left = Shared::<[F]>::new_slice(TILE * STRIDE);
    let mut right = Shared::<[F]>::new_slice(TILE * STRIDE);
    let mut inverse = Shared::<[F]>::new_slice(DEPTH);
    let mut squares = Array::<F>::new(OWN * OWN);
    #[unroll]
    for i in 0..OWN * OWN {
        squares[i] = F::new(0.0);
    }
    for step in 0..dimensions.div_ceil(DEPTH) {
        let from = step * DEPTH;
        sync_cube();
        load_points::<F>(x1, batch, first_row, from, TILE, &mut left);
        load_points::<F>(x2, batch, first_column, from, TILE, &mut right);
        load_scales::<F>(lengthscales, dimensions, batch, from, shared, &mut inverse);
        sync_cube();
        add_squares::<F>(&left, &right, &inverse, &mut squares, OWN);
    }
    #[unroll]
    for i in 0..OWN {
        #[unroll]
        for j in 0..OWN {
            let row = first_row + i * SIDE + UNIT_POS_Y as usize;
            let column = first_column + j * SIDE + UNIT_POS_X as usize;
            if row < rows && column < columns {
                let place = (batch * rows + row) * columns + column;
                out[place] = variance[batch] * profile::<F>(squares[i * OWN + j], kind);
            }
        }
    }
}
