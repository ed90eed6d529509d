//! Products and solves in which both matrices are triangular, by recursive halving: `n³/3` operations, where
//! a triangle and a full matrix take `n³`.

use faer::{
    Accum, MatMut, MatRef,
    prelude::{Reborrow, ReborrowMut},
};

use super::{
    passes::lower_block,
    scalar::Scalar,
    substitution::BLOCK,
    threads,
    triangular::{
        Side, add_triangular_product, halfway, lower_product, solve_in_place,
        subtract_triangular_product, threads_for, triangular_product,
    },
};

/// Rows of a diagonal block of a product that is computed as a whole.
const PANEL: usize = 64;

/// `U ← L⁻ᵀU` for an upper-triangular `U` with zeros below its diagonal, in n³/3 operations.
pub fn solve_for_upper<T: Scalar>(lower: MatRef<'_, T>, upper: MatMut<'_, T>) {
    let size = upper.nrows();
    if size <= BLOCK {
        return solve_in_place(lower, Side::Transposed, upper);
    }
    let middle = halfway(size);
    let (first, _, corner, last) = lower.split_at(middle, middle);
    let (mut u11, mut u12, _, mut u22) = upper.split_at_mut(middle, middle);
    let halves = [(first, u11.rb_mut()), (last, u22.rb_mut())];
    at_once(size, halves, solve_for_upper);
    subtract_triangular_product(
        u22.rb().transpose(),
        Side::Lower,
        corner,
        u12.rb_mut().transpose_mut(),
    );
    solve_in_place(first, Side::Transposed, u12);
}

/// Calls `work` with both halves of a triangle: on two threads if that pays off and the products in a
/// half are too small to be divided, else one after the other.
#[track_caller]
fn at_once<A: Send, B: Send>(rows: usize, halves: [(A, B); 2], work: impl Fn(A, B) + Sync) {
    let mut halves = halves.map(Some);
    let quarter = rows / 4;
    let threads = match threads_for(quarter * quarter * quarter / 2) {
        1 => threads_for(rows * rows * rows / 6),
        _ => 1,
    };
    threads::in_parts(&mut halves, 1, threads, &|halves, _| {
        for (first, second) in halves.iter_mut().filter_map(Option::take) {
            work(first, second);
        }
    });
}

/// `X ← L⁻¹X` for a lower-triangular `X` with zeros above its diagonal.
pub fn solve_for_lower<T: Scalar>(lower: MatRef<'_, T>, triangle: MatMut<'_, T>) {
    let size = triangle.nrows();
    if size <= BLOCK {
        return solve_in_place(lower, Side::Lower, triangle);
    }
    let middle = halfway(size);
    let (first, _, corner, last) = lower.split_at(middle, middle);
    let (mut x11, _, mut x21, x22) = triangle.split_at_mut(middle, middle);
    at_once(size, [(first, x11.rb_mut()), (last, x22)], solve_for_lower);
    subtract_triangular_product(
        x11.rb(),
        Side::Transposed,
        corner.transpose(),
        x21.rb_mut().transpose_mut(),
    );
    solve_in_place(last, Side::Lower, x21);
}

/// Replaces the lower triangle of `X` by that of `L⁻ᵀX`, for a lower-triangular `X` with zeros above its
/// diagonal. The entries of the result above the diagonal are unspecified.
pub fn solve_transposed_for_lower<T: Scalar>(lower: MatRef<'_, T>, triangle: MatMut<'_, T>) {
    let size = triangle.nrows();
    if size <= BLOCK {
        return solve_in_place(lower, Side::Transposed, triangle);
    }
    let middle = halfway(size);
    let (first, _, corner, last) = lower.split_at(middle, middle);
    let (mut x11, _, mut x21, x22) = triangle.split_at_mut(middle, middle);
    solve_transposed_for_lower(last, x22);
    solve_in_place(last, Side::Transposed, x21.rb_mut());
    let minus = T::from_f64(-1.0);
    lower_product(
        x11.rb_mut(),
        Accum::Add,
        corner.transpose(),
        x21.rb(),
        minus,
    );
    solve_transposed_for_lower(first, x11);
}

/// Adds the lower triangle of `alpha·A·Bᵀ` to `out`, for lower-triangular `A` and `B`, whose entries above
/// the diagonal are never read. The entries of the result above the diagonal are unspecified.
pub fn add_lower_product_of_triangles<T: Scalar>(
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    alpha: T,
) {
    let size = out.nrows();
    if size <= BLOCK {
        let [left, right] = [left, right].map(lower_block);
        let [left, right] =
            [&left, &right].map(|block| MatRef::from_row_major_slice(block, size, size));
        return lower_product(out, Accum::Add, left, right.transpose(), alpha);
    }
    let middle = halfway(size);
    let (left_first, _, left_corner, left_last) = left.split_at(middle, middle);
    let (right_first, _, right_corner, right_last) = right.split_at(middle, middle);
    let (first, _, corner, mut last) = out.rb_mut().split_at_mut(middle, middle);
    // `A₂₁B₁₁ᵀ = (B₁₁A₂₁ᵀ)ᵀ`
    add_triangular_product(
        right_first,
        Side::Lower,
        left_corner.transpose(),
        corner.transpose_mut(),
        Accum::Add,
        alpha,
    );
    lower_product(
        last.rb_mut(),
        Accum::Add,
        left_corner,
        right_corner.transpose(),
        alpha,
    );
    let halves = [
        ((left_first, right_first), first),
        ((left_last, right_last), last),
    ];
    at_once(size, halves, |(left, right), out| {
        add_lower_product_of_triangles(left, right, out, alpha);
    });
}

/// The lower triangle of `LᵀY` by recursive halving: `n³/3` operations, where the whole product
/// takes `n³`.
pub fn lower_of_transposed_product<T: Scalar>(
    lower: MatRef<'_, T>,
    right: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
) {
    let size = lower.nrows();
    if size <= PANEL {
        return triangular_product(lower, Side::Transposed, right, out, Accum::Replace);
    }
    let middle = halfway(size);
    let (first, _, corner, last) = lower.split_at(middle, middle);
    let (right_first, _, right_corner, right_last) = right.split_at(middle, middle);
    let (mut top, _, below, bottom) = out.rb_mut().split_at_mut(middle, middle);
    triangular_product(last, Side::Transposed, right_corner, below, Accum::Replace);
    lower_of_transposed_product(first, right_first, top.rb_mut());
    let one = T::from_f64(1.0);
    lower_product(top, Accum::Add, corner.transpose(), right_corner, one);
    lower_of_transposed_product(last, right_last, bottom);
}

/// `out ← L·Φ` for lower-triangular L and Φ with zeros above their diagonals; `out` must be zero
/// there on entry. `n³/3` operations.
pub fn product_of_triangles<T: Scalar>(
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
) {
    let size = left.nrows();
    if size <= PANEL {
        return triangular_product(left, Side::Lower, right, out, Accum::Replace);
    }
    let middle = halfway(size);
    let (first, _, corner, last) = left.split_at(middle, middle);
    let (right_first, _, right_corner, right_last) = right.split_at(middle, middle);
    let (top, _, mut below, bottom) = out.rb_mut().split_at_mut(middle, middle);
    let (transposed, replace) = (corner.transpose(), Accum::Replace);
    triangular_product(last, Side::Lower, right_corner, below.rb_mut(), replace);
    triangular_product(
        right_first,
        Side::Transposed,
        transposed,
        below.transpose_mut(),
        Accum::Add,
    );
    let halves = [((first, right_first), top), ((last, right_last), bottom)];
    at_once(size, halves, |(left, right), out| {
        product_of_triangles(left, right, out)
    });
}

/// Replaces the lower triangle of H by that of `HᵀH`.
pub fn gram_of_lower<T: Scalar>(matrix: MatMut<'_, T>) {
    let size = matrix.nrows();
    let one = T::from_f64(1.0);
    if size <= BLOCK {
        let copy = lower_block(matrix.rb());
        let copy = MatRef::from_row_major_slice(&copy, size, size);
        return lower_product(matrix, Accum::Replace, copy.transpose(), copy, one);
    }
    let middle = halfway(size);
    let (mut first, _, mut corner, last) = matrix.split_at_mut(middle, middle);
    gram_of_lower(first.rb_mut());
    lower_product(first, Accum::Add, corner.rb().transpose(), corner.rb(), one);
    let mut storage = vec![T::default(); (size - middle) * middle];
    let mut product = MatMut::from_row_major_slice_mut(&mut storage, size - middle, middle);
    triangular_product(
        last.rb(),
        Side::Transposed,
        corner.rb(),
        product.rb_mut(),
        Accum::Replace,
    );
    corner.copy_from(product);
    gram_of_lower(last);
}
