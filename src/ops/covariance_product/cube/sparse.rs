//! Products with the block-sparse matrix S of runs of points on GPUs, a part of the points at a time. Each
//! thread handles one run and one column.

use core::ops::Range;

use burn::{
    backend::{TensorMetadata, ops::IntTensorOps},
    tensor::TensorData,
};
use burn_cubecl::cubecl::{self, prelude::*};

use super::super::blocks::Blocks;
use crate::ops::cube::{Argument, CubeBackend, CubeTensor, cubes_for, element, empty_like};

/// Number of terms summed at a time, to keep rounding errors small.
const BLOCK: usize = 64;

/// Runs of points on a device.
pub struct Runs {
    blocks: Blocks,
    /// The first point of each run and the end of the last, [I + 1].
    starts: CubeTensor,
}

impl Runs {
    /// Copies the runs to the device of a tensor.
    pub fn new(blocks: Blocks, like: &CubeTensor) -> Self {
        let ends = blocks.ranges().map(|range| range.end as i32);
        let starts: Vec<i32> = core::iter::once(0).chain(ends).collect();
        let shape = [starts.len()];
        Self {
            blocks,
            starts: CubeBackend::int_from_data(TensorData::new(starts, shape), &like.device()),
        }
    }

    /// The runs that have points in a part of the points.
    fn of_points(&self, points: &Range<usize>) -> Range<usize> {
        let run_of = |point: usize| {
            let (mut low, mut high) = (0, self.blocks.count());
            while high - low > 1 {
                let middle = (low + high) / 2;
                if self.blocks.range(middle).start <= point {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            low
        };
        run_of(points.start)..run_of(points.end - 1) + 1
    }

    /// `W + Sᵀ·K`, [I, N′], for the rows of K, [points, N′], and of S, `[N]`, of a part of the
    /// points. W is changed in place.
    pub fn combine(
        &self,
        sums: &CubeTensor,
        covariance: CubeTensor,
        values: &CubeTensor,
        points: &Range<usize>,
    ) {
        let (client, dtype) = (covariance.client.clone(), element(&covariance));
        let runs = self.of_points(points);
        let (count, dim) = cubes_for(sums, runs.len() * covariance.shape()[1]);
        // SAFETY: the kernel checks its position, and adds only rows of the part.
        unsafe {
            combine::launch_unchecked(
                &client,
                count,
                dim,
                address_type(&covariance, sums),
                covariance.argument(),
                values.clone().argument(),
                self.starts.clone().argument(),
                sums.clone().argument(),
                points.start as u32,
                runs.start as u32,
                runs.end as u32,
                dtype,
            );
        }
    }

    /// The rows `W̄_j(b)` of the points b of a part, [points, N′], where `j(b)` is the run of b.
    pub fn spread(&self, gradient: &CubeTensor, points: &Range<usize>) -> CubeTensor {
        let columns = gradient.shape()[1];
        let out = empty_like(gradient, [points.len(), columns]);
        let (client, dtype) = (out.client.clone(), element(&out));
        let runs = self.of_points(points);
        let (count, dim) = cubes_for(&out, runs.len() * columns);
        // SAFETY: the kernel checks its position, and writes only rows of the part.
        unsafe {
            spread::launch_unchecked(
                &client,
                count,
                dim,
                address_type(&out, gradient),
                gradient.clone().argument(),
                self.starts.clone().argument(),
                out.clone().argument(),
                points.start as u32,
                runs.start as u32,
                runs.end as u32,
                dtype,
            );
        }
        out
    }
}

fn address_type(first: &CubeTensor, second: &CubeTensor) -> cubecl::ir::AddressType {
    let first = first.required_address_type();
    first.max(second.required_address_type())
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn combine<F: Float>(
    covariance: &Tensor<F>,
    values: &Tensor<F>,
    starts: &Tensor<i32>,
    sums: &mut Tensor<F>,
    first_point: u32,
    first_run: u32,
    end_run: u32,
    #[define(F)] _dtype: ElemType,
) {
    let (points, columns) = (covariance.shape(0), covariance.shape(1));
    let (run, column) = (
        first_run as usize + ABSOLUTE_POS / columns,
        ABSOLUTE_POS % columns,
    );
    if run >= end_run as usize {
        terminate!();
    }
    let first_point = first_point as usize;
    let start = max(starts[run] as usize, first_point);
    let end = min(starts[run + 1] as usize, first_point + points);
    let mut sum = F::new(0.0);
    for block in 0..(end - start).div_ceil(BLOCK) {
        let first = start + block * BLOCK;
        let mut part = F::new(0.0);
        for point in first..min(first + BLOCK, end) {
            part += values[point] * covariance[(point - first_point) * columns + column];
        }
        sum += part;
    }
    let place = run * sums.stride(0) + column * sums.stride(1);
    sums[place] += sum;
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn spread<F: Float>(
    gradient: &Tensor<F>,
    starts: &Tensor<i32>,
    out: &mut Tensor<F>,
    first_point: u32,
    first_run: u32,
    end_run: u32,
    #[define(F)] _dtype: ElemType,
) {
    let (points, columns) = (out.shape(0), out.shape(1));
    let (run, column) = (
        first_run as usize + ABSOLUTE_POS / columns,
        ABSOLUTE_POS % columns,
    );
    if run >= end_run as usize {
        terminate!();
    }
    let first_point = first_point as usize;
    let start = max(starts[run] as usize, first_point);
    let end = min(starts[run + 1] as usize, first_point + points);
    let value = gradient[run * gradient.stride(0) + column * gradient.stride(1)];
    for point in start..end {
        out[(point - first_point) * columns + column] = value;
    }
}
