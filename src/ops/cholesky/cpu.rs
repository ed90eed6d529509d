//! The factorization on the CPU.

use burn::{
    backend::{TensorMetadata, tensor::FloatTensor},
    tensor::DType,
};
use faer::{
    MatMut, MatRef,
    prelude::{Reborrow, ReborrowMut},
};

use super::{
    CholeskyOps, Jitter,
    blocks::{BadPivot, check_diagonal, factor_in_place, two_sided_solve},
    status::Status,
};
use crate::ops::{
    cpu::{
        CpuMemory, Element, Scalar, batch_parts, clear_above_diagonal, copy_lower, in_parts,
        lower_of_transposed_product, map_members, matrix_dims, member, on_threads, part,
        solve_transposed_for_lower, threads, with_element, write, write_like,
    },
    decompositions::count_decomposition,
};

/// Factors one matrix with increasing jitter, relative to `scale` or else to the mean of the diagonal. On
/// entry, `out` holds a copy of the matrix. On return, it holds the factor, or NaN if there is none, because
/// a client that trains on a worker's CPU does not wait for the status.
fn factor_with_jitter<T: Element>(
    matrix: &[T],
    out: &mut [T],
    scale: Option<T>,
    jitter: Jitter,
) -> Status {
    let size = matrix.len().isqrt();
    let diagonal: Vec<f64> = (0..size).map(|i| matrix[i * size + i].to_f64()).collect();
    let mean = diagonal.iter().sum::<f64>() / size.max(1) as f64;
    let mut status = Status {
        failed_pivot: None,
        jitter: jitter.initial,
        diagonal: range(&diagonal),
    };
    // Jitter cannot repair a diagonal that is not finite. Adding it would spread the NaNs to
    // every row and hide which row is at fault.
    let attempts = if mean.is_finite() { usize::MAX } else { 1 };
    let addition = |relative: f64| match scale {
        _ if !mean.is_finite() => T::default(),
        Some(scale) => T::from_f64(relative) * scale,
        None => T::from_f64(relative * mean),
    };
    for (attempt, relative) in jitter.attempts(T::EPSILON).take(attempts).enumerate() {
        if attempt > 0 {
            out.copy_from_slice(matrix);
        }
        let added = addition(relative);
        for i in 0..size {
            out[i * size + i] += added;
        }
        let factored = factor_in_place(MatMut::from_row_major_slice_mut(out, size, size));
        status.jitter = relative;
        status.failed_pivot = factored.err().map(|BadPivot(pivot)| pivot);
        if status.failed_pivot.is_none() {
            return status;
        }
    }
    out.fill(<T as Scalar>::from_f64(f64::NAN));
    status
}

/// The smallest and the largest value; NaN if any value is NaN.
pub fn range(values: &[f64]) -> [f64; 2] {
    (values.iter()).fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &value| {
        if value.is_nan() || low.is_nan() {
            [f64::NAN; 2]
        } else {
            [low.min(value), high.max(value)]
        }
    })
}

/// The factors of all batch members and their status.
fn factor_members<B: CpuMemory, T: Element>(
    matrix: &FloatTensor<B>,
    scale: impl Fn(usize) -> Option<T> + Sync,
    jitter: Jitter,
) -> (FloatTensor<B>, FloatTensor<B>) {
    count_decomposition();
    let (batch, size, _) = matrix_dims(&matrix.shape());
    let area = size * size;
    let values = B::read::<T>(matrix);
    let mut out = threads::copied(&values);
    let mut members: Vec<(&mut [T], Status)> = (out.chunks_exact_mut(area.max(1)))
        .map(|out| (out, Status::of_triangle(None)))
        .collect();
    let parts = batch_parts(batch, batch * area);
    in_parts(&mut members, 1, parts, &|members, first| {
        for (offset, (out, status)) in members.iter_mut().enumerate() {
            let index = first + offset;
            let matrix = part(&values, index, batch);
            *status = factor_with_jitter(matrix, out, scale(index), jitter);
        }
    });
    let device = matrix.device();
    let status = write_status::<B>(members.into_iter().map(|(_, status)| status), &device);
    (write::<B, T>(out, matrix.shape(), &device), status)
}

/// The rows of the status tensor, in double precision if the backend has it.
pub fn write_status<B: CpuMemory>(
    members: impl Iterator<Item = Status>,
    device: &B::Device,
) -> FloatTensor<B> {
    let numbers: Vec<f64> = members.flat_map(Status::row).collect();
    let shape = [numbers.len() / Status::WIDTH, Status::WIDTH];
    if B::supports_dtype(device, DType::F64) {
        write::<B, f64>(numbers, shape, device)
    } else {
        let numbers = numbers.into_iter().map(|number| number as f32);
        write::<B, f32>(numbers.collect(), shape, device)
    }
}

/// The jitter of every batch member, from the status of a factorization.
pub fn jitters<B: CpuMemory>(status: &FloatTensor<B>) -> Vec<f64> {
    with_element!(*status, T => {
        let rows = B::read::<T>(status);
        rows.chunks_exact(Status::WIDTH).map(|row| row[1].to_f64()).collect()
    })
}

/// The sum of the diagonal.
fn trace<T: Scalar>(matrix: MatRef<'_, T>) -> f64 {
    (0..matrix.nrows()).map(|i| matrix[(i, i)].to_f64()).sum()
}

/// `½·L⁻ᵀ(Φ + Φᵀ)L⁻¹` for every batch member, then modified by `change`.
fn two_sided_solves<B: CpuMemory, T: Element>(
    factor: &FloatTensor<B>,
    cotangent: &FloatTensor<B>,
    change: impl Fn(usize, MatMut<'_, T>) + Sync,
) -> FloatTensor<B> {
    count_decomposition();
    let (factors, cotangents) = (B::read::<T>(factor), B::read::<T>(cotangent));
    map_members::<B, T>(factor, |index, mut out| {
        let size = out.nrows();
        let [factor, cotangent] = [&factors, &cotangents].map(|all| member(all, index, size, size));
        two_sided_solve(factor, cotangent, out.rb_mut());
        change(index, out);
    })
}

/// Adds the gradient that reaches K through the jitter `ε·mean(diag K)` on its diagonal:
/// `ε·mean(diag K̄)·I`.
pub fn add_share_of_jitter<T: Element>(mut gradient: MatMut<'_, T>, jitter: f64) {
    let size = gradient.nrows();
    let share = <T as Scalar>::from_f64(trace(gradient.rb()) * jitter / size.max(1) as f64);
    for i in 0..size {
        gradient[(i, i)] += share;
    }
}

impl<B: CpuMemory> CholeskyOps for B {
    fn cholesky(matrix: FloatTensor<B>, jitter: Jitter) -> (FloatTensor<B>, FloatTensor<B>) {
        with_element!(matrix, T => factor_members::<B, T>(&matrix, |_| None, jitter))
    }

    fn cholesky_scaled(
        matrix: FloatTensor<B>,
        scales: FloatTensor<B>,
        jitter: Jitter,
    ) -> (FloatTensor<B>, FloatTensor<B>) {
        with_element!(matrix, T => {
            let scales = B::read::<T>(&scales);
            factor_members::<B, T>(&matrix, |index| Some(scales[index]), jitter)
        })
    }

    fn factor_from_lower(matrix: FloatTensor<B>) -> (FloatTensor<B>, FloatTensor<B>) {
        let (batch, size, _) = matrix_dims(&matrix.shape());
        with_element!(matrix, T => {
            let values = B::read::<T>(&matrix);
            let check = |index| {
                let failure = check_diagonal(member(&values, index, size, size)).err();
                Status::of_triangle(failure.map(|BadPivot(pivot)| pivot))
            };
            let members: Vec<Status> = (0..batch).map(check).collect();
            let status = write_status::<B>(members.iter().copied(), &matrix.device());
            let is_sound = |status: &Status| status.failed_pivot.is_none();
            if members.iter().all(is_sound) {
                drop(values);
                return (matrix, status);
            }
            let mut factors = values.into_owned();
            for (factor, status) in factors.chunks_exact_mut(size * size).zip(&members) {
                if !is_sound(status) {
                    factor.fill(<T as Scalar>::from_f64(f64::NAN));
                }
            }
            (write_like::<B, T>(factors, &matrix), status)
        })
    }

    fn lower_of_factor(factor: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(factor, T => {
            let values = B::read::<T>(&factor);
            map_members::<B, T>(&factor, |index, mut out| {
                let size = out.nrows();
                out.copy_from_triangular_lower(member(&values, index, size, size));
            })
        })
    }

    fn factor_log_determinant(factor: FloatTensor<B>) -> FloatTensor<B> {
        count_decomposition();
        let (batch, size, _) = matrix_dims(&factor.shape());
        with_element!(factor, T => {
            let values = B::read::<T>(&factor);
            let log_determinant = |index| {
                let factor = member(&values, index, size, size);
                let sum: f64 = (0..size).map(|i| factor[(i, i)].to_f64().abs().ln()).sum();
                <T as Scalar>::from_f64(2.0 * sum)
            };
            let sums = (0..batch).map(log_determinant).collect();
            write::<B, T>(sums, [batch], &factor.device())
        })
    }

    fn cholesky_backward(
        factor: FloatTensor<B>,
        status: FloatTensor<B>,
        cotangent: FloatTensor<B>,
    ) -> FloatTensor<B> {
        let jitter = jitters::<B>(&status);
        with_element!(factor, T => {
            two_sided_solves::<B, T>(&factor, &cotangent, |index, gradient| {
                add_share_of_jitter(gradient, jitter[index]);
            })
        })
    }

    fn cholesky_scaled_backward(
        factor: FloatTensor<B>,
        status: FloatTensor<B>,
        cotangent: FloatTensor<B>,
    ) -> [FloatTensor<B>; 2] {
        let jitter = jitters::<B>(&status);
        let (batch, size, _) = matrix_dims(&factor.shape());
        with_element!(factor, T => {
            let gradient = two_sided_solves::<B, T>(&factor, &cotangent, |_, _| {});
            let gradients = B::read::<T>(&gradient);
            let scale = |index: usize| {
                let trace = <T as Scalar>::from_f64(trace(member(&gradients, index, size, size)));
                <T as Scalar>::from_f64(jitter[index]) * trace
            };
            let scales = (0..batch).map(scale).collect();
            let scales = write::<B, T>(scales, [batch], &factor.device());
            drop(gradients);
            [gradient, scales]
        })
    }

    fn factor_from_lower_backward(
        factor: FloatTensor<B>,
        cotangent: FloatTensor<B>,
    ) -> FloatTensor<B> {
        count_decomposition();
        with_element!(factor, T => {
            let (factors, cotangents) = (B::read::<T>(&factor), B::read::<T>(&cotangent));
            map_members::<B, T>(&factor, |index, mut out| {
                let size = out.nrows();
                let [factor, given] = [&factors, &cotangents].map(|all| member(all, index, size, size));
                on_threads(size * size * size / 6, || {
                    copy_lower(given, out.rb_mut());
                    solve_transposed_for_lower(factor, out.rb_mut());
                    clear_above_diagonal(out);
                });
            })
        })
    }

    fn lower_of_factor_backward(
        factor: FloatTensor<B>,
        gradient: FloatTensor<B>,
    ) -> FloatTensor<B> {
        with_element!(factor, T => {
            let (factors, gradients) = (B::read::<T>(&factor), B::read::<T>(&gradient));
            map_members::<B, T>(&factor, |index, out| {
                let size = out.nrows();
                let [factor, given] = [&factors, &gradients].map(|all| member(all, index, size, size));
                on_threads(size * size * size / 6, || {
                    lower_of_transposed_product(factor, given, out);
                });
            })
        })
    }

    fn factor_log_determinant_backward(
        factor: FloatTensor<B>,
        gradient: FloatTensor<B>,
    ) -> FloatTensor<B> {
        with_element!(factor, T => {
            let gradients = B::read::<T>(&gradient);
            map_members::<B, T>(&factor, |index, mut out| {
                for i in 0..out.nrows() {
                    out[(i, i)] = gradients[index] + gradients[index];
                }
            })
        })
    }
}
