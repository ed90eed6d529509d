//! Products of matrices that keep every digit of the element type.
//!
//! burn's own products may round their inputs to fewer digits on some GPUs (TF32), which a kernel
//! matrix does not survive.

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use super::{
    Argument, CubeTensor, count_operations, element, empty_like, matrices, with_shape, writable,
    zeros_like,
};

/// Terms of a product that are in shared memory at a time.
const DEPTH: usize = 16;
/// Threads along each side of a cube. Each computes four rows and four columns, or one where the
/// matrix has no more than this number of them.
const SIDE: usize = 16;

/// The part of a product that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    Whole,
    /// Its lower triangle, with zeros above.
    Lower,
    /// All of it, from its lower triangle: the product is known to be symmetric.
    Symmetric,
}

/// Where a product goes.
#[derive(Clone, Debug)]
pub enum Target {
    /// Into a new tensor: `AB`.
    New,
    /// Into a new tensor, with the opposite sign: `−AB`.
    Negative,
    /// Added to a tensor, in place if it has no other owner: `C + AB`.
    Sum(CubeTensor),
    /// Subtracted from a tensor, in place if it has no other owner: `C − AB`.
    Difference(CubeTensor),
}

/// The entries of the left matrix that count. The others are never read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entries {
    /// All of them.
    All,
    /// Those on and below the diagonal.
    Lower,
    /// Those on and above the diagonal.
    Upper,
}

/// The form of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// The wanted part.
    pub part: Part,
    /// The entries of the left matrix.
    pub left: Entries,
    /// Whether the products of all members of the batch are added, `Σ_p A_pB_p`, into a matrix
    /// without a batch dimension.
    pub joins: bool,
}

impl Form {
    /// A plain product of which a part is wanted.
    pub fn of(part: Part) -> Self {
        Self {
            part,
            left: Entries::All,
            joins: false,
        }
    }

    /// The whole product with a triangular left matrix.
    pub fn triangular(left: Entries) -> Self {
        Self {
            left,
            ..Self::of(Part::Whole)
        }
    }
}

/// `AB` for matrices `[…, M, K]` and `[…, K, N]`, which may be transposed views.
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn product(left: CubeTensor, right: CubeTensor, into: Target, part: Part) -> CubeTensor {
    product_of(left, right, into, Form::of(part))
}

/// [`product`] of any form.
#[track_caller]
pub fn product_of(left: CubeTensor, right: CubeTensor, into: Target, form: Form) -> CubeTensor {
    let mut shape = left.shape();
    let rank = shape.num_dims();
    let (given, other) = (shape.clone(), right.shape());
    assert!(
        given[rank - 1] == other[rank - 2]
            && given.as_slice()[..rank - 2] == other.as_slice()[..rank - 2],
        "product of {given:?} and {other:?}: expected […, M, K] and […, K, N]"
    );
    shape.as_mut_slice()[rank - 1] = other[rank - 1];
    let (left, right) = (matrices(left), matrices(right));
    let (mut batch, rows, columns) = (left.shape()[0], left.shape()[1], right.shape()[2]);
    if form.joins {
        batch = 1;
        shape = [rows, columns].into();
    }
    let negative = matches!(into, Target::Negative | Target::Difference(_));
    let start = match into {
        Target::New | Target::Negative => None,
        Target::Sum(start) | Target::Difference(start) => Some(writable(start)),
    };
    let adds = start.is_some();
    let has_terms = left.shape().num_elements() > 0 && right.shape().num_elements() > 0;
    let out = match start {
        Some(start) => start,
        None if has_terms => empty_like(&left, shape),
        None => zeros_like(&left, shape),
    };
    if has_terms {
        let target = with_shape(out.clone(), [batch, rows, columns]);
        let output = Output {
            adds,
            negative,
            part: form.part,
        };
        launch(left, right, target, output, form);
    }
    out
}

/// How a cube writes its sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Output {
    /// Whether they are added to the numbers that are there
    adds: bool,
    /// Whether their sign changes
    negative: bool,
    part: Part,
}

fn launch(left: CubeTensor, right: CubeTensor, out: CubeTensor, output: Output, form: Form) {
    let (batch, rows, columns) = (out.shape()[0], out.shape()[1], out.shape()[2]);
    let own = |count: usize| if count > SIDE { 4 } else { 1 };
    let tiles = Tiles {
        rows: own(rows),
        columns: own(columns),
        // Rows of 65 or 17 numbers keep threads of a column apart in the banks of shared memory.
        padding: usize::from(out.dtype.size() == 4),
        left_by_columns: left.meta.strides()[1] == 1 && left.meta.strides()[2] != 1,
        right_by_columns: right.meta.strides()[1] == 1 && right.meta.strides()[2] != 1,
    };
    let count = batch * rows.div_ceil(tiles.rows * SIDE) * columns.div_ceil(tiles.columns * SIDE);
    let members = if form.joins { left.shape()[0] } else { batch };
    count_operations(
        2 * members * tiles.multiply_adds(rows, columns, left.shape()[2], output.part, form.left),
    );
    let (client, dtype) = (left.client.clone(), element(&left));
    let address = [&left, &right, &out].map(|tensor| tensor.required_address_type());
    // SAFETY: the kernel checks every index against the shapes of the tensors.
    unsafe {
        gemm::launch_unchecked(
            &client,
            cubecl::calculate_cube_count_elemwise(&client, count, CubeDim::new_1d(1)),
            CubeDim::new_2d(SIDE as u32, SIDE as u32),
            address.into_iter().max().unwrap_or_default(),
            left.argument(),
            right.argument(),
            out.argument(),
            output,
            form,
            tiles,
            dtype,
        );
    }
}

/// The layout of the work of a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Tiles {
    /// Rows of a thread
    rows: usize,
    /// Columns of a thread
    columns: usize,
    /// Unused numbers at the end of a row in shared memory
    padding: usize,
    /// Whether neighbors in a column of the left matrix are neighbors in memory
    left_by_columns: bool,
    /// Whether neighbors in a column of the right matrix are neighbors in memory
    right_by_columns: bool,
}

impl Tiles {
    /// The multiply-adds of a product `[rows, terms]` with `[terms, columns]` by these tiles.
    fn multiply_adds(
        &self,
        rows: usize,
        columns: usize,
        terms: usize,
        part: Part,
        left: Entries,
    ) -> usize {
        let (tall, wide) = (self.rows * SIDE, self.columns * SIDE);
        let of_rows = (0..rows).step_by(tall).map(|first| {
            let terms = match left {
                Entries::All => terms,
                Entries::Lower => terms.min(first + tall),
                Entries::Upper => terms.saturating_sub(first),
            };
            let tiles = match part {
                Part::Whole => columns.div_ceil(wide),
                Part::Lower | Part::Symmetric => columns.min(first + 1).div_ceil(wide),
            };
            tiles * tall * wide * terms.next_multiple_of(DEPTH)
        });
        of_rows.sum()
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn gemm<F: Float>(
    left: &Tensor<F>,
    right: &Tensor<F>,
    out: &mut Tensor<F>,
    #[comptime] output: Output,
    #[comptime] form: Form,
    #[comptime] tiles: Tiles,
    #[define(F)] _dtype: ElemType,
) {
    let (tile_rows, tile_columns) = comptime!((tiles.rows * SIDE, tiles.columns * SIDE));
    let rows_of_tiles = out.shape(1).div_ceil(tile_rows);
    let columns_of_tiles = out.shape(2).div_ceil(tile_columns);
    let (tile, member) = (
        CUBE_POS / columns_of_tiles,
        CUBE_POS / columns_of_tiles / rows_of_tiles,
    );
    if member >= out.shape(0) {
        terminate!();
    }
    let first_row = tile % rows_of_tiles * tile_rows;
    let first_column = CUBE_POS % columns_of_tiles * tile_columns;
    // The tile lies above the diagonal.
    if comptime!(output.part != Part::Whole) && first_column > first_row {
        if comptime!(output.part == Part::Lower && !output.adds) {
            clear(out, member, first_row, first_column, tiles);
        }
        terminate!();
    }
    let mut lefts = Shared::<[F]>::new_slice(comptime!((tile_rows + tiles.padding) * DEPTH));
    let mut rights = Shared::<[F]>::new_slice(comptime!((tile_columns + tiles.padding) * DEPTH));
    let mut sums = Array::<F>::new(comptime!(tiles.rows * tiles.columns));
    #[unroll]
    for i in 0..comptime!(tiles.rows * tiles.columns) {
        sums[i] = F::new(0.0);
    }
    // The terms that a triangular left matrix has for these rows.
    let mut first = 0usize;
    let mut last = left.shape(2);
    if comptime!(form.left == Entries::Lower) {
        last = min(last, first_row + tile_rows);
    }
    if comptime!(form.left == Entries::Upper) {
        first = first_row;
    }
    let mut of_batch = member;
    let mut end_of_batch = member + 1;
    if comptime!(form.joins) {
        of_batch = 0;
        end_of_batch = left.shape(0);
    }
    while of_batch < end_of_batch {
        let mut from = first;
        while from < last {
            load_left(
                left, &mut lefts, of_batch, first_row, from, form.left, tiles,
            );
            load_right(right, &mut rights, of_batch, first_column, from, tiles);
            sync_cube();
            add_terms(&lefts, &rights, &mut sums, tiles);
            sync_cube();
            from += DEPTH;
        }
        of_batch += 1;
    }
    store(out, &sums, member, first_row, first_column, output, tiles);
}

/// Zeros in a tile of the result.
#[cube]
fn clear<F: Float>(
    out: &mut Tensor<F>,
    member: usize,
    first_row: usize,
    first_column: usize,
    #[comptime] tiles: Tiles,
) {
    #[unroll]
    for i in 0..tiles.rows {
        #[unroll]
        for j in 0..tiles.columns {
            let row = first_row + i * SIDE + UNIT_POS_Y as usize;
            let column = first_column + j * SIDE + UNIT_POS_X as usize;
            let place = (member * out.shape(1) + row) * out.shape(2) + column;
            if row < out.shape(1) && column < out.shape(2) {
                out[place] = F::new(0.0);
            }
        }
    }
}

/// Copies the rows of a tile and [`DEPTH`] columns of the left matrix to shared memory, transposed.
#[cube]
fn load_left<F: Float>(
    left: &Tensor<F>,
    shared: &mut Shared<[F]>,
    member: usize,
    first_row: usize,
    from: usize,
    #[comptime] entries: Entries,
    #[comptime] tiles: Tiles,
) {
    let side = comptime!(tiles.rows * SIDE);
    #[unroll]
    for part in 0..tiles.rows {
        let place = part * SIDE * SIDE + UNIT_POS as usize;
        // Neighboring threads read neighboring numbers.
        let mut i = place / DEPTH;
        let mut k = place % DEPTH;
        if comptime!(tiles.left_by_columns) {
            i = place % side;
            k = place / side;
        }
        let (row, term) = (first_row + i, from + k);
        let mut counts = row < left.shape(1) && term < left.shape(2);
        if comptime!(entries == Entries::Lower) {
            counts = counts && term <= row;
        }
        if comptime!(entries == Entries::Upper) {
            counts = counts && term >= row;
        }
        let mut value = F::new(0.0);
        if counts {
            value = left[member * left.stride(0) + row * left.stride(1) + term * left.stride(2)];
        }
        shared[k * comptime!(side + tiles.padding) + i] = value;
    }
}

/// Copies [`DEPTH`] rows and the columns of a tile of the right matrix to shared memory.
#[cube]
fn load_right<F: Float>(
    right: &Tensor<F>,
    shared: &mut Shared<[F]>,
    member: usize,
    first_column: usize,
    from: usize,
    #[comptime] tiles: Tiles,
) {
    let side = comptime!(tiles.columns * SIDE);
    #[unroll]
    for part in 0..tiles.columns {
        let place = part * SIDE * SIDE + UNIT_POS as usize;
        let mut k = place / side;
        let mut j = place % side;
        if comptime!(tiles.right_by_columns) {
            k = place % DEPTH;
            j = place / DEPTH;
        }
        let (term, column) = (from + k, first_column + j);
        let mut value = F::new(0.0);
        if term < right.shape(1) && column < right.shape(2) {
            value =
                right[member * right.stride(0) + term * right.stride(1) + column * right.stride(2)];
        }
        shared[k * comptime!(side + tiles.padding) + j] = value;
    }
}

/// Adds the products of the numbers in shared memory. They have a sum of their own, so that long
/// sums keep their digits.
#[cube]
fn add_terms<F: Float>(
    lefts: &Shared<[F]>,
    rights: &Shared<[F]>,
    sums: &mut Array<F>,
    #[comptime] tiles: Tiles,
) {
    let mut terms = Array::<F>::new(comptime!(tiles.rows * tiles.columns));
    #[unroll]
    for i in 0..comptime!(tiles.rows * tiles.columns) {
        terms[i] = F::new(0.0);
    }
    for k in 0..DEPTH {
        let left_row = k * comptime!(tiles.rows * SIDE + tiles.padding);
        let right_row = k * comptime!(tiles.columns * SIDE + tiles.padding);
        let mut own = Array::<F>::new(tiles.columns);
        #[unroll]
        for j in 0..tiles.columns {
            own[j] = rights[right_row + j * SIDE + UNIT_POS_X as usize];
        }
        #[unroll]
        for i in 0..tiles.rows {
            let value = lefts[left_row + i * SIDE + UNIT_POS_Y as usize];
            #[unroll]
            for j in 0..tiles.columns {
                terms[i * tiles.columns + j] += value * own[j];
            }
        }
    }
    #[unroll]
    for i in 0..comptime!(tiles.rows * tiles.columns) {
        sums[i] += terms[i];
    }
}

/// Writes the sums, or adds them to the result.
#[cube]
fn store<F: Float>(
    out: &mut Tensor<F>,
    sums: &Array<F>,
    member: usize,
    first_row: usize,
    first_column: usize,
    #[comptime] output: Output,
    #[comptime] tiles: Tiles,
) {
    let (rows, columns) = (out.shape(1), out.shape(2));
    let start = member * rows * columns;
    #[unroll]
    for i in 0..tiles.rows {
        #[unroll]
        for j in 0..tiles.columns {
            let row = first_row + i * SIDE + UNIT_POS_Y as usize;
            let column = first_column + j * SIDE + UNIT_POS_X as usize;
            let place = start + row * columns + column;
            let mut sum = sums[i * tiles.columns + j];
            if comptime!(output.negative) {
                sum = -sum;
            }
            if row < rows && column < columns {
                if comptime!(output.part == Part::Whole) || column <= row {
                    if comptime!(output.adds) {
                        sum += out[place];
                    }
                    out[place] = sum;
                    if comptime!(output.part == Part::Symmetric) {
                        out[start + column * columns + row] = sum;
                    }
                } else if comptime!(output.part == Part::Lower && !output.adds) {
                    out[place] = F::new(0.0);
                }
            }
        }
    }
}
