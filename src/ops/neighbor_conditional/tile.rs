//! Small symmetric matrices, one in each lane of a register: a *tile* holds the lower triangles of [`WIDTH`]
//! matrices of one size, row by row.

use crate::ops::cpu::{Lanes, Scalar, WIDTH};

/// Rows that are eliminated together: each factor of a product is loaded once for all of them.
const ROWS: usize = 4;

/// The number of entries of a triangle with `size` rows, and the place of the first entry of row `size`.
#[inline(always)]
pub const fn triangle(size: usize) -> usize {
    size * (size + 1) / 2
}

/// Factors `[A, k; kᵀ, κ]`, whose last row is `(kᵀ, κ)`, in place: the factor L of A, with the reciprocals of
/// its pivots on the diagonal; `l = L⁻¹k` in the last row; and `κ − lᵀl` at its end.
#[inline(always)]
pub fn factor<T: Scalar, const FUSED: bool>(tile: &mut [Lanes<T>], size: usize) {
    let mut row = 0;
    while row + ROWS <= size {
        eliminate::<T, ROWS, FUSED>(tile, row, size);
        row += ROWS;
    }
    while row < size {
        eliminate::<T, 1, FUSED>(tile, row, size);
        row += 1;
    }
}

/// Factors R rows from `first`, given all rows above them.
#[inline(always)]
fn eliminate<T: Scalar, const R: usize, const FUSED: bool>(
    tile: &mut [Lanes<T>],
    first: usize,
    size: usize,
) {
    let (above, rows) = tile.split_at_mut(triangle(first));
    // The places in `rows` where the rows start.
    let start: [usize; R] = core::array::from_fn(|r| triangle(first + r) - triangle(first));
    let mut column = 0;
    while column + 2 <= first {
        two_columns::<T, R, FUSED>(above, rows, &start, column);
        column += 2;
    }
    if column < first {
        let other = &above[triangle(column)..][..=column];
        for own in start {
            let value = less_products::<T, FUSED>(rows[own + column], &rows[own..], other, column);
            rows[own + column] = value.times(other[column]);
        }
    }
    for r in 0..R {
        for s in 0..=r {
            let column = first + s;
            let value = rows[start[r] + column];
            let (own, other) = (&rows[start[r]..], &rows[start[s]..]);
            let value = less_products::<T, FUSED>(value, own, other, column);
            rows[start[r] + column] = if s < r {
                value.times(other[column])
            } else if first + r + 1 < size {
                reciprocal_root(value)
            } else {
                value
            };
        }
    }
}

/// Computes the entries of R rows in `column` and the next one, given those before.
#[inline(always)]
fn two_columns<T: Scalar, const R: usize, const FUSED: bool>(
    above: &[Lanes<T>],
    rows: &mut [Lanes<T>],
    start: &[usize; R],
    column: usize,
) {
    let even = &above[triangle(column)..][..=column];
    let odd = &above[triangle(column + 1)..][..column + 2];
    let mut left: [Lanes<T>; R] = core::array::from_fn(|r| rows[start[r] + column]);
    let mut right: [Lanes<T>; R] = core::array::from_fn(|r| rows[start[r] + column + 1]);
    for k in 0..column {
        let (a, b) = (even[k], odd[k]);
        for r in 0..R {
            let own = rows[start[r] + k];
            left[r] = subtract_product::<T, FUSED>(left[r], own, a);
            right[r] = subtract_product::<T, FUSED>(right[r], own, b);
        }
    }
    for r in 0..R {
        let value = left[r].times(even[column]);
        rows[start[r] + column] = value;
        rows[start[r] + column + 1] =
            subtract_product::<T, FUSED>(right[r], value, odd[column]).times(odd[column + 1]);
    }
}

/// `value − Σ_{k<count} a_k·b_k`
#[inline(always)]
fn less_products<T: Scalar, const FUSED: bool>(
    mut value: Lanes<T>,
    a: &[Lanes<T>],
    b: &[Lanes<T>],
    count: usize,
) -> Lanes<T> {
    for k in 0..count {
        value = subtract_product::<T, FUSED>(value, a[k], b[k]);
    }
    value
}

/// `value − a·b`
#[inline(always)]
fn subtract_product<T: Scalar, const FUSED: bool>(
    mut value: Lanes<T>,
    a: Lanes<T>,
    b: Lanes<T>,
) -> Lanes<T> {
    for lane in 0..WIDTH {
        value.0[lane] = (-a.0[lane]).multiply_add::<FUSED>(b.0[lane], value.0[lane]);
    }
    value
}

/// `1/√value`
#[inline(always)]
fn reciprocal_root<T: Scalar>(mut value: Lanes<T>) -> Lanes<T> {
    for value in &mut value.0 {
        *value = T::from_f64(1.0) / value.square_root();
    }
    value
}

/// Replaces y by `L⁻¹y`.
#[inline(always)]
pub fn solve<T: Scalar, const FUSED: bool>(tile: &[Lanes<T>], y: &mut [Lanes<T>]) {
    for row in 0..y.len() {
        let entries = &tile[triangle(row)..triangle(row + 1)];
        y[row] = less_products::<T, FUSED>(y[row], entries, y, row).times(entries[row]);
    }
}

/// Replaces y by `L⁻ᵀy`.
#[inline(always)]
pub fn solve_transposed<T: Scalar, const FUSED: bool>(tile: &[Lanes<T>], y: &mut [Lanes<T>]) {
    for row in (0..y.len()).rev() {
        let entries = &tile[triangle(row)..triangle(row + 1)];
        let value = y[row].times(entries[row]);
        y[row] = value;
        for (y, &entry) in y[..row].iter_mut().zip(entries) {
            *y = subtract_product::<T, FUSED>(*y, entry, value);
        }
    }
}

/// The first of the first `rows` rows of a factor whose pivot was not positive, in one lane.
pub fn failed_pivot<T: Scalar>(tile: &[Lanes<T>], rows: usize, lane: usize) -> Option<usize> {
    let is_sound = |row: &usize| {
        let reciprocal = tile[triangle(*row) + row].0[lane].to_f64();
        reciprocal > 0.0 && reciprocal.is_finite()
    };
    (0..rows).find(|row| !is_sound(row))
}

/// Attempts to factor the matrices of a tile, each with the jitter that it needs.
pub struct Attempts {
    /// The jitter of each attempt, relative to the mean of the diagonal.
    jitters: Vec<f64>,
    /// The attempt of each lane.
    attempt: [usize; WIDTH],
}

impl Attempts {
    /// The first attempt of every lane.
    pub fn new(jitters: Vec<f64>) -> Self {
        Self {
            jitters,
            attempt: [0; WIDTH],
        }
    }

    /// The jitter of a lane, relative to the mean of the diagonal.
    pub fn jitter(&self, lane: usize) -> f64 {
        self.jitters[self.attempt[lane]]
    }

    /// Moves a lane on to the next attempt. `false` if there is none.
    pub fn escalate(&mut self, lane: usize) -> bool {
        let has_next = self.attempt[lane] + 1 < self.jitters.len();
        self.attempt[lane] += usize::from(has_next);
        has_next
    }

    /// Returns to the first attempt of every lane.
    pub fn reset(&mut self) {
        self.attempt = [0; WIDTH];
    }
}
