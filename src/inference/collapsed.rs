//! The collapsed bound: sparse regression with `q(u)` at its optimum.

use core::f64::consts::PI;

use burn::{module::Module, tensor::Tensor};

use super::{FullBatch, RegressionPrior, check_rows};
use crate::{
    inducing::InducingVariables,
    kernels::Kernel,
    likelihoods::Gaussian,
    means::Mean,
    ops::{
        CholeskyFactor, Jitter, NotPositiveDefinite, add_to_diagonal, cholesky, column_squares,
        gram,
    },
    parameter::Hyperparameter,
    variational::{ConditionedProcess, Spread, VariationalGaussian, WithMean},
};

/// Rows of data whose features are in memory at once where no gradient is needed.
const BLOCK: usize = 2048;

/// Sparse regression with the optimal `q(u)` put into the evidence lower bound:
/// `log N(y | m, Q + σ²I) − tr(K − Q)/(2σ²)`, `Q = K_fu K_uu⁻¹ K_uf`
/// (M. Titsias, *Variational Learning of Inducing Variables in Sparse Gaussian Processes*, 2009,
/// eq. 9).
///
/// With `Λ = L⁻¹K_uf`, `L` the factor of `K_uu`, everything goes through `B = I + σ⁻²ΛΛᵀ`, whose
/// eigenvalues are at least one, so that it needs no jitter (L. Tiao, *A Handbook for Sparse
/// Variational Gaussian Processes*, 2020). Time N·M²; memory N·M in training and M² in prediction.
#[derive(Module, Debug)]
pub struct Collapsed<K: Module, M: Module, I: Module> {
    prior: RegressionPrior<K, M>,
    inducing: I,
    #[module(skip)]
    jitter: Jitter,
}

/// The optimal `q(u)` in whitened coordinates, `L⁻¹u ~ N(b_p, B⁻¹)`.
struct Optimum {
    /// The factor of `K_uu`.
    factor: CholeskyFactor<2>,
    /// B, [M, M]
    precision: Tensor<2>,
    /// The factor of B.
    precision_factor: CholeskyFactor<2>,
    /// b, [M, P]
    mean: Tensor<2>,
}

impl<K: Kernel, M: Mean, I: InducingVariables<K>> Collapsed<K, M, I> {
    /// Sparse regression with the given prior, noise and inducing variables; `jitter` is that of
    /// `K_uu`.
    pub fn new(kernel: K, mean: M, likelihood: Gaussian, inducing: I, jitter: Jitter) -> Self {
        Self {
            prior: RegressionPrior::new(kernel, mean, likelihood),
            inducing,
            jitter,
        }
    }

    /// The kernel, the mean and the noise.
    pub fn prior(&self) -> &RegressionPrior<K, M> {
        &self.prior
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// The jitter of `K_uu`.
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// The optimal distribution of the whitened variables, `L⁻¹u ~ N(b_p, B⁻¹)`, with the
    /// lower-triangular factor of `B⁻¹`: the `q(u)` of a
    /// [`Whitened`](crate::variational::Whitened) posterior that attains this bound. Its parameters
    /// are on the device of the model and have no history.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn optimal_distribution(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<VariationalGaussian, NotPositiveDefinite> {
        let autodiff = self.prior.noise().is_autodiff();
        let Optimum {
            precision, mean, ..
        } = self.valid().optimum(inputs, targets)?;
        let ([size, outputs], options) = (mean.dims(), (&mean.device(), mean.dtype()));
        // With rows and columns reversed by J, JBJ = RRᵀ gives B⁻¹ = (JR⁻ᵀJ)(JR⁻ᵀJ)ᵀ, and JR⁻ᵀJ is
        // lower triangular, which the transposed inverse of B's own factor is not.
        let reversed = cholesky(precision.flip([0, 1]), Jitter::NONE)?;
        let identity = Tensor::<2>::eye(size, options.0).cast(options.1);
        let scale = reversed.solve_transposed(identity).flip([0, 1]); // [M, M]
        let scale = scale.unsqueeze::<3>().repeat_dim(0, outputs);
        let mean = mean.transpose(); // [P, M]
        Ok(if autodiff {
            VariationalGaussian::full(mean.autodiff(), scale.autodiff())
        } else {
            VariationalGaussian::full(mean, scale)
        })
    }

    /// `Σ_p log N(y_p | m_p, Q + σ²I)`: the deterministic training conditional approximation of
    /// the log evidence (J. Quiñonero-Candela and C. Rasmussen, *A Unifying View of Sparse
    /// Approximate Gaussian Process Regression*, 2005). It is not a lower bound.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn deterministic_training_conditional(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let (features, _) = self.features(inputs.clone())?;
        let residual = self.prior.residual(inputs, targets);
        low_rank_log_density(features, residual, self.prior.noise())
    }

    /// `Σ_p log N(y_p | m_p, Q + diag(K − Q) + σ²I)`: the fully independent training conditional
    /// approximation of the log evidence (E. Snelson and Z. Ghahramani, *Sparse Gaussian Processes
    /// using Pseudo-inputs*, 2005). It is not a lower bound.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn fully_independent_training_conditional(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let [_, outputs] = targets.dims();
        let (features, unexplained) = self.features(inputs.clone())?;
        let variance = unexplained.clamp_min(0.0) + self.prior.noise(); // [N]
        let deviation = variance.clone().sqrt();
        let features = features / deviation.clone().unsqueeze_dim(0); // [M, N]
        let residual = self.prior.residual(inputs, targets) / deviation.unsqueeze_dim(1); // [N, P]
        let one = Tensor::ones([1], (&features.device(), features.dtype()));
        let standardised = low_rank_log_density(features, residual, one)?;
        Ok(standardised - variance.log().sum() * (0.5 * outputs as f64))
    }

    /// `Λ`, [M, N], and `diag(K − Q)`, `[N]`.
    fn features(&self, inputs: Tensor<2>) -> Result<(Tensor<2>, Tensor<1>), NotPositiveDefinite> {
        let factor = cholesky(self.inducing.kuu(self.prior.kernel()), self.jitter)?;
        let prior_variance = self.prior.kernel().diagonal(inputs.clone());
        let features = factor.solve(self.inducing.kuf(self.prior.kernel(), inputs));
        let unexplained = prior_variance - column_squares(features.clone());
        Ok((features, unexplained))
    }

    /// The optimal `q(u)`, with `ΛΛᵀ` and `Λy` added up block by block.
    fn optimum(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Optimum, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let (inputs, targets) = (inputs.inner(), targets.inner());
        let targets = self.prior.residual(inputs.clone(), targets);
        let [rows, outputs] = targets.dims();
        let factor = cholesky(self.inducing.kuu(self.prior.kernel()), self.jitter)?;
        let size = self.inducing.count();
        let options = (&targets.device(), targets.dtype());
        let mut squares = Tensor::<2>::zeros([size, size], options); // ΛΛᵀ
        let mut projected = Tensor::<2>::zeros([size, outputs], options);
        for start in (0..rows).step_by(BLOCK) {
            let length = BLOCK.min(rows - start);
            let block = inputs.clone().narrow(0, start, length);
            let features = factor.solve(self.inducing.kuf(self.prior.kernel(), block)); // [M, block]
            let targets = targets.clone().narrow(0, start, length); // [block, P]
            projected = projected + features.clone().matmul(targets);
            squares = squares + gram(features);
        }
        let noise = self.prior.noise();
        let precision = precision(squares, noise.clone());
        let precision_factor = cholesky(precision.clone(), Jitter::NONE)?;
        let mean = posterior_mean(&precision_factor, projected, noise);
        Ok(Optimum {
            factor,
            precision,
            precision_factor,
            mean,
        })
    }
}

/// `B = I + σ⁻²ΛΛᵀ`.
fn precision(squares: Tensor<2>, noise: Tensor<1>) -> Tensor<2> {
    let one = Tensor::ones([1], (&squares.device(), squares.dtype()));
    add_to_diagonal(squares / noise.reshape([1, 1]), one)
}

/// `b = B⁻¹Λy/σ²`, [M, P].
fn posterior_mean(
    precision_factor: &CholeskyFactor<2>,
    projected: Tensor<2>,
    noise: Tensor<1>,
) -> Tensor<2> {
    let half = precision_factor.solve(projected / noise.reshape([1, 1]));
    precision_factor.solve_transposed(half)
}

/// `Σ_p log N(y_p | 0, ΛᵀΛ + σ²I)` through `B = I + σ⁻²ΛΛᵀ`:
/// `log|ΛᵀΛ + σ²I| = log|B| + N·log σ²`, and
/// `yᵀ(ΛᵀΛ + σ²I)⁻¹y = min_b ‖y − Λᵀb‖²/σ² + ‖b‖²`, a sum of squares where Woodbury's identity
/// would subtract two numbers that are almost equal when the fit is good.
///
/// # Shapes
///
/// - `features` (Λ): `[M, N]`, `targets` (y): `[N, P]`, `noise` (σ²): `[1]`
/// - result: `[1]`
fn low_rank_log_density(
    features: Tensor<2>,
    targets: Tensor<2>,
    noise: Tensor<1>,
) -> Result<Tensor<1>, NotPositiveDefinite> {
    let [rows, outputs] = targets.dims();
    let squares = gram(features.clone()); // [M, M]
    let precision_factor = cholesky(precision(squares, noise.clone()), Jitter::NONE)?;
    // At its minimum the sum of squares does not depend on b to first order: no gradient flows
    // through it.
    let projected = features.clone().inner().matmul(targets.clone().inner());
    let fitted = posterior_mean(
        &precision_factor.clone().inner(),
        projected,
        noise.clone().inner(),
    ); // b, [M, P]
    let error = targets - features.transpose().matmul(fitted.clone()); // [N, P]
    let squares = error.square().sum() / noise.clone() + fitted.square().sum();
    let normaliser =
        precision_factor.log_determinant() + (noise.log() + (2.0 * PI).ln()) * rows as f64;
    Ok((squares + normaliser * outputs as f64) * -0.5)
}

impl<K: Kernel, M: Mean, I: InducingVariables<K>> FullBatch for Collapsed<K, M, I> {
    type Process = WithMean<ConditionedProcess<K, I>, M>;

    /// `Σ_p log N(y_p | m_p, Q + σ²I) − P·tr(K − Q)/(2σ²)`.
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let [_, outputs] = targets.dims();
        let noise = self.prior.noise();
        let (features, unexplained) = self.features(inputs.clone())?;
        let residual = self.prior.residual(inputs, targets);
        let evidence = low_rank_log_density(features, residual, noise.clone())?;
        Ok(evidence - unexplained.sum() / noise * (0.5 * outputs as f64))
    }

    fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Self::Process, NotPositiveDefinite> {
        let this = self.valid();
        let Optimum {
            factor,
            precision_factor,
            mean,
            ..
        } = this.optimum(inputs, targets)?;
        let (kernel, prior_mean) = this.prior.into_process_parts();
        let process = ConditionedProcess::new(
            kernel,
            this.inducing,
            factor,
            mean.transpose(),
            Spread::Precision(precision_factor),
        );
        Ok(WithMean::new(process, prior_mean))
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.prior.hyperparameters()
    }
}
