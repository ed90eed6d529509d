//! The search for rows by their inputs.

use std::cmp::Ordering;

use burn::tensor::Tensor;

use crate::ops::numbers;

/// Distinct rows of inputs, found again by their values.
#[derive(Debug)]
pub struct InputIndex {
    /// [M, D], row-major
    values: Vec<f64>,
    dimensions: usize,
    /// The rows in ascending order of their inputs.
    order: Vec<u32>,
}

impl InputIndex {
    /// An index of distinct rows, `[M, D]`.
    pub fn new(inputs: &Tensor<2>) -> Self {
        let [rows, dimensions] = inputs.dims();
        let values = numbers(inputs.clone().without_autodiff());
        let row = |row: &u32| &values[*row as usize * dimensions..][..dimensions];
        let mut order: Vec<u32> = (0..rows as u32).collect();
        order.sort_unstable_by(|a, b| compare(row(a), row(b)));
        Self {
            values,
            dimensions,
            order,
        }
    }

    /// The row of the index that is equal to each row of inputs, `[R, D]`.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub fn places(&self, inputs: &Tensor<2>) -> Vec<usize> {
        let ([rows, _], dimensions) = (inputs.dims(), self.dimensions);
        let found = numbers(inputs.clone().without_autodiff());
        assert!(
            found.len() == rows * dimensions,
            "Vnngp: inputs {:?}; expected [R, {dimensions}]",
            inputs.dims()
        );
        let place = |row: usize| {
            let own = &found[row * dimensions..][..dimensions];
            let place = self.order.binary_search_by(|&other| {
                let other = &self.values[other as usize * dimensions..][..dimensions];
                compare(other, own)
            });
            place.map(|place| self.order[place] as usize)
        };
        (0..rows)
            .map(|row| match place(row) {
                Ok(place) => place,
                Err(_) => panic!(
                    "Vnngp: row {row} of inputs [{rows}, {dimensions}] is none of the {} inputs with inducing values",
                    self.order.len()
                ),
            })
            .collect()
    }
}

/// Compares two rows by the first number that differs. Both zeros are equal.
fn compare(a: &[f64], b: &[f64]) -> Ordering {
    let differences = a
        .iter()
        .zip(b)
        .map(|(a, b)| (a + 0.0).total_cmp(&(b + 0.0)));
    differences.fold(Ordering::Equal, Ordering::then)
}
