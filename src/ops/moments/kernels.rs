//! Moments of Gaussian variables under a linear map, and KL divergences, on the CPU.

use faer::{Accum, MatMut, MatRef, prelude::ReborrowMut};

use super::Baseline;
use crate::ops::cpu::{
    CHUNK, Scalar, Side, clear_above_diagonal, in_parts, lower_product, product, product_on,
    threads, triangular_product,
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
        product(
            MatMut::from_row_major_slice_mut(means, outputs, columns),
            Accum::Replace,
            self.mean(),
            self.basis(),
            T::from_f64(1.0),
        );
        let area = (size * columns).max(1);
        for (output, (projected, variances)) in projected
            .chunks_exact_mut(area)
            .zip(variances.chunks_exact_mut(columns.max(1)))
            .enumerate()
        {
            triangular_product(
                self.scale(output),
                Side::Transposed,
                self.basis(),
                MatMut::from_row_major_slice_mut(projected, size, columns),
                Accum::Replace,
            );
            match baseline {
                Baseline::Zero => add_column_squares(projected, variances),
                Baseline::StandardNormal => {
                    add_differences_of_squares(projected, self.basis, variances);
                }
            }
        }
        (moments, projected)
    }

    /// The gradients of A, m and W, from the `[2, P, N]` gradient of the moments and
    /// `V_p = W_pᵀA`:
    /// `Ā = Σ_p m_p·ḡᵀ + 2·W_p·V_p·diag(ḣ)`, less `2·A·diag(ḣ)` with the baseline of standard normal
    /// variables, `m̄_p = A·ḡ`, `W̄_p = tril(2·A·diag(ḣ)·V_pᵀ)`.
    pub fn backward(&self, projected: &[T], gradient: &[T], baseline: Baseline) -> [Vec<T>; 3] {
        let (size, columns, outputs) = (self.size, self.columns(), self.outputs);
        let (means, variances) = gradient.split_at(outputs * columns);
        let means = MatRef::from_row_major_slice(means, outputs, columns);
        let mut basis = match baseline {
            Baseline::Zero => outer_products(self.mean(), means, None),
            Baseline::StandardNormal => {
                let mut weights = vec![T::default(); columns];
                for row in variances.chunks_exact(columns.max(1)) {
                    for (sum, &value) in weights.iter_mut().zip(row) {
                        *sum -= T::from_f64(2.0) * value;
                    }
                }
                outer_products(self.mean(), means, Some((self.basis, &weights)))
            }
        };
        let mut mean = vec![T::default(); outputs * size];
        let mut scale = threads::zeros(outputs * size * size);
        let mut basis_view = MatMut::from_row_major_slice_mut(&mut basis, size, columns);
        let (one, area) = (T::from_f64(1.0), size * columns);
        product(
            MatMut::from_row_major_slice_mut(&mut mean, outputs, size),
            Accum::Replace,
            means,
            self.basis().transpose(),
            one,
        );
        for (output, scale) in scale.chunks_exact_mut((size * size).max(1)).enumerate() {
            let weights = &variances[output * columns..][..columns];
            let weighted = scale_columns(&projected[output * area..][..area], weights, 2.0);
            let weighted = MatRef::from_row_major_slice(&weighted, size, columns);
            triangular_product(
                self.scale(output),
                Side::Lower,
                weighted,
                basis_view.rb_mut(),
                Accum::Add,
            );
            let mut out = MatMut::from_row_major_slice_mut(scale, size, size);
            lower_product(
                out.rb_mut(),
                Accum::Replace,
                self.basis(),
                weighted.transpose(),
                one,
            );
            clear_above_diagonal(out);
        }
        [basis, mean, scale]
    }
}

/// The number of parts to split a pass over `count` numbers into.
fn parts(count: usize) -> usize {
    threads::count_for(count, PARALLEL_FROM)
}

/// Adds the squares of a row-major matrix to `sums`, column by column.
pub fn add_column_squares<T: Scalar>(matrix: &[T], sums: &mut [T]) {
    let columns = sums.len();
    in_parts(sums, 1, parts(matrix.len()), &|sums, first| {
        for row in matrix.chunks_exact(columns) {
            for (sum, &value) in sums.iter_mut().zip(&row[first..]) {
                *sum += value * value;
            }
        }
    });
}

/// Adds the differences of the squares of two row-major matrices to `sums`, column by column.
fn add_differences_of_squares<T: Scalar>(matrix: &[T], other: &[T], sums: &mut [T]) {
    let columns = sums.len().max(1);
    in_parts(sums, 1, parts(matrix.len()), &|sums, first| {
        let rows = (matrix.chunks_exact(columns)).zip(other.chunks_exact(columns));
        for (row, other) in rows {
            let pairs = row[first..].iter().zip(&other[first..]);
            for (sum, (&value, &other)) in sums.iter_mut().zip(pairs) {
                *sum += (value - other) * (value + other);
            }
        }
    });
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

/// `Σ_p m_p·g_pᵀ`, row-major, from the rows of two matrices; plus `A·diag(w)` for some `(A, w)`.
fn outer_products<T: Scalar>(
    m: MatRef<'_, T>,
    g: MatRef<'_, T>,
    scaled: Option<(&[T], &[T])>,
) -> Vec<T> {
    let columns = g.ncols();
    let mut sums = threads::zeros(m.ncols() * columns);
    let parts = parts(sums.len());
    in_parts(&mut sums, columns, parts, &|sums, first| {
        let rows = sums.len() / columns.max(1);
        let m = m.subcols(first, rows).transpose();
        let view = MatMut::from_row_major_slice_mut(&mut *sums, rows, columns);
        product_on(1, view, Accum::Replace, m, g, T::from_f64(1.0));
        let Some((matrix, weights)) = scaled else {
            return;
        };
        let matrix = matrix[first * columns..].chunks_exact(columns.max(1));
        for (sums, row) in sums.chunks_exact_mut(columns.max(1)).zip(matrix) {
            for ((sum, &value), &weight) in sums.iter_mut().zip(row).zip(weights) {
                *sum += value * weight;
            }
        }
    });
    sums
}

/// `½(‖W‖²_F + ‖m‖² − M) − Σ_i log|W_ii|` for one lower-triangular `W`.
pub fn kl<T: Scalar>(mean: &[T], scale: &[T]) -> T {
    let size = mean.len();
    let mut squares: f64 = mean.iter().map(|m| m.to_f64() * m.to_f64()).sum();
    let mut logarithms = 0.0;
    for (i, row) in scale.chunks_exact(size.max(1)).enumerate() {
        let mut sums = [0.0; 8];
        let chunks = row[..=i].chunks_exact(8);
        for &value in chunks.remainder() {
            squares += value.to_f64() * value.to_f64();
        }
        for chunk in chunks {
            for (sum, value) in sums.iter_mut().zip(chunk) {
                *sum += value.to_f64() * value.to_f64();
            }
        }
        squares += sums.iter().sum::<f64>();
        logarithms += row[i].to_f64().abs().ln();
    }
    T::from_f64(0.5 * (squares - size as f64) - logarithms)
}

/// The gradients of [`kl`]: `m̄ = g·m` and `W̄ = g·(tril(W) − diag(1/W_ii))`.
pub fn kl_backward<T: Scalar>(scale: &[T], size: usize, gradient: T, scale_gradient: &mut [T]) {
    let parts = parts(scale.len());
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
