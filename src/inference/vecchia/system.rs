//! New rows given observed rows and each other.

use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData};

use crate::{
    neighbors::NeighborSets,
    ops::{CholeskyFactor, numbers},
    parameter::both_tracked,
};

/// New rows given observed rows and those before them, `f_t = Σ b·(y or f) + √d·ε`.
pub struct System {
    /// The new rows, in their order.
    pub order: Vec<usize>,
    /// Indices of observed rows, and after those of new rows by their place in the order.
    pub sets: NeighborSets,
    /// b, [T, m]
    pub weights: Tensor<2>,
    /// d, `[T]`
    pub variance: Tensor<1>,
}

impl System {
    /// Values of the new rows by forward substitution, `f_t = Σ b·(y or f) + a_t`, with `columns` values for each row
    /// and the addition a of a place in the order and a column; in the order of the rows of x.
    pub fn substitute(
        &self,
        observed: &[f64],
        columns: usize,
        mut addition: impl FnMut(usize, usize) -> f64,
    ) -> Vec<f64> {
        let weights = numbers(self.weights.clone());
        let (width, first) = (self.sets.width(), observed.len() / columns);
        let mut known = observed.to_vec();
        let mut result = vec![0.0; self.order.len() * columns];
        for (place, &row) in self.order.iter().enumerate() {
            for column in 0..columns {
                let terms = self.sets.row(place).iter().zip(&weights[place * width..]);
                let mean: f64 = terms
                    .map(|(&index, weight)| weight * known[index as usize * columns + column])
                    .sum();
                let value = mean + addition(place, column);
                known.push(value);
                result[row * columns + column] = value;
            }
        }
        debug_assert_eq!(known.len(), (first + self.order.len()) * columns);
        result
    }

    /// I − B for the weights B among new rows in their order, [T, T], given the number of observed rows.
    pub fn factor(&self, observed: usize) -> CholeskyFactor<2> {
        let (sets, weights) = (&self.sets, self.weights.clone());
        let shape @ [rows, _] = weights.dims();
        let eye = Tensor::<2>::eye(rows, &weights.device()).cast(weights.dtype());
        if sets.width() == 0 {
            return CholeskyFactor::from_nonsingular(eye);
        }
        // Weights of observed rows go to column zero, times zero.
        let all = sets.indices().iter().map(|&index| index as usize);
        let is_new = all
            .clone()
            .map(|index| if index < observed { 0.0 } else { 1.0 });
        let is_new = on_device(is_new.collect(), shape, &weights.clone().without_autodiff());
        let columns = indices(all.map(|index| index.saturating_sub(observed)), &weights);
        let columns = columns.reshape(shape);
        let (weights, is_new) = both_tracked(weights, is_new);
        let factor = eye.scatter(1, columns, (weights * is_new).neg(), IndexingUpdateOp::Add);
        CholeskyFactor::from_nonsingular(factor)
    }

    /// The place in the order of each row of x, as an index.
    pub fn places(&self, like: &Tensor<2>) -> Tensor<1, Int> {
        let mut places = vec![0; self.order.len()];
        for (place, &row) in self.order.iter().enumerate() {
            places[row] = place;
        }
        indices(places.into_iter(), like)
    }
}

/// Rows as an index, on the device of a tensor.
pub fn indices(rows: impl Iterator<Item = usize>, like: &Tensor<2>) -> Tensor<1, Int> {
    let rows: Vec<i64> = rows.map(|row| row as i64).collect();
    Tensor::from_data(rows.as_slice(), &like.device())
}

/// Values on the device and in the type of a tensor.
pub fn on_device(values: Vec<f64>, shape: [usize; 2], like: &Tensor<2>) -> Tensor<2> {
    Tensor::from_data(
        TensorData::new(values, shape),
        (&like.device(), like.dtype()),
    )
}
