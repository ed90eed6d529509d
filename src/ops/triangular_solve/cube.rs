//! Triangular solves on GPUs: in one launch, or for large systems in one launch per block of the system, with
//! products in between.

use std::ops::Range;

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use super::TriangularSolveOps;
use crate::ops::{
    cpu::Side,
    cube::{
        Argument, CubeBackend, CubeTensor, Part, Target, block, count_operations, element,
        empty_like, matrices, product, transposed, with_shape,
    },
    decompositions::count_decomposition,
};

/// Rows of a block of L, and columns of a strip of right-hand sides, which one cube solves.
const BLOCK: usize = 32;
/// Rows and columns of a block of the solution that one thread computes.
const OWN_ROWS: usize = 4;
const OWN_COLUMNS: usize = 2;
/// Entries of a block that one thread computes.
const OWN: usize = OWN_ROWS * OWN_COLUMNS;
/// Threads that share the rows of a block, and all threads of a cube.
const LINE: usize = BLOCK / OWN_COLUMNS;
const THREADS: usize = BLOCK * BLOCK / OWN;
/// The distance between rows of a tile in shared memory. With a multiple of 32, a column of the tile would be
/// in a single bank.
const WIDTH: usize = BLOCK + 1;

/// Number of rows from which a system is divided, and the maximum number of rows of the undivided parts.
const DIVIDE_FROM: usize = 768;
const UNDIVIDED: usize = 256;

impl TriangularSolveOps for CubeBackend {
    fn factor_solve(factor: CubeTensor, rhs: CubeTensor, side: Side) -> CubeTensor {
        count_decomposition();
        let shape = rhs.shape();
        let (factor, rhs) = (matrices(factor), matrices(rhs));
        let out = empty_like(&rhs, shape.clone());
        if shape.num_elements() > 0 {
            let size = rhs.shape()[1];
            let target = with_shape(out.clone(), rhs.shape());
            let most = if size < DIVIDE_FROM { size } else { UNDIVIDED };
            solve_into(factor, rhs, &Solution { target, side, most }, 0);
        }
        out
    }
}

/// Where a system is solved, and how.
struct Solution {
    /// [batch, M, N]
    target: CubeTensor,
    side: Side,
    /// The maximum number of rows of an undivided system.
    most: usize,
}

/// Solves a system that is a diagonal block of the whole one, and writes the solution to the target from row
/// `first` on. Solves for one half of the rows first, and subtracts its product with the block of the factor
/// between the halves from the other half.
fn solve_into(factor: CubeTensor, rhs: CubeTensor, solution: &Solution, first: usize) {
    let size = rhs.shape()[1];
    if size <= solution.most {
        return solve_strips(factor, rhs, solution, first);
    }
    let columns = rhs.shape()[2];
    let half = (size / 2).next_multiple_of(BLOCK);
    let (upper, lower) = (0..half, half..size);
    let between = block(factor.clone(), lower.clone(), upper.clone());
    let (sooner, later, between) = match solution.side {
        Side::Lower => (upper, lower, between),
        Side::Transposed => (lower, upper, transposed(between)),
    };
    let part = |rows: &Range<usize>| {
        let diagonal = block(factor.clone(), rows.clone(), rows.clone());
        (diagonal, block(rhs.clone(), rows.clone(), 0..columns))
    };
    let (diagonal, right) = part(&sooner);
    solve_into(diagonal, right, solution, first + sooner.start);
    let place = first + sooner.start..first + sooner.end;
    let solved = block(solution.target.clone(), place, 0..columns);
    let (diagonal, right) = part(&later);
    let rest = product(between, solved, Target::Difference(right), Part::Whole);
    solve_into(diagonal, rest, solution, first + later.start);
}

/// Solves a system in one launch.
fn solve_strips(factor: CubeTensor, rhs: CubeTensor, solution: &Solution, first: usize) {
    let (batch, columns) = (rhs.shape()[0], rhs.shape()[2]);
    let (client, dtype) = (rhs.client.clone(), element(&rhs));
    // Half of the pairs of blocks of L, and half of each diagonal block.
    let blocks = rhs.shape()[1].div_ceil(BLOCK).pow(2);
    count_operations(batch * columns.div_ceil(BLOCK) * blocks * BLOCK.pow(3));
    let target = solution.target.clone();
    let address = [&factor, &rhs, &target].map(|tensor| tensor.required_address_type());
    // SAFETY: the kernel checks every index against the shapes of the tensors. The target has as many rows
    // from `first` on.
    unsafe {
        solve_strip::launch_unchecked(
            &client,
            CubeCount::Static(columns.div_ceil(BLOCK) as u32, 1, batch as u32),
            CubeDim::new_1d(THREADS as u32),
            address.into_iter().max().unwrap_or_default(),
            factor.argument(),
            rhs.argument(),
            target.argument(),
            first,
            solution.side == Side::Transposed,
            dtype,
        );
    }
}

/// The row of the tensors that is row `row` of the system. `LᵀX = B` is lower triangular, too, if rows and
/// columns are counted from the end.
#[cube]
fn row_of(row: usize, size: usize, #[comptime] transposed: bool) -> usize {
    if comptime!(transposed) {
        size - 1 - row
    } else {
        row
    }
}

/// The entry of the system's triangle, or of the identity outside it.
#[cube]
fn triangle_at<F: Float>(
    factor: &Tensor<F>,
    batch: usize,
    row: usize,
    column: usize,
    #[comptime] transposed: bool,
) -> F {
    let size = factor.shape(1);
    let mut value = F::new(0.0);
    if row < size && column <= row {
        let start = batch * factor.stride(0);
        if comptime!(transposed) {
            let (i, j) = (size - 1 - column, size - 1 - row);
            value = factor[start + i * factor.stride(1) + j * factor.stride(2)];
        } else {
            value = factor[start + row * factor.stride(1) + column * factor.stride(2)];
        }
    } else if row == column {
        value = F::new(1.0);
    }
    value
}

/// The position in a block of the triangle of one of this thread's entries. Neighboring threads are at
/// neighboring entries of a row of L.
#[cube]
fn place_in_block(part: usize, #[comptime] transposed: bool) -> (usize, usize) {
    let place = part * THREADS + UNIT_POS as usize;
    if comptime!(transposed) {
        (place % BLOCK, place / BLOCK)
    } else {
        (place / BLOCK, place % BLOCK)
    }
}

/// Reads this thread's entries of a block of the triangle.
#[cube]
fn read_block<F: Float>(
    entries: &mut Array<F>,
    factor: &Tensor<F>,
    batch: usize,
    first_row: usize,
    first_column: usize,
    #[comptime] transposed: bool,
) {
    #[unroll]
    for part in 0..OWN {
        let (i, j) = place_in_block(part, transposed);
        let (row, column) = (first_row + i, first_column + j);
        entries[part] = triangle_at::<F>(factor, batch, row, column, transposed);
    }
}

/// Copies this thread's entries of a block to shared memory.
#[cube]
fn share_block<F: Float>(entries: &Array<F>, tile: &mut Shared<[F]>, #[comptime] transposed: bool) {
    #[unroll]
    for part in 0..OWN {
        let (i, j) = place_in_block(part, transposed);
        tile[i * WIDTH + j] = entries[part];
    }
}

/// The row and the column in a block of the solution of one of this thread's entries.
#[cube]
fn place_in_rows(#[comptime] part: usize) -> (usize, usize) {
    let unit = UNIT_POS as usize;
    let row = unit / LINE * OWN_ROWS + comptime!(part / OWN_COLUMNS);
    let column = unit % LINE + comptime!(part % OWN_COLUMNS * LINE);
    (row, column)
}

/// Reads this thread's entries of a block of right-hand rows.
#[cube]
fn read_rows<F: Float>(
    entries: &mut Array<F>,
    rhs: &Tensor<F>,
    batch: usize,
    first_row: usize,
    first_column: usize,
    #[comptime] transposed: bool,
) {
    let (size, columns) = (rhs.shape(1), rhs.shape(2));
    #[unroll]
    for part in 0..OWN {
        let (i, j) = place_in_rows(part);
        let mut value = F::new(0.0);
        if first_row + i < size && first_column + j < columns {
            let row = row_of(first_row + i, size, transposed);
            let start = batch * rhs.stride(0) + row * rhs.stride(1);
            value = rhs[start + (first_column + j) * rhs.stride(2)];
        }
        entries[part] = value;
    }
}

/// Reads this thread's entries of a block of solved rows, which is full.
#[cube]
fn read_solved<F: Float>(
    entries: &mut Array<F>,
    out: &mut Tensor<F>,
    batch: usize,
    first_row: usize,
    first_column: usize,
    size: usize,
    offset: usize,
    #[comptime] transposed: bool,
) {
    let columns = out.shape(2);
    #[unroll]
    for part in 0..OWN {
        let (i, j) = place_in_rows(part);
        let mut value = F::new(0.0);
        if first_column + j < columns {
            let row = offset + row_of(first_row + i, size, transposed);
            value = out[(batch * out.shape(1) + row) * columns + first_column + j];
        }
        entries[part] = value;
    }
}

/// Copies this thread's entries of a block of rows to shared memory.
#[cube]
fn share_rows<F: Float>(entries: &Array<F>, tile: &mut Shared<[F]>) {
    #[unroll]
    for part in 0..OWN {
        let (i, j) = place_in_rows(part);
        tile[i * BLOCK + j] = entries[part];
    }
}

/// Subtracts the product of two blocks in shared memory from this thread's entries. The loop is unrolled,
/// because Mesa's software device ends a thread's loops after a total of 65535 iterations.
#[cube]
fn subtract_product<F: Float>(sums: &mut Array<F>, triangle: &Shared<[F]>, solved: &Shared<[F]>) {
    let unit = UNIT_POS as usize;
    let (first_row, column) = (unit / LINE * OWN_ROWS, unit % LINE);
    #[unroll]
    for k in 0..BLOCK {
        let mut rights = Array::<F>::new(OWN_COLUMNS);
        #[unroll]
        for j in 0..OWN_COLUMNS {
            rights[j] = solved[k * BLOCK + column + j * LINE];
        }
        #[unroll]
        for i in 0..OWN_ROWS {
            let left = triangle[(first_row + i) * WIDTH + k];
            #[unroll]
            for j in 0..OWN_COLUMNS {
                sums[i * OWN_COLUMNS + j] -= left * rights[j];
            }
        }
    }
}

/// `L⁻¹B` or `L⁻ᵀB` for a strip of right-hand columns. For each block of rows in turn, the contribution of
/// the solved blocks is subtracted as a product, and the diagonal block is solved by substitution. The
/// entries of the next product are read while one is computed. The rows of the solution start at row `offset`
/// of `out`.
#[cube(launch_unchecked, address_type = "dynamic")]
fn solve_strip<F: Float>(
    factor: &Tensor<F>,
    rhs: &Tensor<F>,
    out: &mut Tensor<F>,
    offset: usize,
    #[comptime] transposed: bool,
    #[define(F)] _dtype: ElemType,
) {
    let (size, columns) = (rhs.shape(1), rhs.shape(2));
    let (batch, unit) = (CUBE_POS_Z as usize, UNIT_POS as usize);
    let column = CUBE_POS_X as usize * BLOCK;
    let mut triangle = Shared::<[F]>::new_slice(BLOCK * WIDTH);
    let mut solved = Shared::<[F]>::new_slice(BLOCK * BLOCK);
    let mut sums = Array::<F>::new(OWN);
    let mut entries = Array::<F>::new(OWN);
    let mut rows = Array::<F>::new(OWN);
    for block in 0..size.div_ceil(BLOCK) {
        let first = block * BLOCK;
        read_rows::<F>(&mut sums, rhs, batch, first, column, transposed);
        read_block::<F>(&mut entries, factor, batch, first, 0usize, transposed);
        if block > 0 {
            read_solved::<F>(
                &mut rows, out, batch, 0usize, column, size, offset, transposed,
            );
        }
        for earlier in 0..block {
            share_block::<F>(&entries, &mut triangle, transposed);
            share_rows::<F>(&rows, &mut solved);
            sync_cube();
            let next = (earlier + 1) * BLOCK;
            read_block::<F>(&mut entries, factor, batch, first, next, transposed);
            if next < first {
                read_solved::<F>(
                    &mut rows, out, batch, next, column, size, offset, transposed,
                );
            }
            subtract_product::<F>(&mut sums, &triangle, &solved);
            sync_cube();
        }
        share_block::<F>(&entries, &mut triangle, transposed);
        share_rows::<F>(&sums, &mut solved);
        sync_cube();
        if unit < BLOCK {
            substitute::<F>(&triangle, &mut solved);
        }
        sync_cube();
        #[unroll]
        for part in 0..OWN {
            let (i, j) = place_in_rows(part);
            if first + i < size && column + j < columns {
                let row = offset + row_of(first + i, size, transposed);
                let place = (batch * out.shape(1) + row) * columns + column + j;
                out[place] = solved[i * BLOCK + j];
            }
        }
        sync_storage();
    }
}

/// Solves with a diagonal block for the column of this thread.
#[cube]
fn substitute<F: Float>(triangle: &Shared<[F]>, solved: &mut Shared<[F]>) {
    let column = UNIT_POS as usize;
    let mut values = Array::<F>::new(BLOCK);
    #[unroll]
    for row in 0..BLOCK {
        values[row] = solved[row * BLOCK + column];
    }
    #[unroll]
    for k in 0..BLOCK {
        let value = values[k] / triangle[k * WIDTH + k];
        solved[k * BLOCK + column] = value;
        #[unroll]
        for row in comptime!(k + 1)..BLOCK {
            values[row] -= triangle[row * WIDTH + k] * value;
        }
    }
}
