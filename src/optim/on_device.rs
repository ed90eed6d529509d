//! Choices made on the device, so that the CPU does not wait for the values they depend on.

use burn::tensor::{Bool, Tensor};

/// The first value whose flag in `flags`, `[C]`, is set; the last one if none is. All values have the
/// same shape.
pub(super) fn select<const D: usize>(flags: &Tensor<1, Bool>, values: Vec<Tensor<D>>) -> Tensor<D> {
    let mut values = values.into_iter().enumerate().rev();
    let Some((_, last)) = values.next() else {
        unreachable!("there is at least one value to select from");
    };
    values.fold(last, |chosen, (index, value)| {
        choose(flags.clone().narrow(0, index, 1), value, chosen)
    })
}

/// The first number whose flag in `flags`, `[C]`, is set, on the device and in the type of `like`,
/// `[1]`; the last one if none is.
pub(super) fn select_number<const D: usize>(
    flags: &Tensor<1, Bool>,
    numbers: &[f64],
    like: &Tensor<D>,
) -> Tensor<1> {
    let options = (&like.device(), like.dtype());
    let numbers = numbers.iter();
    select(
        flags,
        numbers
            .map(|&number| Tensor::full([1], number, options))
            .collect(),
    )
}

/// `value` if the flag, `[1]`, is set, otherwise `other`. NaN in the other one does no harm.
pub(super) fn choose<const D: usize>(
    flag: Tensor<1, Bool>,
    value: Tensor<D>,
    other: Tensor<D>,
) -> Tensor<D> {
    let flags = flag.reshape([1; D]).expand(value.shape());
    other.mask_where(flags, value)
}

/// Whether all values are positive, `[1]`. NaN is not.
pub(super) fn is_positive<const D: usize>(values: Tensor<D>) -> Tensor<1, Bool> {
    let is_finite = values.clone().sum().is_finite();
    values.greater_elem(0.0).all().bool_and(is_finite)
}
