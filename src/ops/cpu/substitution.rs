//! Substitution with one diagonal block of a triangular matrix.
//!
//! The right-hand columns lie along the lanes of registers, one strip of a few registers at a time.
//! A product with the inverse of the block would be no faster, and its residual would grow
//! with the condition number of the block, which for kernel matrices is as bad as that of the whole
//! matrix.

use faer::{
    MatMut, MatRef,
    prelude::{Reborrow, ReborrowMut},
};

use super::{
    lanes::{Lanes, WIDTH},
    passes::{row, row_mut},
    scalar::Scalar,
    triangular::Side,
    vectorized::{self, Kernel},
};

/// Rows of a diagonal block.
pub const BLOCK: usize = 32;

/// Rows and columns of a tile that is transposed at once.
const TILE: usize = 4;

/// A strip of right-hand columns.
type Strip<T, const LANES: usize> = [[Lanes<T>; LANES]; BLOCK];

/// A lower-triangular diagonal block, padded with rows of the identity: `L`, or `Lᵀ` with its rows
/// and columns in reverse order.
struct Block<T> {
    size: usize,
    reversed: bool,
    /// The entries below the diagonal, with the opposite sign.
    rows: [[T; BLOCK]; BLOCK],
    /// The reciprocals of the diagonal entries.
    reciprocals: [T; BLOCK],
}

impl<T: Scalar> Block<T> {
    fn new(lower: MatRef<'_, T>, side: Side) -> Self {
        let one = T::from_f64(1.0);
        let size = lower.nrows();
        let mut block = Self {
            size,
            reversed: side == Side::Transposed,
            rows: [[T::default(); BLOCK]; BLOCK],
            reciprocals: [one; BLOCK],
        };
        for (i, row) in lower.row_iter().enumerate() {
            let place = block.place(i);
            for (j, &entry) in row.iter().take(i).enumerate() {
                match side {
                    Side::Lower => block.rows[i][j] = -entry,
                    Side::Transposed => block.rows[size - 1 - j][place] = -entry,
                }
            }
            block.reciprocals[place] = one / row[i];
        }
        block
    }

    /// The position in a strip of a row of right-hand sides.
    #[inline(always)]
    fn place(&self, row: usize) -> usize {
        if self.reversed {
            self.size - 1 - row
        } else {
            row
        }
    }

    /// `X ← L⁻¹X`, several rows at a time in registers.
    #[inline(always)]
    fn substitute<const FUSED: bool, const ROWS: usize, const LANES: usize>(
        &self,
        strip: &mut Strip<T, LANES>,
    ) {
        let (strip, _) = strip.as_chunks_mut::<ROWS>();
        let (groups, _) = self.rows.as_chunks::<ROWS>();
        let (reciprocals, _) = self.reciprocals.as_chunks::<ROWS>();
        for (group, rows) in groups.iter().enumerate().take(self.size.div_ceil(ROWS)) {
            let (known, rest) = strip.split_at_mut(group);
            let mut sums = rest[0];
            for (k, x) in known.as_flattened().iter().enumerate().take(BLOCK) {
                for (sum, row) in sums.iter_mut().zip(rows) {
                    *sum = add_multiple::<T, FUSED, LANES>(*sum, row[k], x);
                }
            }
            let first = group * ROWS;
            for (r, row) in rows.iter().enumerate() {
                let mut sum = sums[r];
                for (k, x) in sums.iter().enumerate().take(r) {
                    sum = add_multiple::<T, FUSED, LANES>(sum, row[first + k], x);
                }
                for lanes in &mut sum {
                    *lanes = lanes.times(Lanes::splat(reciprocals[group][r]));
                }
                sums[r] = sum;
            }
            rest[0] = sums;
        }
    }

    /// Reads contiguous columns. Whole strips are read tile by tile, which the compiler transposes
    /// in registers.
    #[inline(always)]
    fn read_columns<const LANES: usize>(
        &self,
        columns: MatRef<'_, T>,
        strip: &mut Strip<T, LANES>,
    ) {
        if (columns.nrows(), columns.ncols()) != (BLOCK, LANES * WIDTH) {
            for j in 0..columns.ncols() {
                for (i, &value) in row(columns.transpose(), j).iter().enumerate() {
                    strip[self.place(i)][j / WIDTH].0[j % WIDTH] = value;
                }
            }
            return;
        }
        for left in (0..LANES * WIDTH).step_by(TILE) {
            let (lanes, lane) = (left / WIDTH, left % WIDTH);
            for top in (0..BLOCK).step_by(TILE) {
                let mut tile = [[T::default(); TILE]; TILE];
                for (j, values) in tile.iter_mut().enumerate() {
                    values.copy_from_slice(&row(columns.transpose(), left + j)[top..top + TILE]);
                }
                for (i, row) in transposed(tile).iter().enumerate() {
                    let place = &mut strip[self.place(top + i)][lanes].0;
                    place[lane..lane + TILE].copy_from_slice(row);
                }
            }
        }
    }

    /// The inverse of [`read_columns`](Self::read_columns).
    #[inline(always)]
    fn write_columns<const LANES: usize>(
        &self,
        strip: &Strip<T, LANES>,
        mut columns: MatMut<'_, T>,
    ) {
        if (columns.nrows(), columns.ncols()) != (BLOCK, LANES * WIDTH) {
            for j in 0..columns.ncols() {
                let column = row_mut(columns.rb_mut().transpose_mut(), j);
                for (i, value) in column.iter_mut().enumerate() {
                    *value = strip[self.place(i)][j / WIDTH].0[j % WIDTH];
                }
            }
            return;
        }
        for left in (0..LANES * WIDTH).step_by(TILE) {
            let (lanes, lane) = (left / WIDTH, left % WIDTH);
            for top in (0..BLOCK).step_by(TILE) {
                let mut tile = [[T::default(); TILE]; TILE];
                for (i, values) in tile.iter_mut().enumerate() {
                    let place = &strip[self.place(top + i)][lanes].0;
                    values.copy_from_slice(&place[lane..lane + TILE]);
                }
                for (j, column) in transposed(tile).iter().enumerate() {
                    let target = row_mut(columns.rb_mut().transpose_mut(), left + j);
                    target[top..top + TILE].copy_from_slice(column);
                }
            }
        }
    }
}

/// `B ← L⁻¹B` or `L⁻ᵀB` for a lower-triangular block of at most [`BLOCK`] rows and right-hand sides
/// with contiguous rows or columns. The entries above the block's diagonal are never read.
pub fn solve_block<T: Scalar>(lower: MatRef<'_, T>, side: Side, rhs: MatMut<'_, T>) {
    let block = &Block::new(lower, side);
    // As many sums at a time as fit into the registers: 32 of AVX-512, 16 of AVX2.
    let single = size_of::<T>() == size_of::<f32>();
    match (vectorized::has_avx512(), single) {
        (true, true) => vectorized::run(Solve::<T, 4, 4> { block, rhs }),
        (true, false) => vectorized::run(Solve::<T, 4, 2> { block, rhs }),
        (false, true) => vectorized::run(Solve::<T, 4, 1> { block, rhs }),
        (false, false) => vectorized::run(Solve::<T, 2, 1> { block, rhs }),
    }
}

/// `sum + factor·x`
#[inline(always)]
fn add_multiple<T: Scalar, const FUSED: bool, const LANES: usize>(
    mut sum: [Lanes<T>; LANES],
    factor: T,
    x: &[Lanes<T>; LANES],
) -> [Lanes<T>; LANES] {
    let factor = Lanes::splat(factor);
    for (sum, x) in sum.iter_mut().zip(x) {
        *sum = x.multiply_add::<FUSED>(factor, *sum);
    }
    sum
}

/// Substitution with `ROWS` rows and `LANES` registers of columns at a time.
struct Solve<'a, T, const ROWS: usize, const LANES: usize> {
    block: &'a Block<T>,
    rhs: MatMut<'a, T>,
}

impl<T: Scalar, const ROWS: usize, const LANES: usize> Kernel for Solve<'_, T, ROWS, LANES> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let Self { block, mut rhs } = self;
        let columns = rhs.ncols();
        let by_columns = rhs.row_stride() == 1;
        let mut strip = [[Lanes::splat(T::default()); LANES]; BLOCK];
        for first in (0..columns).step_by(LANES * WIDTH) {
            let width = (LANES * WIDTH).min(columns - first);
            let mut part = rhs.rb_mut().subcols_mut(first, width);
            if by_columns {
                block.read_columns(part.rb(), &mut strip);
            } else {
                for i in 0..block.size {
                    let values = row(part.rb(), i);
                    let lanes = strip[block.place(i)].iter_mut();
                    for (lanes, values) in lanes.zip(values.chunks(WIDTH)) {
                        *lanes = Lanes::load_partial(values);
                    }
                }
            }
            block.substitute::<FUSED, ROWS, LANES>(&mut strip);
            if by_columns {
                block.write_columns(&strip, part);
            } else {
                for i in 0..block.size {
                    let values = row_mut(part.rb_mut(), i);
                    let lanes = strip[block.place(i)].iter();
                    for (lanes, values) in lanes.zip(values.chunks_mut(WIDTH)) {
                        lanes.store_partial(values);
                    }
                }
            }
        }
    }
}

/// The transpose of a tile.
#[inline(always)]
fn transposed<T: Scalar>([a, b, c, d]: [[T; TILE]; TILE]) -> [[T; TILE]; TILE] {
    [
        [a[0], b[0], c[0], d[0]],
        [a[1], b[1], c[1], d[1]],
        [a[2], b[2], c[2], d[2]],
        [a[3], b[3], c[3], d[3]],
    ]
}
