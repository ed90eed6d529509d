//! The gradients of points from the pulls of all pairs.

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use crate::ops::cube::{Argument, CubeTensor, count_operations, element, empty_like};

/// Points whose gradients a cube computes.
const ROWS: usize = 64;
/// Dimensions whose gradients a cube computes: few, because small patches have few.
const WIDTH: usize = 32;
/// Pulling points held in shared memory at a time.
const DEPTH: usize = 16;
/// Threads along each side of a cube.
const SIDE: usize = 16;
const OWN_ROWS: usize = ROWS / SIDE;
const OWN_COLUMNS: usize = WIDTH / SIDE;
const OWN: usize = OWN_ROWS * OWN_COLUMNS;
/// The length of a row of pulls in shared memory. It is odd, so that threads write to different
/// banks.
const PADDED: usize = ROWS + 1;

/// The gradients of left points and, if wanted, `Σ_ij w_ij·(a_id − b_jd)²`.
pub struct PointGradients {
    /// `Σ_j w_ij·(a_i − b_j)`, [N, I, D]
    pub points: CubeTensor,
    /// Partial sums, [N·⌈I/64⌉, D]
    pub squares: Option<CubeTensor>,
}

/// The gradients of the points a from their pulls w toward the points b, image by image.
///
/// # Shapes
///
/// - `left` (a): [N, I, D]
/// - `right` (b): [N, J, D]
/// - `pulls` (w): [N, I, J], which may be a view
pub fn point_gradients(
    left: CubeTensor,
    right: CubeTensor,
    pulls: CubeTensor,
    squares_wanted: bool,
) -> PointGradients {
    let (images, rows) = (pulls.shape()[0], pulls.shape()[1]);
    let dimensions = left.shape()[2];
    let points = empty_like(&pulls, [images, rows, dimensions]);
    let tiles = rows.div_ceil(ROWS);
    let sums = if squares_wanted { images * tiles } else { 1 };
    let squares = empty_like(&pulls, [sums, dimensions]);
    let dtype = element(&points);
    // A difference and a multiply-add for each dimension of each pair.
    let padded = dimensions.next_multiple_of(WIDTH);
    count_operations(3 * images * tiles * ROWS * pulls.shape()[2] * padded);
    // SAFETY: the kernel checks rows, columns and dimensions; there is one cube per image.
    unsafe {
        pull::launch_unchecked(
            &points.client,
            CubeCount::Static(
                dimensions.div_ceil(WIDTH) as u32,
                tiles as u32,
                images as u32,
            ),
            CubeDim::new_2d(SIDE as u32, SIDE as u32),
            pulls
                .required_address_type()
                .max(left.required_address_type())
                .max(right.required_address_type())
                .max(points.required_address_type()),
            left.argument(),
            right.argument(),
            pulls.argument(),
            points.clone().argument(),
            squares.clone().argument(),
            squares_wanted,
            dtype,
        );
    }
    PointGradients {
        points,
        squares: squares_wanted.then_some(squares),
    }
}

/// Sums [`DEPTH`] points at a time, which keeps long sums accurate.
#[cube(launch_unchecked, address_type = "dynamic")]
fn pull<F: Float>(
    left: &Tensor<F>,
    right: &Tensor<F>,
    pulls: &Tensor<F>,
    points: &mut Tensor<F>,
    squares: &mut Tensor<F>,
    #[comptime] squares_wanted: bool,
    #[define(F)] _dtype: ElemType,
) {
    let image = CUBE_POS_Z as usize;
    let first_row = CUBE_POS_Y as usize * ROWS;
    let first_dimension = CUBE_POS_X as usize * WIDTH;
    let (rows, inner) = (pulls.shape(1), pulls.shape(2));
    let dimensions = right.shape(2);
    let mut weights = Shared::<[F]>::new_slice(DEPTH * PADDED);
    let mut rights = Shared::<[F]>::new_slice(DEPTH * WIDTH);
    let mut own = Array::<F>::new(OWN);
    let mut totals = Array::<F>::new(OWN);
    let mut total_squares = Array::<F>::new(OWN);
    #[unroll]
    for i in 0..OWN {
        let row = first_row + i / OWN_COLUMNS * SIDE + UNIT_POS_Y as usize;
        let dimension = first_dimension + i % OWN_COLUMNS * SIDE + UNIT_POS_X as usize;
        let mut value = F::new(0.0);
        if row < rows && dimension < dimensions {
            value =
                left[image * left.stride(0) + row * left.stride(1) + dimension * left.stride(2)];
        }
        own[i] = value;
        totals[i] = F::new(0.0);
        total_squares[i] = F::new(0.0);
    }
    for step in 0..inner.div_ceil(DEPTH) {
        let from = step * DEPTH;
        #[unroll]
        for part in 0..ROWS * DEPTH / (SIDE * SIDE) {
            let place = part * SIDE * SIDE + UNIT_POS as usize;
            let (row, j) = (place / DEPTH, place % DEPTH);
            let mut value = F::new(0.0);
            if first_row + row < rows && from + j < inner {
                value = pulls[image * pulls.stride(0)
                    + (first_row + row) * pulls.stride(1)
                    + (from + j) * pulls.stride(2)];
            }
            weights[j * PADDED + row] = value;
        }
        #[unroll]
        for part in 0..WIDTH * DEPTH / (SIDE * SIDE) {
            let place = part * SIDE * SIDE + UNIT_POS as usize;
            let (j, dimension) = (from + place / WIDTH, first_dimension + place % WIDTH);
            let mut value = F::new(0.0);
            if j < inner && dimension < dimensions {
                value = right
                    [image * right.stride(0) + j * right.stride(1) + dimension * right.stride(2)];
            }
            rights[place] = value;
        }
        sync_cube();
        let mut sums = Array::<F>::new(OWN);
        let mut square_sums = Array::<F>::new(OWN);
        #[unroll]
        for i in 0..OWN {
            sums[i] = F::new(0.0);
            square_sums[i] = F::new(0.0);
        }
        for j in 0..DEPTH {
            #[unroll]
            for i in 0..OWN {
                let row = i / OWN_COLUMNS * SIDE + UNIT_POS_Y as usize;
                let dimension = i % OWN_COLUMNS * SIDE + UNIT_POS_X as usize;
                let difference = own[i] - rights[j * WIDTH + dimension];
                let product = weights[j * PADDED + row] * difference;
                sums[i] += product;
                if comptime!(squares_wanted) {
                    square_sums[i] += product * difference;
                }
            }
        }
        #[unroll]
        for i in 0..OWN {
            totals[i] += sums[i];
            total_squares[i] += square_sums[i];
        }
        sync_cube();
    }
    #[unroll]
    for i in 0..OWN {
        let row = first_row + i / OWN_COLUMNS * SIDE + UNIT_POS_Y as usize;
        let dimension = first_dimension + i % OWN_COLUMNS * SIDE + UNIT_POS_X as usize;
        if row < rows && dimension < dimensions {
            points[(image * rows + row) * dimensions + dimension] = totals[i];
        }
    }
    if comptime!(squares_wanted) {
        // [SIDE, WIDTH]: the sums over a thread's rows.
        #[unroll]
        for j in 0..OWN_COLUMNS {
            let mut sum = F::new(0.0);
            #[unroll]
            for i in 0..OWN_ROWS {
                sum += total_squares[i * OWN_COLUMNS + j];
            }
            rights[UNIT_POS_Y as usize * WIDTH + j * SIDE + UNIT_POS_X as usize] = sum;
        }
        sync_cube();
        let column = UNIT_POS as usize;
        if column < WIDTH && first_dimension + column < dimensions {
            let mut sum = F::new(0.0);
            for y in 0..SIDE {
                sum += rights[y * WIDTH + column];
            }
            let tile = image * rows.div_ceil(ROWS) + CUBE_POS_Y as usize;
            squares[tile * dimensions + first_dimension + column] = sum;
        }
    }
}
