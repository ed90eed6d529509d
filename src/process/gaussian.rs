//! Gaussian distributions over inducing variables.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use super::leading_axis::{column_sums_of_squares, means_of_each};
use crate::ops::{
    CholeskyFactor, ExactMatmul, batch_relative_moments, column_squares, gaussian_kl,
    marginals_minus_prior, projected_moments,
};

/// Whether a variational covariance is full or diagonal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CovarianceShape {
    /// A full matrix, parameterized by its lower-triangular factor.
    #[default]
    Full,
    /// A diagonal matrix: independent variables.
    Diagonal,
}

/// P independent Gaussians over M variables, `N(m_p, S_p)`.
///
/// A full `S_p = W_pW_pᵀ` is stored as a square matrix, of which only the lower triangle is used.
/// The diagonal of `W_p` may change sign during training; `S_p` is still a covariance.
#[derive(Module, Debug)]
pub struct VariationalGaussian {
    /// m, [P, M]
    mean: Param<Tensor<2>>,
    scale: VariationalScale,
}

/// How a covariance is stored.
#[derive(Module, Debug)]
enum VariationalScale {
    /// W, [P, M, M], `S = WWᵀ`.
    Full(Param<Tensor<3>>),
    /// s, [P, M], `S = diag(s²)`.
    Diagonal(Param<Tensor<2>>),
}

/// The means and factors of Gaussians, as plain tensors.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    /// m, [P, M]
    pub mean: Tensor<2>,
    /// The factor of the covariance.
    pub scale: Scale,
}

/// A factor of a covariance.
#[derive(Clone, Debug)]
pub(crate) enum Scale {
    /// W, [P, M, M]; entries above the diagonal are ignored.
    Full(Tensor<3>),
    /// s, [P, M]
    Diagonal(Tensor<2>),
}

impl VariationalGaussian {
    /// The name burn's module visitors use for this struct.
    pub(crate) const CONTAINER: &str = "Struct:VariationalGaussian";

    /// The name of the field with the means, which visitors reach first.
    pub(crate) const MEAN: &str = "mean";

    /// `outputs` standard normals over `size` variables.
    pub fn standard(
        size: usize,
        outputs: usize,
        shape: CovarianceShape,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        let ones = Tensor::<2>::ones([outputs, size], options.clone());
        let mean = Tensor::<2>::zeros([outputs, size], options);
        match shape {
            CovarianceShape::Full => Self::full(mean, diagonal_matrices(ones)),
            CovarianceShape::Diagonal => Self::diagonal(mean, ones),
        }
    }

    /// Gaussians with the given means, `[P, M]`, and lower-triangular factors, `[P, M, M]`.
    pub fn full(mean: Tensor<2>, scale: Tensor<3>) -> Self {
        Self {
            mean: Param::from_tensor(mean),
            scale: VariationalScale::Full(Param::from_tensor(scale)),
        }
    }

    /// Gaussians with the given means and standard deviations, both `[P, M]`.
    pub fn diagonal(mean: Tensor<2>, deviation: Tensor<2>) -> Self {
        Self {
            mean: Param::from_tensor(mean),
            scale: VariationalScale::Diagonal(Param::from_tensor(deviation)),
        }
    }

    /// Whether the covariances are full or diagonal.
    pub fn covariance_shape(&self) -> CovarianceShape {
        match &self.scale {
            VariationalScale::Full(_) => CovarianceShape::Full,
            VariationalScale::Diagonal(_) => CovarianceShape::Diagonal,
        }
    }

    /// The means, `[P, M]`.
    pub fn mean(&self) -> Tensor<2> {
        self.mean.val()
    }

    /// The lower-triangular factors of the covariances, `[P, M, M]`.
    pub fn scale(&self) -> Tensor<3> {
        match &self.scale {
            VariationalScale::Full(scale) => scale.val().tril(0),
            VariationalScale::Diagonal(deviation) => diagonal_matrices(deviation.val()),
        }
    }

    /// The means and factors as tensors.
    pub(crate) fn moments(&self) -> Moments {
        Moments {
            mean: self.mean.val(),
            scale: match &self.scale {
                VariationalScale::Full(scale) => Scale::Full(scale.val()),
                VariationalScale::Diagonal(deviation) => Scale::Diagonal(deviation.val()),
            },
        }
    }
}

impl Moments {
    /// Means and variances of `Aᵀu`, both `[N, P]`, for `basis` A, `[M, N]`.
    pub fn project(self, basis: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        match self.scale {
            Scale::Full(scale) => projected_moments(basis, self.mean, scale),
            Scale::Diagonal(deviation) => {
                let mean = basis
                    .clone()
                    .transpose()
                    .exact_matmul(self.mean.transpose());
                let [outputs, size] = deviation.dims();
                let columns = (0..outputs)
                    .map(|output| {
                        let row = deviation.clone().narrow(0, output, 1);
                        column_squares(basis.clone() * row.reshape([size, 1]))
                    })
                    .collect();
                (mean, Tensor::stack(columns, 1))
            }
        }
    }

    /// Means of `A_pᵀu_p`, and variances less those of standard normal variables, both `[N, P]`, for
    /// `basis` A, `[B, M, N]`.
    pub fn project_relative(self, basis: Tensor<3>) -> (Tensor<2>, Tensor<2>) {
        let is_shared = basis.dims()[0] == 1;
        match self.scale {
            Scale::Full(scale) if is_shared => {
                marginals_minus_prior(basis.squeeze_dim(0), self.mean, scale)
            }
            Scale::Full(scale) => batch_relative_moments(basis, self.mean, scale),
            Scale::Diagonal(_) if is_shared => {
                let squares = column_sums_of_squares(basis.clone());
                let (mean, variance) = self.project(basis.squeeze_dim(0));
                (mean, variance - squares)
            }
            Scale::Diagonal(deviation) => {
                let mean = means_of_each(&basis, self.mean);
                let squares = column_sums_of_squares(basis.clone());
                let scaled = column_sums_of_squares(basis * deviation.unsqueeze_dim(2));
                (mean, scaled - squares)
            }
        }
    }

    /// [`Self::project_relative`] with the basis `L⁻¹B`, for a factor L, `[B, M, M]`, and `rhs` B,
    /// `[B, M, N]`.
    pub fn solve_and_project_relative(
        self,
        factor: &CholeskyFactor<3>,
        rhs: Tensor<3>,
    ) -> (Tensor<2>, Tensor<2>) {
        match self.scale {
            Scale::Full(scale) if rhs.dims()[0] == 1 => {
                factor.marginals_minus_prior(rhs, self.mean, scale)
            }
            _ => self.project_relative(factor.solve(rhs)),
        }
    }

    /// The means and lower-triangular factors, with zeros above the diagonal.
    pub fn into_full(self) -> (Tensor<2>, Tensor<3>) {
        let scale = match self.scale {
            Scale::Full(scale) => scale.tril(0),
            Scale::Diagonal(deviation) => diagonal_matrices(deviation),
        };
        (self.mean, scale)
    }

    /// `Σ_p KL[N(m_p, S_p) ‖ N(0, I)]`, `[1]`.
    pub fn kl_from_standard(self) -> Tensor<1> {
        match self.scale {
            Scale::Full(scale) => {
                let kl = gaussian_kl(self.mean, scale);
                if kl.dims() == [1] { kl } else { kl.sum() }
            }
            Scale::Diagonal(deviation) => {
                let variance = deviation.square();
                let sum = self.mean.square() + variance.clone() - variance.log() - 1.0;
                sum.sum() * 0.5
            }
        }
    }
}

/// Builds diagonal matrices, `[P, M, M]`, from diagonals, `[P, M]`.
pub(crate) fn diagonal_matrices(diagonals: Tensor<2>) -> Tensor<3> {
    let [_, size] = diagonals.dims();
    let identity = Tensor::<2>::eye(size, &diagonals.device()).cast(diagonals.dtype());
    diagonals.unsqueeze_dim::<3>(2) * identity.unsqueeze()
}
