//! Matrices divided among threads.

use faer::MatMut;

/// Rows and columns of parts are multiples of this, the width of a vector register in single precision.
const STEP: usize = 16;

/// Minimum number of columns of a part.
const LEAST: usize = STEP;

/// A part of a matrix with the indices of its first row and column.
pub type Block<'a, T> = (MatMut<'a, T>, usize, usize);

/// The indices at which to cut `size` rows or columns into parts of almost equal size.
fn cuts(size: usize, parts: usize) -> impl Iterator<Item = usize> {
    let steps = size.div_ceil(STEP);
    (1..parts).map(move |part| steps * part / parts * STEP)
}

/// At most `parts` parts of the columns, with the index of the first column of each.
pub fn column_parts<T>(
    matrix: MatMut<'_, T>,
    parts: usize,
) -> impl Iterator<Item = (MatMut<'_, T>, usize)> {
    let size = matrix.ncols();
    let parts = parts.min(size / LEAST).max(1);
    let (mut rest, mut first) = (Some(matrix), 0);
    cuts(size, parts).chain([size]).filter_map(move |end| {
        let (part, others) = rest.take()?.split_at_col_mut(end - first);
        rest = Some(others);
        let start = std::mem::replace(&mut first, end);
        Some((part, start))
    })
}

/// A grid of at most `parts` blocks that are as close to squares as possible.
pub fn grid<T>(matrix: MatMut<'_, T>, parts: usize) -> Vec<Block<'_, T>> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let divisors = (1..=parts).filter(|&across| parts.is_multiple_of(across));
    // The perimeter of a block, times the number of blocks. Wide matrices are cut into columns rather than
    // rows.
    let best = divisors.min_by_key(|&across| {
        let size = rows * across + columns * (parts / across);
        (size, (across == 1) == (columns >= rows))
    });
    let across = best.unwrap_or(1);
    let down = (parts / across).min(rows.div_ceil(STEP)).max(1);
    let mut blocks = Vec::with_capacity(parts);
    for (part, column) in column_parts(matrix, across) {
        for (block, row) in column_parts(part.transpose_mut(), down) {
            blocks.push((block.transpose_mut(), row, column));
        }
    }
    blocks
}

/// The share of a thread in the lower triangle of a matrix.
pub struct LowerShare<'a, T> {
    /// Blocks below the diagonal.
    pub blocks: Vec<Block<'a, T>>,
    /// A square on the diagonal with the index of its first row.
    pub triangle: (MatMut<'a, T>, usize),
}

/// Divides the lower triangle of a square matrix into shares of almost equal size.
///
/// Every thread has a block of the corner; half of the threads share each of the two remaining triangles.
pub fn lower_shares<T>(matrix: MatMut<'_, T>, parts: usize) -> Vec<LowerShare<'_, T>> {
    lower_shares_from(matrix, parts, 0)
}

/// [`lower_shares`] of a square on the diagonal whose first row has this index.
fn lower_shares_from<T>(
    matrix: MatMut<'_, T>,
    parts: usize,
    first: usize,
) -> Vec<LowerShare<'_, T>> {
    let size = matrix.nrows();
    if parts <= 1 || size < 2 * STEP {
        return vec![LowerShare {
            blocks: Vec::new(),
            triangle: (matrix, first),
        }];
    }
    // The areas of the triangles are proportional to their numbers of threads.
    let (some, others) = (parts / 2, parts - parts / 2);
    let [small, large] = [some, others].map(|parts| (parts as f64).sqrt());
    let steps = size as f64 / STEP as f64 * small / (small + large);
    let middle = (steps.round() as usize).max(1) * STEP;
    let (top, _, corner, bottom) = matrix.split_at_mut(middle, middle);
    let mut shares = lower_shares_from(top, some, first);
    shares.extend(lower_shares_from(bottom, others, first + middle));
    for (index, (block, row, column)) in grid(corner, parts).into_iter().enumerate() {
        let place = index % shares.len();
        let block = (block, first + middle + row, first + column);
        shares[place].blocks.push(block);
    }
    shares
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;

    const SIZES: [(usize, usize); 6] = [
        (1, 1),
        (15, 40),
        (512, 512),
        (500, 1024),
        (1024, 96),
        (0, 3),
    ];

    #[test]
    fn grids_cover_a_matrix_once() {
        for (rows, columns) in SIZES {
            for parts in [1, 2, 3, 7, 12, 16] {
                let mut matrix = Mat::<f64>::zeros(rows, columns);
                let blocks = grid(matrix.as_mut(), parts);
                assert!(
                    (1..=parts).contains(&blocks.len()),
                    "{rows}×{columns} in {parts}"
                );
                for (mut block, row, column) in blocks {
                    for j in 0..block.ncols() {
                        for i in 0..block.nrows() {
                            block[(i, j)] += (1 + row + i + 10_000 * (column + j)) as f64;
                        }
                    }
                }
                let expected = |i, j| (1 + i + 10_000 * j) as f64;
                assert_eq!(matrix, Mat::from_fn(rows, columns, expected));
            }
        }
    }

    #[test]
    fn blocks_of_a_grid_are_almost_equal() {
        for (rows, columns) in [(512, 512), (500, 1024), (1024, 96), (256, 4000)] {
            let mut matrix = Mat::<f64>::zeros(rows, columns);
            let blocks = grid(matrix.as_mut(), 16);
            let largest = blocks
                .iter()
                .map(|(block, ..)| block.nrows() * block.ncols());
            let largest = largest.max().unwrap_or_default();
            let balance = (rows * columns) as f64 / (16 * largest) as f64;
            assert!(balance > 0.9, "{rows}×{columns}: {balance}");
        }
    }

    #[test]
    fn shares_cover_a_triangle_once() {
        for size in [0, 1, 31, 64, 500, 512] {
            for parts in [1, 2, 3, 8, 12, 16] {
                let mut matrix = Mat::<f64>::zeros(size, size);
                for share in lower_shares(matrix.as_mut(), parts) {
                    for (mut block, row, column) in share.blocks {
                        for j in 0..block.ncols() {
                            for i in 0..block.nrows() {
                                block[(i, j)] += (1 + row + i + 10_000 * (column + j)) as f64;
                            }
                        }
                    }
                    let (mut square, first) = share.triangle;
                    for j in 0..square.ncols() {
                        for i in j..square.nrows() {
                            square[(i, j)] += (1 + first + i + 10_000 * (first + j)) as f64;
                        }
                    }
                }
                let expected = |i, j| {
                    if i < j {
                        0.0
                    } else {
                        (1 + i + 10_000 * j) as f64
                    }
                };
                assert_eq!(
                    matrix,
                    Mat::from_fn(size, size, expected),
                    "{size} in {parts}"
                );
            }
        }
    }

    #[test]
    fn shares_of_a_triangle_are_almost_equal() {
        for size in [500, 512, 1000, 1024] {
            for parts in [2, 3, 6, 8, 12, 16] {
                let mut matrix = Mat::<f64>::zeros(size, size);
                let shares = lower_shares(matrix.as_mut(), parts);
                assert_eq!(shares.len(), parts);
                let entries = |share: &LowerShare<'_, f64>| {
                    let blocks = share.blocks.iter();
                    let of_blocks = blocks.map(|(block, ..)| block.nrows() * block.ncols());
                    let side = share.triangle.0.nrows();
                    of_blocks.sum::<usize>() + side * (side + 1) / 2
                };
                let largest = shares.iter().map(entries).max().unwrap_or_default();
                let balance = (size * (size + 1) / 2) as f64 / (parts * largest) as f64;
                assert!(balance > 0.85, "{size} in {parts}: {balance}");
            }
        }
    }
}
