//! Inducing variables: the `M` variables `u` that a sparse Gaussian process is conditioned on, and
//! methods to initialize them.

mod config;
mod distinct_rows;
mod greedy_variance;
mod initializer;
mod k_means;
mod nystrom;
mod patches;
mod points;
mod separate;
mod subset;

use burn::{
    module::{Module, ModuleDisplay},
    tensor::{Int, Tensor},
};

pub use config::{InducingConfig, SetsError};
pub use distinct_rows::distinct_rows;
pub(crate) use distinct_rows::first_equal_rows;
pub use greedy_variance::greedy_variance;
pub use initializer::{Initializer, SelectionError};
pub use k_means::k_means;
pub use nystrom::{Nystrom, NystromMap};
pub use patches::InducingPatches;
pub use points::InducingPoints;
pub use separate::{SeparateInducing, SeparatePoints};
pub use subset::subset;

use crate::kernels::KernelModule;

/// Inducing variables `u` with known covariances among themselves and with function values.
///
/// The kernel is a parameter of the trait, so that inter-domain variables (for example patches of
/// an image) can be implemented for the kernels they are meant for. Code based on this trait works
/// with all of them.
///
/// The trained parameters are in a [`Part::inducing`](crate::parameter::Part::inducing), so that
/// trainers with separate settings for inducing variables find them.
pub trait InducingVariables<K: KernelModule>: Module + ModuleDisplay + Sync + 'static {
    /// The number of inducing variables, M.
    fn count(&self) -> usize;

    /// `Cov[u, u]`, `[M, M]`.
    fn kuu(&self, kernel: &K) -> Tensor<2>;

    /// `Cov[u, f(x)]`.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[M, N]`
    fn kuf(&self, kernel: &K, x: Tensor<2>) -> Tensor<2>;

    /// `Cov[u, v]` with other inducing variables of the same kind, `[M, M2]`.
    fn kuv(&self, kernel: &K, other: &Self) -> Tensor<2>;

    /// Selected columns of `Cov[u, u]`, `[M, C]`, given by `columns`, `[C]`. The default computes
    /// the whole matrix.
    fn kuu_columns(&self, kernel: &K, columns: Tensor<1, Int>) -> Tensor<2> {
        self.kuu(kernel).select(1, columns)
    }

    /// Concatenates all sets, in order.
    fn union(sets: &[Self]) -> Self
    where
        Self: Sized;

    /// The points Z, `[M, D]`, if the variables are the function values `f(Z)`. Functions can be
    /// drawn only then.
    fn inputs(&self) -> Option<Tensor<2>> {
        None
    }
}
