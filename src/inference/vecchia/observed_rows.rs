//! The observed rows in which new rows have their neighbors.

use std::sync::Arc;

use burn::tensor::Tensor;

use super::metric::{coordinates, metric_of};
use crate::{
    kernels::Kernel,
    neighbors::{Coordinates, NeighborSets, NeighborTree, Scale, maximin_of_targets},
    ops::numbers,
};

/// Observed rows in the metric of a kernel, with the number of neighbors that new rows have. They are from three scales:
/// half of them the nearest of all observed rows, a quarter the nearest among the first sixteenth, and the rest among
/// the first 256th.
#[derive(Clone, Debug)]
pub struct ObservedRows {
    /// The metric of the lengthscales, `[D]`.
    scales: Vec<f64>,
    rows: Arc<(Coordinates, NeighborTree)>,
    /// The largest number of neighbors.
    most: usize,
}

impl ObservedRows {
    /// Rows with these inputs, `[N, D]`.
    pub fn new(kernel: &dyn Kernel, inputs: &Tensor<2>, most: usize) -> Self {
        let [_, dimensions] = inputs.dims();
        let scales = metric_of(kernel, dimensions);
        let rows = finite_coordinates(inputs, &scales);
        let tree = NeighborTree::new(&rows);
        Self {
            scales,
            rows: Arc::new((rows, tree)),
            most,
        }
    }

    /// The number of rows, N.
    pub fn count(&self) -> usize {
        self.rows.0.rows()
    }

    fn scales_of_neighbors(&self) -> [Scale; 3] {
        Scale::three(self.most, self.count())
    }

    /// The neighbors of new rows, `[T, D]`, among the observed rows.
    pub fn nearest(&self, x: &Tensor<2>) -> NeighborSets {
        let targets = finite_coordinates(x, &self.scales);
        let (_, tree) = &*self.rows;
        tree.nearest(&targets, &self.scales_of_neighbors())
    }

    /// An order of new rows, `[T, D]`, and their neighbors among the observed rows and the new rows before them in that
    /// order. A new row's index is N and its place in the order.
    pub fn ordered(&self, x: &Tensor<2>) -> (Vec<usize>, NeighborSets) {
        let (observed, tree) = &*self.rows;
        let targets = finite_coordinates(x, &self.scales);
        let order = maximin_of_targets(&targets, tree);
        let all = NeighborTree::new(&observed.followed_by(&targets.select(&order)));
        let new = observed.rows()..observed.rows() + order.len();
        let sets = all.previous(new, &self.scales_of_neighbors());
        (order, sets)
    }
}

/// Inputs in a metric, with zero for numbers that are not finite.
fn finite_coordinates(inputs: &Tensor<2>, scales: &[f64]) -> Coordinates {
    coordinates(inputs, scales).unwrap_or_else(|_| {
        let numbers = numbers(inputs.clone().without_autodiff());
        let scaled = numbers
            .iter()
            .zip(scales.iter().cycle())
            .map(|(x, scale)| x * scale);
        let finite = scaled.map(|x| if x.abs() <= 1e150 { x } else { 0.0 });
        match Coordinates::new(finite.collect(), scales.len()) {
            Ok(coordinates) => coordinates,
            Err(_) => unreachable!("all coordinates are finite"),
        }
    })
}
