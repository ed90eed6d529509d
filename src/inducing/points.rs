//! Inducing points: function values at trained inputs.

use burn::{
    module::{Module, Param},
    tensor::{Int, Tensor},
};

use super::{AnyInducing, Inducing, same_type};
use crate::{kernels::Kernels, parameter::Part};

/// `u = f(Z)`: the function values at trained inducing points `Z`, `[M, D]`, which all functions share.
#[derive(Module, Debug)]
pub struct InducingPoints {
    points: Part<Param<Tensor<2>>>,
}

/// `u_p = f_p(Z_p)`: the function values at trained inducing points that each function has for itself,
/// `[P, M, D]`.
#[derive(Module, Debug)]
pub struct SeparatePoints {
    points: Part<Param<Tensor<3>>>,
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

impl Inducing for InducingPoints {
    fn count(&self) -> usize {
        self.points.val().dims()[0]
    }

    fn kuu(&self, kernels: &Kernels) -> Tensor<3> {
        kernels.matrix_at(self.points())
    }

    fn kuf(&self, kernels: &Kernels, x: Tensor<2>) -> Tensor<3> {
        kernels.covariance_at(self.points(), x)
    }

    #[track_caller]
    fn kuv(&self, kernels: &Kernels, other: &AnyInducing) -> Tensor<3> {
        let other = same_type::<Self>(other);
        kernels.covariance_at(self.points(), other.points())
    }

    fn kuu_columns(&self, kernels: &Kernels, columns: Tensor<1, Int>) -> Tensor<3> {
        kernels.matrix_columns(self.points().unsqueeze(), columns)
    }

    #[track_caller]
    fn union(&self, others: &[&AnyInducing]) -> AnyInducing {
        let mut points = vec![self.points()];
        points.extend(others.iter().map(|other| same_type::<Self>(other).points()));
        Self::new(Tensor::cat(points, 0).detach()).into()
    }

    fn inputs(&self) -> Option<Tensor<2>> {
        Some(self.points())
    }
}

impl Inducing for SeparatePoints {
    fn count(&self) -> usize {
        self.points().dims()[1]
    }

    fn kuu(&self, kernels: &Kernels) -> Tensor<3> {
        kernels.matrix(self.points())
    }

    fn kuf(&self, kernels: &Kernels, x: Tensor<2>) -> Tensor<3> {
        kernels.covariance(self.points(), x.unsqueeze())
    }

    #[track_caller]
    fn kuv(&self, kernels: &Kernels, other: &AnyInducing) -> Tensor<3> {
        let other = same_type::<Self>(other);
        kernels.covariance(self.points(), other.points())
    }

    fn kuu_columns(&self, kernels: &Kernels, columns: Tensor<1, Int>) -> Tensor<3> {
        kernels.matrix_columns(self.points(), columns)
    }

    #[track_caller]
    fn union(&self, others: &[&AnyInducing]) -> AnyInducing {
        let mut points = vec![self.points()];
        points.extend(others.iter().map(|other| same_type::<Self>(other).points()));
        Self::new(Tensor::cat(points, 1).detach()).into()
    }

    fn of_function(&self, function: usize) -> Option<AnyInducing> {
        let own = self.points().narrow(0, function, 1);
        Some(InducingPoints::new(own.squeeze_dim(0)).into())
    }
}
