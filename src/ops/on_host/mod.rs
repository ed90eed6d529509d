//! The extension's operations on the host, for every backend whose values the host can read.

mod forward;
mod gram;
mod layer_normalization;
mod log_density;
mod patches;
mod products;
mod relaxation;
mod remainder;
mod reverse;

use std::borrow::Cow;

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::{MatMut, MatRef};

use super::{
    SpecialFunction,
    host::{
        elementwise::Part,
        scalar::Scalar,
        threads::{self, in_parts},
    },
    host_access::{Element, HostAccess, matrix_dims, write},
};

/// A row-major matrix within a batch.
fn member<T: Element>(values: &[T], index: usize, rows: usize, columns: usize) -> MatRef<'_, T> {
    let area = rows * columns;
    MatRef::from_row_major_slice(&values[index * area..][..area], rows, columns)
}

/// As [`member`], to be written to.
fn member_mut<T: Element>(
    values: &mut [T],
    index: usize,
    rows: usize,
    columns: usize,
) -> MatMut<'_, T> {
    let area = rows * columns;
    MatMut::from_row_major_slice_mut(&mut values[index * area..][..area], rows, columns)
}

/// One lengthscale an input dimension.
fn expand<T: Element>(lengthscales: &[T], dimensions: usize) -> Cow<'_, [T]> {
    if lengthscales.len() == dimensions {
        Cow::Borrowed(lengthscales)
    } else {
        Cow::Owned(vec![lengthscales[0]; dimensions])
    }
}

/// Adds what reaches K through the jitter `ε·mean(diag K)` on its diagonal: `ε·mean(diag K̄)·I`.
fn add_share_of_jitter<T: Element>(mut gradient: MatMut<'_, T>, jitter: f64) {
    let size = gradient.nrows();
    let trace: f64 = (0..size).map(|i| gradient[(i, i)].to_f64()).sum();
    let share = <T as Scalar>::from_f64(trace * jitter / size.max(1) as f64);
    for i in 0..size {
        gradient[(i, i)] += share;
    }
}

/// The part of a batch's values that belongs to one member.
fn part<T>(values: &[T], index: usize, batch: usize) -> &[T] {
    let length = values.len() / batch.max(1);
    &values[index * length..][..length]
}

/// Numbers in a batch from which on its members are shared out between threads.
const PARALLEL_FROM: usize = 1 << 14;

/// Threads worth sharing the members of a batch out to.
fn batch_parts(batch: usize, values: usize) -> usize {
    if batch > 1 {
        threads::count_for(values, PARALLEL_FROM)
    } else {
        1
    }
}

/// Special functions from which on two threads are faster than one.
const PARALLEL_FUNCTIONS: usize = 1 << 11;

/// A special function, or its derivative, at each of the arguments.
fn special_values<T: Element>(arguments: &[T], function: SpecialFunction, part: Part) -> Vec<T> {
    let mut values = vec![T::default(); arguments.len()];
    let parts = threads::count_for(values.len(), PARALLEL_FUNCTIONS);
    in_parts(&mut values, 1, parts, &|values, first| {
        function.evaluate(&arguments[first..][..values.len()], part, values);
    });
    values
}

/// Applies `work` to every matrix of a batch, several at the same time.
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

/// Applies `work` to every matrix of a batch, writing matrices of the same shape as `shape_of`.
fn map_members<B: HostAccess, T: Element>(
    shape_of: &FloatTensor<B>,
    work: impl Fn(usize, MatMut<'_, T>) + Sync,
) -> FloatTensor<B> {
    let shape = shape_of.shape();
    let (batch, rows, columns) = matrix_dims(&shape);
    let mut out = vec![T::default(); batch * rows * columns];
    for_members(&mut out, (rows, columns), &work);
    write::<B, T>(out, shape, &shape_of.device())
}

/// Applies `work` to every matrix of a batch, in place if nobody else holds it.
fn update_members<B: HostAccess, T: Element>(
    tensor: FloatTensor<B>,
    work: impl Fn(usize, MatMut<'_, T>) + Sync,
) -> FloatTensor<B> {
    let (shape, device) = (tensor.shape(), tensor.device());
    let (_, rows, columns) = matrix_dims(&shape);
    let mut out = B::take::<T>(tensor);
    for_members(&mut out, (rows, columns), &work);
    write::<B, T>(out, shape, &device)
}
