//! The factorization of a diagonal block, in vector registers.

use faer::{MatMut, prelude::ReborrowMut};

use super::blocks::BadPivot;
use crate::ops::cpu::{BLOCK, Kernel, Lanes, Scalar, WIDTH, row_mut, vectorized};

/// Registers for the rows of a column.
const REGISTERS: usize = BLOCK / WIDTH;

/// Factors a block of at most [`BLOCK`] rows in place. Entries above the diagonal are neither read nor
/// written.
pub fn factor_block<T: Scalar>(block: MatMut<'_, T>) -> Result<(), BadPivot> {
    vectorized::run(Factor { block })
}

struct Factor<'a, T> {
    block: MatMut<'a, T>,
}

impl<T: Scalar> Kernel for Factor<'_, T> {
    type Output = Result<(), BadPivot>;

    #[inline(always)]
    fn call<const FUSED: bool>(mut self) -> Self::Output {
        let size = self.block.nrows();
        let mut columns = [[Lanes::splat(T::default()); REGISTERS]; BLOCK];
        for i in 0..size {
            let row = &row_mut(self.block.rb_mut(), i)[..=i];
            for (column, &value) in columns.iter_mut().zip(row) {
                column[i / WIDTH].0[i % WIDTH] = value;
            }
        }
        for j in 0..size {
            let pivot = columns[j][j / WIDTH].0[j % WIDTH];
            if pivot.to_f64().is_nan() || pivot <= T::default() {
                return Err(BadPivot(j));
            }
            let root = pivot.square_root();
            let inverse = Lanes::splat(T::from_f64(1.0) / root);
            let mut column = columns[j];
            for lanes in &mut column {
                *lanes = lanes.times(inverse);
            }
            column[j / WIDTH].0[j % WIDTH] = root;
            columns[j] = column;
            subtract_multiples::<T, FUSED>(&mut columns, &column, j + 1, size);
        }
        for i in 0..size {
            let row = &mut row_mut(self.block.rb_mut(), i)[..=i];
            for (column, value) in columns.iter().zip(row) {
                *value = column[i / WIDTH].0[i % WIDTH];
            }
        }
        Ok(())
    }
}

/// Subtracts multiples of a finished column from the columns `first` to `end − 1`, in the rows from the
/// diagonal on.
#[inline(always)]
fn subtract_multiples<T: Scalar, const FUSED: bool>(
    columns: &mut [[Lanes<T>; REGISTERS]; BLOCK],
    finished: &[Lanes<T>; REGISTERS],
    first: usize,
    end: usize,
) {
    for group in 0..REGISTERS {
        let (start, stop) = (first.max(group * WIDTH), end.min((group + 1) * WIDTH));
        for (k, column) in columns.iter_mut().enumerate().take(stop).skip(start) {
            let factor = Lanes::splat(-finished[group].0[k % WIDTH]);
            for (sum, &finished) in column.iter_mut().zip(finished).skip(group) {
                *sum = finished.multiply_add::<FUSED>(factor, *sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;

    /// Checks `L·Lᵀ` for every size, with arbitrary values above the diagonal.
    fn check<T: Scalar>(tolerance: f64) {
        for size in 1..=BLOCK {
            let entry = |i: usize, j: usize| {
                let near = (-((i as f64 - j as f64) / 3.0).powi(2)).exp();
                near + if i == j { 0.1 } else { 0.0 }
            };
            let rubbish = T::from_f64(f64::NAN);
            let mut block = vec![rubbish; size * size];
            for i in 0..size {
                for j in 0..=i {
                    block[i * size + j] = T::from_f64(entry(i, j));
                }
            }
            factor_block(MatMut::from_row_major_slice_mut(&mut block, size, size)).unwrap();
            for i in 0..size {
                for j in 0..size {
                    let value = |row: usize, column: usize| block[row * size + column].to_f64();
                    if j > i {
                        assert!(value(i, j).is_nan());
                        continue;
                    }
                    let product: f64 = (0..=j).map(|k| value(i, k) * value(j, k)).sum();
                    assert!(
                        (product - entry(i, j)).abs() < tolerance,
                        "{size}: {i}, {j}"
                    );
                }
            }
        }
    }

    /// The tolerances are a few rounding errors of values near one.
    #[test]
    fn the_factor_gives_the_block() {
        check::<f32>(1e-6);
        check::<f64>(1e-15);
    }

    #[test]
    fn the_row_of_a_bad_pivot_is_reported() {
        for bad in [0.0, -1.0, f64::NAN] {
            for row in [0, 5, 17, 31] {
                let mut matrix = Mat::<f64>::identity(BLOCK, BLOCK);
                matrix[(row, row)] = bad;
                let mut values: Vec<f64> = Vec::new();
                (0..BLOCK).for_each(|i| values.extend(matrix.row(i).iter()));
                let block = MatMut::from_row_major_slice_mut(&mut values, BLOCK, BLOCK);
                assert_eq!(factor_block(block), Err(BadPivot(row)));
            }
        }
    }
}
