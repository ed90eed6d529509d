//! The steps that all attempts of a factorization share. A panel is 32 columns of the factor. Each thread
//! keeps one row of a panel in registers.

use burn_cubecl::cubecl::{self, prelude::*};

use crate::ops::cube::{REDUCING, Reduction, combine, is_finite, reduce};

/// Columns of a panel, and rows of its diagonal block.
pub const PANEL: usize = 32;
/// Threads of a cube. In every cube, the first 32 eliminate the rows of the diagonal block, because the
/// others need its pivots.
pub const THREADS: usize = REDUCING;
/// Rows below the diagonal block that a cube eliminates.
pub const ROWS: usize = THREADS - PANEL;

/// The mean and the extremes of a diagonal. The mean is zero if an entry is not finite, because jitter cannot
/// repair that.
#[derive(CubeType, Clone, Copy)]
pub struct Diagonal<F: Float> {
    pub mean: F,
    pub smallest: F,
    pub largest: F,
    pub finite: bool,
}

/// The diagonal of a member of `matrix`, [batch, M, M].
#[cube]
pub fn diagonal_of<F: Float>(matrix: &Tensor<F>, batch: usize) -> Diagonal<F> {
    let size = matrix.shape(1);
    let start = batch * matrix.stride(0);
    let step = matrix.stride(1) + matrix.stride(2);
    let mut sum = F::new(0.0);
    let mut smallest = matrix[start];
    let mut largest = matrix[start];
    let mut row = UNIT_POS as usize;
    while row < size {
        let value = matrix[start + row * step];
        sum += value;
        smallest = combine::<F>(smallest, value, Reduction::Smallest);
        largest = combine::<F>(largest, value, Reduction::Largest);
        row += THREADS;
    }
    let sum = reduce::<F>(sum, Reduction::Sum);
    let smallest = reduce::<F>(smallest, Reduction::Smallest);
    let largest = reduce::<F>(largest, Reduction::Largest);
    let finite = is_finite::<F>(smallest) && is_finite::<F>(largest);
    let mean = select(finite, sum / F::cast_from(size), F::new(0.0));
    Diagonal::<F> {
        mean,
        smallest,
        largest,
        finite,
    }
}

/// The scale of a member's jitter: its value in `scales`, or the mean of the diagonal. Zero if the diagonal
/// is not finite.
#[cube]
pub fn scale_of_jitter<F: Float>(
    diagonal: &Diagonal<F>,
    scales: &Tensor<F>,
    batch: usize,
    #[comptime] scaled: bool,
) -> F {
    let mut scale = diagonal.mean;
    if comptime!(scaled) {
        scale = select(diagonal.finite, scales[batch], scale);
    }
    scale
}

/// Whether this thread has a row of the diagonal block, rather than a row below it.
#[cube]
pub fn is_in_block() -> bool {
    (UNIT_POS as usize) < PANEL
}

/// `A_ic ← A_ic − Σ_m L_im·L_cm` for this thread's row i, all columns c of the panel at `first`, and
/// the columns m of the panel at `earlier`. All threads of the cube must call this.
#[cube]
pub fn subtract_panel<F: Float>(
    values: &mut Array<F>,
    factor: &mut Tensor<F>,
    batch: usize,
    row: usize,
    first: usize,
    earlier: usize,
) {
    let size = factor.shape(1);
    let start = batch * size * size + earlier;
    // `L_cm` is at `m·(32 + 1) + c`; the one unused entry per row spreads a row over all banks.
    let mut tile = Shared::<[F]>::new_slice(PANEL * (PANEL + 1));
    #[unroll]
    for part in 0..PANEL * PANEL / THREADS {
        let place = part * THREADS + UNIT_POS as usize;
        let (c, m) = (place / PANEL, place % PANEL);
        let mut value = F::new(0.0);
        if first + c < size {
            value = factor[start + (first + c) * size + m];
        }
        tile[m * (PANEL + 1) + c] = value;
    }
    sync_cube();
    // Eight iterations at a time, because Mesa's software device ends a thread's loops after a total of 65535
    // iterations.
    for part in 0..PANEL / 8 {
        #[unroll]
        for offset in 0..8 {
            let m = part * 8 + offset;
            let mut own = F::new(0.0);
            if row < size {
                own = factor[start + row * size + m];
            }
            #[unroll]
            for c in 0..PANEL {
                values[c] -= own * tile[m * (PANEL + 1) + c];
            }
        }
    }
    sync_cube();
}

/// Whether a pivot is positive and finite.
#[cube]
fn is_usable<F: Float>(pivot: F) -> bool {
    pivot > F::new(0.0) && is_finite::<F>(pivot)
}

/// Turns the rows of a panel into rows of the factor: for every column j, `L_ij = A_ij/√A_jj` and
/// `A_ic ← A_ic − A_ij·A_cj/A_jj` for the columns c after it. Returns one plus the column of the first pivot
/// that is not positive or not finite, or zero. All threads of the cube must call this.
#[cube]
pub fn eliminate<F: Float>(values: &mut Array<F>) -> u32 {
    let unit = UNIT_POS as usize;
    let in_block = is_in_block();
    // Two buffers in turn, so that one barrier per column is enough.
    let mut columns = Shared::<[F]>::new_slice(2 * PANEL);
    let mut failure = Shared::<[u32]>::new_slice(1usize);
    let mut failed = 0u32;
    #[unroll]
    for j in 0..PANEL {
        let column = comptime!((j % 2) * PANEL);
        if in_block {
            columns[column + unit] = values[j];
        }
        sync_cube();
        let pivot = columns[column + j];
        if failed == 0 && !is_usable::<F>(pivot) {
            failed = comptime!(j as u32 + 1).runtime();
        }
        let root = F::sqrt(pivot);
        let ratio = values[j] / pivot;
        let quotient = values[j] / root;
        values[j] = select(unit == j, root, quotient);
        #[unroll]
        for c in comptime!(j + 1)..PANEL {
            values[c] -= ratio * columns[column + c];
        }
    }
    if unit == 0 {
        failure[0] = failed;
    }
    sync_cube();
    workgroup_uniform_load(&failure[0])
}

/// Writes this thread's row of the panel at `first`. The rows of the diagonal block are written if
/// `with_block` holds.
#[cube]
pub fn store_row<F: Float>(
    values: &Array<F>,
    factor: &mut Tensor<F>,
    batch: usize,
    row: usize,
    first: usize,
    with_block: bool,
) {
    let size = factor.shape(1);
    let start = (batch * size + row) * size + first;
    let unit = UNIT_POS as usize;
    let in_block = is_in_block();
    #[unroll]
    for c in 0..PANEL {
        // There are rows below the block only if the block is full.
        if row < size && (!in_block || (with_block && c <= unit)) {
            factor[start + c] = values[c];
        }
    }
}
