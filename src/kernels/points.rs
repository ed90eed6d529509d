//! Sets of points that kernels compare.

use burn::tensor::Tensor;

/// Fails unless all points have the same dimensions, as many as a parameter of the kernel has values;
/// one value is for any number of dimensions.
#[track_caller]
pub(super) fn require_dimensions(kernel: &str, values: usize, points: &[&Tensor<2>]) {
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

/// A variance, `[1]`, at each of N points, `[N]`.
pub(super) fn at_each(variance: Tensor<1>, points: &Tensor<2>) -> Tensor<1> {
    let [rows, _] = points.dims();
    match rows {
        0 => variance.slice(0..0),
        rows => variance.expand([rows]),
    }
}
