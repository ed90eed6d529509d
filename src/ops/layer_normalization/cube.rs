//! Layer normalization on GPUs: one launch forward; backward, one launch for the gradient of x and two for
//! those of γ and β, which are sums over all rows.

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use super::LayerNormalizationOps;
use crate::ops::cube::{
    Argument, CubeBackend, CubeTensor, contiguous, element, empty_like,
    sums::{Summand, column_sums},
};

/// Threads per row, and rows per cube.
const PER_ROW: usize = 32;
const ROWS: usize = 4;

/// For a cube that sums gradients: its columns, its threads per column, and the rows that it sums.
const COLUMNS: usize = 32;
const PER_COLUMN: usize = 8;
const BLOCK: usize = 256;

impl LayerNormalizationOps for CubeBackend {
    fn layer_normalization(
        x: CubeTensor,
        scale: CubeTensor,
        shift: CubeTensor,
        epsilon: f64,
    ) -> CubeTensor {
        let [x, scale, shift] = [x, scale, shift].map(contiguous);
        let out = empty_like(&x, x.shape());
        if out.shape().num_elements() > 0 {
            let (client, dtype) = (x.client.clone(), element(&x));
            // SAFETY: the kernel checks rows and columns against the shape of x; there is one scale and one
            // shift per column.
            unsafe {
                forward_kernel::launch_unchecked(
                    &client,
                    cubes_of_rows(&x),
                    CubeDim::new_2d(PER_ROW as u32, ROWS as u32),
                    x.required_address_type(),
                    x.argument(),
                    scale.argument(),
                    shift.argument(),
                    out.clone().argument(),
                    InputScalar::new(epsilon, dtype),
                    dtype,
                );
            }
        }
        out
    }

    fn layer_normalization_backward(
        x: CubeTensor,
        scale: CubeTensor,
        gradient: CubeTensor,
        epsilon: f64,
    ) -> [CubeTensor; 3] {
        let [x, scale, gradient] = [x, scale, gradient].map(contiguous);
        let [rows, width] = x.shape().dims();
        let out = empty_like(&x, x.shape());
        let statistics = empty_like(&x, [rows, 2]);
        let blocks = rows.div_ceil(BLOCK);
        let [scales, shifts] = [(); 2].map(|()| empty_like(&x, [blocks, width]));
        if rows * width > 0 {
            let (client, dtype) = (x.client.clone(), element(&x));
            let address = x.required_address_type();
            let cubes = blocks * width.div_ceil(COLUMNS);
            // SAFETY: the kernels check rows and columns against the shape of x, which is also that of the
            // gradient; there is one scale per column, and there are two statistics per row.
            unsafe {
                backward_kernel::launch_unchecked(
                    &client,
                    cubes_of_rows(&x),
                    CubeDim::new_2d(PER_ROW as u32, ROWS as u32),
                    address,
                    x.clone().argument(),
                    scale.argument(),
                    gradient.clone().argument(),
                    out.clone().argument(),
                    statistics.clone().argument(),
                    InputScalar::new(epsilon, dtype),
                    dtype,
                );
                sums_kernel::launch_unchecked(
                    &client,
                    cubecl::calculate_cube_count_elemwise(&client, cubes, CubeDim::new_1d(1)),
                    CubeDim::new_2d(COLUMNS as u32, PER_COLUMN as u32),
                    address,
                    x.argument(),
                    gradient.argument(),
                    statistics.argument(),
                    scales.clone().argument(),
                    shifts.clone().argument(),
                    dtype,
                );
            }
        }
        let total = |blocks| column_sums(blocks, None, Summand::Numbers);
        [out, total(scales), total(shifts)]
    }
}

fn cubes_of_rows(x: &CubeTensor) -> CubeCount {
    let cubes = x.shape()[0].div_ceil(ROWS);
    cubecl::calculate_cube_count_elemwise(&x.client, cubes, CubeDim::new_1d(1))
}

/// The sum of one value per thread of a row, returned to all of them.
#[cube]
fn sum_of_row<F: Float>(number: F, shared: &mut Shared<[F]>) -> F {
    let unit = UNIT_POS as usize;
    let own = UNIT_POS_X as usize;
    shared[unit] = number;
    sync_cube();
    let mut others = comptime!(PER_ROW / 2).runtime();
    while others > 0 {
        if own < others {
            let sum = shared[unit] + shared[unit + others];
            shared[unit] = sum;
        }
        sync_cube();
        others /= 2;
    }
    let sum = shared[unit - own];
    sync_cube();
    sum
}

/// `μ` and `1/√(v + ε)` of a thread's row, or of an empty row if it is past the last.
#[cube]
fn statistics_of<F: Float>(
    x: &Tensor<F>,
    row: usize,
    epsilon: F,
    shared: &mut Shared<[F]>,
) -> (F, F) {
    let (rows, width) = (x.shape(0), x.shape(1));
    let count = F::cast_from(width as u32);
    let mut own = F::new(0.0);
    let mut column = UNIT_POS_X as usize;
    while row < rows && column < width {
        own += x[row * width + column];
        column += PER_ROW;
    }
    let mean = sum_of_row::<F>(own, shared) / count;
    let mut own = F::new(0.0);
    let mut column = UNIT_POS_X as usize;
    while row < rows && column < width {
        let centered = x[row * width + column] - mean;
        own += centered * centered;
        column += PER_ROW;
    }
    let variance = sum_of_row::<F>(own, shared) / count;
    (mean, F::new(1.0) / (variance + epsilon).sqrt())
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn forward_kernel<F: Float>(
    x: &Tensor<F>,
    scale: &Tensor<F>,
    shift: &Tensor<F>,
    out: &mut Tensor<F>,
    epsilon: InputScalar,
    #[define(F)] _dtype: ElemType,
) {
    let (rows, width) = (x.shape(0), x.shape(1));
    let row = CUBE_POS * ROWS + UNIT_POS_Y as usize;
    let mut shared = Shared::<[F]>::new_slice(comptime!(PER_ROW * ROWS));
    let (mean, reciprocal) = statistics_of::<F>(x, row, epsilon.get::<F>(), &mut shared);
    let mut column = UNIT_POS_X as usize;
    while row < rows && column < width {
        let place = row * width + column;
        out[place] = (x[place] - mean) * reciprocal * scale[column] + shift[column];
        column += PER_ROW;
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn backward_kernel<F: Float>(
    x: &Tensor<F>,
    scale: &Tensor<F>,
    gradient: &Tensor<F>,
    out: &mut Tensor<F>,
    statistics: &mut Tensor<F>,
    epsilon: InputScalar,
    #[define(F)] _dtype: ElemType,
) {
    let (rows, width) = (x.shape(0), x.shape(1));
    let count = F::cast_from(width as u32);
    let row = CUBE_POS * ROWS + UNIT_POS_Y as usize;
    let mut shared = Shared::<[F]>::new_slice(comptime!(PER_ROW * ROWS));
    let (mean, reciprocal) = statistics_of::<F>(x, row, epsilon.get::<F>(), &mut shared);
    let mut pulled = F::new(0.0);
    let mut along = F::new(0.0);
    let mut column = UNIT_POS_X as usize;
    while row < rows && column < width {
        let place = row * width + column;
        let change = gradient[place] * scale[column];
        pulled += change;
        along += change * ((x[place] - mean) * reciprocal);
        column += PER_ROW;
    }
    let pulled = sum_of_row::<F>(pulled, &mut shared) / count;
    let along = sum_of_row::<F>(along, &mut shared) / count;
    let mut column = UNIT_POS_X as usize;
    while row < rows && column < width {
        let place = row * width + column;
        let normal = (x[place] - mean) * reciprocal;
        out[place] = reciprocal * (gradient[place] * scale[column] - pulled - normal * along);
        column += PER_ROW;
    }
    if row < rows && UNIT_POS_X == 0 {
        statistics[2 * row] = mean;
        statistics[2 * row + 1] = reciprocal;
    }
}

/// The sums of `G·n` and of G over the rows of a block.
#[cube(launch_unchecked, address_type = "dynamic")]
fn sums_kernel<F: Float>(
    x: &Tensor<F>,
    gradient: &Tensor<F>,
    statistics: &Tensor<F>,
    scales: &mut Tensor<F>,
    shifts: &mut Tensor<F>,
    #[define(F)] _dtype: ElemType,
) {
    let (rows, width) = (x.shape(0), x.shape(1));
    let tiles = width.div_ceil(COLUMNS);
    let block = CUBE_POS / tiles;
    if block >= scales.shape(0) {
        terminate!();
    }
    let column = CUBE_POS % tiles * COLUMNS + UNIT_POS_X as usize;
    let mut scale = Shared::<[F]>::new_slice(comptime!(COLUMNS * PER_COLUMN));
    let mut shift = Shared::<[F]>::new_slice(comptime!(COLUMNS * PER_COLUMN));
    let mut own_scale = F::new(0.0);
    let mut own_shift = F::new(0.0);
    let mut row = block * BLOCK + UNIT_POS_Y as usize;
    let last = min(rows, block * BLOCK + BLOCK);
    while row < last && column < width {
        let slope = gradient[row * width + column];
        let normal = (x[row * width + column] - statistics[2 * row]) * statistics[2 * row + 1];
        own_scale += slope * normal;
        own_shift += slope;
        row += PER_COLUMN;
    }
    let unit = UNIT_POS as usize;
    scale[unit] = own_scale;
    shift[unit] = own_shift;
    sync_cube();
    let mut others = comptime!(COLUMNS * PER_COLUMN / 2).runtime();
    while others >= COLUMNS {
        if unit < others {
            let sum = scale[unit] + scale[unit + others];
            scale[unit] = sum;
            let sum = shift[unit] + shift[unit + others];
            shift[unit] = sum;
        }
        sync_cube();
        others /= 2;
    }
    if UNIT_POS_Y == 0 && column < width {
        let place = block * width + column;
        scales[place] = scale[unit];
        shifts[place] = shift[unit];
    }
}
