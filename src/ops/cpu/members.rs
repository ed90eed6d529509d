//! The matrices of a batch.

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::{MatMut, MatRef};

use super::{
    access::{CpuMemory, Element, matrix_dims, write, write_like},
    threads::{self, in_parts},
};

/// A row-major matrix of a batch.
pub fn member<T: Element>(
    values: &[T],
    index: usize,
    rows: usize,
    columns: usize,
) -> MatRef<'_, T> {
    let area = rows * columns;
    MatRef::from_row_major_slice(&values[index * area..][..area], rows, columns)
}

/// Mutable version of [`member`].
pub fn member_mut<T: Element>(
    values: &mut [T],
    index: usize,
    rows: usize,
    columns: usize,
) -> MatMut<'_, T> {
    let area = rows * columns;
    MatMut::from_row_major_slice_mut(&mut values[index * area..][..area], rows, columns)
}

/// The values of one batch member.
pub fn part<T>(values: &[T], index: usize, batch: usize) -> &[T] {
    let length = values.len() / batch.max(1);
    &values[index * length..][..length]
}

/// The size of a batch from which its members are distributed over threads.
const PARALLEL_FROM: usize = 1 << 14;

/// The number of threads to distribute the members of a batch over.
pub fn batch_parts(batch: usize, values: usize) -> usize {
    if batch > 1 {
        threads::count_for(values, PARALLEL_FROM)
    } else {
        1
    }
}

/// Applies `work` to every matrix of a batch, in parallel.
fn for_members<T: Element>(
    values: &mut [T],
    (rows, columns): (usize, usize),
    work: &(impl Fn(usize, MatMut<'_, T>) + Sync),
) {
    let area = (rows * columns).max(1);
    let parts = batch_parts(values.len() / area, values.len());
    in_parts(values, area, parts, &|members, first| {
        for index in 0..members.len() / area {
            work(first + index, member_mut(members, index, rows, columns));
        }
    });
}

/// Concatenates the results of `work` for all members.
pub fn join_members<T, const N: usize>(
    batch: usize,
    work: impl Fn(usize) -> [Vec<T>; N],
) -> [Vec<T>; N] {
    if batch == 1 {
        return work(0);
    }
    let mut all = [const { Vec::new() }; N];
    for index in 0..batch {
        (all.iter_mut().zip(work(index))).for_each(|(all, values)| all.extend(values));
    }
    all
}

/// Applies `work` to every matrix of a batch, writing matrices of the same shape as `shape_of`.
pub fn map_members<B: CpuMemory, T: Element>(
    shape_of: &FloatTensor<B>,
    work: impl Fn(usize, MatMut<'_, T>) + Sync,
) -> FloatTensor<B> {
    let (batch, rows, columns) = matrix_dims(&shape_of.shape());
    let mut out = threads::zeros(batch * rows * columns);
    for_members(&mut out, (rows, columns), &work);
    write_like::<B, T>(out, shape_of)
}

/// Applies `work` to every matrix of a batch, in place if the tensor is not shared.
pub fn update_members<B: CpuMemory, T: Element>(
    tensor: FloatTensor<B>,
    work: impl Fn(usize, MatMut<'_, T>) + Sync,
) -> FloatTensor<B> {
    let (shape, device) = (tensor.shape(), tensor.device());
    let (_, rows, columns) = matrix_dims(&shape);
    let mut out = B::take::<T>(tensor);
    for_members(&mut out, (rows, columns), &work);
    write::<B, T>(out, shape, &device)
}
