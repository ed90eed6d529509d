//! The order of the rows of nearest-neighbor models.

use burn::tensor::{Int, Tensor};
use burn_gp_core::{
    kernels::KernelConfig,
    neighbors::{Coordinates, Ordering},
    ops::numbers,
};

use crate::training::TrainingData;

/// The most inputs for which rows are in maximin order by default.
const MAXIMIN_DIMENSIONS: usize = 3;

/// The data in an order, by default maximin for up to three inputs, and random for more. Data with an input that is not
/// finite keep theirs. Only inputs on which the kernel acts count.
pub(crate) fn in_order(
    data: TrainingData,
    kernel: &KernelConfig,
    order: Option<Ordering>,
    seed: u64,
) -> TrainingData {
    let [_, columns] = data.inputs.dims();
    let active = kernel.active_dimensions(columns);
    let dimensions = active.len();
    if dimensions == 0 {
        return data; // The model itself reports what is wrong with the kernel.
    }
    let inputs = numbers(data.inputs.clone().without_autodiff());
    let rows = inputs.chunks_exact(columns.max(1));
    let inputs = rows
        .flat_map(|row| active.iter().map(|&dimension| row[dimension]))
        .collect();
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
