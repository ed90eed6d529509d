//! Checks and shapes of sets of points.

use burn::tensor::{DType, Tensor};

use crate::parameter::{Positive, aligned, both_tracked, require_same_dtype};

/// The shape of the covariances of B pairs of sets of points, `[B, N1, N2]`. One argument may be a single set.
///
/// # Panics
///
/// If the numbers of sets differ, and none is one.
#[track_caller]
pub(super) fn covariance_shape(x1: &Tensor<3>, x2: &Tensor<3>) -> [usize; 3] {
    let ([first, rows, _], [second, columns, _]) = (x1.dims(), x2.dims());
    assert!(
        first == second || first == 1 || second == 1,
        "covariances between {first} and {second} sets of points; expected equally many, or one"
    );
    [first.max(second), rows, columns]
}

/// One set of points, `[N, D]`, as a batch of sets, `[1, N, D]`.
pub(super) fn one_set(x: Tensor<2>) -> Tensor<3> {
    match x.dims() {
        // In a new shape, burn takes a zero for an axis that stays as it is.
        [0, dimensions] => Tensor::zeros([1, 0, dimensions], (&x.device(), x.dtype())),
        _ => x.unsqueeze(),
    }
}

/// Repeats a single member of a batch, if there are `batch` of them.
pub(super) fn expanded<const D: usize>(tensor: Tensor<D>, batch: usize) -> Tensor<D> {
    let mut shape = tensor.dims();
    if shape[0] == batch {
        return tensor;
    }
    shape[0] = batch;
    tensor.expand(shape)
}

/// Applies a map of points, `[N, D]` to `[N, Q]`, to B sets of points, `[B, N, D]` to `[B, N, Q]`.
pub(super) fn map_points(x: Tensor<3>, map: impl FnOnce(Tensor<2>) -> Tensor<2>) -> Tensor<3> {
    let [batch, rows, dimensions] = x.dims();
    let mapped = map(x.reshape([batch * rows, dimensions]));
    let [_, width] = mapped.dims();
    mapped.reshape([batch, rows, width])
}

/// Panics unless all points, `[…, N, D]`, have the same number of dimensions and a kernel parameter has that
/// many values. A single value fits any number of dimensions. Also panics if the points differ in
/// precision.
#[track_caller]
pub(super) fn require_dimensions<const R: usize>(
    kernel: &str,
    values: usize,
    points: &[&Tensor<R>],
) {
    if let [x1, x2] = points {
        let name = || format!("the {kernel} kernel");
        let points = ("points", x1.dtype());
        require_same_dtype(name, points, ("other points", x2.dtype()));
    }
    let sizes: Vec<[usize; 2]> = points.iter().map(|points| set_size(points)).collect();
    let fits = |&[_, dimensions]: &[usize; 2]| {
        dimensions == sizes[0][1] && (values == 1 || values == dimensions)
    };
    assert!(
        sizes.iter().all(fits),
        "the {kernel} kernel with {values} values of a parameter, at points {sizes:?}; expected \
         [N, D] each, with D values or one"
    );
}

/// N and D of sets of points, `[…, N, D]`.
pub(super) fn set_size<const R: usize>(points: &Tensor<R>) -> [usize; 2] {
    let sizes = points.dims();
    [sizes[R - 2], sizes[R - 1]]
}

/// Like [`require_dimensions`] for a parameter, which must also have the precision of the points.
#[track_caller]
pub(super) fn require_fit(kernel: &str, parameter: &Positive, points: &[&Tensor<3>]) {
    require_dimensions(kernel, parameter.count(), points);
    if let Some(first) = points.first() {
        require_type(kernel, parameter.dtype(), first.dtype());
    }
}

/// Panics unless the points have the precision of the parameters of a kernel.
#[track_caller]
pub(super) fn require_type(kernel: &str, parameters: DType, points: DType) {
    let name = || format!("the {kernel} kernel");
    require_same_dtype(name, ("points", points), ("parameters", parameters));
}

/// Zeros in the shape of the covariances if one of the sets of points is empty: the backends
/// support few operations on empty tensors.
pub(super) fn no_covariances(x1: &Tensor<3>, x2: &Tensor<3>) -> Option<Tensor<3>> {
    let shape = covariance_shape(x1, x2);
    (shape.contains(&0)).then(|| Tensor::zeros(shape, (&x1.device(), x1.dtype())))
}

/// Like [`no_covariances`] for the variances of sets of points.
pub(super) fn no_variances(x: &Tensor<3>) -> Option<Tensor<2>> {
    let [batch, rows, _] = x.dims();
    (rows == 0).then(|| Tensor::zeros([batch, 0], (&x.device(), x.dtype())))
}

/// Like [`no_covariances`] for the covariances times vectors.
pub(super) fn no_products(
    x1: &Tensor<2>,
    x2: &Tensor<2>,
    vectors: &Tensor<2>,
) -> Option<Tensor<2>> {
    let ([rows, _], [columns, _], [_, width]) = (x1.dims(), x2.dims(), vectors.dims());
    let options = (&vectors.device(), vectors.dtype());
    (rows == 0 || columns == 0).then(|| Tensor::zeros([rows, width], options))
}

/// `(√w_d·x_d for all d, √b)`, `[…, N, D + 1]`, at points `[…, N, D]`, for weights w, `[…, 1, D]` or
/// `[…, 1, 1]`, and an offset b, `[…, 1, 1]`.
pub(super) fn with_offset<const R: usize>(
    x: Tensor<R>,
    weights: Tensor<R>,
    offset: Tensor<R>,
) -> Tensor<R> {
    let x = x * weights.sqrt();
    let mut shape = x.dims();
    shape[R - 1] = 1;
    let (x, offset) = both_tracked(x, offset.sqrt().expand(shape));
    Tensor::cat(vec![x, offset], R - 1)
}

/// Repeats the variance of one kernel, `[1]`, or of each of B kernels, `[B]`, for each point of one set or of B
/// sets, `[B, N]`.
pub(super) fn at_each(variance: Tensor<1>, points: &Tensor<3>) -> Tensor<2> {
    let ([batch, rows, _], [members]) = (points.dims(), variance.dims());
    no_variances(points).unwrap_or_else(|| match members {
        1 => variance.expand([batch, rows]),
        _ => aligned::<2>(variance, members).expand([batch.max(members), rows]),
    })
}
