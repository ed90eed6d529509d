//! Sums of rows and of columns. Each thread adds a few values, and the threads' sums are added in a tree.

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use super::{
    Argument, CubeTensor, REDUCING, Reduction, element, empty_like, matrices, reduce, zeros_like,
};

/// Columns per cube that adds columns, and its threads per column.
const COLUMNS: usize = 32;
const PER_COLUMN: usize = 8;

/// The terms that are added in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Summand {
    /// The values of the left matrix.
    Numbers,
    /// The squares of the left matrix's values.
    Squares,
    /// The products of the values of both matrices.
    Products,
    /// The squares of the left matrix's values minus those of the right matrix's values.
    DifferencesOfSquares,
}

/// The sum of every row of a matrix `[R, N]`, which may have any strides; `[R]`.
pub fn row_sums(matrix: CubeTensor) -> CubeTensor {
    let rows = matrix.shape()[0];
    if matrix.shape().num_elements() == 0 {
        return zeros_like(&matrix, [rows]);
    }
    let out = empty_like(&matrix, [rows]);
    let (client, dtype) = (matrix.client.clone(), element(&matrix));
    // SAFETY: the kernel checks every index against the shape of the matrix.
    unsafe {
        row_sums_kernel::launch_unchecked(
            &client,
            cubecl::calculate_cube_count_elemwise(&client, rows, CubeDim::new_1d(1)),
            CubeDim::new_1d(REDUCING as u32),
            matrix.required_address_type(),
            matrix.argument(),
            out.clone().argument(),
            dtype,
        );
    }
    out
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn row_sums_kernel<F: Float>(
    matrix: &Tensor<F>,
    out: &mut Tensor<F>,
    #[define(F)] _dtype: ElemType,
) {
    let row = CUBE_POS;
    if row >= matrix.shape(0) {
        terminate!();
    }
    let mut own = F::new(0.0);
    let mut column = UNIT_POS as usize;
    while column < matrix.shape(1) {
        own += matrix[row * matrix.stride(0) + column * matrix.stride(1)];
        column += REDUCING;
    }
    let sum = reduce::<F>(own, Reduction::Sum);
    if UNIT_POS == 0 {
        out[row] = sum;
    }
}

/// The sum of every column of matrices `[…, M, N]`, `[…, N]`.
pub fn column_sums(left: CubeTensor, right: Option<CubeTensor>, of: Summand) -> CubeTensor {
    let mut shape = left.shape().to_vec();
    shape.remove(shape.len() - 2);
    let left = matrices(left);
    if left.shape().num_elements() == 0 {
        return zeros_like(&left, shape);
    }
    let out = empty_like(&left, shape);
    column_sums_into(left, right, of, &out, 0);
    out
}

/// [`column_sums`] of nonempty matrices `[B, M, N]`, written to a contiguous tensor from index `first` on.
pub fn column_sums_into(
    left: CubeTensor,
    right: Option<CubeTensor>,
    of: Summand,
    out: &CubeTensor,
    first: usize,
) {
    let (batch, columns) = (left.shape()[0], left.shape()[2]);
    // Without a right matrix, any tensor will do because it is never read.
    let right = right.map_or_else(|| left.clone(), matrices);
    let (client, dtype) = (left.client.clone(), element(&left));
    let cubes = batch * columns.div_ceil(COLUMNS);
    let address = [&left, &right, out].map(|tensor| tensor.required_address_type());
    // SAFETY: the kernel checks every index against the shape of the left matrix. The right one has the same
    // shape, and `out` has an element for each column from `first` on.
    unsafe {
        column_sums_kernel::launch_unchecked(
            &client,
            cubecl::calculate_cube_count_elemwise(&client, cubes, CubeDim::new_1d(1)),
            CubeDim::new_2d(COLUMNS as u32, PER_COLUMN as u32),
            address.into_iter().max().unwrap_or_default(),
            left.argument(),
            right.argument(),
            out.clone().argument(),
            first,
            of,
            dtype,
        );
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn column_sums_kernel<F: Float>(
    left: &Tensor<F>,
    right: &Tensor<F>,
    out: &mut Tensor<F>,
    first: usize,
    #[comptime] of: Summand,
    #[define(F)] _dtype: ElemType,
) {
    let (rows, columns) = (left.shape(1), left.shape(2));
    let tiles = columns.div_ceil(COLUMNS);
    let member = CUBE_POS / tiles;
    if member >= left.shape(0) {
        terminate!();
    }
    let column = CUBE_POS % tiles * COLUMNS + UNIT_POS_X as usize;
    let mut shared = Shared::<[F]>::new_slice(comptime!(COLUMNS * PER_COLUMN));
    let mut own = F::new(0.0);
    if column < columns {
        let mut row = UNIT_POS_Y as usize;
        while row < rows {
            let place = member * left.stride(0) + row * left.stride(1) + column * left.stride(2);
            let number = left[place];
            if comptime!(of == Summand::Numbers) {
                own += number;
            }
            if comptime!(of == Summand::Squares) {
                own += number * number;
            }
            let place = member * right.stride(0) + row * right.stride(1) + column * right.stride(2);
            if comptime!(of == Summand::Products) {
                own += number * right[place];
            }
            if comptime!(of == Summand::DifferencesOfSquares) {
                let other = right[place];
                own += (number - other) * (number + other);
            }
            row += PER_COLUMN;
        }
    }
    let unit = UNIT_POS as usize;
    shared[unit] = own;
    sync_cube();
    let mut others = comptime!(COLUMNS * PER_COLUMN / 2).runtime();
    while others >= COLUMNS {
        if unit < others {
            let sum = shared[unit] + shared[unit + others];
            shared[unit] = sum;
        }
        sync_cube();
        others /= 2;
    }
    if UNIT_POS_Y == 0 && column < columns {
        out[first + member * columns + column] = shared[unit];
    }
}
