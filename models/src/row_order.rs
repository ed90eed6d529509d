//! The order of the rows of nearest-neighbor models.

use burn::tensor::{Int, Tensor};
use burn_gp_core::{
    neighbors::{Coordinates, Ordering},
    ops::numbers,
};

use crate::training::TrainingData;

/// The most inputs for which rows are in maximin order by default.
const MAXIMIN_DIMENSIONS: usize = 3;

/// The data in an order, by default maximin for up to three inputs, and random for more. Data with an input that is not
/// finite keep theirs.
pub(crate) fn in_order(data: TrainingData, order: Option<Ordering>, seed: u64) -> TrainingData {
    let [_, dimensions] = data.inputs.dims();
    let inputs = numbers(data.inputs.clone().without_autodiff());
    let Ok(coordinates) = Coordinates::new(inputs, dimensions) else {
        return data;
    };
    let default = match dimensions {
        ..=MAXIMIN_DIMENSIONS => Ordering::Maximin,
        _ => Ordering::Random,
    };
    let rows = order.unwrap_or(default).rows(&coordinates, seed);
    let rows: Vec<i64> = rows.into_iter().map(|row| row as i64).collect();
    let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &data.inputs.device());
    data.reordered(&rows)
}
