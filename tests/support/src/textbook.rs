//! Textbook loops in any precision, and a number type with twice the digits of `f64` as a reference
//! for them.

use std::ops::{Add, Div, Mul, Sub};

use super::Random;

/// A number type of the textbook loops.
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn square_root(self) -> Self;

    /// `target ← target − factor·source`. Most of the time of all loops here is spent in this. As a method of
    /// a type, it is compiled in this package, with optimization.
    fn subtract(target: &mut [Self], factor: Self, source: &[Self]);
}

macro_rules! impl_subtract {
    () => {
        #[inline(never)]
        fn subtract(target: &mut [Self], factor: Self, source: &[Self]) {
            // Uses this machine's vector instructions. The results are the same: each operation rounds
            // separately.
            pulp::Arch::new().dispatch(|| {
                for (target, &source) in target.iter_mut().zip(source) {
                    let rest = *target - factor * source;
                    *target = rest;
                }
            });
        }
    };
}

macro_rules! impl_real {
    ($($float:ident),*) => {$(
        impl Real for $float {
            fn from_f64(value: f64) -> Self {
                value as $float
            }

            fn to_f64(self) -> f64 {
                self as f64
            }

            fn square_root(self) -> Self {
                self.sqrt()
            }

            impl_subtract!();
        }
    )*};
}

impl_real!(f32, f64);

/// An unevaluated sum of two `f64`, the second below half a unit in the last place of the first
/// (T. Dekker, *A floating-point technique for extending the available precision*, 1971).
#[derive(Clone, Copy, Debug)]
pub struct DoubleDouble(f64, f64);

impl DoubleDouble {
    /// `high + low` for `|high| ≥ |low|`.
    #[inline(always)]
    fn normalized(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self(sum, low - (sum - high))
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        let part = sum - self.0;
        let error = (self.0 - (sum - part)) + (other.0 - part);
        Self::normalized(sum, error + self.1 + other.1)
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.add(Self(-other.0, -other.1))
    }
}

/// A number as the sum of two numbers with half its digits, whose products are exact.
#[inline(always)]
fn halves(value: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * value; // 2²⁷ + 1
    let high = scaled - (scaled - value);
    (high, value - high)
}

impl Mul for DoubleDouble {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let ((a, b), (c, d)) = (halves(self.0), halves(other.0));
        let error = ((a * c - product) + a * d + b * c) + b * d;
        Self::normalized(product, error + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Div for DoubleDouble {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = Self(self.0 / other.0, 0.0);
        let rest = self - first * other;
        first + Self(rest.0 / other.0, 0.0)
    }
}

impl Real for DoubleDouble {
    fn from_f64(value: f64) -> Self {
        Self(value, 0.0)
    }

    fn to_f64(self) -> f64 {
        self.0 + self.1
    }

    fn square_root(self) -> Self {
        let root = Self(self.0.sqrt(), 0.0);
        let rest = self - root * root;
        root + Self(rest.0 / (2.0 * root.0), 0.0)
    }

    impl_subtract!();
}

/// A row-major matrix.
#[derive(Clone, Debug)]
pub struct Matrix<T> {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<T>,
}

impl<T: Real> Matrix<T> {
    pub fn from_function(
        rows: usize,
        columns: usize,
        mut entry: impl FnMut(usize, usize) -> T,
    ) -> Self {
        let mut values = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            for j in 0..columns {
                values.push(entry(i, j));
            }
        }
        Self {
            rows,
            columns,
            values,
        }
    }

    /// The given numbers, rounded.
    pub fn rounded(rows: usize, columns: usize, values: &[f64]) -> Self {
        Self::from_function(rows, columns, |i, j| T::from_f64(values[i * columns + j]))
    }

    pub fn identity(size: usize) -> Self {
        let entry = |i, j| T::from_f64(if i == j { 1.0 } else { 0.0 });
        Self::from_function(size, size, entry)
    }

    pub fn at(&self, row: usize, column: usize) -> T {
        self.values[row * self.columns + column]
    }

    pub fn row(&self, row: usize) -> &[T] {
        &self.values[row * self.columns..][..self.columns]
    }

    pub fn numbers(&self) -> Vec<f64> {
        self.values.iter().map(|value| value.to_f64()).collect()
    }

    /// The same numbers in another precision.
    pub fn cast<S: Real>(&self) -> Matrix<S> {
        Matrix::rounded(self.rows, self.columns, &self.numbers())
    }

    pub fn transposed(&self) -> Self {
        Self::from_function(self.columns, self.rows, |i, j| self.at(j, i))
    }

    pub fn map(&self, function: impl Fn(T) -> T) -> Self {
        let values = self.values.iter().map(|&value| function(value)).collect();
        Self { values, ..*self }
    }

    pub fn combine(&self, other: &Self, function: impl Fn(T, T) -> T) -> Self {
        let pairs = self.values.iter().zip(&other.values);
        let values = pairs.map(|(&a, &b)| function(a, b)).collect();
        Self { values, ..*self }
    }

    pub fn times(&self, other: &Self) -> Self {
        let zero = T::from_f64(0.0);
        let mut product = Self::from_function(self.rows, other.columns, |_, _| zero);
        for i in 0..self.rows {
            let target = &mut product.values[i * other.columns..][..other.columns];
            for k in 0..self.columns {
                let factor = zero - self.at(i, k);
                T::subtract(target, factor, other.row(k));
            }
        }
        product
    }

    /// The transposed Cholesky factor: `K_ij − Σ_k L_ik·L_jk` with k ascending, then the square
    /// root or the quotient. `None` if a pivot is not positive.
    pub fn upper_factor(&self) -> Option<Upper<T>> {
        let size = self.rows;
        let zero = T::from_f64(0.0);
        let entry = |i, j| if j < i { zero } else { self.at(j, i) };
        let mut upper = Self::from_function(size, size, entry);
        for j in 0..size {
            let (known, rest) = upper.values.split_at_mut(j * size);
            let row = &mut rest[j..size];
            for earlier in known.chunks_exact(size) {
                T::subtract(row, earlier[j], &earlier[j..]);
            }
            let pivot = row[0];
            let usable = pivot.to_f64() > 0.0 && pivot.to_f64().is_finite();
            if !usable {
                return None;
            }
            let root = pivot.square_root();
            row[0] = root;
            for value in &mut row[1..] {
                *value = *value / root;
            }
        }
        Some(Upper(upper))
    }

    /// The Frobenius norm.
    pub fn norm(&self) -> f64 {
        let squares = self.values.iter().map(|value| value.to_f64().powi(2));
        squares.sum::<f64>().sqrt()
    }
}

/// `Lᵀ`, zeros below its diagonal.
#[derive(Clone, Debug)]
pub struct Upper<T>(pub Matrix<T>);

impl<T: Real> Upper<T> {
    /// `L⁻¹B`
    pub fn solve(&self, rhs: &Matrix<T>) -> Matrix<T> {
        let mut solution = rhs.clone();
        let columns = rhs.columns;
        for i in 0..rhs.rows {
            let (head, rest) = solution.values.split_at_mut((i + 1) * columns);
            let row = &mut head[i * columns..];
            for value in row.iter_mut() {
                *value = *value / self.0.at(i, i);
            }
            for (offset, later) in rest.chunks_exact_mut(columns).enumerate() {
                T::subtract(later, self.0.at(i, i + 1 + offset), row);
            }
        }
        solution
    }

    /// `L⁻ᵀB`
    pub fn solve_transposed(&self, rhs: &Matrix<T>) -> Matrix<T> {
        let mut solution = rhs.clone();
        let columns = rhs.columns;
        for i in (0..rhs.rows).rev() {
            let (head, rest) = solution.values.split_at_mut((i + 1) * columns);
            let row = &mut head[i * columns..];
            for (offset, known) in rest.chunks_exact(columns).enumerate() {
                T::subtract(row, self.0.at(i, i + 1 + offset), known);
            }
            for value in row {
                *value = *value / self.0.at(i, i);
            }
        }
        solution
    }

    /// `L⁻ᵀSL⁻¹` for a symmetric S.
    pub fn solve_both_sides(&self, symmetric: &Matrix<T>) -> Matrix<T> {
        let half = self.solve_transposed(symmetric);
        self.solve_transposed(&half.transposed())
    }

    /// `½(Φ + Φᵀ)`, where Φ is the lower triangle given by `entry` with half the diagonal. For
    /// `LᵀL̄` given by `entry`, the gradient of K is a two-sided solve of this matrix.
    pub fn symmetric(size: usize, entry: impl Fn(usize, usize) -> T) -> Matrix<T> {
        let half = T::from_f64(0.5);
        Matrix::from_function(size, size, |i, j| half * entry(i.max(j), i.min(j)))
    }

    /// `L`
    pub fn lower(&self) -> Matrix<T> {
        self.0.transposed()
    }
}

/// Standard normal numbers that both precisions represent exactly.
pub fn normals(seed: u64, rows: usize, columns: usize) -> Vec<f64> {
    let values = Random::new(seed).normals(rows * columns);
    values
        .into_iter()
        .map(|value| f64::from(value as f32))
        .collect()
}
