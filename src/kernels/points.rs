//! Checks and helpers for sets of points.

use burn::tensor::Tensor;

use crate::parameter::{Positive, both_tracked, require_same_dtype};

/// Panics unless all points have the same number of dimensions and a kernel parameter has that many
/// values. A single value fits any number of dimensions. Also panics if the points differ in
/// precision.
#[track_caller]
pub(super) fn require_dimensions(kernel: &str, values: usize, points: &[&Tensor<2>]) {
    if let [x1, x2] = points {
        let name = || format!("the {kernel} kernel");
        let points = ("points", x1.dtype());
        require_same_dtype(name, points, ("other points", x2.dtype()));
    }
    let sizes: Vec<[usize; 2]> = points.iter().map(|points| points.dims()).collect();
    let fits = |&[_, dimensions]: &[usize; 2]| {
        dimensions == sizes[0][1] && (values == 1 || values == dimensions)
    };
    assert!(
        sizes.iter().all(fits),
        "the {kernel} kernel with {values} values of a parameter, at points {sizes:?}; expected \
         [N, D] each, with D values or one"
    );
}

/// Like [`require_dimensions`] for a parameter, which must also have the precision of the points.
#[track_caller]
pub(super) fn require_fit(kernel: &str, parameter: &Positive, points: &[&Tensor<2>]) {
    require_dimensions(kernel, parameter.count(), points);
    if let Some(first) = points.first() {
        require_type(kernel, parameter, first);
    }
}

/// Panics unless the points have the precision of a kernel parameter.
#[track_caller]
pub(super) fn require_type(kernel: &str, parameter: &Positive, points: &Tensor<2>) {
    let name = || format!("the {kernel} kernel");
    let parameters = ("parameters", parameter.dtype());
    require_same_dtype(name, ("points", points.dtype()), parameters);
}

/// Zeros in the shape of the covariances if one of the sets of points is empty: the backends
/// support few operations on empty tensors.
pub(super) fn no_covariances(x1: &Tensor<2>, x2: &Tensor<2>) -> Option<Tensor<2>> {
    let ([rows, _], [columns, _]) = (x1.dims(), x2.dims());
    let options = (&x1.device(), x1.dtype());
    (rows == 0 || columns == 0).then(|| Tensor::zeros([rows, columns], options))
}

/// Like [`no_covariances`] for the variances of one set of points.
pub(super) fn no_variances(x: &Tensor<2>) -> Option<Tensor<1>> {
    let [rows, _] = x.dims();
    (rows == 0).then(|| Tensor::zeros([0], (&x.device(), x.dtype())))
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

/// `(√w_d·x_d for all d, √b)`, `[N, D + 1]`, for weights w, `[D]` or `[1]`, and an offset b, `[1]`.
pub(super) fn with_offset(x: Tensor<2>, weights: Tensor<1>, offset: Tensor<1>) -> Tensor<2> {
    let [rows, _] = x.dims();
    let offset = offset.sqrt().unsqueeze::<2>().expand([rows, 1]);
    let (x, offset) = both_tracked(x * weights.sqrt().unsqueeze(), offset);
    Tensor::cat(vec![x, offset], 1)
}

/// Repeats a variance, `[1]`, for each of N points, `[N]`.
pub(super) fn at_each(variance: Tensor<1>, points: &Tensor<2>) -> Tensor<1> {
    let [rows, _] = points.dims();
    match rows {
        0 => variance.slice(0..0),
        rows => variance.expand([rows]),
    }
}
