//! Observed rows with values, on which new rows are conditioned.

use burn::tensor::Tensor;

use super::{
    ObservedRows, System, Tile, errors, indices, predicted_conditional, system::on_device,
};
use crate::{
    kernels::KernelModule,
    neighbors::NeighborSets,
    ops::NeighborRows,
    parameter::{both_tracked, tracked_like},
    process::nonnegative,
};

/// Observed rows with values, and the kernel by which new rows are conditioned on their neighbors.
#[derive(Clone, Debug)]
pub struct Observations<K> {
    kernel: K,
    /// What is added to the variance of each observed row, `[1]`.
    noise: Tensor<1>,
    /// What is added besides that, `[N]`.
    row_noise: Option<Tensor<1>>,
    /// [N, D]
    inputs: Tensor<2>,
    /// [N, C]
    values: Tensor<2>,
    rows: ObservedRows,
}

/// The conditional distributions of new rows.
pub struct Conditionals {
    /// b, [T, m]
    pub weights: Tensor<2>,
    /// d, `[T]`
    pub variance: Tensor<1>,
    /// `Σ b·v` over the values of the observed neighbors, [T, C]
    pub known: Tensor<2>,
}

impl<K: KernelModule> Observations<K> {
    /// Rows with inputs, `[N, D]`, and values, `[N, C]`, whose variances have `noise`, `[1]`. New rows have at most
    /// `most` neighbors.
    pub fn new(kernel: K, noise: Tensor<1>, [inputs, values]: [Tensor<2>; 2], most: usize) -> Self {
        Self {
            rows: ObservedRows::new(&kernel, &inputs, most),
            kernel,
            noise,
            row_noise: None,
            inputs,
            values,
        }
    }

    /// The variances of the observed rows have their own noise, `[N]`, besides that of all, if there is some.
    pub fn with_row_noise(mut self, noise: Option<Tensor<1>>) -> Self {
        self.row_noise = noise;
        self
    }

    /// The number of rows, N.
    pub fn count(&self) -> usize {
        self.rows.count()
    }

    /// The values, `[N, C]`.
    pub fn values(&self) -> &Tensor<2> {
        &self.values
    }

    /// The distributions of new rows, `[T, D]`, each given its observed neighbors.
    pub fn of_each(&self, x: &Tensor<2>) -> Conditionals {
        self.nearest(x).1
    }

    /// The observed neighbors of new rows, `[T, D]`, and the distributions of these rows given them.
    pub fn nearest(&self, x: &Tensor<2>) -> (NeighborSets, Conditionals) {
        let sets = self.rows.nearest(x);
        let conditionals = self.conditionals(x, &sets);
        (sets, conditionals)
    }

    /// The new rows in an order, given observed rows and those before them, and `Σ b·v` over the observed neighbors,
    /// [T, C].
    pub fn system(&self, x: &Tensor<2>) -> (System, Tensor<2>) {
        let (order, sets) = self.rows.ordered(x);
        let ordered = x.clone().select(0, indices(order.iter().copied(), x));
        let Conditionals {
            weights,
            variance,
            known,
        } = self.conditionals(&ordered, &sets);
        let system = System {
            order,
            sets,
            weights,
            variance,
        };
        (system, known)
    }

    /// The distributions of the rows of `x` given their neighbors, as indices of observed rows followed by the rows of
    /// `x`.
    fn conditionals(&self, x: &Tensor<2>, sets: &NeighborSets) -> Conditionals {
        let ([observed, columns], [count, _]) = (self.values.dims(), x.dims());
        let kernel = tracked_like(x, self.kernel.clone());
        let (inputs, new) = both_tracked(self.inputs.clone(), x.clone());
        let all = Tensor::cat(vec![inputs, new], 0);
        let unknown = on_device(vec![0.0; count * columns], [count, columns], &self.values);
        let values = Tensor::cat(vec![self.values.clone(), unknown], 0);
        let own: Vec<u32> = (observed..observed + count).map(|row| row as u32).collect();
        let table = NeighborRows {
            own: &own,
            neighbors: sets.indices(),
            counts: sets.counts(),
        };
        let row_noise = self.row_noise.clone().map(|own| {
            let none = Tensor::zeros([count], (&own.device(), own.dtype())); // of new rows
            Tensor::cat(vec![own, none], 0)
        });
        let (mut weights, mut variances, mut known) = (Vec::new(), Vec::new(), Vec::new());
        for tile in Tile::all(table, observed, columns, &self.inputs) {
            let noise = match x.is_autodiff() {
                true => self.noise.clone().autodiff(),
                false => self.noise.clone(),
            };
            let noise = tile.noise_at_places(noise, row_noise.as_ref());
            let matrix = tile.covariance_with(&kernel, all.clone(), noise);
            let (own_weights, own_variances) = predicted_conditional(matrix);
            let (values, factors) = both_tracked(tile.gather(values.clone()), own_weights.clone());
            known.push(errors(values, factors).neg()); // the row itself is unknown, zero
            weights.push(own_weights);
            variances.push(own_variances);
        }
        Conditionals {
            weights: Tensor::cat(weights, 0),
            variance: nonnegative(Tensor::cat(variances, 0).unsqueeze_dim(1)).squeeze_dim(1),
            known: Tensor::cat(known, 0),
        }
    }
}
