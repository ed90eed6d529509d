//! Steps towards a triangular factor of an inverse, `LLᵀ → A⁻¹`, on slices.

use faer::{
    Accum, MatMut, MatRef,
    prelude::{Reborrow, ReborrowMut},
};

use crate::ops::cpu::{
    Scalar, Side, lower_of_transposed_product, on_threads, product_of_triangles, triangular_product,
};

/// The lower triangle of `LᵀAL` for a symmetric A and a lower-triangular L, whose entries above the
/// diagonal are never read. The entries of `out` above the diagonal are unspecified.
pub fn congruence<T: Scalar>(matrix: MatRef<'_, T>, lower: MatRef<'_, T>, out: MatMut<'_, T>) {
    let size = matrix.nrows();
    let mut storage = vec![T::default(); size * size];
    let mut rows = MatMut::from_row_major_slice_mut(&mut storage, size, size); // LᵀA
    on_threads(size * size * size / 6, || {
        triangular_product(
            lower,
            Side::Transposed,
            matrix,
            rows.rb_mut(),
            Accum::Replace,
        );
        lower_of_transposed_product(lower, rows.rb().transpose(), out);
    });
}

/// `‖H − I‖²_F` and the largest diagonal entry of a symmetric H given by its lower triangle.
pub fn identity_distance<T: Scalar>(matrix: &[T], size: usize) -> (f64, f64) {
    let (mut squares, mut largest) = (0.0, f64::NEG_INFINITY);
    for (i, row) in matrix.chunks_exact(size.max(1)).enumerate() {
        let mut sums = [0.0; 8];
        let chunks = row[..i].chunks_exact(8);
        for &value in chunks.remainder() {
            squares += 2.0 * value.to_f64() * value.to_f64();
        }
        for chunk in chunks {
            for (sum, value) in sums.iter_mut().zip(chunk) {
                *sum += value.to_f64() * value.to_f64();
            }
        }
        let diagonal = row[i].to_f64();
        squares += 2.0 * sums.iter().sum::<f64>() + (diagonal - 1.0) * (diagonal - 1.0);
        largest = largest.max(diagonal);
    }
    (squares, largest)
}

/// `L − γ·LΦ` with `Φ = tril(H) − ½(I + diag H)`, for a symmetric H given by its lower triangle.
pub fn descended<T: Scalar>(lower: &[T], matrix: &[T], size: usize, step_size: T) -> Vec<T> {
    let half = T::from_f64(0.5);
    let clean = |values: &[T]| {
        let mut copy = vec![T::default(); size * size];
        for (i, (to, from)) in (copy.chunks_exact_mut(size.max(1)))
            .zip(values.chunks_exact(size.max(1)))
            .enumerate()
        {
            to[..=i].copy_from_slice(&from[..=i]);
        }
        copy
    };
    let mut direction = clean(matrix); // Φ
    for i in 0..size {
        direction[i * size + i] = half * (direction[i * size + i] - T::from_f64(1.0));
    }
    let mut next = clean(lower);
    let mut change = vec![T::default(); size * size];
    let left = MatRef::from_row_major_slice(&next, size, size);
    let right = MatRef::from_row_major_slice(&direction, size, size);
    let out = MatMut::from_row_major_slice_mut(&mut change, size, size);
    on_threads(size * size * size / 6, || {
        product_of_triangles(left, right, out)
    });
    for (next, change) in next.iter_mut().zip(change) {
        *next -= step_size * change;
    }
    next
}
