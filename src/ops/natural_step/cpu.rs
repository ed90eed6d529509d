//! The products of a natural-gradient step on the CPU.

use burn::backend::tensor::FloatTensor;
use faer::{MatMut, MatRef, prelude::ReborrowMut};

use super::NaturalStepOps;
use crate::ops::cholesky::CholeskyOps;
use crate::ops::cpu::{
    CpuMemory, Scalar, copy_lower, in_row_parts, map_members, member, on_threads, solve_for_upper,
    threads, transpose_into, with_element,
};

/// `out ← J·MᵀJ`, with `change` then applied to each row, given its index.
fn transpose_reversed<T: Scalar>(
    matrix: MatRef<'_, T>,
    out: MatMut<'_, T>,
    change: &(impl Fn(usize, MatMut<'_, T>) + Sync),
) {
    let reversed = matrix.reverse_rows_and_cols();
    in_row_parts(out, &|mut rows, first| {
        transpose_into(reversed.subcols(first, rows.nrows()), rows.rb_mut());
        for index in 0..rows.nrows() {
            change(first + index, rows.rb_mut().subrows_mut(index, 1));
        }
    });
}

impl<B: CpuMemory> NaturalStepOps for B {
    fn lower_of_transposed_product(lower: FloatTensor<B>, right: FloatTensor<B>) -> FloatTensor<B> {
        B::lower_of_factor_backward(lower, right)
    }

    fn reversed_precision(curvature: FloatTensor<B>, step_size: f64) -> FloatTensor<B> {
        with_element!(curvature, T => {
            let values = B::read::<T>(&curvature);
            let [step_size, one] = [step_size, 1.0].map(<T as Scalar>::from_f64);
            map_members::<B, T>(&curvature, |index, out| {
                let size = out.nrows();
                transpose_reversed(member(&values, index, size, size), out, &|row, mut entries| {
                    entries *= faer::Scale(step_size);
                    entries[(0, row)] += one;
                });
            })
        })
    }

    fn solve_reversed(lower: FloatTensor<B>, factor: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(lower, T => {
            let (triangles, factors) = (B::read::<T>(&lower), B::read::<T>(&factor));
            map_members::<B, T>(&lower, |index, mut out| {
                let size = out.nrows();
                let [lower, factor] = [&triangles, &factors].map(|all| member(all, index, size, size));
                let mut reversed: Vec<T> = threads::zeros(size * size); // JRᵀJ
                let mut reversed = MatMut::from_row_major_slice_mut(&mut reversed, size, size);
                on_threads(size * size * size / 6, || {
                    transpose_reversed(factor, reversed.rb_mut(), &|_, _| {});
                    copy_lower(lower, out.rb_mut());
                    solve_for_upper(reversed.as_ref(), out.transpose_mut());
                });
            })
        })
    }
}
