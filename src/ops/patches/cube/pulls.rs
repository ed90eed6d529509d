//! `w = 2σ²·g·A·φ′(r²)` of every pair, from which the gradients of all points are computed.

use burn::backend::{TensorMetadata, ops::FloatTensorOps};
use burn_cubecl::cubecl::{self, prelude::*};

use super::{
    Left, Pairs,
    tile::{OWN, SIDE, STAGE, TILE, squared_distances},
};
use crate::ops::{
    Stationary,
    cube::{Argument, CubeBackend, CubeTensor, count_operations, element, empty_like, with_shape},
    stationary::cube::profile_and_slope,
};

/// Number of cubes that keeps a device busy.
const BUSY: usize = 512;

/// The pulls w of some images, [images, R, P], and `Σ_n g·φ` over them, [R, P].
///
/// The gradient of the sums is [R, N], or `[N]` if the left points are the patches of the same image.
pub fn pulls(
    pairs: &Pairs,
    kind: Stationary,
    gradient: &CubeTensor,
    first_image: usize,
) -> (CubeTensor, CubeTensor) {
    let (images, rows) = (pairs.right.shape()[0], pairs.left.shape()[1]);
    let columns = pairs.right.shape()[1];
    let tiles = [columns.div_ceil(TILE), rows.div_ceil(TILE)];
    // Several cubes share the images of a tile if there are too few tiles.
    let shares = (BUSY / (tiles[0] * tiles[1])).clamp(1, images);
    let share = images.div_ceil(shares);
    let shares = images.div_ceil(share);
    let weights = empty_like(&pairs.right, [images, rows, columns]);
    let sums = empty_like(&pairs.right, [shares, rows, columns]);
    count_operations(pairs.operations());
    // SAFETY: the kernel checks rows, columns and images.
    unsafe {
        fill::launch_unchecked(
            &weights.client,
            CubeCount::Static(tiles[0] as u32, tiles[1] as u32, shares as u32),
            CubeDim::new_2d(SIDE as u32, SIDE as u32),
            pairs.address_type().max(weights.required_address_type()),
            pairs.left.clone().argument(),
            pairs.right.clone().argument(),
            pairs.weights.clone().argument(),
            gradient.clone().argument(),
            weights.clone().argument(),
            sums.clone().argument(),
            first_image,
            share,
            kind,
            pairs.left_points,
            element(&weights),
        );
    }
    let sums = CubeBackend::float_sum_dim(sums, 0);
    (weights, with_shape(sums, [rows, columns]))
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn fill<F: Float>(
    left: &Tensor<F>,
    right: &Tensor<F>,
    weights: &Tensor<F>,
    gradient: &Tensor<F>,
    pulls: &mut Tensor<F>,
    sums: &mut Tensor<F>,
    first_image: usize,
    share: usize,
    #[comptime] kind: Stationary,
    #[comptime] left_points: Left,
    #[define(F)] _dtype: ElemType,
) {
    let first_row = CUBE_POS_Y as usize * TILE;
    let first_column = CUBE_POS_X as usize * TILE;
    if comptime!(left_points == Left::OfImage) && first_column > first_row {
        // The tile below the diagonal has the same values.
        terminate!();
    }
    let (images, rows, columns) = (right.shape(0), left.shape(1), right.shape(1));
    let mut lefts = Shared::<[F]>::new_slice(STAGE);
    let mut rights = Shared::<[F]>::new_slice(STAGE);
    let mut squares = Array::<F>::new(OWN * OWN);
    let mut totals = Array::<F>::new(OWN * OWN);
    #[unroll]
    for i in 0..OWN * OWN {
        totals[i] = F::new(0.0);
    }
    let start = CUBE_POS_Z as usize * share;
    let end = select(start + share > images, images, start + share);
    for image in start..end {
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
                    let (value, slope) = profile_and_slope::<F>(squares[i * OWN + j], kind);
                    let mut place = (first_image + image) * gradient.stride(0);
                    if comptime!(left_points == Left::Inducing) {
                        place =
                            row * gradient.stride(0) + (first_image + image) * gradient.stride(1);
                    }
                    let scale = gradient[place];
                    totals[i * OWN + j] += scale * value;
                    let place = row * weights.stride(0) + column * weights.stride(1);
                    let pull = F::new(2.0) * scale * weights[place] * slope;
                    let start = image * rows * columns;
                    if comptime!(left_points == Left::Inducing) {
                        pulls[start + row * columns + column] = pull;
                    } else if column < row {
                        pulls[start + row * columns + column] = pull;
                        pulls[start + column * columns + row] = pull;
                    } else if column == row {
                        // A patch does not pull itself.
                        pulls[start + row * columns + column] = F::new(0.0);
                    }
                }
            }
        }
    }
    let start = CUBE_POS_Z as usize * rows * columns;
    #[unroll]
    for i in 0..OWN {
        #[unroll]
        for j in 0..OWN {
            let row = first_row + i * SIDE + UNIT_POS_Y as usize;
            let column = first_column + j * SIDE + UNIT_POS_X as usize;
            if row < rows && column < columns {
                let total = totals[i * OWN + j];
                if comptime!(left_points == Left::Inducing) {
                    sums[start + row * columns + column] = total;
                } else if column <= row {
                    sums[start + row * columns + column] = total;
                    sums[start + column * columns + row] = total;
                }
            }
        }
    }
}
