//! Patches as points in lengthscale units, and conversion of their gradients to gradients of images.

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use crate::ops::{
    cube::{Argument, CubeTensor, cubes_for, element, empty_like},
    patches::PatchGrid,
};

/// The patches of some images, starting with image `first`, divided by the lengthscales: [count, P, D].
pub fn scaled_patches(
    images: &CubeTensor,
    lengthscales: &CubeTensor,
    grid: PatchGrid,
    first: usize,
    count: usize,
) -> CubeTensor {
    let out = empty_like(images, [count, grid.count(), grid.dimensions()]);
    let (cubes, dim) = cubes_for(&out, out.shape().num_elements());
    // SAFETY: the kernel stops if its position is past the end of the output, and the images have rows of the
    // grid.
    unsafe {
        extract::launch_unchecked(
            &images.client,
            cubes,
            dim,
            images
                .required_address_type()
                .max(out.required_address_type()),
            images.clone().argument(),
            lengthscales.clone().argument(),
            out.clone().argument(),
            first,
            grid,
            element(images),
        );
    }
    out
}

/// The gradients of images, [N, H·W·C], from the gradients of their patches in lengthscale units. Writes the
/// images of `pulls`, [count, P, D], to `out`, starting with image `first`.
pub fn write_images(
    pulls: CubeTensor,
    lengthscales: &CubeTensor,
    grid: PatchGrid,
    first: usize,
    out: &CubeTensor,
) {
    let count = pulls.shape()[0] * grid.image().len();
    let (cubes, dim) = cubes_for(out, count);
    // SAFETY: the kernel stops past the images of the pulls, which are images of the output.
    unsafe {
        add_up::launch_unchecked(
            &out.client,
            cubes,
            dim,
            pulls
                .required_address_type()
                .max(out.required_address_type()),
            pulls.argument(),
            lengthscales.clone().argument(),
            out.clone().argument(),
            first * grid.image().len(),
            count,
            grid,
            element(out),
        );
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn extract<F: Float>(
    images: &Tensor<F>,
    lengthscales: &Tensor<F>,
    out: &mut Tensor<F>,
    first: usize,
    #[comptime] grid: PatchGrid,
    #[define(F)] _dtype: ElemType,
) {
    let dimensions = comptime!(grid.dimensions());
    let patches = comptime!(grid.count());
    let columns = comptime!(grid.columns());
    let step = comptime!(grid.stride() * grid.image().channels);
    let row = comptime!(grid.image().width * grid.image().channels);
    let row_step = comptime!(grid.stride() * row);
    let run = comptime!(grid.size() * grid.image().channels);
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let dimension = ABSOLUTE_POS % dimensions;
    let patch = ABSOLUTE_POS / dimensions % patches;
    let image = first + ABSOLUTE_POS / (dimensions * patches);
    let offset = patch / columns * row_step + patch % columns * step;
    let within = dimension / run * row + dimension % run;
    let place = image * images.stride(0) + (offset + within) * images.stride(1);
    let scale = lengthscales[scale_index(dimension, lengthscales.len()) * lengthscales.stride(0)];
    out[ABSOLUTE_POS] = images[place] / scale;
}

/// Each thread sums what the patches around one value of an image contribute to its gradient.
#[cube(launch_unchecked, address_type = "dynamic")]
fn add_up<F: Float>(
    pulls: &Tensor<F>,
    lengthscales: &Tensor<F>,
    out: &mut Tensor<F>,
    start: usize,
    count: usize,
    #[comptime] grid: PatchGrid,
    #[define(F)] _dtype: ElemType,
) {
    let channels = comptime!(grid.image().channels);
    let width = comptime!(grid.image().width);
    let height = comptime!(grid.image().height);
    let size = comptime!(grid.size());
    let stride = comptime!(grid.stride());
    let columns = comptime!(grid.columns());
    let rows = comptime!(grid.rows());
    let dimensions = comptime!(grid.dimensions());
    if ABSOLUTE_POS >= count {
        terminate!();
    }
    let channel = ABSOLUTE_POS % channels;
    let x = ABSOLUTE_POS / channels % width;
    let y = ABSOLUTE_POS / (channels * width) % height;
    let image = ABSOLUTE_POS / (channels * width * height);
    let mut sum = F::new(0.0);
    for row in first_patch(y, size, stride)..end_patch(y, stride, rows) {
        for column in first_patch(x, size, stride)..end_patch(x, stride, columns) {
            let pixel = (y - row * stride) * size + x - column * stride;
            let dimension = pixel * channels + channel;
            let patch = (image * rows + row) * columns + column;
            let scale =
                lengthscales[scale_index(dimension, lengthscales.len()) * lengthscales.stride(0)];
            sum += pulls[patch * dimensions + dimension] / scale;
        }
    }
    out[start + ABSOLUTE_POS] = sum;
}

/// The index of the lengthscale of a dimension, if there are `scales` of them.
#[cube]
fn scale_index(dimension: usize, scales: usize) -> usize {
    select(scales == 1, 0, dimension)
}

/// The first row (or column) of patches that reaches a row of pixels.
#[cube]
fn first_patch(pixel: usize, #[comptime] size: usize, #[comptime] stride: usize) -> usize {
    let mut first = 0usize.runtime();
    if pixel >= size {
        first = (pixel - size) / stride + 1;
    }
    first
}

/// The row (or column) of patches after the last one that starts at or before a row of pixels.
#[cube]
fn end_patch(pixel: usize, #[comptime] stride: usize, #[comptime] patches: usize) -> usize {
    let last = pixel / stride;
    select(last >= patches, patches, last + 1)
}
