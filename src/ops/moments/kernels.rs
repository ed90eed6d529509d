//! Moments of Gaussian variables under a linear map, and KL divergences, on the CPU.

use faer::{Accum, MatMut, MatRef};

use super::{Baseline, strips::GaussiansByStrips};
use crate::ops::cpu::{
    CHUNK, Kernel, LowerProduct, Scalar, Side, in_parts, lower_products, threads, vectorized,
};

/// Array length from which a pass over a matrix is split into parts.
const PARALLEL_FROM: usize = 1 << 17;

/// `m` and `W` of independent variables `u_p ~ N(m_p, W_pW_pᵀ)`.
#[derive(Clone, Copy)]
pub struct Gaussians<'a, T> {
    /// m, [P, M]
    pub mean: &'a [T],
    /// W, [P, M, M]
    pub scale: &'a [T],
    /// M
    pub size: usize,
    /// P
    pub outputs: usize,
    /// The variances that are subtracted.
    pub baseline: Baseline,
}

impl<'a, T: Scalar> Gaussians<'a, T> {
    /// `[Aᵀm_p ; colsum(V_p²) − b]`, [2, P, N], and `V_p = W_pᵀA`, [P, M, N], for a basis A, [M, N].
    pub fn moments(self, basis: &[T]) -> (Vec<T>, Vec<T>) {
        let columns = basis.len() / self.size.max(1);
        let basis = MatRef::from_row_major_slice(basis, self.size, columns);
        let variables = GaussiansByStrips::new(self, Side::Transposed, columns);
        let bases = vec![basis; variables.parts()];
        variables.moments(columns, bases, |basis, first, width| {
            basis.subcols(first, width)
        })
    }

    /// The gradients of A, m and W, from the `[2, P, N]` gradient of the moments and
    /// `V_p = W_pᵀA`:
    /// `Ā = Σ_p m_p·ḡᵀ + 2·W_p·V_p·diag(ḣ)`, less `2·A·diag(ḣ)` with the baseline of standard normal
    /// variables, `m̄_p = A·ḡ`, `W̄_p = tril(2·A·diag(ḣ)·V_pᵀ)`. `V_p` is overwritten.
    pub fn backward(self, basis: &[T], projected: &mut [T], gradient: &[T]) -> [Vec<T>; 3] {
        let columns = basis.len() / self.size.max(1);
        let basis = MatRef::from_row_major_slice(basis, self.size, columns);
        let variables = GaussiansByStrips::new(self, Side::Lower, columns);
        let (of_basis, mean) = variables.gradients(basis, projected, gradient);
        let mut scale = threads::zeros(self.scale.len());
        lower_products(
            Accum::Replace,
            self.scale_gradients(basis, projected, &mut scale),
        );
        [of_basis, mean, scale]
    }

    /// The products that give the gradients of W from A and `2·V·diag(ḣ)`.
    pub fn scale_gradients<'m>(
        self,
        basis: MatRef<'m, T>,
        projected: &'m [T],
        scale: &'m mut [T],
    ) -> Vec<LowerProduct<'m, T>> {
        let (size, columns) = (self.size, basis.ncols());
        (projected.chunks_exact((size * columns).max(1)))
            .zip(scale.chunks_exact_mut((size * size).max(1)))
            .map(|(projected, scale)| LowerProduct {
                out: MatMut::from_row_major_slice_mut(scale, size, size),
                left: basis,
                right: MatRef::from_row_major_slice(projected, size, columns).transpose(),
                alpha: T::from_f64(1.0),
            })
            .collect()
    }
}

/// The number of parts to split a pass over `count` values into.
fn parts(count: usize) -> usize {
    threads::count_for(count, PARALLEL_FROM)
}

/// The number of parts to split the rows of a triangle with `count` values into: several per thread, because
/// the last rows have most of the values.
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

    /// Whole and partial chunks of columns give the same bits on one thread and on all.
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
