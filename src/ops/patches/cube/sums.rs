//! `Σ_p A_rp·σ²·φ(r²(left_r, x_n^[p]))` for every left point and image.

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use super::{
    Left, Pairs,
    tile::{OWN, SIDE, STAGE, TILE, squared_distances},
};
use crate::ops::{
    Stationary,
    cube::{Argument, CubeTensor, count_operations, element},
    stationary::cube::profile,
};

/// Writes the sums of some images to the columns of `out`, [R, N], starting with `first_image`.
pub fn write_sums(pairs: &Pairs, kind: Stationary, first_image: usize, out: &CubeTensor) {
    let rows = pairs.left.shape()[1];
    let count = CubeCount::Static(rows.div_ceil(TILE) as u32, pairs.right.shape()[0] as u32, 1);
    count_operations(pairs.operations());
    // SAFETY: the kernel checks rows and columns; there is one cube per image.
    unsafe {
        sums::launch_unchecked(
            &out.client,
            count,
            CubeDim::new_2d(SIDE as u32, SIDE as u32),
            pairs.address_type().max(out.required_address_type()),
            pairs.left.clone().argument(),
            pairs.right.clone().argument(),
            pairs.weights.clone().argument(),
            out.clone().argument(),
            first_image,
            kind,
            pairs.left_points,
            element(out),
        );
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn sums<F: Float>(
    left: &Tensor<F>,
    right: &Tensor<F>,
    weights: &Tensor<F>,
    out: &mut Tensor<F>,
    first_image: usize,
    #[comptime] kind: Stationary,
    #[comptime] left_points: Left,
    #[define(F)] _dtype: ElemType,
) {
    let image = CUBE_POS_Y as usize;
    let first_row = CUBE_POS_X as usize * TILE;
    let (rows, columns) = (left.shape(1), right.shape(1));
    let mut lefts = Shared::<[F]>::new_slice(STAGE);
    let mut rights = Shared::<[F]>::new_slice(STAGE);
    let mut squares = Array::<F>::new(OWN * OWN);
    let mut totals = Array::<F>::new(OWN);
    #[unroll]
    for i in 0..OWN {
        totals[i] = F::new(0.0);
    }
    let mut tiles = columns.div_ceil(TILE);
    if comptime!(left_points == Left::OfImage) {
        // The weights above the diagonal are zero.
        tiles = CUBE_POS_X as usize + 1;
    }
    for tile in 0..tiles {
        let first_column = tile * TILE;
        squared_distances::<F>(
            left,
            right,
            image,
            first_row,
            first_column,
            &mut lefts,
            &mut rights,
            &mut squares,
        );
        #[unroll]
        for i in 0..OWN {
            let row = first_row + i * SIDE + UNIT_POS_Y as usize;
            #[unroll]
            for j in 0..OWN {
                let column = first_column + j * SIDE + UNIT_POS_X as usize;
                if row < rows && column < columns {
                    let value = profile::<F>(squares[i * OWN + j], kind);
                    let place = row * weights.stride(0) + column * weights.stride(1);
                    totals[i] += weights[place] * value;
                }
            }
        }
    }
    sync_cube();
    #[unroll]
    for i in 0..OWN {
        let row = i * SIDE + UNIT_POS_Y as usize;
        lefts[row * SIDE + UNIT_POS_X as usize] = totals[i];
    }
    sync_cube();
    let row = UNIT_POS as usize;
    if row < TILE && first_row + row < rows {
        let mut sum = F::new(0.0);
        for x in 0..SIDE {
            sum += lefts[row * SIDE + x];
        }
        let column = first_image + image;
        let place = (first_row + row) * out.stride(0) + column * out.stride(1);
        out[place] = sum;
    }
}
