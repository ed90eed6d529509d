//! Levels of categories as numbers: the codes 0, 1, 2, …

use burn::tensor::{DType, Device, Int, Tensor};

use super::points::set_size;

/// The codes of the levels in one input dimension, `[B, N, 1]`: its nearest whole numbers, without a gradient.
#[track_caller]
pub(super) fn codes(kernel: &str, x: &Tensor<3>, dimension: usize) -> Tensor<3> {
    let [rows, dimensions] = set_size(x);
    assert!(
        dimension < dimensions,
        "the {kernel} kernel reads levels from dimension {dimension}, counted from zero, of points {:?}",
        [rows, dimensions]
    );
    x.clone().narrow(2, dimension, 1).detach().round()
}

/// 1 where two values are equal and 0 elsewhere, for `[B, N1, 1]` and `[B, N2, 1]`: `[B, N1, N2]`.
pub(super) fn equal(first: &Tensor<3>, second: &Tensor<3>) -> Tensor<3> {
    let ([a, rows, _], [b, columns, _]) = (first.dims(), second.dims());
    let shape = [a.max(b), rows, columns];
    let second = second.clone().swap_dims(1, 2).expand(shape);
    let same = first.clone().expand(shape).equal(second);
    same.float().cast(first.dtype())
}

/// 1 in the column of its level and 0 elsewhere, for codes, `[B, N, 1]`: `[B, N, C]`. Codes that are none of
/// the C levels have zeros only.
pub(super) fn indicators(codes: &Tensor<3>, levels: usize) -> Tensor<3> {
    let all = counts(levels, &codes.device(), codes.dtype()).reshape([1, levels, 1]);
    equal(codes, &all)
}

/// 0, 1, …, `[C]`.
pub(super) fn counts(levels: usize, device: &Device, dtype: DType) -> Tensor<1> {
    let counts = Tensor::<1, Int>::arange(0..levels as i64, device);
    counts.float().cast(dtype)
}
