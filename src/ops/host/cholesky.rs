//! The Cholesky factorisation on the CPU, and the solve that its reverse needs.
//!
//! A **packed factor** is a square row-major matrix whose lower triangle is `L`. Above the
//! diagonal, each diagonal block of [`BLOCK`] rows carries the transposed strict lower triangle of
//! its own inverse, which every later solve reads; the rest above the diagonal is not read.

use faer::{
    Accum, MatMut, MatRef, Par, Spec,
    dyn_stack::{MemBuffer, MemStack},
    linalg::{
        cholesky::llt::factor::{
            LltError, LltParams, cholesky_in_place, cholesky_in_place_scratch,
        },
        triangular_inverse::invert_lower_triangular,
    },
    prelude::{Reborrow, ReborrowMut, unzip, zip},
};

use super::{
    scalar::Scalar,
    triangular::{
        BLOCK, Side, block_inverse, halfway, lower_product, mirror_lower, on_threads, product,
        solve_in_place, transpose_into,
    },
};

/// The row whose pivot was not positive (or not a number).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPivot(pub usize);

/// Factors the symmetric matrix in the lower triangle of `matrix` in place, leaving a packed
/// factor.
pub fn factor_in_place<T: Scalar>(matrix: MatMut<'_, T>) -> Result<(), BadPivot> {
    let size = matrix.nrows();
    on_threads(size * size * size / 6, || factor_part(matrix))
}

/// [`factor_in_place`] by halves.
fn factor_part<T: Scalar>(mut matrix: MatMut<'_, T>) -> Result<(), BadPivot> {
    let size = matrix.nrows();
    if size <= BLOCK {
        return factor_block(matrix);
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

/// Factors one diagonal block and stores the inverse of the result above its diagonal.
fn factor_block<T: Scalar>(mut block: MatMut<'_, T>) -> Result<(), BadPivot> {
    let size = block.nrows();
    let mut storage = [
        vec![T::default(); size * size],
        vec![T::default(); size * size],
    ];
    let [factor, inverse] = &mut storage;
    let mut factor = MatMut::from_column_major_slice_mut(factor, size, size);
    let inverse = MatMut::from_column_major_slice_mut(inverse, size, size);
    factor.copy_from_triangular_lower(block.rb());
    let parameters = Spec::<LltParams, T>::default();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<T>(size, Par::Seq, parameters));
    cholesky_in_place(
        factor.rb_mut(),
        Default::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        parameters,
    )
    .map_err(|LltError::NonPositivePivot { index }| BadPivot(index))?;
    block.copy_from_triangular_lower(factor.rb());
    pack_block(block, factor, inverse)
}

/// Turns a lower-triangular matrix into a packed factor.
pub fn pack_lower_in_place<T: Scalar>(mut matrix: MatMut<'_, T>) -> Result<(), BadPivot> {
    for start in (0..matrix.nrows()).step_by(BLOCK) {
        let size = BLOCK.min(matrix.nrows() - start);
        let mut storage = [
            vec![T::default(); size * size],
            vec![T::default(); size * size],
        ];
        let [factor, inverse] = &mut storage;
        let mut factor = MatMut::from_column_major_slice_mut(factor, size, size);
        let inverse = MatMut::from_column_major_slice_mut(inverse, size, size);
        let block = matrix.rb_mut().submatrix_mut(start, start, size, size);
        factor.copy_from_triangular_lower(block.rb());
        pack_block(block, factor, inverse).map_err(|BadPivot(row)| BadPivot(start + row))?;
    }
    Ok(())
}

/// Stores the inverse of the lower-triangular `factor` above the diagonal of `block`.
fn pack_block<T: Scalar>(
    mut block: MatMut<'_, T>,
    factor: MatMut<'_, T>,
    mut inverse: MatMut<'_, T>,
) -> Result<(), BadPivot> {
    let size = block.nrows();
    if let Some(row) = (0..size).find(|&i| !is_usable(factor[(i, i)])) {
        return Err(BadPivot(row));
    }
    invert_lower_triangular(inverse.rb_mut(), factor.rb(), Par::Seq);
    for i in 0..size {
        for j in 0..i {
            block[(j, i)] = inverse[(i, j)];
        }
    }
    Ok(())
}

/// Whether a diagonal entry can be divided by.
fn is_usable<T: Scalar>(pivot: T) -> bool {
    let pivot = pivot.to_f64();
    pivot != 0.0 && pivot.is_finite()
}

/// `S ← L⁻ᵀ S L⁻¹` for a packed factor and a symmetric `S`, of which the lower triangle is read
/// and both triangles are written.
///
/// By halves, `LᵀXL = S` gives `X₂₂` by recursion, then with `W = X₂₂L₂₁` and `R = L₂₂⁻ᵀS₂₁ − W`
/// the corner `X₂₁ = R·L₁₁⁻¹`, and `X₁₁` by recursion on
/// `S₁₁ − L₂₁ᵀ(R + W/2) − (R + W/2)ᵀL₂₁`: n³ operations where two triangular solves take 2n³.
pub fn two_sided_solve_in_place<T: Scalar>(factor: MatRef<'_, T>, matrix: MatMut<'_, T>) {
    let size = matrix.nrows();
    on_threads(size * size * size / 2, || two_sided_part(factor, matrix));
}

/// [`two_sided_solve_in_place`] by halves.
fn two_sided_part<T: Scalar>(factor: MatRef<'_, T>, mut matrix: MatMut<'_, T>) {
    let size = matrix.nrows();
    if size <= 256 {
        mirror_lower(matrix.rb_mut());
        solve_in_place(factor, Side::Transposed, matrix.rb_mut());
        return solve_in_place(factor, Side::Transposed, matrix.transpose_mut());
    }
    let middle = halfway(size);
    let tail = size - middle;
    let (first, _, corner, last) = factor.split_at(middle, middle);
    {
        let (mut s11, _, mut s21, mut s22) = matrix.rb_mut().split_at_mut(middle, middle);
        two_sided_part(last, s22.rb_mut());
        let mut storage = vec![T::default(); tail * middle];
        let mut w = MatMut::from_row_major_slice_mut(&mut storage, tail, middle);
        let one = T::from_f64(1.0);
        product(w.rb_mut(), Accum::Replace, s22.rb(), corner, one);
        solve_in_place(last, Side::Transposed, s21.rb_mut());
        let half = T::from_f64(0.5);
        combine(s21.rb_mut(), w.rb(), -half);
        let minus = T::from_f64(-1.0);
        let (r, l) = (s21.rb(), corner);
        lower_product(s11.rb_mut(), Accum::Add, l.transpose(), r, minus);
        lower_product(s11.rb_mut(), Accum::Add, r.transpose(), l, minus);
        combine(s21.rb_mut(), w.rb(), -half);
        solve_in_place(first, Side::Transposed, s21.transpose_mut());
        two_sided_part(first, s11);
    }
    let (_, s12, s21, _) = matrix.split_at_mut(middle, middle);
    transpose_into(s21.rb(), s12);
}

/// `target ← target + scale·other`, for matrices with contiguous rows.
fn combine<T: Scalar>(target: MatMut<'_, T>, other: MatRef<'_, T>, scale: T) {
    zip!(target, other).for_each(|unzip!(target, other)| *target += scale * *other);
}

/// `K⁻¹ = L⁻ᵀL⁻¹` from a packed factor: its lower triangle; what is above it is unspecified.
///
/// By halves, `X₂₂` and `(L₁₁L₁₁ᵀ)⁻¹` by recursion, then with `B = L₂₁L₁₁⁻¹` the corner
/// `X₂₁ = −X₂₂B`, and `X₁₁ = (L₁₁L₁₁ᵀ)⁻¹ − BᵀX₂₁`: n³/3 operations.
pub fn inverse_from_factor<T: Scalar>(factor: MatRef<'_, T>, inverse: MatMut<'_, T>) {
    let size = factor.nrows();
    on_threads(size * size * size / 6, || inverse_part(factor, inverse));
}

/// [`inverse_from_factor`] by halves.
fn inverse_part<T: Scalar>(factor: MatRef<'_, T>, mut inverse: MatMut<'_, T>) {
    let size = factor.nrows();
    let one = T::from_f64(1.0);
    if size <= BLOCK {
        let block = block_inverse(factor);
        let block = MatRef::from_row_major_slice(&block, size, size);
        return lower_product(inverse, Accum::Replace, block.transpose(), block, one);
    }
    let middle = halfway(size);
    let (first, _, corner, last) = factor.split_at(middle, middle);
    let (mut x11, _, mut b, mut x22) = inverse.rb_mut().split_at_mut(middle, middle);
    inverse_part(first, x11.rb_mut());
    inverse_part(last, x22.rb_mut());
    mirror_lower(x22.rb_mut());
    b.copy_from(corner);
    solve_in_place(first, Side::Transposed, b.rb_mut().transpose_mut());
    let mut storage = vec![T::default(); (size - middle) * middle];
    let mut x21 = MatMut::from_row_major_slice_mut(&mut storage, size - middle, middle);
    product(x21.rb_mut(), Accum::Replace, x22.rb(), b.rb(), -one);
    lower_product(x11, Accum::Add, b.rb().transpose(), x21.rb(), -one);
    b.copy_from(x21);
}
