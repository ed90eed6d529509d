//! The gradients of the covariance on GPUs, from sums over pairs of points.

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use super::{
    Arguments,
    backward::{Sums, sums},
    tile::scale_place,
};
use crate::ops::{
    Stationary,
    cube::{
        Argument, CubeTensor, REDUCING, Reduction, cubes_for, element, empty_like, reduce,
        row_sums, transposed, zeros_like,
    },
};

/// Terms that a thread sums before adding the result to its total.
const BLOCK: usize = 32;

/// The wanted gradients, of both sets of points, the lengthscales and the variance. Their shapes may differ
/// from those of the arguments.
pub fn gradients(
    arguments: Arguments,
    gradient: CubeTensor,
    kind: Stationary,
    [first, second, scales, variance]: [bool; 4],
) -> [Option<CubeTensor>; 4] {
    let [batch, rows, columns] = arguments.sizes();
    if batch * rows * columns == 0 {
        let zeros = |of: &CubeTensor| zeros_like(of, of.shape());
        let Arguments { x1, x2, .. } = &arguments;
        return [
            first.then(|| zeros(x1)),
            second.then(|| zeros(x2)),
            scales.then(|| zeros(&arguments.lengthscales)),
            variance.then(|| zeros(&arguments.variance)),
        ];
    }
    let of_second = second.then(|| {
        let arguments = arguments.clone().exchanged();
        let gradient = transposed(gradient.clone());
        let sums = sums(arguments.clone(), gradient, kind);
        of_points(&arguments, sums.pulls)
    });
    if !(first || scales || variance) {
        return [None, of_second, None, None];
    }
    let Sums {
        pulls,
        squares,
        values,
    } = sums(arguments.clone(), gradient, kind);
    [
        first.then(|| of_points(&arguments, pulls)),
        of_second,
        scales.then(|| of_lengthscales(&arguments, squares)),
        variance.then(|| row_sums(values)),
    ]
}

/// `2σ²/ℓ_d·Σ w·t`, [P, N1, D], from its parts, [P, S, N1, D].
fn of_points(arguments: &Arguments, pulls: CubeTensor) -> CubeTensor {
    let out = empty_like(&arguments.x1, arguments.x1.shape());
    let items = out.shape().num_elements();
    let (count, dim) = cubes_for(&out, items);
    let (client, dtype) = (out.client.clone(), element(&out));
    // SAFETY: the kernel checks its position against the number of items.
    unsafe {
        point_gradients::launch_unchecked(
            &client,
            count,
            dim,
            pulls.required_address_type(),
            pulls.argument(),
            arguments.lengthscales.clone().argument(),
            arguments.variance.clone().argument(),
            out.clone().argument(),
            arguments.shared,
            dtype,
        );
    }
    out
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn point_gradients<F: Float>(
    pulls: &Tensor<F>,
    lengthscales: &Tensor<F>,
    variance: &Tensor<F>,
    out: &mut Tensor<F>,
    #[comptime] shared: bool,
    #[define(F)] _dtype: ElemType,
) {
    let place = ABSOLUTE_POS;
    if place >= out.len() {
        terminate!();
    }
    let (parts, dimensions) = (pulls.shape(1), pulls.shape(3));
    let size = pulls.shape(2) * dimensions;
    let (batch, within) = (place / size, place % size);
    let mut sum = F::new(0.0);
    for part in 0..parts {
        sum += pulls[(batch * parts + part) * size + within];
    }
    let scale = lengthscales[scale_place(dimensions, batch, place % dimensions, shared)];
    out[place] = F::new(2.0) * variance[batch] * sum / scale;
}

/// `−2σ²/ℓ_d·Σ w·t²` from sums of rows, [P, S, N1, D].
fn of_lengthscales(arguments: &Arguments, squares: CubeTensor) -> CubeTensor {
    let out = empty_like(&arguments.x1, arguments.lengthscales.shape());
    let [batch, ..] = arguments.sizes();
    let scales = out.shape().num_elements() / batch;
    let (client, dtype) = (out.client.clone(), element(&out));
    // SAFETY: there is one cube per value, and each sums the rows of one batch.
    unsafe {
        scale_gradients::launch_unchecked(
            &client,
            CubeCount::Static(scales as u32, batch as u32, 1),
            CubeDim::new_1d(REDUCING as u32),
            squares.required_address_type(),
            squares.argument(),
            arguments.lengthscales.clone().argument(),
            arguments.variance.clone().argument(),
            out.clone().argument(),
            arguments.shared,
            dtype,
        );
    }
    out
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn scale_gradients<F: Float>(
    squares: &Tensor<F>,
    lengthscales: &Tensor<F>,
    variance: &Tensor<F>,
    out: &mut Tensor<F>,
    #[comptime] shared: bool,
    #[define(F)] _dtype: ElemType,
) {
    let (d, batch) = (CUBE_POS_X as usize, CUBE_POS_Y as usize);
    let dimensions = squares.shape(3);
    let rows = squares.shape(1) * squares.shape(2);
    let first = batch * rows * dimensions;
    let sum = if comptime!(shared) {
        strided_sum::<F>(squares, first, 1, rows * dimensions)
    } else {
        strided_sum::<F>(squares, first + d, dimensions, rows)
    };
    if UNIT_POS == 0 {
        let place = scale_place(dimensions, batch, d, shared);
        out[place] = F::new(-2.0) * variance[batch] * sum / lengthscales[place];
    }
}

/// `Σ_{i<n} values[first + i·stride]` by all threads of a cube of [`REDUCING`] threads.
#[cube]
fn strided_sum<F: Float>(values: &Tensor<F>, first: usize, stride: usize, n: usize) -> F {
    let threads = REDUCING;
    let mut total = F::new(0.0);
    for block in 0..n.div_ceil(BLOCK * threads) {
        let start = block * BLOCK * threads + UNIT_POS as usize;
        let mut sum = F::new(0.0);
        for term in 0..BLOCK {
            let index = start + term * threads;
            if index < n {
                sum += values[first + index * stride];
            }
        }
        total += sum;
    }
    reduce::<F>(total, Reduction::Sum)
}
