//! Values of rows beside their targets.

use burn::tensor::Tensor;

/// Splits off the last column of the targets, if rows have a value there, such as their known noise or their weight: the
/// targets, `[N, P]`, and the values, `[N]`. `what` names the values.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::inference::split_row_values;
///
/// // Two rows, each with a target and a noise variance.
/// let rows = Tensor::<2>::from_data([[0.5, 0.2], [0.3, 0.1]], &Device::default());
/// let (targets, noise) = split_row_values(rows, true, "noise");
/// assert_eq!(targets.dims(), [2, 1]);
/// assert_eq!(noise.map(|noise| noise.dims()), Some([2]));
/// ```
///
/// # Shapes
///
/// - `targets`: `[N, P + 1]` if rows have values, otherwise `[N, P]`
///
/// # Panics
///
/// If rows have values and there is no other column.
#[track_caller]
pub fn split_row_values(
    targets: Tensor<2>,
    has_values: bool,
    what: &str,
) -> (Tensor<2>, Option<Tensor<1>>) {
    if !has_values {
        return (targets, None);
    }
    let [rows, columns] = targets.dims();
    assert!(
        columns > 1,
        "row {what}: targets of shape [{rows}, {columns}]; expected a column of {what} after the targets"
    );
    let values = targets.clone().narrow(1, columns - 1, 1);
    (
        targets.narrow(1, 0, columns - 1),
        Some(values.squeeze_dim(1)),
    )
}
