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
mod subset;

use burn::tensor::{Int, Tensor};

pub use config::{InducingConfig, SetsError};
pub use distinct_rows::distinct_rows;
pub(crate) use distinct_rows::first_equal_rows;
pub use greedy_variance::greedy_variance;
pub use initializer::{Initializer, SelectionError};
pub use k_means::k_means;
pub use nystrom::{Nystrom, NystromMap};
pub use patches::InducingPatches;
pub use points::{InducingPoints, SeparatePoints};
pub use subset::subset;

use crate::{
    custom::{AnyModule, BoxedModule, of_type, of_type_mut},
    kernels::{Kernels, NoFunctionDraws},
};

/// Inducing variables `u` with known covariances among themselves and with function values.
///
/// The covariances have the leading axis B of the kernels: 1 if all functions share a kernel and their
/// inducing variables, P if each has its own.
///
/// The trained parameters are in a [`Part::inducing`](crate::parameter::Part::inducing), so that
/// trainers with separate settings for inducing variables find them.
pub trait Inducing: AnyModule {
    /// The number of inducing variables of a function, M.
    fn count(&self) -> usize;

    /// `Cov[u, u]`, `[B, M, M]`.
    fn kuu(&self, kernels: &Kernels) -> Tensor<3>;

    /// `Cov[u, f(x)]`.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[B, M, N]`
    fn kuf(&self, kernels: &Kernels, x: Tensor<2>) -> Tensor<3>;

    /// `Cov[u, v]` with other inducing variables of the same type, `[B, M, M2]`.
    ///
    /// # Panics
    ///
    /// If they have another type.
    fn kuv(&self, kernels: &Kernels, other: &AnyInducing) -> Tensor<3>;

    /// Selected columns of `Cov[u, u]`, `[B, M, C]`, given by `columns`, `[C]`. The default computes
    /// the whole matrix.
    fn kuu_columns(&self, kernels: &Kernels, columns: Tensor<1, Int>) -> Tensor<3> {
        self.kuu(kernels).select(2, columns)
    }

    /// These inducing variables followed by others of the same type.
    ///
    /// # Panics
    ///
    /// If one of them has another type.
    fn union(&self, others: &[&AnyInducing]) -> AnyInducing;

    /// The points Z, `[M, D]`, if the variables are the values `f(Z)` of all functions. Functions can
    /// be drawn only then, or if those of each function are of this kind.
    fn inputs(&self) -> Option<Tensor<2>> {
        None
    }

    /// [`inputs`](Self::inputs), to draw functions.
    ///
    /// # Errors
    ///
    /// When the variables are not function values.
    fn inputs_of_draws(&self) -> Result<Tensor<2>, NoFunctionDraws> {
        self.inputs().ok_or_else(NoFunctionDraws::at::<Self>)
    }

    /// The inducing variables of one function, if each function has its own.
    fn of_function(&self, _function: usize) -> Option<AnyInducing> {
        None
    }
}

/// Inducing variables of any type.
pub type AnyInducing = BoxedModule<dyn Inducing>;

impl<I: Inducing> From<I> for AnyInducing {
    fn from(inducing: I) -> Self {
        Self::new(
            inducing,
            |module| of_type::<I>(module),
            |module| of_type_mut::<I>(module),
        )
    }
}

/// Inducing variables of a known type.
///
/// # Panics
///
/// If they have another type.
#[track_caller]
pub(crate) fn same_type<I: Inducing>(inducing: &AnyInducing) -> &I {
    match inducing.downcast_ref() {
        Some(inducing) => inducing,
        None => panic!(
            "{inducing:?}; expected the type {}",
            std::any::type_name::<I>()
        ),
    }
}
