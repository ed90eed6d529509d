//! The kernels of a product.

use burn_cubecl::cubecl::{self, prelude::*};

use super::{DEPTH, Entries, Form, Output, Part, SIDE, Tiles};

/// The product of the terms of one share. The next terms are read while those in shared memory are
/// multiplied.
#[cube(launch_unchecked, address_type = "dynamic")]
pub fn gemm<F: Float, R: Size, C: Size>(
    left: &Tensor<F>,
    right: &Tensor<F>,
    out: &mut Tensor<F>,
    batch: usize,
    share: usize,
    #[comptime] output: Output,
    #[comptime] form: Form,
    #[comptime] tiles: Tiles,
    #[define(F)] _dtype: ElemType,
) {
    let (tile_rows, tile_columns) = comptime!((tiles.rows * SIDE, tiles.columns * SIDE));
    let rows_of_tiles = out.shape(1).div_ceil(tile_rows);
    let columns_of_tiles = out.shape(2).div_ceil(tile_columns);
    let (tile, place) = (
        CUBE_POS / columns_of_tiles,
        CUBE_POS / columns_of_tiles / rows_of_tiles,
    );
    if place >= out.shape(0) {
        terminate!();
    }
    let first_row = tile % rows_of_tiles * tile_rows;
    let first_column = CUBE_POS % columns_of_tiles * tile_columns;
    // The tile lies above the diagonal.
    if comptime!(output.part != Part::Whole) && first_column >= first_row + tile_rows {
        if comptime!(output.part == Part::Lower && !output.adds) {
            clear(out, place, first_row, first_column, tiles);
        }
        terminate!();
    }
    let mut lefts = Shared::<[Vector<F, R>]>::new_slice(comptime!(tiles.left_row() * DEPTH));
    let mut rights = Shared::<[Vector<F, C>]>::new_slice(comptime!(tiles.right_row() * DEPTH));
    let mut sums = Array::<F>::new(comptime!(tiles.rows * tiles.columns));
    #[unroll]
    for i in 0..comptime!(tiles.rows * tiles.columns) {
        sums[i] = F::new(0.0);
    }
    let mut first = place / batch * share;
    let mut last = min(left.shape(2), first + share);
    // Skips the terms that are zero because the left matrix is triangular.
    if comptime!(form.left == Entries::Lower) {
        last = min(last, first_row + tile_rows);
    }
    if comptime!(form.left == Entries::Upper) {
        first = max(first, first_row);
    }
    let mut member = place % batch;
    let mut end_of_batch = member + 1;
    if comptime!(form.joins) {
        member = 0;
        end_of_batch = left.shape(0);
    }
    let mut own_lefts = Array::<Vector<F, R>>::new(comptime!(tiles.left_vectors()));
    let mut own_rights = Array::<Vector<F, C>>::new(comptime!(tiles.right_vectors()));
    while member < end_of_batch {
        let mut from = first;
        if from < last {
            read_left(
                left,
                &mut own_lefts,
                member,
                first_row,
                from,
                form.left,
                tiles,
            );
            read_right(right, &mut own_rights, member, first_column, from, tiles);
        }
        while from < last {
            share_left(&own_lefts, &mut lefts, tiles);
            share_right(&own_rights, &mut rights, tiles);
            sync_cube();
            from += DEPTH;
            if from < last {
                read_left(
                    left,
                    &mut own_lefts,
                    member,
                    first_row,
                    from,
                    form.left,
                    tiles,
                );
                read_right(right, &mut own_rights, member, first_column, from, tiles);
            }
            add_terms(&lefts, &rights, &mut sums, tiles);
            sync_cube();
        }
        member += 1;
    }
    store(out, &sums, place, first_row, first_column, output, tiles);
}

/// The sum of the shares of a product, `[shares·batch, M, N]`.
#[cube(launch_unchecked, address_type = "dynamic")]
pub fn add_shares<F: Float>(
    shares: &Tensor<F>,
    out: &mut Tensor<F>,
    #[comptime] output: Output,
    #[define(F)] _dtype: ElemType,
) {
    let (rows, columns) = (out.shape(1), out.shape(2));
    let numbers = out.shape(0) * rows * columns;
    let place = ABSOLUTE_POS;
    if place >= numbers {
        terminate!();
    }
    let (row, column) = (place / columns % rows, place % columns);
    if comptime!(output.part != Part::Whole) && column > row {
        if comptime!(output.part == Part::Lower && !output.adds) {
            out[place] = F::new(0.0);
        }
        terminate!();
    }
    let mut sum = F::new(0.0);
    for share in 0..shares.shape(0) / out.shape(0) {
        sum += shares[share * numbers + place];
    }
    write(out, sum, place / (rows * columns), row, column, output);
}

/// Writes zeros to a tile of the result.
#[cube]
fn clear<F: Float>(
    out: &mut Tensor<F>,
    member: usize,
    first_row: usize,
    first_column: usize,
    #[comptime] tiles: Tiles,
) {
    #[unroll]
    for i in 0..tiles.rows {
        #[unroll]
        for j in 0..tiles.columns {
            let row =
                first_row + place_in_tile(i, comptime!(tiles.left_width()), UNIT_POS_Y as usize);
            let column = first_column
                + place_in_tile(j, comptime!(tiles.right_width()), UNIT_POS_X as usize);
            let place = (member * out.shape(1) + row) * out.shape(2) + column;
            if row < out.shape(1) && column < out.shape(2) {
                out[place] = F::new(0.0);
            }
        }
    }
}

/// The vector of rows in a tile and the term of the left matrix's values that this thread reads. Neighboring
/// threads read neighboring values.
#[cube]
fn place_of_left(#[comptime] part: usize, #[comptime] tiles: Tiles) -> (usize, usize) {
    let place = part * SIDE * SIDE + UNIT_POS as usize;
    let side = comptime!(tiles.left_vectors() * SIDE);
    if comptime!(tiles.left_by_columns) {
        (place % side, place / side)
    } else {
        (place / DEPTH, place % DEPTH)
    }
}

/// The term and the vector of columns in a tile of the right matrix's values that this thread reads.
#[cube]
fn place_of_right(#[comptime] part: usize, #[comptime] tiles: Tiles) -> (usize, usize) {
    let place = part * SIDE * SIDE + UNIT_POS as usize;
    let side = comptime!(tiles.right_vectors() * SIDE);
    if comptime!(tiles.right_by_columns) {
        (place % DEPTH, place / DEPTH)
    } else {
        (place / side, place % side)
    }
}

/// Reads this thread's values of the rows of a tile and [`DEPTH`] columns of the left matrix.
#[cube]
fn read_left<F: Float, R: Size>(
    left: &Tensor<F>,
    numbers: &mut Array<Vector<F, R>>,
    member: usize,
    first_row: usize,
    from: usize,
    #[comptime] entries: Entries,
    #[comptime] tiles: Tiles,
) {
    let start = member * left.stride(0);
    #[unroll]
    for part in 0..comptime!(tiles.left_vectors()) {
        let (i, k) = place_of_left(part, tiles);
        let term = from + k;
        let mut vector = Vector::<F, R>::empty();
        #[unroll]
        for lane in 0..comptime!(tiles.left_width()) {
            let row = first_row + i * comptime!(tiles.left_width()) + lane;
            let mut counts = row < left.shape(1) && term < left.shape(2);
            if comptime!(entries == Entries::Lower) {
                counts = counts && term <= row;
            }
            if comptime!(entries == Entries::Upper) {
                counts = counts && term >= row;
            }
            let mut value = F::new(0.0);
            if counts {
                value = left[start + row * left.stride(1) + term * left.stride(2)];
            }
            vector.insert(lane, value);
        }
        numbers[part] = vector;
    }
}

/// Reads this thread's values of [`DEPTH`] rows and the columns of a tile of the right matrix.
#[cube]
fn read_right<F: Float, C: Size>(
    right: &Tensor<F>,
    numbers: &mut Array<Vector<F, C>>,
    member: usize,
    first_column: usize,
    from: usize,
    #[comptime] tiles: Tiles,
) {
    let start = member * right.stride(0);
    #[unroll]
    for part in 0..comptime!(tiles.right_vectors()) {
        let (k, j) = place_of_right(part, tiles);
        let term = from + k;
        let mut vector = Vector::<F, C>::empty();
        #[unroll]
        for lane in 0..comptime!(tiles.right_width()) {
            let column = first_column + j * comptime!(tiles.right_width()) + lane;
            let mut value = F::new(0.0);
            if term < right.shape(1) && column < right.shape(2) {
                value = right[start + term * right.stride(1) + column * right.stride(2)];
            }
            vector.insert(lane, value);
        }
        numbers[part] = vector;
    }
}

/// Copies this thread's values of the left matrix to shared memory, transposed.
#[cube]
fn share_left<F: Float, R: Size>(
    numbers: &Array<Vector<F, R>>,
    shared: &mut Shared<[Vector<F, R>]>,
    #[comptime] tiles: Tiles,
) {
    #[unroll]
    for part in 0..comptime!(tiles.left_vectors()) {
        let (i, k) = place_of_left(part, tiles);
        shared[k * comptime!(tiles.left_row()) + i] = numbers[part];
    }
}

/// Copies this thread's values of the right matrix to shared memory.
#[cube]
fn share_right<F: Float, C: Size>(
    numbers: &Array<Vector<F, C>>,
    shared: &mut Shared<[Vector<F, C>]>,
    #[comptime] tiles: Tiles,
) {
    #[unroll]
    for part in 0..comptime!(tiles.right_vectors()) {
        let (k, j) = place_of_right(part, tiles);
        shared[k * comptime!(tiles.right_row()) + j] = numbers[part];
    }
}

/// Adds the products of the values in shared memory. They are summed separately first, so that long sums stay
/// accurate.
#[cube]
fn add_terms<F: Float, R: Size, C: Size>(
    lefts: &Shared<[Vector<F, R>]>,
    rights: &Shared<[Vector<F, C>]>,
    sums: &mut Array<F>,
    #[comptime] tiles: Tiles,
) {
    let mut terms = Array::<F>::new(comptime!(tiles.rows * tiles.columns));
    #[unroll]
    for i in 0..comptime!(tiles.rows * tiles.columns) {
        terms[i] = F::new(0.0);
    }
    for k in 0..DEPTH {
        let left_row = k * comptime!(tiles.left_row()) + UNIT_POS_Y as usize;
        let right_row = k * comptime!(tiles.right_row()) + UNIT_POS_X as usize;
        let mut own = Array::<F>::new(tiles.columns);
        #[unroll]
        for part in 0..comptime!(tiles.right_vectors()) {
            let vector = rights[right_row + part * SIDE];
            #[unroll]
            for lane in 0..comptime!(tiles.right_width()) {
                own[comptime!(part * tiles.right_width() + lane)] = vector.extract(lane);
            }
        }
        #[unroll]
        for part in 0..comptime!(tiles.left_vectors()) {
            let vector = lefts[left_row + part * SIDE];
            #[unroll]
            for lane in 0..comptime!(tiles.left_width()) {
                let value = vector.extract(lane);
                let first = comptime!((part * tiles.left_width() + lane) * tiles.columns);
                #[unroll]
                for j in 0..tiles.columns {
                    terms[comptime!(first + j)] += value * own[j];
                }
            }
        }
    }
    #[unroll]
    for i in 0..comptime!(tiles.rows * tiles.columns) {
        sums[i] += terms[i];
    }
}

/// The row or column in a tile of one of a thread's sums.
#[cube]
fn place_in_tile(#[comptime] index: usize, #[comptime] width: usize, unit: usize) -> usize {
    (comptime!(index / width) * SIDE + unit) * width + comptime!(index % width)
}

/// Writes the sums of this thread.
#[cube]
fn store<F: Float>(
    out: &mut Tensor<F>,
    sums: &Array<F>,
    member: usize,
    first_row: usize,
    first_column: usize,
    #[comptime] output: Output,
    #[comptime] tiles: Tiles,
) {
    let (rows, columns) = (out.shape(1), out.shape(2));
    #[unroll]
    for i in 0..tiles.rows {
        #[unroll]
        for j in 0..tiles.columns {
            let row =
                first_row + place_in_tile(i, comptime!(tiles.left_width()), UNIT_POS_Y as usize);
            let column = first_column
                + place_in_tile(j, comptime!(tiles.right_width()), UNIT_POS_X as usize);
            if row < rows && column < columns {
                if comptime!(output.part == Part::Whole) || column <= row {
                    write(
                        out,
                        sums[i * tiles.columns + j],
                        member,
                        row,
                        column,
                        output,
                    );
                } else if comptime!(output.part == Part::Lower && !output.adds) {
                    out[(member * rows + row) * columns + column] = F::new(0.0);
                }
            }
        }
    }
}

/// Writes a sum, or adds it to the result.
#[cube]
fn write<F: Float>(
    out: &mut Tensor<F>,
    sum: F,
    member: usize,
    row: usize,
    column: usize,
    #[comptime] output: Output,
) {
    let (rows, columns) = (out.shape(1), out.shape(2));
    let place = (member * rows + row) * columns + column;
    let mut value = sum;
    if comptime!(output.negative) {
        value = -sum;
    }
    if comptime!(output.adds) {
        value += out[place];
    }
    out[place] = value;
    if comptime!(output.part == Part::Symmetric) {
        out[(member * rows + column) * columns + row] = value;
    }
}
