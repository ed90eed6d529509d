//! The conditional distributions on the CPU: one matrix in each lane of the vector registers.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{
    NeighborConditionalOps,
    tile::{self, Attempts, triangle},
};
use crate::ops::{
    cholesky::{Jitter, Status, jitters, range, write_status},
    cpu::{
        CpuMemory, Element, Kernel, Lanes, Scalar, WIDTH, batch_parts, in_parts, vectorized,
        with_element, write, write_like,
    },
    decompositions::count_decomposition,
};

impl<B: CpuMemory> NeighborConditionalOps for B {
    fn neighbor_conditional(
        matrix: FloatTensor<B>,
        jitter: Jitter,
    ) -> (FloatTensor<B>, FloatTensor<B>) {
        count_decomposition();
        let (rows, size, device) = (matrix.shape()[0], matrix.shape()[1], matrix.device());
        with_element!(matrix, T => {
            let values = B::read::<T>(&matrix);
            let mut conditional = vec![T::default(); rows * size];
            let mut status = vec![Status::of_triangle(None); rows];
            let mut groups: Vec<_> = (values.chunks(WIDTH * size * size))
                .zip(conditional.chunks_mut(WIDTH * size))
                .zip(status.chunks_mut(WIDTH))
                .collect();
            let parts = batch_parts(rows, values.len());
            in_parts(&mut groups, 1, parts, &|groups, _| {
                let jitters: Vec<f64> = jitter.attempts(<T as Scalar>::EPSILON).collect();
                for ((matrices, conditional), status) in groups {
                    let attempts = Attempts::new(jitters.clone());
                    vectorized::run(Forward { matrices, size, attempts, conditional, status });
                }
            });
            let status = write_status::<B>(status.into_iter(), &device);
            (write::<B, T>(conditional, [rows, size], &device), status)
        })
    }

    fn neighbor_conditional_backward(
        [matrix, conditional, status]: [FloatTensor<B>; 3],
        gradient: FloatTensor<B>,
    ) -> FloatTensor<B> {
        count_decomposition();
        let (rows, size) = (matrix.shape()[0], matrix.shape()[1]);
        let jitters = jitters::<B>(&status);
        with_element!(matrix, T => {
            let [values, conditional, gradient] =
                [&matrix, &conditional, &gradient].map(|tensor| B::read::<T>(tensor));
            let mut out = vec![T::default(); values.len()];
            let mut groups: Vec<_> = out.chunks_mut(WIDTH * size * size).collect();
            let parts = batch_parts(rows, values.len());
            in_parts(&mut groups, 1, parts, &|groups, first| {
                for (index, out) in groups.iter_mut().enumerate() {
                    let row = (first + index) * WIDTH;
                    let last = (row + WIDTH).min(rows);
                    vectorized::run(Backward {
                        matrices: &values[row * size * size..last * size * size],
                        size,
                        jitters: &jitters[row..last],
                        conditional: &conditional[row * size..last * size],
                        gradient: &gradient[row * size..last * size],
                        out,
                    });
                }
            });
            write_like::<B, T>(out, &matrix)
        })
    }
}

/// The mean of the diagonal of A, for a matrix `[A, k; kᵀ, κ]`.
fn mean_diagonal<T: Element>(matrix: &[T], size: usize) -> f64 {
    let diagonal = matrix.iter().step_by(size + 1).take(size - 1);
    diagonal.map(|value| value.to_f64()).sum::<f64>() / (size - 1) as f64
}

/// Copies the lower triangle of a matrix into one lane, with `added` to the diagonal of A.
#[inline(always)]
fn load<T: Scalar>(matrix: &[T], size: usize, added: T, tile: &mut [Lanes<T>], lane: usize) {
    for row in 0..size {
        for column in 0..=row {
            tile[triangle(row) + column].0[lane] = matrix[row * size + column];
        }
        if row + 1 < size {
            tile[triangle(row) + row].0[lane] += added;
        }
    }
}

/// The distributions of a group of up to [`WIDTH`] rows.
struct Forward<'a, T> {
    /// [_, q, q]
    matrices: &'a [T],
    size: usize,
    attempts: Attempts,
    /// (b, d), [_, q]
    conditional: &'a mut [T],
    status: &'a mut [Status],
}

impl<T: Element> Kernel for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(mut self) {
        let (size, last) = (self.size, self.size - 1);
        let mut tile = vec![Lanes::splat(T::default()); triangle(size)];
        while self.attempt::<FUSED>(&mut tile) {}
        let mut weights = tile[triangle(last)..][..last].to_vec();
        tile::solve_transposed::<T, FUSED>(&tile, &mut weights);
        let variance = tile[triangle(size) - 1];
        let rows = self.conditional.chunks_exact_mut(size).zip(&*self.status);
        for (lane, (row, status)) in rows.enumerate() {
            for (out, weight) in row.iter_mut().zip(&weights) {
                *out = weight.0[lane];
            }
            row[last] = variance.0[lane];
            if status.failed_pivot.is_some() {
                row.fill(<T as Scalar>::from_f64(f64::NAN));
            }
        }
    }
}

impl<T: Element> Forward<'_, T> {
    /// Factors the matrices with their present jitter. Returns whether one needs another attempt.
    #[inline(always)]
    fn attempt<const FUSED: bool>(&mut self, tile: &mut [Lanes<T>]) -> bool {
        let size = self.size;
        let matrices = || self.matrices.chunks_exact(size * size);
        for (lane, matrix) in matrices().enumerate() {
            let added = match self.attempts.jitter(lane) {
                0.0 => 0.0,
                relative => relative * mean_diagonal(matrix, size),
            };
            load(matrix, size, <T as Scalar>::from_f64(added), tile, lane);
        }
        tile::factor::<T, FUSED>(tile, size);
        let mut again = false;
        for (lane, matrix) in matrices().enumerate() {
            let failed_pivot = tile::failed_pivot(tile, size - 1, lane);
            let diagonal = matrix.iter().step_by(size + 1).take(size - 1);
            let diagonal: Vec<f64> = diagonal.map(|value| value.to_f64()).collect();
            self.status[lane] = Status {
                failed_pivot,
                jitter: self.attempts.jitter(lane),
                diagonal: range(&diagonal),
            };
            // Jitter cannot repair a matrix that is not finite.
            let is_finite = mean_diagonal(matrix, size).is_finite();
            if failed_pivot.is_some() && is_finite {
                again |= self.attempts.escalate(lane);
            }
        }
        again
    }
}

/// The gradient of a group of up to [`WIDTH`] matrices.
struct Backward<'a, T> {
    /// [_, q, q]
    matrices: &'a [T],
    size: usize,
    /// Relative to the mean of the diagonals of A.
    jitters: &'a [f64],
    /// (b, d), [_, q]
    conditional: &'a [T],
    /// (b̄, d̄), [_, q]
    gradient: &'a [T],
    /// [_, q, q]
    out: &'a mut [T],
}

impl<T: Element> Kernel for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let (size, last, zero) = (self.size, self.size - 1, Lanes::splat(T::default()));
        let mut tile = vec![zero; triangle(size)];
        let (mut v, mut gamma) = (vec![zero; size], vec![zero; last]);
        let mut slope = zero; // d̄
        let rows = (self.conditional.chunks_exact(size)).zip(self.gradient.chunks_exact(size));
        let matrices = self.matrices.chunks_exact(size * size);
        for (lane, (matrix, (conditional, gradient))) in matrices.zip(rows).enumerate() {
            let added = self.jitters[lane] * mean_diagonal(matrix, size);
            load(
                matrix,
                size,
                <T as Scalar>::from_f64(added),
                &mut tile,
                lane,
            );
            for row in 0..last {
                v[row].0[lane] = -conditional[row];
                gamma[row].0[lane] = gradient[row];
            }
            slope.0[lane] = gradient[last];
        }
        v[last] = Lanes::splat(<T as Scalar>::from_f64(1.0));
        tile::factor::<T, FUSED>(&mut tile, size);
        tile::solve::<T, FUSED>(&tile, &mut gamma);
        tile::solve_transposed::<T, FUSED>(&tile, &mut gamma); // A⁻¹b̄
        gamma.push(zero);
        let half = Lanes::splat(<T as Scalar>::from_f64(0.5));
        // K̄ = d̄·vvᵀ + ½(γvᵀ + vγᵀ), into the tile
        for row in 0..size {
            let own = slope.times(v[row]).plus(half.times(gamma[row]));
            let other = half.times(v[row]);
            for column in 0..=row {
                let value = own.times(v[column]);
                tile[triangle(row) + column] = other.multiply_add::<FUSED>(gamma[column], value);
            }
        }
        for (lane, out) in self.out.chunks_exact_mut(size * size).enumerate() {
            store(&tile, lane, size, out);
            add_share_of_jitter(out, size, self.jitters[lane]);
        }
    }
}

/// Copies a symmetric matrix out of one lane.
#[inline(always)]
fn store<T: Scalar>(tile: &[Lanes<T>], lane: usize, size: usize, out: &mut [T]) {
    for row in 0..size {
        for column in 0..=row {
            let value = tile[triangle(row) + column].0[lane];
            out[row * size + column] = value;
            out[column * size + row] = value;
        }
    }
}

/// Adds the gradient through the jitter `ε·mean(diag A)`: `ε·mean(diag Ā)` on the diagonal of A.
fn add_share_of_jitter<T: Element>(gradient: &mut [T], size: usize, jitter: f64) {
    if jitter > 0.0 {
        let share = <T as Scalar>::from_f64(jitter * mean_diagonal(gradient, size));
        for value in gradient.iter_mut().step_by(size + 1).take(size - 1) {
            *value += share;
        }
    }
}
