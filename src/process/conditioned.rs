//! Conditioned Gaussian processes, ready for prediction.

use burn::tensor::Tensor;
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{
    draw_at_distinct,
    leading_axis::{column_sums_of_squares, means_of_each, prior_variances},
    nonnegative,
};
use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::{CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, cholesky, column_squares},
    process::{Marginals, Moments, Scale},
    random::normals,
};

/// The joint distribution of function values at N inputs.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The means, `[N, P]`.
    pub mean: Tensor<2>,
    /// The covariances, `[P, N, N]`.
    pub covariance: Tensor<3>,
}

/// The joint distribution of the values of all P functions at N inputs.
#[derive(Clone, Debug)]
pub struct JointAcrossOutputs {
    /// The means, `[N, P]`.
    pub mean: Tensor<2>,
    /// `Cov[f_p(x_n), f_p′(x_n′)]` at `[p, p′, n, n′]`: `[P, P, N, N]`.
    pub covariance: Tensor<4>,
}

/// Posterior Gaussian processes over P functions, with everything that does not depend on new
/// inputs precomputed.
pub trait Process {
    /// Means and variances at `x`, `[N, D]`. Memory grows with `M·N`, so predict many inputs in
    /// chunks.
    fn marginals(&self, x: Tensor<2>) -> Marginals;

    /// The number of rows the kernel evaluates per input: one, unless inputs are images and the
    /// kernel evaluates every patch. Memory is proportional to it.
    fn rows_per_input(&self) -> usize {
        1
    }

    /// The number of inputs whose marginals should be asked for together, because they improve each other: one,
    /// unless marginals are computed jointly.
    fn joint_inputs(&self) -> usize {
        1
    }

    /// Means and full covariances at `x`, `[N, D]`.
    fn joint(&self, x: Tensor<2>) -> Joint;

    /// Means and covariances across all functions at `x`, `[N, D]`. The functions are independent
    /// unless the process mixes them.
    fn joint_across_outputs(&self, x: Tensor<2>) -> JointAcrossOutputs {
        let Joint { mean, covariance } = self.joint(x);
        let [outputs, rows, _] = covariance.dims();
        if rows == 0 {
            let options = (&mean.device(), mean.dtype());
            return JointAcrossOutputs {
                covariance: Tensor::zeros([outputs, outputs, 0, 0], options),
                mean,
            };
        }
        let same = Tensor::<2>::eye(outputs, &mean.device()).cast(mean.dtype());
        let same = same.reshape([outputs, outputs, 1, 1]);
        JointAcrossOutputs {
            mean,
            covariance: covariance.unsqueeze_dim::<4>(1) * same,
        }
    }

    /// Draws `samples` samples of the functions at `x`, `[N, D]`. Equal seeds give equal samples, and
    /// equal inputs equal values in a sample.
    ///
    /// # Shapes
    ///
    /// - result: `[S, P, N]`
    ///
    /// # Errors
    ///
    /// When the covariance cannot be factored.
    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        // The jitter would make the values at equal inputs differ.
        draw_at_distinct(x, |x| self.joint(x).draws(samples, seed))
    }
}

/// A single dummy input if `x` is empty: the backends support few operations on empty tensors.
pub(crate) fn dummy_row_if_empty(x: &Tensor<2>) -> Option<Tensor<2>> {
    let [rows, dimensions] = x.dims();
    (rows == 0).then(|| Tensor::zeros([1, dimensions], (&x.device(), x.dtype())))
}

impl JointAcrossOutputs {
    /// The joint distribution of the values of each function by itself.
    pub(crate) fn of_each(self) -> Joint {
        let Self { mean, covariance } = self;
        let [outputs, _, rows, _] = covariance.dims();
        let options = (&mean.device(), mean.dtype());
        if rows == 0 {
            let covariance = Tensor::zeros([outputs, 0, 0], options);
            return Joint { mean, covariance };
        }
        let own = (0..outputs).map(|output| {
            let of_output = covariance.clone().narrow(0, output, 1).narrow(1, output, 1);
            of_output.squeeze_dim::<3>(0)
        });
        Joint {
            covariance: Tensor::cat(own.collect(), 0),
            mean,
        }
    }
}

impl Joint {
    /// Draws `samples` samples of the functions, `[S, P, N]`. Equal seeds give equal samples.
    ///
    /// # Errors
    ///
    /// When the covariance cannot be factored.
    pub(crate) fn draws(self, samples: usize, seed: u64) -> Result<Tensor<3>, NotPositiveDefinite> {
        let Self { mean, covariance } = self;
        let [outputs, points, _] = covariance.dims();
        let options = (&mean.device(), mean.dtype());
        if points == 0 || samples == 0 {
            return Ok(Tensor::zeros([samples, outputs, points], options));
        }
        // Function values at nearby points are almost equal, so their covariance is numerically
        // singular. The jitter makes it factorable.
        let factor = cholesky(covariance, Jitter::for_precision(mean.dtype()))?.lower(); // [P, N, N]
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let noise = normals([outputs, points, samples], &mut random, options);
        let centered = factor.exact_matmul(noise); // [P, N, S]
        let draws = centered + mean.transpose().unsqueeze_dim::<3>(2);
        Ok(draws.permute([2, 0, 1]))
    }

    /// The joint distribution of the same functions at zero inputs.
    pub(crate) fn at_none(self) -> Self {
        let [_, functions] = self.mean.dims();
        let options = (&self.mean.device(), self.mean.dtype());
        Self {
            mean: Tensor::zeros([0, functions], options),
            covariance: Tensor::zeros([functions, 0, 0], options),
        }
    }
}

/// The uncertainty of the whitened inducing variables.
#[derive(Clone, Debug)]
pub enum WhitenedCovariance {
    /// No uncertainty: the values are known.
    Known,
    /// `N(m_p, W_pW_pᵀ)` with lower-triangular W, `[P, M, M]`.
    Factor(Tensor<3>),
    /// `N(m_p, B⁻¹)`, given by the factor of B, which all outputs share.
    Precision(CholeskyFactor<2>),
}

fn moments_of(mean: &Tensor<2>, scale: &Tensor<3>) -> Moments {
    Moments {
        mean: mean.clone(),
        scale: Scale::Full(scale.clone()),
    }
}

impl WhitenedCovariance {
    /// Means and variances of `Aᵀu`, both `[N, P]`, for means m, `[P, M]`, and `basis` A, `[M, N]`.
    pub(crate) fn project(&self, mean: &Tensor<2>, basis: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let means = |basis: Tensor<2>| basis.transpose().exact_matmul(mean.clone().transpose());
        match self {
            Self::Known => {
                let means = means(basis);
                let variances = means.zeros_like();
                (means, variances)
            }
            Self::Factor(scale) => moments_of(mean, scale).project(basis),
            Self::Precision(factor) => {
                let means = means(basis.clone());
                let variances = column_squares(factor.solve(basis)).unsqueeze_dim::<2>(1);
                let shape = means.dims();
                (means, variances.expand(shape))
            }
        }
    }

    /// The means of `Aᵀu`, and the variances less those of standard normal variables, both `[N, P]`, for
    /// `basis` A, `[B, M, N]`.
    fn project_relative(&self, mean: &Tensor<2>, basis: Tensor<3>) -> (Tensor<2>, Tensor<2>) {
        if let Self::Factor(scale) = self {
            return moments_of(mean, scale).project_relative(basis);
        }
        let squares = column_sums_of_squares(basis.clone()); // [N, B]
        let means = means_of_each(&basis, mean.clone());
        let variances = match self {
            Self::Precision(factor) => {
                let solved = factor.solve(basis.squeeze_dim(0));
                column_squares(solved).unsqueeze_dim::<2>(1) - squares
            }
            _ => squares.neg(),
        };
        let shape = means.dims();
        (means, variances.expand(shape))
    }

    /// The covariances of `Aᵀu`, `[P, N, N]`, for `outputs` functions and `basis` A, `[B, M, N]`.
    pub(crate) fn covariance(&self, outputs: usize, basis: Tensor<3>) -> Tensor<3> {
        let [_, _, rows] = basis.dims();
        match self {
            Self::Known => Tensor::zeros([outputs, rows, rows], (&basis.device(), basis.dtype())),
            Self::Factor(scale) => {
                let projected = scale.clone().transpose().exact_matmul(basis); // [P, M, N]
                projected.clone().transpose().exact_matmul(projected)
            }
            Self::Precision(factor) => {
                let solved = factor.solve(basis.squeeze_dim(0));
                let covariance = solved.clone().transpose().exact_matmul(solved);
                covariance.unsqueeze::<3>().repeat_dim(0, outputs)
            }
        }
    }

    /// Samples of u, `[S, P, M]`, from means, `[P, M]`, and standard normals, `[S, P, M]`.
    pub(crate) fn draw(&self, mean: &Tensor<2>, normals: Tensor<3>) -> Tensor<3> {
        let mean = mean.clone().unsqueeze::<3>();
        let shape @ [samples, outputs, size] = normals.dims();
        match self {
            Self::Known => mean.expand(shape),
            Self::Factor(scale) => {
                let scaled = (normals.swap_dims(0, 1)).exact_matmul(scale.clone().transpose()); // [P, S, M]
                scaled.swap_dims(0, 1) + mean
            }
            Self::Precision(factor) => {
                let columns = normals.reshape([samples * outputs, size]).transpose();
                let solved = factor.solve_transposed(columns).transpose();
                solved.reshape(shape) + mean
            }
        }
    }

    /// The uncertainty of the variables of one function.
    fn of_function(&self, function: usize) -> Self {
        match self {
            Self::Factor(scale) => Self::Factor(scale.clone().narrow(0, function, 1)),
            shared => shared.clone(),
        }
    }
}

/// A process conditioned on inducing variables `u` with `L⁻¹u ~ N(m_p, S)`, where `L` is the
/// Cholesky factor of their covariance: `μ = Λᵀm`, `Σ = K − ΛᵀΛ + ΛᵀSΛ`, `Λ = L⁻¹K_uf`.
///
/// The exact Gaussian process is the special case where `L` is the factor of `K + σ²I` and `S = 0`;
/// the collapsed bound gives `S = B⁻¹`. L and Λ have a leading axis: 1 if all functions share a kernel and
/// their inducing variables, P if each has its own.
#[derive(Clone, Debug)]
pub struct ConditionedProcess {
    kernels: Kernels,
    inducing: AnyInducing,
    /// L, [B, M, M]
    factor: CholeskyFactor<3>,
    /// m, [P, M]
    mean: Tensor<2>,
    spread: WhitenedCovariance,
}

impl ConditionedProcess {
    /// Creates the process from the factor L, `[M, M]` or `[B, M, M]`, the whitened mean, `[P, M]`, and
    /// the uncertainty of the whitened inducing variables.
    pub fn new<const D: usize>(
        kernels: impl Into<Kernels>,
        inducing: impl Into<AnyInducing>,
        factor: CholeskyFactor<D>,
        mean: Tensor<2>,
        spread: WhitenedCovariance,
    ) -> Self {
        let triangle = factor.triangle();
        let dims = triangle.dims();
        let batch = dims[..D - 2].iter().product::<usize>();
        Self {
            kernels: kernels.into(),
            inducing: inducing.into(),
            factor: CholeskyFactor::from_triangle(triangle.reshape([
                batch,
                dims[D - 2],
                dims[D - 1],
            ])),
            mean,
            spread,
        }
    }

    /// The kernels.
    pub fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &AnyInducing {
        &self.inducing
    }

    /// The factor L, `[B, M, M]`.
    pub fn factor(&self) -> &CholeskyFactor<3> {
        &self.factor
    }

    /// The mean of the whitened inducing variables, `[P, M]`.
    pub fn whitened_mean(&self) -> Tensor<2> {
        self.mean.clone()
    }

    /// The uncertainty of the whitened inducing variables.
    pub fn spread(&self) -> &WhitenedCovariance {
        &self.spread
    }

    /// The process of each function by itself, or of all functions if they share a factor.
    pub(crate) fn functions(&self) -> Vec<Self> {
        let [batch, _, _] = self.factor.triangle().dims();
        if batch == 1 {
            return vec![self.clone()];
        }
        let kernels = self.kernels.each();
        (kernels.iter().cycle().take(batch).enumerate())
            .map(|(function, kernel)| {
                let own = self.inducing.of_function(function);
                Self::new(
                    kernel.clone(),
                    own.unwrap_or_else(|| self.inducing.clone()),
                    self.factor.member(function),
                    self.mean.clone().narrow(0, function, 1),
                    self.spread.of_function(function),
                )
            })
            .collect()
    }

    /// `Λ = L⁻¹K_uf`, [B, M, N].
    pub(crate) fn features(&self, x: Tensor<2>) -> Tensor<3> {
        self.factor.solve(self.inducing.kuf(&self.kernels, x))
    }
}

impl Process for ConditionedProcess {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        let prior_variance = prior_variances(&self.kernels, x.clone()); // [N, B]
        let features = self.features(x);
        let (mean, change) = self.spread.project_relative(&self.mean, features);
        Marginals {
            mean,
            variance: nonnegative(change + prior_variance),
        }
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let prior = self.kernels.matrix_at(x.clone()); // [B, N, N]
        let features = self.features(x); // [B, M, N]
        let [outputs, _] = self.mean.dims();
        let gram = features.clone().transpose().exact_matmul(features.clone());
        let mean = means_of_each(&features, self.mean.clone());
        Joint {
            mean,
            covariance: self.spread.covariance(outputs, features) + (prior - gram),
        }
    }
}
