//! Inducing points: function values at trained inputs.

use burn::{
    module::{Module, Param},
    tensor::{Int, Tensor},
};

use super::InducingVariables;
use crate::{kernels::KernelModule, parameter::Part};

/// `u = f(Z)`: the function values at trained inducing points `Z`, `[M, D]`.
#[derive(Module, Debug)]
pub struct InducingPoints {
    points: Part<Param<Tensor<2>>>,
}

impl InducingPoints {
    /// Creates inducing points that start at `points`, `[M, D]`.
    pub fn new(points: Tensor<2>) -> Self {
        Self {
            points: Part::inducing(Param::from_tensor(points)),
        }
    }

    /// The points, `[M, D]`.
    pub fn points(&self) -> Tensor<2> {
        self.points.val()
    }
}

impl<K: KernelModule> InducingVariables<K> for InducingPoints {
    fn count(&self) -> usize {
        self.points.val().dims()[0]
    }

    fn kuu(&self, kernel: &K) -> Tensor<2> {
        kernel.matrix(self.points())
    }

    fn kuf(&self, kernel: &K, x: Tensor<2>) -> Tensor<2> {
        kernel.covariance(self.points(), x)
    }

    fn kuv(&self, kernel: &K, other: &Self) -> Tensor<2> {
        kernel.covariance(self.points(), other.points())
    }

    fn kuu_columns(&self, kernel: &K, columns: Tensor<1, Int>) -> Tensor<2> {
        kernel.matrix_columns(self.points(), columns)
    }

    fn union(sets: &[Self]) -> Self {
        let points = sets.iter().map(Self::points).collect();
        Self::new(Tensor::cat(points, 0).detach())
    }

    fn inputs(&self) -> Option<Tensor<2>> {
        Some(self.points())
    }
}
