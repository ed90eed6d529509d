//! The sums over pairs of points in the backward pass of the covariance on GPUs.
//!
//! A cube handles some rows of the covariance and a part of its columns, tile by tile. With `w = G·dφ/dr²`
//! and `t = (x1 − x2)/ℓ`, it computes `Σ_j w·t` and `Σ_j w·t²` for each of its rows and dimensions, and
//! `Σ_ij G·φ`. Each part of the columns has its own sums, which later launches add.

use burn_cubecl::cubecl::{self, prelude::*};

use super::{
    Arguments,
    tile::{DEPTH, SIDE, STRIDE, THREADS, add_squares, load_points, load_scales},
};
use crate::ops::{
    Stationary,
    cube::{
        Argument, CubeTensor, REDUCING, Reduction, count_operations, element, empty_like, reduce,
    },
    stationary::cube::{PROFILE, profile_and_slope},
};

/// Rows and columns of a tile that one thread computes.
const OWN: usize = 2;
/// Rows and columns of a tile.
const TILE: usize = OWN * SIDE;
/// Length of a row of weights in shared memory; see [`STRIDE`].
const WEIGHTS: usize = TILE + 1;
/// Minimum number of tiles in a part of the columns, so that there are few sums compared with pairs.
const TILES: usize = 4;
/// Maximum number of parts of the columns.
const PARTS: usize = 16;

const _: () = assert!(
    THREADS == TILE * DEPTH,
    "a thread has one row and one dimension"
);
const _: () = assert!(THREADS == REDUCING, "sums are over all threads");

/// The sums of the S parts of the columns.
pub struct Sums {
    /// `Σ_j w·t`, [P, S, N1, D]
    pub pulls: CubeTensor,
    /// `Σ_j w·t²`, [P, S, N1, D]
    pub squares: CubeTensor,
    /// `Σ_ij G·φ`, [P, S·tiles of rows]
    pub values: CubeTensor,
}

/// Computes the sums for the gradient G of the covariance, [P, N1, N2], with any strides.
///
/// There must be at least one pair of points.
pub fn sums(arguments: Arguments, gradient: CubeTensor, kind: Stationary) -> Sums {
    let [batch, rows, columns] = arguments.sizes();
    let dimensions = arguments.dimensions();
    let tiles = columns.div_ceil(TILE);
    let share = tiles.div_ceil(tiles.div_ceil(TILES).min(PARTS));
    let parts = tiles.div_ceil(share);
    let row_tiles = rows.div_ceil(TILE);
    let like = &arguments.x1;
    let sums = Sums {
        pulls: empty_like(like, [batch, parts, rows, dimensions]),
        squares: empty_like(like, [batch, parts, rows, dimensions]),
        values: empty_like(like, [batch, parts * row_tiles]),
    };
    let (client, dtype) = (like.client.clone(), element(like));
    let (address, shared) = (arguments.address_type(), arguments.shared);
    // Scaled differences, the profile, and two sums for each dimension.
    count_operations(batch * rows * columns * (8 * dimensions + PROFILE));
    // SAFETY: the kernel checks every index against the shapes of the tensors.
    unsafe {
        backward::launch_unchecked(
            &client,
            CubeCount::Static(row_tiles as u32, parts as u32, batch as u32),
            CubeDim::new_2d(SIDE as u32, SIDE as u32),
            address
                .max(gradient.required_address_type())
                .max(sums.pulls.required_address_type()),
            arguments.x1.argument(),
            arguments.x2.argument(),
            arguments.lengthscales.argument(),
            gradient.argument(),
            sums.pulls.clone().argument(),
            sums.squares.clone().argument(),
            sums.values.clone().argument(),
            share as u32,
            shared,
            kind,
            dtype,
        );
    }
    sums
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn backward<F: Float>(
    x1: &Tensor<F>,
    x2: &Tensor<F>,
    lengthscales: &Tensor<F>,
    gradient: &Tensor<F>,
    pulls: &mut Tensor<F>,
    squares: &mut Tensor<F>,
    values: &mut Tensor<F>,
    share: u32,
    #[comptime] shared: bool,
    #[comptime] kind: Stationary,
    #[define(F)] _dtype: ElemType,
) {
    let (batch, part) = (CUBE_POS_Z as usize, CUBE_POS_Y as usize);
    let first_row = CUBE_POS_X as usize * TILE;
    let (rows, dimensions) = (x1.shape(1), x1.shape(2));
    let tiles = x2.shape(1).div_ceil(TILE);
    let (first_tile, share) = (part * share as usize, share as usize);
    let mut left = Shared::<[F]>::new_slice(TILE * STRIDE);
    let mut right = Shared::<[F]>::new_slice(TILE * STRIDE);
    let mut inverse = Shared::<[F]>::new_slice(DEPTH);
    let mut weights = Shared::<[F]>::new_slice(TILE * WEIGHTS);
    // The row and the dimension of this thread.
    let (own, own_d) = (UNIT_POS as usize / DEPTH, UNIT_POS as usize % DEPTH);
    let first_sum = (batch * pulls.shape(1) + part) * rows + first_row + own;
    let mut value = F::new(0.0);
    let steps = dimensions.div_ceil(DEPTH);
    for tile in first_tile..min(first_tile + share, tiles) {
        let first_column = tile * TILE;
        let mut distances = Array::<F>::new(OWN * OWN);
        #[unroll]
        for i in 0..OWN * OWN {
            distances[i] = F::new(0.0);
        }
        for step in 0..steps {
            let from = step * DEPTH;
            sync_cube();
            load_points::<F>(x1, batch, first_row, from, TILE, &mut left);
            load_points::<F>(x2, batch, first_column, from, TILE, &mut right);
            load_scales::<F>(lengthscales, dimensions, batch, from, shared, &mut inverse);
            sync_cube();
            add_squares::<F>(&left, &right, &inverse, &mut distances, OWN);
        }
        value += weigh::<F>(
            gradient,
            batch,
            first_row,
            first_column,
            &distances,
            &mut weights,
            kind,
        );
        for step in 0..steps {
            let from = step * DEPTH;
            sync_cube();
            // With few dimensions, the coordinates are still in shared memory.
            if steps > 1 {
                load_points::<F>(x1, batch, first_row, from, TILE, &mut left);
                load_points::<F>(x2, batch, first_column, from, TILE, &mut right);
                load_scales::<F>(lengthscales, dimensions, batch, from, shared, &mut inverse);
                sync_cube();
            }
            let mut pull = F::new(0.0);
            let mut square = F::new(0.0);
            let (point, scale) = (left[own * STRIDE + own_d], inverse[own_d]);
            for j in 0..TILE {
                let difference = (point - right[j * STRIDE + own_d]) * scale;
                let weighted = weights[own * WEIGHTS + j] * difference;
                pull += weighted;
                square += weighted * difference;
            }
            let d = from + own_d;
            if first_row + own < rows && d < dimensions {
                let place = first_sum * dimensions + d;
                if tile > first_tile {
                    pull += pulls[place];
                    square += squares[place];
                }
                pulls[place] = pull;
                squares[place] = square;
            }
        }
    }
    let value = reduce::<F>(value, Reduction::Sum);
    if UNIT_POS == 0 {
        let place = batch * values.shape(1) + part * CUBE_COUNT_X as usize + CUBE_POS_X as usize;
        values[place] = value;
    }
}

/// Writes the weights w of a tile to shared memory. Returns the sum of `G·φ` over the pairs of this thread.
#[cube]
fn weigh<F: Float>(
    gradient: &Tensor<F>,
    batch: usize,
    first_row: usize,
    first_column: usize,
    distances: &Array<F>,
    weights: &mut Shared<[F]>,
    #[comptime] kind: Stationary,
) -> F {
    let mut sum = F::new(0.0);
    #[unroll]
    for i in 0..OWN {
        #[unroll]
        for j in 0..OWN {
            let row = UNIT_POS_Y as usize + i * SIDE;
            let column = UNIT_POS_X as usize + j * SIDE;
            let mut weight = F::new(0.0);
            if first_row + row < gradient.shape(1) && first_column + column < gradient.shape(2) {
                let (value, slope) = profile_and_slope::<F>(distances[i * OWN + j], kind);
                let given = gradient[batch * gradient.stride(0)
                    + (first_row + row) * gradient.stride(1)
                    + (first_column + column) * gradient.stride(2)];
                sum += given * value;
                weight = given * slope;
            }
            weights[row * WEIGHTS + column] = weight;
        }
    }
    sum
}
