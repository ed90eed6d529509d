//! The Cholesky factorization on slices, and the two-sided solve for its backward pass.
//!
//! A factor is a square row-major matrix with `L` in its lower triangle; the entries above the
//! diagonal are never read.

use faer::{
    Accum, MatMut, MatRef,
    prelude::{Reborrow, ReborrowMut, unzip, zip},
};

use super::diagonal_block::factor_block;
use crate::ops::cpu::{
    BLOCK, Scalar, Side, add_transpose, gram_of_lower, halfway, in_row_parts, lower_product,
    on_threads, solve_for_upper, solve_in_place, triangular_product,
};

/// The row whose pivot was not positive or was NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPivot(pub usize);

/// Factors a symmetric matrix, given by the lower triangle of `matrix`, in place.
pub fn factor_in_place<T: Scalar>(matrix: MatMut<'_, T>) -> Result<(), BadPivot> {
    let size = matrix.nrows();
    on_threads(size * size * size / 6, || factor_part(matrix))
}

/// [`factor_in_place`] by recursive halving.
fn factor_part<T: Scalar>(mut matrix: MatMut<'_, T>) -> Result<(), BadPivot> {
    let size = matrix.nrows();
    if size <= BLOCK {
        factor_block(matrix.rb_mut())?;
        return check_diagonal(matrix.rb());
    }
    let middle = halfway(size);
    let (mut first, _, mut corner, mut last) = matrix.rb_mut().split_at_mut(middle, middle);
    factor_part(first.rb_mut())?;
    solve_in_place(first.rb(), Side::Lower, corner.rb_mut().transpose_mut());
    let minus = T::from_f64(-1.0);
    lower_product(
        last.rb_mut(),
        Accum::Add,
        corner.rb(),
        corner.rb().transpose(),
        minus,
    );
    factor_part(last).map_err(|BadPivot(row)| BadPivot(middle + row))
}

/// Checks that every diagonal entry is finite and nonzero.
pub fn check_diagonal<T: Scalar>(lower: MatRef<'_, T>) -> Result<(), BadPivot> {
    let unusable = |&i: &usize| {
        let pivot = lower[(i, i)].to_f64();
        pivot == 0.0 || !pivot.is_finite()
    };
    (0..lower.nrows())
        .find(unusable)
        .map_or(Ok(()), |row| Err(BadPivot(row)))
}

/// `out ← ½·L⁻ᵀ S L⁻¹` for a factor and a symmetric `S`. Reads the lower triangle of `S` and
/// writes both triangles of `out`.
///
/// With Φ the lower triangle of `S` and its diagonal halved, the result is `½(Z + Zᵀ)` for
/// `Z = L⁻ᵀ(ΦL⁻¹)`. The inner product of triangles is a triangle, so this takes 4n³/3 operations,
/// where two solves for the whole `S` take 2n³. Computing one triangle of the result alone would
/// take n³ but lose digits: the residual `LᵀXL − S` is small for the sum of a solution and its
/// transpose, but not for one triangle and its mirror image.
pub fn two_sided_solve<T: Scalar>(
    factor: MatRef<'_, T>,
    symmetric: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
) {
    let size = out.nrows();
    on_threads(size * size * size / 2, || {
        write_half(symmetric, out.rb_mut());
        solve_for_upper(factor, out.rb_mut().transpose_mut());
        solve_in_place(factor, Side::Transposed, out.rb_mut());
        add_transpose(out);
    });
}

/// `out ← ½·Φ(S)`, where Φ keeps the lower triangle and half of the diagonal.
fn write_half<T: Scalar>(symmetric: MatRef<'_, T>, out: MatMut<'_, T>) {
    let [half, quarter] = [0.5, 0.25].map(T::from_f64);
    in_row_parts(out, &|rows, first| {
        for (i, row) in (first..).zip(rows.row_iter_mut()) {
            let (mut lower, mut upper) = row.split_at_col_mut(i);
            zip!(lower.rb_mut(), symmetric.row(i).subcols(0, i))
                .for_each(|unzip!(out, entry)| *out = half * *entry);
            upper.fill(T::default());
            upper[0] = quarter * symmetric[(i, i)];
        }
    });
}

/// The lower triangle of the inverse `K⁻¹ = L⁻ᵀL⁻¹`, from a factor, in n³/3 operations. The entries
/// above the diagonal are unspecified.
pub fn inverse_from_factor<T: Scalar>(factor: MatRef<'_, T>, mut inverse: MatMut<'_, T>) {
    let size = factor.nrows();
    on_threads(size * size * size / 6, || {
        inverse_of_lower(factor, inverse.rb_mut());
        gram_of_lower(inverse);
    });
}

/// The lower triangle of `H = L⁻¹`. The entries above the diagonal are unspecified.
///
/// Recursive halving, `H₂₁ = −L₂₂⁻¹(L₂₁H₁₁)`, performs the operations of substitution. The product
/// `−H₂₂(L₂₁H₁₁)` would leave a residual that grows with the condition number of `L₂₂`.
fn inverse_of_lower<T: Scalar>(lower: MatRef<'_, T>, mut inverse: MatMut<'_, T>) {
    let size = lower.nrows();
    if size <= BLOCK {
        inverse.fill(T::default());
        inverse.rb_mut().diagonal_mut().fill(T::from_f64(1.0));
        return solve_in_place(lower, Side::Lower, inverse);
    }
    let middle = halfway(size);
    let (first, _, corner, last) = lower.split_at(middle, middle);
    let (mut h11, _, mut h21, h22) = inverse.split_at_mut(middle, middle);
    inverse_of_lower(first, h11.rb_mut());
    inverse_of_lower(last, h22);
    triangular_product(
        h11.rb(),
        Side::Transposed,
        corner.transpose(),
        h21.rb_mut().transpose_mut(),
        Accum::Replace,
    );
    zip!(h21.rb_mut()).for_each(|unzip!(entry)| *entry = -*entry);
    solve_in_place(last, Side::Lower, h21);
}
