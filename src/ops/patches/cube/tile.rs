//! Tiles of squared distances between left points and the patches of an image.

use burn_cubecl::cubecl::{self, prelude::*};

/// Left points and patches of a tile, which one cube computes.
pub const TILE: usize = 64;
/// Dimensions held in shared memory at a time.
const DEPTH: usize = 16;
/// Rows, and columns, of a tile that one thread computes.
pub const OWN: usize = 4;
/// Threads along each side of a cube.
pub const SIDE: usize = TILE / OWN;
/// The length of a row in shared memory. It is odd, so that threads write to different banks.
const PADDED: usize = TILE + 1;
/// Values in shared memory on each side of a tile.
pub const STAGE: usize = DEPTH * PADDED;

/// Computes `r²` of a thread's pairs of a tile, `[OWN·OWN]`: rows `first_row + i·SIDE + y` and columns
/// `first_column + j·SIDE + x`. Points past the last are zero. Sums of squared differences stay accurate,
/// however close two points are.
///
/// - `left`: [1 or N, R, D]; a single member serves all images with a stride of zero
/// - `right`: [N, P, D]
#[cube]
pub fn squared_distances<F: Float>(
    left: &Tensor<F>,
    right: &Tensor<F>,
    image: usize,
    first_row: usize,
    first_column: usize,
    lefts: &mut Shared<[F]>,
    rights: &mut Shared<[F]>,
    squares: &mut Array<F>,
) {
    let (rows, columns, dimensions) = (left.shape(1), right.shape(1), right.shape(2));
    #[unroll]
    for i in 0..OWN * OWN {
        squares[i] = F::new(0.0);
    }
    for step in 0..dimensions.div_ceil(DEPTH) {
        // Another tile may still be read.
        sync_cube();
        #[unroll]
        for part in 0..TILE * DEPTH / (SIDE * SIDE) {
            let place = part * SIDE * SIDE + UNIT_POS as usize;
            let (point, d) = (place / DEPTH, place % DEPTH);
            let dimension = step * DEPTH + d;
            let mut value = F::new(0.0);
            if first_row + point < rows && dimension < dimensions {
                value = left[image * left.stride(0)
                    + (first_row + point) * left.stride(1)
                    + dimension * left.stride(2)];
            }
            lefts[d * PADDED + point] = value;
            let mut value = F::new(0.0);
            if first_column + point < columns && dimension < dimensions {
                value = right[image * right.stride(0)
                    + (first_column + point) * right.stride(1)
                    + dimension * right.stride(2)];
            }
            rights[d * PADDED + point] = value;
        }
        sync_cube();
        for d in 0..DEPTH {
            let mut own = Array::<F>::new(OWN);
            #[unroll]
            for j in 0..OWN {
                own[j] = rights[d * PADDED + j * SIDE + UNIT_POS_X as usize];
            }
            #[unroll]
            for i in 0..OWN {
                let value = lefts[d * PADDED + i * SIDE + UNIT_POS_Y as usize];
                #[unroll]
                for j in 0..OWN {
                    let difference = value - own[j];
                    squares[i * OWN + j] += difference * difference;
                }
            }
        }
    }
}
