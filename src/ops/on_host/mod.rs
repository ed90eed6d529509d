//! The extension's operations on the host, for every backend whose values the host can read.

mod forward;
mod reverse;

use std::borrow::Cow;

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::{MatMut, MatRef};

use super::host_access::{Element, HostAccess, matrix_dims, write};

/// A square row-major matrix of `size` rows within a batch.
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
fn expand<T: Element>(lengthscales: Cow<'_, [T]>, dimensions: usize) -> Vec<T> {
    if lengthscales.len() == dimensions {
        lengthscales.into_owned()
    } else {
        vec![lengthscales[0]; dimensions]
    }
}

/// Applies `work` to every matrix of a batch, writing matrices of the same shape as `shape_of`.
fn map_members<B: HostAccess, T: Element>(
    shape_of: &FloatTensor<B>,
    mut work: impl FnMut(usize, MatMut<'_, T>),
) -> FloatTensor<B> {
    let shape = shape_of.shape();
    let (batch, rows, columns) = matrix_dims(&shape);
    let mut out = vec![T::default(); batch * rows * columns];
    for index in 0..batch {
        work(index, member_mut(&mut out, index, rows, columns));
    }
    write::<B, T>(out, shape, &shape_of.device())
}

/// Applies `work` to a copy of every matrix of a batch.
fn update_members<B: HostAccess, T: Element>(
    tensor: &FloatTensor<B>,
    mut work: impl FnMut(usize, MatMut<'_, T>),
) -> FloatTensor<B> {
    let shape = tensor.shape();
    let (batch, rows, columns) = matrix_dims(&shape);
    let mut out = B::read::<T>(tensor).into_owned();
    for index in 0..batch {
        work(index, member_mut(&mut out, index, rows, columns));
    }
    write::<B, T>(out, shape, &tensor.device())
}
