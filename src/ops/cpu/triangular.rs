//! Triangular products and solves on the CPU at the speed of matrix products.
//!
//! Every large product is split into one part per thread, and each part is computed without further
//! synchronization.

use faer::{
    Accum, MatMut, MatRef,
    prelude::{Reborrow, ReborrowMut},
};

use super::{
    division::{LowerShare, grid, lower_shares},
    faer_calls::matmul,
    passes::{TILE, in_column_parts, lower_block, transpose_into},
    scalar::Scalar,
    substitution::{BLOCK, solve_block},
    threads,
};

/// Bytes of a row of a column block of [`lower_product`].
const LOWER_COLUMN_BYTES: usize = 256;

/// Rows of a diagonal block of a triangular product.
const LEAF: usize = 32;

/// Parts of the columns per thread in solves and triangular products. A thread takes the next part when it
/// has finished one, so a thread that other programs slow down takes fewer.
const PARTS_PER_THREAD: usize = 2;

/// Bytes of a row of a triangular matrix from which products with its transpose are faster with a copy of
/// it in which columns are contiguous.
const COPY_FROM: usize = 3072;

/// Number of multiply-adds below which one thread is faster than two.
const PARALLEL_FROM: usize = 1 << 22;

/// The number of threads to use for this many multiply-adds.
pub fn threads_for(multiply_adds: usize) -> usize {
    threads::count_for(multiply_adds, PARALLEL_FROM)
}

/// The number of parts of the columns for this many threads; one part for one thread.
fn parts_for(threads: usize) -> usize {
    if threads > 1 {
        PARTS_PER_THREAD * threads
    } else {
        1
    }
}

/// Calls `work`, which takes this many multiply-adds, inside the pool if it will be split there.
pub fn on_threads<R: Send>(multiply_adds: usize, work: impl FnOnce() -> R + Send) -> R {
    if threads_for(multiply_adds) > 1 {
        threads::within_pool(work)
    } else {
        work()
    }
}

/// `out ← alpha·A·B`, or added to `out` with `Accum::Add`, on all threads if that pays off.
#[track_caller]
pub fn product<T: Scalar>(
    out: MatMut<'_, T>,
    beta: Accum,
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    alpha: T,
) {
    let threads = threads_for(out.nrows() * out.ncols() * left.ncols());
    product_on(threads, out, beta, left, right, alpha);
}

/// [`product`] on a given number of threads.
///
/// Each thread computes a part of the output independently, whereas threads that share a product
/// would wait for each other.
#[track_caller]
pub fn product_on<T: Scalar>(
    threads: usize,
    out: MatMut<'_, T>,
    beta: Accum,
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    alpha: T,
) {
    if threads <= 1 {
        return matmul(out, beta, left, right, alpha);
    }
    let mut parts = grid(out, threads);
    threads::in_parts(&mut parts, 1, threads, &|parts, _| {
        for (part, row, column) in parts {
            let left = left.subrows(*row, part.nrows());
            let right = right.subcols(*column, part.ncols());
            matmul(part.rb_mut(), beta, left, right, alpha);
        }
    });
}

/// The row at which to split a triangular matrix of `size` rows in two: near the middle, on a block
/// boundary.
pub fn halfway(size: usize) -> usize {
    (size / 2).next_multiple_of(BLOCK)
}

/// Selects one of the two systems, or one of the two products, of a triangular factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `L·X = B`
    Lower,
    /// `Lᵀ·X = B`
    Transposed,
}

#[cfg(feature = "remote")]
crate::ops::remote::sent_as_numbers!(Side in [Self::Lower, Self::Transposed]);

impl Side {
    /// The other side.
    pub fn opposite(self) -> Self {
        match self {
            Self::Lower => Self::Transposed,
            Self::Transposed => Self::Lower,
        }
    }
}

/// `B ← L⁻¹B` or `L⁻ᵀB` by recursive halving on one thread: all work outside the diagonal blocks is
/// large products.
fn solve_part<T: Scalar>(lower: MatRef<'_, T>, side: Side, mut rhs: MatMut<'_, T>) {
    let size = rhs.nrows();
    if size <= BLOCK {
        return solve_block(lower, side, rhs);
    }
    let middle = halfway(size);
    let (first, _, corner, last) = lower.split_at(middle, middle);
    let (mut top, mut bottom) = rhs.rb_mut().split_at_row_mut(middle);
    let (add, minus) = (Accum::Add, T::from_f64(-1.0));
    match side {
        Side::Lower => {
            solve_part(first, side, top.rb_mut());
            matmul(bottom.rb_mut(), add, corner, top.rb(), minus);
            solve_part(last, side, bottom);
        }
        Side::Transposed => {
            solve_part(last, side, bottom.rb_mut());
            let corner = corner.transpose();
            matmul(top.rb_mut(), add, corner, bottom.rb(), minus);
            solve_part(first, side, top);
        }
    }
}

/// `B ← L⁻¹B` or `L⁻ᵀB` for a lower-triangular `L`. The entries above its diagonal are never read.
#[track_caller]
pub fn solve_in_place<T: Scalar>(lower: MatRef<'_, T>, side: Side, rhs: MatMut<'_, T>) {
    let triangle = Triangle::new(lower, side, rhs.ncols());
    in_column_parts(rhs, triangle.parts(), &|part, _| triangle.solve(part));
}

/// A lower-triangular matrix, or its transpose, ready for products and solves with parts of the columns of
/// a matrix. The entries above its diagonal are never read.
pub struct Triangle<'a, T> {
    lower: MatRef<'a, T>,
    side: Side,
    by_columns: Option<Columns<T>>,
    parts: usize,
}

impl<'a, T: Scalar> Triangle<'a, T> {
    /// Prepares for a matrix with this many columns.
    #[track_caller]
    pub fn new(lower: MatRef<'a, T>, side: Side, columns: usize) -> Self {
        let threads = threads_for(lower.nrows() * lower.nrows() * columns / 2);
        Self {
            lower,
            side,
            by_columns: contiguous_columns(threads, lower, side, columns),
            parts: parts_for(threads),
        }
    }

    /// The number of parts to split the columns into.
    pub fn parts(&self) -> usize {
        self.parts
    }

    fn matrix(&self) -> MatRef<'_, T> {
        self.by_columns.as_ref().map_or(self.lower, Columns::matrix)
    }

    /// [`triangular_product`] for a part of the columns, times `alpha`, on this thread.
    pub fn multiply(&self, rhs: MatRef<'_, T>, out: MatMut<'_, T>, beta: Accum, alpha: T) {
        triangular_product_part(self.matrix(), self.side, rhs, out, beta, alpha);
    }

    /// [`solve_in_place`] for a part of the columns, on this thread.
    pub fn solve(&self, rhs: MatMut<'_, T>) {
        solve_part(self.matrix(), self.side, rhs);
    }
}

/// A copy of a lower triangle in which columns are contiguous.
struct Columns<T> {
    values: Vec<T>,
    size: usize,
    stride: usize,
}

impl<T: Scalar> Columns<T> {
    fn matrix(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice_with_stride(&self.values, self.size, self.size, self.stride)
    }
}

/// The copy, if a product or solve with `lower` is faster with it.
fn contiguous_columns<T: Scalar>(
    threads: usize,
    lower: MatRef<'_, T>,
    side: Side,
    columns: usize,
) -> Option<Columns<T>> {
    let size = lower.nrows();
    if side == Side::Lower
        || size * size_of::<T>() < COPY_FROM
        || columns < size / 2
        || lower.row_stride() == 1
    {
        return None;
    }
    // Columns that are not a power of two apart do not compete for the same cache lines.
    let stride = size + TILE;
    let mut values = vec![T::default(); size * stride];
    threads::in_parts(&mut values, TILE * stride, 4 * threads, &|part, first| {
        for (group, part) in part.chunks_mut(TILE * stride).enumerate() {
            let left = (first + group) * TILE;
            let width = TILE.min(size - left);
            let target = MatMut::from_column_major_slice_with_stride_mut(part, size, width, stride);
            let source = lower.submatrix(left, left, size - left, width);
            transpose_into(
                source,
                target.subrows_mut(left, size - left).transpose_mut(),
            );
        }
    });
    Some(Columns {
        values,
        size,
        stride,
    })
}

/// `out ← W·B` or `Wᵀ·B` for a lower-triangular `W`, whose entries above the diagonal are never
/// read. With `Accum::Add` the product is added to `out`.
#[track_caller]
pub fn triangular_product<T: Scalar>(
    lower: MatRef<'_, T>,
    side: Side,
    rhs: MatRef<'_, T>,
    out: MatMut<'_, T>,
    beta: Accum,
) {
    add_triangular_product(lower, side, rhs, out, beta, T::from_f64(1.0));
}

/// `out ← out − W·B` or `out − Wᵀ·B`, as in [`triangular_product`].
#[track_caller]
pub fn subtract_triangular_product<T: Scalar>(
    lower: MatRef<'_, T>,
    side: Side,
    rhs: MatRef<'_, T>,
    out: MatMut<'_, T>,
) {
    add_triangular_product(lower, side, rhs, out, Accum::Add, T::from_f64(-1.0));
}

/// [`triangular_product`] times `alpha`, in parts of the columns.
#[track_caller]
pub fn add_triangular_product<T: Scalar>(
    lower: MatRef<'_, T>,
    side: Side,
    rhs: MatRef<'_, T>,
    out: MatMut<'_, T>,
    beta: Accum,
    alpha: T,
) {
    let triangle = Triangle::new(lower, side, rhs.ncols());
    in_column_parts(out, triangle.parts(), &|out, first_column| {
        let rhs = rhs.subcols(first_column, out.ncols());
        triangle.multiply(rhs, out, beta, alpha);
    });
}

/// [`triangular_product`] by recursive halving on one thread: all work outside the diagonal blocks
/// is large products.
fn triangular_product_part<T: Scalar>(
    lower: MatRef<'_, T>,
    side: Side,
    rhs: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    beta: Accum,
    alpha: T,
) {
    let size = rhs.nrows();
    if size <= LEAF {
        let block = lower_block(lower);
        let block = MatRef::from_row_major_slice(&block, size, size);
        let block = match side {
            Side::Lower => block,
            Side::Transposed => block.transpose(),
        };
        return matmul(out, beta, block, rhs, alpha);
    }
    let middle = halfway(size);
    let (first, _, corner, last) = lower.split_at(middle, middle);
    let (rhs_top, rhs_bottom) = rhs.split_at_row(middle);
    let (mut top, mut bottom) = out.rb_mut().split_at_row_mut(middle);
    triangular_product_part(first, side, rhs_top, top.rb_mut(), beta, alpha);
    triangular_product_part(last, side, rhs_bottom, bottom.rb_mut(), beta, alpha);
    match side {
        Side::Lower => matmul(bottom, Accum::Add, corner, rhs_top, alpha),
        Side::Transposed => matmul(top, Accum::Add, corner.transpose(), rhs_bottom, alpha),
    }
}

/// The lower triangle of `out + alpha·A·B` (or of `alpha·A·B`), for square `out`. The entries of
/// `out` above the diagonal stay or become zero.
#[track_caller]
pub fn lower_product<T: Scalar>(
    out: MatMut<'_, T>,
    beta: Accum,
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    alpha: T,
) {
    let product = LowerProduct {
        out,
        left,
        right,
        alpha,
    };
    lower_products(beta, [product].into());
}

/// The arguments of a [`lower_product`].
pub struct LowerProduct<'a, T> {
    pub out: MatMut<'a, T>,
    pub left: MatRef<'a, T>,
    pub right: MatRef<'a, T>,
    pub alpha: T,
}

/// Several [`lower_product`]s at once, on as many threads as the largest of them is worth.
#[track_caller]
pub fn lower_products<T: Scalar>(beta: Accum, products: Vec<LowerProduct<'_, T>>) {
    let multiply_adds = (products.iter())
        .map(|product| product.out.nrows() * product.out.nrows() * product.right.nrows() / 2);
    let threads = threads_for(multiply_adds.max().unwrap_or_default());
    let mut shares: Vec<Vec<_>> = (0..threads).map(|_| Vec::new()).collect();
    for LowerProduct {
        out,
        left,
        right,
        alpha,
    } in products
    {
        for (all, share) in shares.iter_mut().zip(lower_shares(out, threads)) {
            all.push((share, left, right, alpha));
        }
    }
    threads::in_parts(&mut shares, 1, threads, &|shares, _| {
        for (LowerShare { blocks, triangle }, left, right, alpha) in shares.iter_mut().flatten() {
            for (block, row, column) in blocks {
                let left = left.subrows(*row, block.nrows());
                let right = right.subcols(*column, block.ncols());
                matmul(block.rb_mut(), beta, left, right, *alpha);
            }
            let (triangle, first) = triangle;
            let left = left.subrows(*first, triangle.nrows());
            let right = right.subcols(*first, triangle.ncols());
            lower_product_part(triangle.rb_mut(), beta, left, right, *alpha);
        }
    });
}

/// [`lower_product`] on one thread, a few columns after another, each from its diagonal block down.
///
/// The kernels of products pack the wide matrix for each column block of the result. Tall blocks share that
/// work among many rows; wide or square blocks would not.
fn lower_product_part<T: Scalar>(
    mut out: MatMut<'_, T>,
    beta: Accum,
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    alpha: T,
) {
    let size = out.nrows();
    let step = LOWER_COLUMN_BYTES / size_of::<T>();
    for first in (0..size).step_by(step) {
        let (height, width) = (size - first, step.min(size - first));
        let block = out.rb_mut().submatrix_mut(first, first, height, width);
        let (left, right) = (left.subrows(first, height), right.subcols(first, width));
        matmul(block, beta, left, right, alpha);
        for i in 0..width {
            let above = (first + i, first + i + 1);
            (out.rb_mut()
                .submatrix_mut(above.0, above.1, 1, width - i - 1))
            .fill(T::default());
        }
    }
}
