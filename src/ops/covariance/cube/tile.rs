//! Tiles of squared distances, computed by one cube.

use burn_cubecl::cubecl::{self, prelude::*};

/// Threads along each side of a cube.
pub const SIDE: usize = 16;
/// Threads in a cube.
pub const THREADS: usize = SIDE * SIDE;
/// Dimensions of the points held in shared memory at a time.
pub const DEPTH: usize = 8;
/// Stride of the points in shared memory. Without the extra entry, threads that read different points would
/// read from the same bank.
pub const STRIDE: usize = DEPTH + 1;

/// Loads [`DEPTH`] coordinates of some points into shared memory, point by point, with zeros beyond
/// the last point and dimension.
#[cube]
pub fn load_points<F: Float>(
    points: &Tensor<F>,
    batch: usize,
    first: usize,
    from: usize,
    #[comptime] count: usize,
    into: &mut Shared<[F]>,
) {
    #[unroll]
    for part in 0..comptime!(count * DEPTH / THREADS) {
        let place = part * THREADS + UNIT_POS as usize;
        let (point, d) = (place / DEPTH, place % DEPTH);
        let mut value = F::new(0.0);
        if first + point < points.shape(1) && from + d < points.shape(2) {
            value = points[batch * points.stride(0)
                + (first + point) * points.stride(1)
                + (from + d) * points.stride(2)];
        }
        into[point * STRIDE + d] = value;
    }
}

/// Loads `1/ℓ` of [`DEPTH`] dimensions, zero beyond the last.
#[cube]
pub fn load_scales<F: Float>(
    lengthscales: &Tensor<F>,
    dimensions: usize,
    batch: usize,
    from: usize,
    #[comptime] shared: bool,
    into: &mut Shared<[F]>,
) {
    let d = from + UNIT_POS as usize;
    if (UNIT_POS as usize) < DEPTH {
        let mut inverse = F::new(0.0);
        if d < dimensions {
            inverse = F::new(1.0) / lengthscales[scale_place(dimensions, batch, d, shared)];
        }
        into[UNIT_POS as usize] = inverse;
    }
}

/// The index of a lengthscale in `[P·D]`, or in `[P]` if all dimensions share it.
#[cube]
pub fn scale_place(dimensions: usize, batch: usize, d: usize, #[comptime] shared: bool) -> usize {
    if comptime!(shared) {
        batch
    } else {
        batch * dimensions + d
    }
}

/// Adds the part of `r²` from the dimensions in shared memory. A thread handles `own × own` pairs of points,
/// [`SIDE`] apart.
///
/// Coordinates are subtracted before they are scaled: the difference of nearby values is exact, however far
/// they are from zero.
#[cube]
pub fn add_squares<F: Float>(
    left: &Shared<[F]>,
    right: &Shared<[F]>,
    inverse: &Shared<[F]>,
    squares: &mut Array<F>,
    #[comptime] own: usize,
) {
    let (x, y) = (UNIT_POS_X as usize, UNIT_POS_Y as usize);
    for d in 0..DEPTH {
        let scale = inverse[d];
        let mut others = Array::<F>::new(own);
        #[unroll]
        for j in 0..own {
            others[j] = right[(x + j * SIDE) * STRIDE + d];
        }
        #[unroll]
        for i in 0..own {
            let point = left[(y + i * SIDE) * STRIDE + d];
            #[unroll]
            for j in 0..own {
                let difference = (point - others[j]) * scale;
                squares[i * own + j] += difference * difference;
            }
        }
    }
}
