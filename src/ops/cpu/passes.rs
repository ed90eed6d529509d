//! Passes over matrices: copies, transposes and sums of triangles.

use std::mem::MaybeUninit;

use faer::{
    MatMut, MatRef,
    prelude::{Reborrow, ReborrowMut},
};

use super::{division::column_parts, scalar::Scalar, threads};

/// Rows and columns of a tile that is transposed at once.
pub const TILE: usize = 16;

/// Calls `work` on at most `parts` parts of the columns of `matrix`, each with the index of its first
/// column. Threads take the parts as they come.
#[track_caller]
pub fn in_column_parts<T: Scalar>(
    matrix: MatMut<'_, T>,
    parts: usize,
    work: &(impl Fn(MatMut<'_, T>, usize) + Sync),
) {
    let mut parts: Vec<_> = column_parts(matrix, parts).collect();
    let count = parts.len();
    threads::in_parts(&mut parts, 1, count, &|parts, _| {
        for (part, first) in parts {
            work(part.rb_mut(), *first);
        }
    });
}

/// Matrix entries from which a pass over a matrix is split into parts.
const PASS_FROM: usize = 1 << 16;

/// Calls `work` on parts of the rows of `matrix`, each with the index of its first row.
#[track_caller]
pub fn in_row_parts<T: Scalar>(
    matrix: MatMut<'_, T>,
    work: &(impl Fn(MatMut<'_, T>, usize) + Sync),
) {
    let parts = threads::count_for(matrix.nrows() * matrix.ncols(), PASS_FROM);
    in_column_parts(matrix.transpose_mut(), parts, &|part, first| {
        work(part.transpose_mut(), first);
    });
}

/// The entries of a row of a matrix with contiguous rows.
///
/// # Panics
///
/// If they are not contiguous.
#[inline(always)]
#[track_caller]
pub fn row<T>(matrix: MatRef<'_, T>, row: usize) -> &[T] {
    match matrix.row(row).try_as_row_major() {
        Some(row) => row.as_slice(),
        None => panic!("the rows of the matrix are not contiguous"),
    }
}

/// Mutable version of [`row`].
#[inline(always)]
#[track_caller]
pub fn row_mut<T>(matrix: MatMut<'_, T>, row: usize) -> &mut [T] {
    match matrix.row_mut(row).try_as_row_major_mut() {
        Some(row) => row.as_slice_mut(),
        None => panic!("the rows of the matrix are not contiguous"),
    }
}

/// Treats the entries of a matrix as written.
///
/// # Safety
///
/// No entry may be read before it has been written.
pub unsafe fn assume_written<T>(matrix: MatMut<'_, MaybeUninit<T>>) -> MatMut<'_, T> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let (down, right) = (matrix.row_stride(), matrix.col_stride());
    // SAFETY: the pointer, the shape and the strides are those of the matrix.
    unsafe { MatMut::from_raw_parts_mut(matrix.as_ptr_mut().cast(), rows, columns, down, right) }
}

/// A square block with zeros above the diagonal, row-major.
pub fn lower_block<T: Scalar>(block: MatRef<'_, T>) -> Vec<T> {
    let size = block.nrows();
    let mut copy = vec![T::default(); size * size];
    for i in 0..size {
        for j in 0..=i {
            copy[i * size + j] = block[(i, j)];
        }
    }
    copy
}

/// Copies the lower triangle of a square matrix to the upper one.
pub fn mirror_lower<T: Scalar>(mut matrix: MatMut<'_, T>) {
    let size = matrix.nrows();
    if size <= TILE {
        for i in 0..size {
            for j in 0..i {
                matrix[(j, i)] = matrix[(i, j)];
            }
        }
        return;
    }
    let middle = (size / 2).next_multiple_of(TILE);
    let (first, corner, opposite, last) = matrix.split_at_mut(middle, middle);
    transpose_into(opposite.rb(), corner);
    mirror_lower(first);
    mirror_lower(last);
}

/// Rows and columns of a part of [`add_transpose`].
const ADD_BLOCK: usize = 64;

/// `S ← S + Sᵀ` for a square matrix with contiguous rows.
#[track_caller]
pub fn add_transpose<T: Scalar>(matrix: MatMut<'_, T>) {
    let threads = threads::count_for(matrix.nrows() * matrix.ncols(), PASS_FROM);
    let mut pairs = Vec::new();
    let mut rest = Some(matrix);
    while let Some(matrix) = rest.take() {
        let width = ADD_BLOCK.min(matrix.nrows());
        let (square, mut right, mut below, last) = matrix.split_at_mut(width, width);
        pairs.push((square, None));
        while right.ncols() > 0 {
            let next = ADD_BLOCK.min(right.ncols());
            let (above, others) = right.split_at_col_mut(next);
            let (left, under) = below.split_at_row_mut(next);
            pairs.push((above, Some(left)));
            (right, below) = (others, under);
        }
        rest = (last.nrows() > 0).then_some(last);
    }
    threads::in_parts(&mut pairs, 1, threads, &|pairs, _| {
        for (first, second) in pairs {
            match second {
                Some(second) => add_transposes(first.rb_mut(), second.rb_mut()),
                None => add_own_transpose(first.rb_mut()),
            }
        }
    });
}

/// [`add_transpose`] of a block on the diagonal.
fn add_own_transpose<T: Scalar>(mut block: MatMut<'_, T>) {
    for i in 0..block.nrows() {
        for j in 0..=i {
            let sum = block[(i, j)] + block[(j, i)];
            (block[(i, j)], block[(j, i)]) = (sum, sum);
        }
    }
}

/// `A ← A + Bᵀ` and `B ← B + Aᵀ`, tile by tile as in [`transpose_into`].
fn add_transposes<T: Scalar>(mut above: MatMut<'_, T>, mut below: MatMut<'_, T>) {
    let mut tile = [T::default(); TILE * TILE];
    for top in (0..above.nrows()).step_by(TILE) {
        let height = TILE.min(above.nrows() - top);
        for left in (0..above.ncols()).step_by(TILE) {
            let width = TILE.min(above.ncols() - left);
            let mut a = above.rb_mut().submatrix_mut(top, left, height, width);
            let mut b = below.rb_mut().submatrix_mut(left, top, width, height);
            for j in 0..width {
                for i in 0..height {
                    tile[i * TILE + j] = b[(j, i)];
                }
            }
            for i in 0..height {
                for j in 0..width {
                    let sum = a[(i, j)] + tile[i * TILE + j];
                    a[(i, j)] = sum;
                    tile[i * TILE + j] = sum;
                }
            }
            for j in 0..width {
                for i in 0..height {
                    b[(j, i)] = tile[i * TILE + j];
                }
            }
        }
    }
}

/// Copies the lower triangle of a square matrix.
#[track_caller]
pub fn copy_lower<T: Scalar>(matrix: MatRef<'_, T>, out: MatMut<'_, T>) {
    in_row_parts(out, &|rows, first| {
        for (index, row) in (first..).zip(rows.row_iter_mut()) {
            let source = matrix.row(index).subcols(0, index + 1);
            row.subcols_mut(0, index + 1).copy_from(source);
        }
    });
}

/// Sets everything above the diagonal of a square matrix to zero.
#[track_caller]
pub fn clear_above_diagonal<T: Scalar>(matrix: MatMut<'_, T>) {
    in_row_parts(matrix, &|rows, first| {
        for (index, row) in (first..).zip(rows.row_iter_mut()) {
            row.split_at_col_mut(index + 1).1.fill(T::default());
        }
    });
}

/// `target ← sourceᵀ` for matrices with contiguous rows.
///
/// The copy goes through a buffer tile by tile and accesses both matrices row by row. If rows are a
/// power of two apart, the entries of a column compete for a few cache lines.
pub fn transpose_into<T: Scalar>(source: MatRef<'_, T>, mut target: MatMut<'_, T>) {
    let mut tile = [T::default(); TILE * TILE];
    let (rows, columns) = (source.nrows(), source.ncols());
    for top in (0..rows).step_by(TILE) {
        let height = TILE.min(rows - top);
        for left in (0..columns).step_by(TILE) {
            let width = TILE.min(columns - left);
            let from = source.submatrix(top, left, height, width);
            let mut to = target.rb_mut().submatrix_mut(left, top, width, height);
            for i in 0..height {
                for j in 0..width {
                    tile[j * TILE + i] = from[(i, j)];
                }
            }
            for j in 0..width {
                for i in 0..height {
                    to[(j, i)] = tile[j * TILE + i];
                }
            }
        }
    }
}
