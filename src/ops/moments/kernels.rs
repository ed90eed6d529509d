//! Moments of Gaussian variables under a linear map, and KL divergences, on the CPU.

use faer::{Accum, MatMut, MatRef, prelude::ReborrowMut};

use super::Baseline;
use crate::ops::cpu::{
    CHUNK, Kernel, Scalar, Side, Triangle, clear_above_diagonal, column_parts, in_parts,
    lower_product, matmul, row_mut, threads, vectorized,
};

/// Array length from which a pass over a matrix is split into parts.
const PARALLEL_FROM: usize = 1 << 17;

/// `A`, `m` and `W` of the variables `u_p ~ N(m_p, W_pW_pᵀ)` projected by `Aᵀ`.
#[derive(Clone, Copy)]
pub struct Projection<'a, T> {
    /// A, [M, N]
    pub basis: &'a [T],
    /// m, [P, M]
    pub mean: &'a [T],
    /// W, [P, M, M]
    pub scale: &'a [T],
    /// M
    pub size: usize,
    /// P
    pub outputs: usize,
}

impl<'a, T: Scalar> Projection<'a, T> {
    fn columns(&self) -> usize {
        self.basis.len() / self.size.max(1)
    }

    fn basis(&self) -> MatRef<'a, T> {
        MatRef::from_row_major_slice(self.basis, self.size, self.columns())
    }

    fn mean(&self) -> MatRef<'a, T> {
        MatRef::from_row_major_slice(self.mean, self.outputs, self.size)
    }

    fn scale(&self, output: usize) -> MatRef<'a, T> {
        let area = self.size * self.size;
        MatRef::from_row_major_slice(&self.scale[output * area..][..area], self.size, self.size)
    }

    /// `[Aᵀm_p ; colsum(V_p²) − b]`, [2, P, N], and `V_p = W_pᵀA`, [P, M, N].
    pub fn moments(&self, baseline: Baseline) -> (Vec<T>, Vec<T>) {
        let (size, columns, outputs) = (self.size, self.columns(), self.outputs);
        let mut moments = vec![T::default(); 2 * outputs * columns];
        let mut projected = threads::zeros(outputs * size * columns);
        let (means, variances) = moments.split_at_mut(outputs * columns);
        let members = (projected.chunks_exact_mut((size * columns).max(1)))
            .zip(means.chunks_exact_mut(columns.max(1)))
            .zip(variances.chunks_exact_mut(columns.max(1)));
        for (output, ((projected, means), variances)) in members.enumerate() {
            let projected = MatMut::from_row_major_slice_mut(projected, size, columns);
            self.moments_of(output, baseline, projected, [means, variances]);
        }
        (moments, projected)
    }

    /// The moments of one variable, strip by strip of the columns.
    fn moments_of(
        &self,
        output: usize,
        baseline: Baseline,
        projected: MatMut<'_, T>,
        [means, variances]: [&mut [T]; 2],
    ) {
        let columns = self.columns();
        let triangle = Triangle::new(self.scale(output), Side::Transposed, columns);
        let row = |values| MatMut::from_row_major_slice_mut(values, 1, columns);
        let [projected, means, variances] = [projected, row(means), row(variances)]
            .map(|matrix| column_parts(matrix, triangle.parts()));
        let mut strips: Vec<_> = projected.zip(means).zip(variances).collect();
        let (count, one) = (strips.len(), T::from_f64(1.0));
        in_parts(&mut strips, 1, count, &|strips, _| {
            for (((projected, first), (means, _)), (variances, _)) in strips {
                let (first, width) = (*first, projected.ncols());
                let basis = self.basis().subcols(first, width);
                triangle.multiply(basis, projected.rb_mut(), Accum::Replace, one);
                let mean = self.mean().subrows(output, 1);
                matmul(means.rb_mut(), Accum::Replace, mean, basis, one);
                let sums = row_mut(variances.rb_mut(), 0);
                for (i, row) in self.basis.chunks_exact(columns.max(1)).enumerate() {
                    let (projected, basis) = (row_mut(projected.rb_mut(), i), &row[first..]);
                    match baseline {
                        Baseline::Zero => add_squares(projected, sums),
                        Baseline::StandardNormal => {
                            add_differences_of_squares(projected, basis, sums);
                        }
                    }
                }
            }
        });
    }

    /// The gradients of A, m and W, from the `[2, P, N]` gradient of the moments and
    /// `V_p = W_pᵀA`:
    /// `Ā = Σ_p m_p·ḡᵀ + 2·W_p·V_p·diag(ḣ)`, less `2·A·diag(ḣ)` with the baseline of standard normal
    /// variables, `m̄_p = A·ḡ`, `W̄_p = tril(2·A·diag(ḣ)·V_pᵀ)`. `V_p` is overwritten.
    pub fn backward(&self, projected: &mut [T], gradient: &[T], baseline: Baseline) -> [Vec<T>; 3] {
        let (size, columns, outputs) = (self.size, self.columns(), self.outputs);
        let mut basis = threads::zeros(size * columns);
        let mut mean = vec![T::default(); outputs * size];
        let mut scale = threads::zeros(outputs * size * size);
        let members = (projected.chunks_exact_mut((size * columns).max(1)))
            .zip(mean.chunks_exact_mut(size.max(1)))
            .zip(scale.chunks_exact_mut((size * size).max(1)));
        for (output, ((projected, mean), scale)) in members.enumerate() {
            let gradients = self.gradients_of(output, gradient);
            let matrices = [&mut *projected, &mut basis]
                .map(|values| MatMut::from_row_major_slice_mut(values, size, columns));
            self.add_basis_gradient(output, gradients, baseline, matrices, mean);
            let weighted = MatRef::from_row_major_slice(projected, size, columns);
            let mut out = MatMut::from_row_major_slice_mut(scale, size, size);
            lower_product(
                out.rb_mut(),
                Accum::Replace,
                self.basis(),
                weighted.transpose(),
                T::from_f64(1.0),
            );
            clear_above_diagonal(out);
        }
        [basis, mean, scale]
    }

    /// The gradients `[ḡ, ḣ]` of the means and the variances of one variable.
    fn gradients_of<'g>(&self, output: usize, gradient: &'g [T]) -> [&'g [T]; 2] {
        let columns = self.columns();
        [output, self.outputs + output].map(|row| &gradient[row * columns..][..columns])
    }

    /// Adds the part of one variable to the gradient of A, and sets the gradient of its mean, strip by
    /// strip of the columns. V becomes `2·V·diag(ḣ)`.
    fn add_basis_gradient(
        &self,
        output: usize,
        gradients: [&[T]; 2],
        baseline: Baseline,
        [projected, basis]: [MatMut<'_, T>; 2],
        mean: &mut [T],
    ) {
        let columns = self.columns();
        let triangle = Triangle::new(self.scale(output), Side::Lower, columns);
        let [projected, basis] =
            [projected, basis].map(|matrix| column_parts(matrix, triangle.parts()));
        let mut strips: Vec<_> = (projected.zip(basis))
            .map(|strip| (strip, vec![T::default(); self.size]))
            .collect();
        let (count, one) = (strips.len(), T::from_f64(1.0));
        let [two, minus_two] = [2.0, -2.0].map(T::from_f64);
        let given = &self.mean[output * self.size..][..self.size];
        in_parts(&mut strips, 1, count, &|strips, _| {
            for (((projected, first), (basis, _)), mean) in strips {
                let (first, width) = (*first, projected.ncols());
                let [of_means, of_variances] = gradients.map(|values| &values[first..][..width]);
                matmul(
                    MatMut::from_column_major_slice_mut(mean, self.size, 1),
                    Accum::Replace,
                    self.basis().subcols(first, width),
                    MatRef::from_column_major_slice(of_means, width, 1),
                    one,
                );
                let rows = self.basis.chunks_exact(columns.max(1)).zip(given);
                for (i, (row, &given)) in rows.enumerate() {
                    let sums = row_mut(basis.rb_mut(), i);
                    for (sum, &gradient) in sums.iter_mut().zip(of_means) {
                        *sum += given * gradient;
                    }
                    if baseline == Baseline::StandardNormal {
                        add_multiples(&row[first..], of_variances, minus_two, sums);
                    }
                    scale_by(row_mut(projected.rb_mut(), i), of_variances, two);
                }
                triangle.multiply(projected.as_ref(), basis.rb_mut(), Accum::Add, one);
            }
        });
        for (_, part) in strips {
            for (sum, value) in mean.iter_mut().zip(part) {
                *sum += value;
            }
        }
    }
}

/// The number of parts to split a pass over `count` numbers into.
fn parts(count: usize) -> usize {
    threads::count_for(count, PARALLEL_FROM)
}

/// The number of parts to split the rows of a triangle with `count` numbers into: several for each
/// thread, since the last rows have most of the numbers.
fn triangle_parts(count: usize) -> usize {
    match parts(count) {
        1 => 1,
        threads => 4 * threads,
    }
}

/// Adds the squares of a row-major matrix to `sums`, column by column.
pub fn add_column_squares<T: Scalar>(matrix: &[T], sums: &mut [T]) {
    let columns = sums.len();
    in_parts(sums, 1, parts(matrix.len()), &|sums, first| {
        for row in matrix.chunks_exact(columns) {
            add_squares(&row[first..], sums);
        }
    });
}

fn add_squares<T: Scalar>(values: &[T], sums: &mut [T]) {
    for (sum, &value) in sums.iter_mut().zip(values) {
        *sum += value * value;
    }
}

fn add_differences_of_squares<T: Scalar>(values: &[T], others: &[T], sums: &mut [T]) {
    for (sum, (&value, &other)) in sums.iter_mut().zip(values.iter().zip(others)) {
        *sum += (value - other) * (value + other);
    }
}

/// Adds `factor·weights_n·values_n` to each sum.
fn add_multiples<T: Scalar>(values: &[T], weights: &[T], factor: T, sums: &mut [T]) {
    for ((sum, &value), &weight) in sums.iter_mut().zip(values).zip(weights) {
        *sum += factor * weight * value;
    }
}

/// Multiplies each value by `factor·weights_n`.
fn scale_by<T: Scalar>(values: &mut [T], weights: &[T], factor: T) {
    for (value, &weight) in values.iter_mut().zip(weights) {
        *value = factor * weight * *value;
    }
}

/// Adds the products of the entries of two row-major matrices to `sums`, column by column.
pub fn add_column_products<T: Scalar>(left: &[T], right: &[T], sums: &mut [T]) {
    let columns = sums.len().max(1);
    in_parts(sums, 1, parts(left.len()), &|sums, first| {
        let rows = (left.chunks_exact(columns)).zip(right.chunks_exact(columns));
        for (left, right) in rows {
            let pairs = left[first..].iter().zip(&right[first..]);
            for (sum, (&left, &right)) in sums.iter_mut().zip(pairs) {
                *sum += left * right;
            }
        }
    });
}

/// `factor·matrix_mn·weights_n`.
pub fn scale_columns<T: Scalar>(matrix: &[T], weights: &[T], factor: f64) -> Vec<T> {
    let factor = T::from_f64(factor);
    let (chunks, rest) = weights.as_chunks::<CHUNK>();
    if !rest.is_empty() || chunks.is_empty() {
        let mut out = Vec::with_capacity(matrix.len());
        for row in matrix.chunks_exact(weights.len().max(1)) {
            let pairs = row.iter().zip(weights);
            out.extend(pairs.map(|(&value, &weight)| factor * value * weight));
        }
        return out;
    }
    let (values, _) = matrix.as_chunks::<CHUNK>();
    threads::collect(values.len(), parts(matrix.len()), |i| {
        let (values, weights) = (&values[i], &chunks[i % chunks.len()]);
        std::array::from_fn(|j| factor * values[j] * weights[j])
    })
}

/// Rows of a triangle whose squares are summed together.
const ROWS: usize = 16;

/// `½(‖W‖²_F + ‖m‖² − M) − Σ_i log|W_ii|` for one lower-triangular `W`.
pub fn kl<T: Scalar>(mean: &[T], scale: &[T]) -> T {
    let size = mean.len();
    let mut sums = vec![0.0; size.div_ceil(ROWS)];
    in_parts(&mut sums, 1, triangle_parts(scale.len()), &|sums, first| {
        for (group, sum) in (first..).zip(sums) {
            let first = group * ROWS;
            let rows = &scale[first * size..][..ROWS.min(size - first) * size];
            *sum = vectorized::run(Squares { rows, size, first });
        }
    });
    let squares: f64 = mean.iter().map(|m| m.to_f64() * m.to_f64()).sum();
    let squares = squares + sums.iter().sum::<f64>();
    let diagonal = scale.iter().step_by(size + 1);
    let logarithms: f64 = diagonal.map(|entry| entry.to_f64().abs().ln()).sum();
    T::from_f64(0.5 * (squares - size as f64) - logarithms)
}

/// Sums the squares of some rows of a triangle, in double precision.
struct Squares<'a, T> {
    rows: &'a [T],
    size: usize,
    /// The index of the first row.
    first: usize,
}

impl<T: Scalar> Kernel for Squares<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> f64 {
        let mut sums = [0.0; CHUNK];
        for (i, row) in (self.first..).zip(self.rows.chunks_exact(self.size.max(1))) {
            let (chunks, rest) = row[..=i].as_chunks::<CHUNK>();
            for chunk in chunks {
                for (sum, value) in sums.iter_mut().zip(chunk) {
                    *sum += value.to_f64() * value.to_f64();
                }
            }
            for (sum, value) in sums.iter_mut().zip(rest) {
                *sum += value.to_f64() * value.to_f64();
            }
        }
        sums.iter().sum()
    }
}

/// The gradients of [`kl`]: `m̄ = g·m` and `W̄ = g·(tril(W) − diag(1/W_ii))`.
pub fn kl_backward<T: Scalar>(scale: &[T], size: usize, gradient: T, scale_gradient: &mut [T]) {
    let parts = triangle_parts(scale.len());
    in_parts(scale_gradient, size, parts, &|out, first| {
        let rows = scale[first * size..].chunks_exact(size.max(1));
        let rows = rows.zip(out.chunks_exact_mut(size.max(1)));
        for (i, (row, out)) in (first..).zip(rows) {
            for (out, &value) in out[..=i].iter_mut().zip(&row[..=i]) {
                *out = gradient * value;
            }
            out[i] -= gradient / row[i];
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{PARALLEL_FROM, scale_columns};

    /// Whole chunks of columns and partial ones give the same bits on one thread and on all.
    #[test]
    fn columns_are_scaled_whatever_their_number() {
        for (rows, columns) in [
            (3, 16),
            (2, 48),
            (5, 7),
            (4, 17),
            (0, 16),
            (PARALLEL_FROM / 8, 32),
        ] {
            let matrix: Vec<f64> = (0..rows * columns).map(|i| (i as f64).sin()).collect();
            let weights: Vec<f64> = (0..columns).map(|j| 0.5 + j as f64).collect();
            let expected: Vec<f64> = (0..rows * columns)
                .map(|i| 2.0 * matrix[i] * weights[i % columns])
                .collect();
            let scaled = scale_columns(&matrix, &weights, 2.0);
            assert_eq!(scaled, expected, "{rows} by {columns}");
        }
    }
}
