//! Expectations of kernels over normal inputs.

use burn::tensor::Tensor;

use super::spectrum::plain_name;
use crate::ops::{self, ExactMatmul};

/// The expectations of a kernel over independent inputs `x_n ~ N(μ_n, diag S_n)`, also called Ψ statistics
/// (M. Titsias and N. Lawrence, *Bayesian Gaussian Process Latent Variable Model*, AISTATS 2010, equation 15 and section
/// 3.2): `Ψ0_n = E[k(x_n, x_n)]`, `Ψ1_nm = E[k(x_n, z_m)]` and `Ψ2 = Σ_n E[k(z, x_n)·k(x_n, z)ᵀ]`.
///
/// They have a closed form for the squared exponential and the linear kernel. `Ψ2 − Ψ1ᵀΨ1` is what the uncertainty of
/// the inputs adds.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{kernels::{Kernel, Linear, StationaryConfig}, ops::number};
///
/// # fn main() -> Result<(), burn_gp_core::kernels::NoExpectedProducts> {
/// let place = (&Device::default(), DType::F64);
/// let expected = Linear::new(&[2.0], place).expected_products()?;
/// let [mean, variance] = [3.0, 0.5].map(|value| Tensor::<2>::full([1, 1], value, place));
/// // 2·(3² + 0.5)
/// assert!((number(expected.variances(mean, variance)) - 19.0).abs() < 1e-12);
///
/// let refusal = StationaryConfig::matern52().init(1, place).expected_products().unwrap_err();
/// assert!(refusal.to_string().starts_with("Matern52 has no closed form"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ExpectedProducts(Form);

#[derive(Clone, Debug)]
enum Form {
    /// `σ²·exp(−½·Σ_d (x_d − x′_d)²/ℓ_d²)`
    SquaredExponential {
        /// ℓ, [D] or [1]
        lengthscales: Box<Tensor<1>>,
        /// σ², [1]
        variance: Tensor<1>,
    },
    /// `Σ_d σ_d²·x_d·x′_d`
    Linear {
        /// σ_d², [D] or [1]
        variances: Tensor<1>,
    },
}

/// A kernel without [closed forms of its expectations](ExpectedProducts).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{kernel} has no closed form of expected products over uncertain inputs; use rbf or linear, scaled or not"
)]
pub struct NoExpectedProducts {
    /// The kernel's type or name.
    pub kernel: String,
}

impl NoExpectedProducts {
    /// Creates the error for kernel type `K`.
    pub fn of<K: ?Sized>() -> Self {
        Self {
            kernel: plain_name::<K>(),
        }
    }

    /// Creates the error for a kernel with a name.
    pub(super) fn named(kernel: &str) -> Self {
        Self {
            kernel: kernel.to_owned(),
        }
    }
}

impl ExpectedProducts {
    /// Those of a squared exponential kernel.
    pub(super) fn squared_exponential(lengthscales: Tensor<1>, variance: Tensor<1>) -> Self {
        Self(Form::SquaredExponential {
            lengthscales: Box::new(lengthscales),
            variance,
        })
    }

    /// Those of a linear kernel.
    pub(super) fn linear(variances: Tensor<1>) -> Self {
        Self(Form::Linear { variances })
    }

    /// Those of the kernel times a scale, `[1]`.
    pub(super) fn scaled(self, scale: Tensor<1>) -> Self {
        Self(match self.0 {
            Form::SquaredExponential {
                lengthscales,
                variance,
            } => Form::SquaredExponential {
                lengthscales,
                variance: variance * scale,
            },
            Form::Linear { variances } => Form::Linear {
                variances: variances * scale,
            },
        })
    }

    /// How much functions vary along each of D dimensions: `1/ℓ_d²`, or `σ_d²` for a linear kernel.
    ///
    /// # Shapes
    ///
    /// - result: `[D]`
    pub fn relevances(&self, dimensions: usize) -> Tensor<1> {
        match &self.0 {
            Form::SquaredExponential { lengthscales, .. } => lengthscales.clone().square().recip(),
            Form::Linear { variances } => variances.clone(),
        }
        .expand([dimensions])
    }

    /// Ψ0: `σ²`, or `Σ_d σ_d²·(μ_nd² + S_nd)` for a linear kernel.
    ///
    /// # Shapes
    ///
    /// - `mean` (μ), `variance` (S): `[N, D]`
    /// - result: `[N]`
    pub fn variances(&self, mean: Tensor<2>, variance: Tensor<2>) -> Tensor<1> {
        let [rows, _] = mean.dims();
        match &self.0 {
            Form::SquaredExponential { variance, .. } => variance.clone().expand([rows]),
            Form::Linear { variances } => {
                let squares = (mean.square() + variance) * variances.clone().unsqueeze::<2>();
                squares.sum_dim(1).squeeze_dim(1)
            }
        }
    }

    /// Ψ1: see [`ops::expected_covariance`]; `Σ_d σ_d²·μ_nd·z_md` for a linear kernel.
    ///
    /// # Shapes
    ///
    /// - `mean` (μ), `variance` (S): `[N, D]`, `points` (z): `[M, D]`
    /// - result: `[N, M]`
    ///
    /// # Panics
    ///
    /// If the shapes do not match.
    #[track_caller]
    pub fn covariances(
        &self,
        mean: Tensor<2>,
        variance: Tensor<2>,
        points: Tensor<2>,
    ) -> Tensor<2> {
        match self.0.clone() {
            Form::SquaredExponential {
                lengthscales,
                variance: scale,
            } => ops::expected_covariance(mean, variance, points, *lengthscales, scale),
            Form::Linear { variances } => {
                let weighted = points * variances.unsqueeze::<2>(); // [M, D]
                mean.exact_matmul(weighted.transpose())
            }
        }
    }

    /// Ψ2: see [`ops::expected_products`]; `Σ_dd′ σ_d²·z_md·[Σ_n μ_nd·μ_nd′ + δ_dd′·S_nd]·σ_d′²·z_m′d′` for a linear
    /// kernel, whose rank is at most D.
    ///
    /// # Shapes
    ///
    /// - `mean` (μ), `variance` (S): `[N, D]`, `points` (z): `[M, D]`
    /// - result: `[M, M]`
    ///
    /// # Panics
    ///
    /// If the shapes do not match.
    #[track_caller]
    pub fn products(&self, mean: Tensor<2>, variance: Tensor<2>, points: Tensor<2>) -> Tensor<2> {
        match self.0.clone() {
            Form::SquaredExponential {
                lengthscales,
                variance: scale,
            } => ops::expected_products(mean, variance, points, *lengthscales, scale),
            Form::Linear { variances } => {
                let weighted = points * variances.unsqueeze::<2>(); // [M, D]
                let covariances = mean.exact_matmul(weighted.clone().transpose()); // Ψ1, [N, M]
                let uncertain = weighted.clone() * variance.sum_dim(0); // [M, D]
                covariances.clone().transpose().exact_matmul(covariances)
                    + uncertain.exact_matmul(weighted.transpose())
            }
        }
    }
}
