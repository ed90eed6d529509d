//! The first attempt of a factorization: preparation, and a launch for every panel.

use burn_cubecl::cubecl::{self, prelude::*};

use super::elimination::{
    PANEL, ROWS, diagonal_of, eliminate, is_in_block, scale_of_jitter, store_row, subtract_panel,
};
use crate::ops::cholesky::status::Status;

/// Rows and columns of a tile of the part to the right of a panel.
pub const TILE: usize = 64;
/// Terms of a product held in shared memory at a time.
const DEPTH: usize = 16;
/// Rows and columns of a tile that one thread computes.
const OWN: usize = 4;
/// Threads along each side of a tile.
const SIDE: usize = TILE / OWN;

/// Copies the lower triangle of K and adds the jitter; writes the status of a success. Each cube handles the
/// rows of one diagonal block.
///
/// The diagonal blocks go to `blocks`, [batch, M rounded up to 32, 32], padded with the identity; everything
/// below them goes to `factor`. They are separate because, in the launch of a panel, every cube reads the
/// diagonal block while one of them writes its factor.
#[cube(launch_unchecked, address_type = "dynamic")]
pub fn prepare<F: Float>(
    matrix: &Tensor<F>,
    scales: &Tensor<F>,
    factor: &mut Tensor<F>,
    blocks: &mut Tensor<F>,
    status: &mut Tensor<F>,
    jitter: InputScalar,
    #[comptime] scaled: bool,
    #[define(F)] _dtype: ElemType,
) {
    let (size, batch) = (matrix.shape(1), CUBE_POS_Z as usize);
    let (unit, first) = (UNIT_POS as usize, CUBE_POS_X as usize * PANEL);
    let relative = jitter.get::<F>();
    let diagonal = diagonal_of::<F>(matrix, batch);
    let added = relative * scale_of_jitter::<F>(&diagonal, scales, batch, scaled);
    if CUBE_POS_X == 0 && unit == 0 {
        let start = batch * Status::WIDTH;
        status[start] = F::new(0.0);
        status[start + 1] = relative;
        status[start + 2] = diagonal.smallest;
        status[start + 3] = diagonal.largest;
    }
    let (width, rounded) = (first + PANEL, blocks.shape(1));
    let mut place = unit;
    while place < PANEL * width {
        let (row, column) = (first + place / width, place % width);
        let mut value = F::new(0.0);
        if row < size && column <= row {
            let start = batch * matrix.stride(0);
            value = matrix[start + row * matrix.stride(1) + column * matrix.stride(2)];
            if row == column {
                value += added;
            }
        } else if row == column {
            value = F::new(1.0);
        }
        if column >= first {
            blocks[(batch * rounded + row) * PANEL + column - first] = value;
        } else if row < size {
            factor[(batch * size + row) * size + column] = value;
        }
        place += CUBE_DIM as usize;
    }
}

/// One panel of 32 columns, from `first`. The cubes with y = 0 subtract what the panel before it
/// contributes to its columns and eliminate them, each for the diagonal block and a part of the rows
/// below. The other cubes subtract the same from a tile to the right of the panel.
///
/// No cube reads what another one writes in the same launch. Nothing is done after a failed pivot.
#[cube(launch_unchecked, address_type = "dynamic")]
pub fn panel<F: Float>(
    factor: &mut Tensor<F>,
    blocks: &mut Tensor<F>,
    status: &mut Tensor<F>,
    first: u32,
    #[define(F)] _dtype: ElemType,
) {
    let (first, batch) = (first as usize, CUBE_POS_Z as usize);
    let mut failed = Shared::<[u32]>::new_slice(1usize);
    if UNIT_POS == 0 {
        failed[0] = u32::cast_from(status[batch * Status::WIDTH]);
    }
    sync_cube();
    if workgroup_uniform_load(&failed[0]) > 0 {
        terminate!();
    }
    if CUBE_POS_Y == 0 {
        columns_of_panel::<F>(factor, blocks, status, batch, first);
    } else {
        tile_to_the_right::<F>(factor, blocks, batch, first);
    }
}

/// The columns of a panel, for the diagonal block and [`ROWS`] rows below it.
#[cube]
fn columns_of_panel<F: Float>(
    factor: &mut Tensor<F>,
    blocks: &mut Tensor<F>,
    status: &mut Tensor<F>,
    batch: usize,
    first: usize,
) {
    let (size, unit, part) = (factor.shape(1), UNIT_POS as usize, CUBE_POS_X as usize);
    let in_block = is_in_block();
    let rounded = blocks.shape(1);
    if part > 0 && first + PANEL + part * ROWS >= size {
        terminate!();
    }
    let row = select(in_block, first + unit, first + unit + part * ROWS);
    let mut values = Array::<F>::new(PANEL);
    #[unroll]
    for c in 0..PANEL {
        let mut value = F::new(0.0);
        if in_block {
            value = blocks[(batch * rounded + row) * PANEL + c];
        } else if row < size {
            value = factor[(batch * size + row) * size + first + c];
        }
        values[c] = value;
    }
    if first > 0 {
        subtract_panel::<F>(&mut values, factor, batch, row, first, first - PANEL);
    }
    let failed = eliminate::<F>(&mut values);
    store_row::<F>(&values, factor, batch, row, first, part == 0);
    if part == 0 && unit == 0 && failed > 0 {
        status[batch * Status::WIDTH] = F::cast_from(first as u32 + failed);
    }
}

/// `A_ij ← A_ij − Σ_m L_im·L_jm` for a tile of the lower triangle to the right of the panel at
/// `first`, with the columns m of the panel before it.
#[cube]
fn tile_to_the_right<F: Float>(
    factor: &mut Tensor<F>,
    blocks: &mut Tensor<F>,
    batch: usize,
    first: usize,
) {
    if CUBE_POS_X >= CUBE_POS_Y {
        terminate!();
    }
    let (size, rounded) = (factor.shape(1), blocks.shape(1));
    let unit = UNIT_POS as usize;
    let first_row = first + PANEL + (CUBE_POS_Y as usize - 1) * TILE;
    let first_column = first + PANEL + CUBE_POS_X as usize * TILE;
    let mut lefts = Shared::<[F]>::new_slice(TILE * DEPTH);
    let mut rights = Shared::<[F]>::new_slice(TILE * DEPTH);
    let mut sums = Array::<F>::new(OWN * OWN);
    #[unroll]
    for i in 0..OWN * OWN {
        sums[i] = F::new(0.0);
    }
    for step in 0..PANEL / DEPTH {
        let from = first - PANEL + step * DEPTH;
        #[unroll]
        for part in 0..TILE * DEPTH / (SIDE * SIDE) {
            let place = part * SIDE * SIDE + unit;
            let (line, k) = (place / DEPTH, place % DEPTH);
            let mut left = F::new(0.0);
            if first_row + line < size {
                left = factor[(batch * size + first_row + line) * size + from + k];
            }
            let mut right = F::new(0.0);
            if first_column + line < size {
                right = factor[(batch * size + first_column + line) * size + from + k];
            }
            lefts[k * TILE + line] = left;
            rights[k * TILE + line] = right;
        }
        sync_cube();
        for k in 0..DEPTH {
            let mut own = Array::<F>::new(OWN);
            #[unroll]
            for j in 0..OWN {
                own[j] = rights[k * TILE + j * SIDE + unit % SIDE];
            }
            #[unroll]
            for i in 0..OWN {
                let value = lefts[k * TILE + i * SIDE + unit / SIDE];
                #[unroll]
                for j in 0..OWN {
                    sums[i * OWN + j] += value * own[j];
                }
            }
        }
        sync_cube();
    }
    #[unroll]
    for i in 0..OWN {
        #[unroll]
        for j in 0..OWN {
            let row = first_row + i * SIDE + unit / SIDE;
            let column = first_column + j * SIDE + unit % SIDE;
            if row < size && column <= row {
                if row / PANEL == column / PANEL {
                    let place = (batch * rounded + row) * PANEL + column % PANEL;
                    blocks[place] -= sums[i * OWN + j];
                } else {
                    let place = (batch * size + row) * size + column;
                    factor[place] -= sums[i * OWN + j];
                }
            }
        }
    }
}
