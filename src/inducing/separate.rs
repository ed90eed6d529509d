//! Batched inducing variables of several functions.

use burn::{
    module::{Module, ModuleDisplay, Param},
    tensor::{Int, Tensor},
};

use super::{InducingPoints, InducingVariables};
use crate::{
    kernels::{KernelModule, SeparateKernels},
    parameter::Part,
};

/// Inducing variables `u_p` for each of P functions with separate kernels, as a batch.
///
/// With [`InducingPoints`] all functions share their points; with [`SeparatePoints`] each has its
/// own.
pub trait SeparateInducing<K: KernelModule>: Module + ModuleDisplay + Sync + 'static {
    /// The inducing variables of one function.
    type Member: InducingVariables<K>;

    /// The number of inducing variables per function, M.
    fn count(&self) -> usize;

    /// `Cov[u_p, u_p]`, `[P, M, M]`.
    fn kuu(&self, kernels: &SeparateKernels<K>) -> Tensor<3>;

    /// `Cov[u_p, f_p(x)]`, `[P, M, N]`, at `x`, `[N, D]`.
    fn kuf(&self, kernels: &SeparateKernels<K>, x: Tensor<2>) -> Tensor<3>;

    /// `Cov[u_p, v_p]` with other inducing variables of the same kind, `[P, M, M2]`.
    fn kuv(&self, kernels: &SeparateKernels<K>, other: &Self) -> Tensor<3>;

    /// Selected columns of each `Cov[u_p, u_p]`, `[P, M, C]`, given by `columns`, `[C]`. The
    /// default computes the whole matrices.
    fn kuu_columns(&self, kernels: &SeparateKernels<K>, columns: Tensor<1, Int>) -> Tensor<3> {
        self.kuu(kernels).select(2, columns)
    }

    /// Concatenates all sets, in order.
    fn union(sets: &[Self]) -> Self;

    /// The inducing variables of function `output`.
    fn member(&self, output: usize) -> Self::Member;
}

/// Function values at trained points that differ between the functions, `[P, M, D]`.
#[derive(Module, Debug)]
pub struct SeparatePoints {
    points: Part<Param<Tensor<3>>>,
}

impl SeparatePoints {
    /// Creates inducing points that start at `points`, `[P, M, D]`.
    pub fn new(points: Tensor<3>) -> Self {
        Self {
            points: Part::inducing(Param::from_tensor(points)),
        }
    }

    /// The points, `[P, M, D]`.
    pub fn points(&self) -> Tensor<3> {
        self.points.val()
    }
}

/// Repeats the points for `outputs` functions.
fn repeated(points: Tensor<2>, outputs: usize) -> Tensor<3> {
    let [rows, dimensions] = points.dims();
    points.unsqueeze::<3>().expand([outputs, rows, dimensions])
}

impl<K: KernelModule> SeparateInducing<K> for InducingPoints {
    type Member = Self;

    fn count(&self) -> usize {
        self.points().dims()[0]
    }

    fn kuu(&self, kernels: &SeparateKernels<K>) -> Tensor<3> {
        kernels.matrices(repeated(self.points(), kernels.outputs()))
    }

    fn kuf(&self, kernels: &SeparateKernels<K>, x: Tensor<2>) -> Tensor<3> {
        let outputs = kernels.outputs();
        kernels.covariances(repeated(self.points(), outputs), repeated(x, outputs))
    }

    fn kuv(&self, kernels: &SeparateKernels<K>, other: &Self) -> Tensor<3> {
        SeparateInducing::kuf(self, kernels, other.points())
    }

    fn kuu_columns(&self, kernels: &SeparateKernels<K>, columns: Tensor<1, Int>) -> Tensor<3> {
        kernels.matrix_columns(repeated(self.points(), kernels.outputs()), columns)
    }

    fn union(sets: &[Self]) -> Self {
        Self::new(Tensor::cat(sets.iter().map(Self::points).collect(), 0))
    }

    fn member(&self, _output: usize) -> Self {
        self.clone()
    }
}

impl<K: KernelModule> SeparateInducing<K> for SeparatePoints {
    type Member = InducingPoints;

    fn count(&self) -> usize {
        self.points().dims()[1]
    }

    fn kuu(&self, kernels: &SeparateKernels<K>) -> Tensor<3> {
        kernels.matrices(self.points())
    }

    fn kuf(&self, kernels: &SeparateKernels<K>, x: Tensor<2>) -> Tensor<3> {
        kernels.covariances(self.points(), repeated(x, kernels.outputs()))
    }

    fn kuv(&self, kernels: &SeparateKernels<K>, other: &Self) -> Tensor<3> {
        kernels.covariances(self.points(), other.points())
    }

    fn kuu_columns(&self, kernels: &SeparateKernels<K>, columns: Tensor<1, Int>) -> Tensor<3> {
        kernels.matrix_columns(self.points(), columns)
    }

    fn union(sets: &[Self]) -> Self {
        Self::new(Tensor::cat(sets.iter().map(Self::points).collect(), 1))
    }

    fn member(&self, output: usize) -> InducingPoints {
        InducingPoints::new(self.points().narrow(0, output, 1).squeeze_dim(0))
    }
}
