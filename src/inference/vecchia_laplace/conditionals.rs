//! The weights and variances of rows given neighbors, tile by tile.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData};

use super::{latent_precision::LatentPrecision, precision_slopes::PrecisionSlopes};
use crate::{
    inference::vecchia::{ParameterSlopes, Tile, conditional},
    kernels::KernelModule,
    neighbors::NeighborSets,
    ops::{Jitter, NeighborRows, NotPositiveDefinite, numbers},
};

/// The rows of a model with their inputs.
pub struct Rows {
    /// [N, D], without autodiff
    inputs: Tensor<2>,
    sets: Arc<NeighborSets>,
    /// The index of each row.
    own: Vec<u32>,
}

impl Rows {
    pub fn new(inputs: Tensor<2>, sets: Arc<NeighborSets>) -> Self {
        Self {
            own: (0..sets.rows() as u32).collect(),
            inputs,
            sets,
        }
    }

    fn table(&self) -> NeighborRows<'_> {
        NeighborRows {
            own: &self.own,
            neighbors: self.sets.indices(),
            counts: self.sets.counts(),
        }
    }

    fn tiles(&self) -> impl Iterator<Item = Tile> + '_ {
        Tile::all(self.table(), self.own.len(), 0, &self.inputs)
    }

    /// The precision of the latent values, with a jitter that is added to the variances, `[1]`.
    ///
    /// # Errors
    ///
    /// When the covariance of the neighbors of a row cannot be factored, or its conditional variance is not positive.
    pub fn precision<K: KernelModule>(
        &self,
        kernel: &K,
        jitter: &Tensor<1>,
    ) -> Result<LatentPrecision, NotPositiveDefinite> {
        let count = self.own.len();
        let mut weights = Vec::with_capacity(count * self.sets.width());
        let mut variances = Vec::with_capacity(count);
        for tile in self.tiles() {
            let matrix = tile.covariance(kernel, self.inputs.clone(), jitter.clone());
            let (own_weights, own_variances) = conditional(&tile, self.table(), matrix)?;
            weights.extend(numbers(own_weights));
            variances.extend(numbers(own_variances));
        }
        Ok(LatentPrecision::new(self.sets.clone(), weights, variances))
    }

    /// A term whose gradient in the parameters of a kernel is that of the weights and variances with these slopes,
    /// `[1]`. Each tile is differentiated at once and forgotten. The kernel is on a device with autodiff.
    ///
    /// # Errors
    ///
    /// Same as [`precision`](Self::precision).
    pub fn surrogate<K: KernelModule>(
        &self,
        kernel: &K,
        jitter: &Tensor<1>,
        slopes: &PrecisionSlopes,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let inputs = self.inputs.clone().autodiff();
        let jitter = jitter.clone().autodiff();
        let mut parameters = ParameterSlopes::zero(&self.inputs);
        for tile in self.tiles() {
            let matrix = tile.covariance(kernel, inputs.clone(), jitter.clone());
            let (weights, variances) = conditional(&tile, self.table(), matrix)?;
            let (of_weights, of_variances) = self.slopes_of(&tile, slopes);
            let mut sum = (variances * of_variances.autodiff()).sum();
            if tile.places() > 1 {
                sum = sum + (weights * of_weights.autodiff()).sum();
            }
            // Nothing is tracked if every parameter of the kernel is frozen.
            if sum.is_tracked() {
                parameters.add(kernel, &jitter, &sum.backward());
            }
        }
        Ok(parameters.surrogate(kernel, jitter))
    }

    /// b̄, [R, m], and d̄, `[R]`, of a tile.
    fn slopes_of(&self, tile: &Tile, slopes: &PrecisionSlopes) -> (Tensor<2>, Tensor<1>) {
        let (count, width) = (tile.rows.len(), tile.places() - 1);
        let mut of_weights = Vec::with_capacity(count * width);
        let mut of_variances = Vec::with_capacity(count);
        for row in tile.rows.clone() {
            let (weights, variance) = slopes.row(row);
            of_weights.extend_from_slice(weights);
            of_variances.push(variance);
        }
        let options = (&self.inputs.device(), self.inputs.dtype());
        (
            Tensor::from_data(TensorData::new(of_weights, [count, width]), options),
            Tensor::from_data(TensorData::new(of_variances, [count]), options),
        )
    }
}

/// What is added to the variance of each row, `[1]`: rows with equal inputs would otherwise have no variance given each
/// other. It is relative to the mean of the variances at inputs, `[N, D]`.
pub fn jitter<K: KernelModule>(kernel: &K, inputs: Tensor<2>) -> Tensor<1> {
    let relative = Jitter::for_precision(inputs.dtype()).initial;
    kernel.diagonal_at(inputs).mean() * relative
}
