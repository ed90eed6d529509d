//! The collapsed bound: sparse regression with the optimal `q(u)`.

use burn::{module::Module, tensor::Tensor};

use super::{
    ConditionError, check_rows,
    low_rank::{low_rank_log_density, optimal_gaussian, posterior_mean, precision},
    parts::parts,
    row_noise::{EqualNoise, NoisyRows},
    row_values::RowColumns,
};
use crate::{
    inducing::AnyInducing,
    kernels::{Kernel, KernelModule, Kernels},
    likelihoods::Gaussian,
    means::AnyMean,
    ops::{
        CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, cholesky, column_squares, gram,
    },
    parameter::Priors,
    process::{BLOCK, ConditionedProcess, VariationalGaussian, WhitenedCovariance, WithMean},
};

/// Sparse regression with the optimal `q(u)` substituted into the evidence lower bound:
/// `log N(y | m, Q + σ²I) − tr(K − Q)/(2σ²)`, `Q = K_fu K_uu⁻¹ K_uf` (M. Titsias, *Variational
/// Learning of Inducing Variables in Sparse Gaussian Processes*, 2009, eq. 9).
///
/// With `Λ = L⁻¹K_uf` and `L` the factor of `K_uu`, all computations use `B = I + σ⁻²ΛΛᵀ`. Its
/// eigenvalues are at least one, so it needs no jitter (L. Tiao, *A Handbook for Sparse Variational
/// Gaussian Processes*, 2020). Time N·M²; memory N·M in training and M² in prediction.
#[derive(Module, Debug)]
pub struct Collapsed {
    kernel: Kernels,
    mean: AnyMean,
    likelihood: Gaussian,
    inducing: AnyInducing,
    #[module(skip)]
    jitter: Jitter,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    row_columns: RowColumns,
    /// Whether rows with equal inputs are merged.
    #[module(skip)]
    merges_replicates: bool,
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

parts!(Collapsed, kernels);
parts!(rows Collapsed<>);

impl Collapsed {
    /// Creates sparse regression with the given prior, noise and inducing variables. `jitter` is
    /// for `K_uu`.
    pub fn new(
        kernel: impl Kernel,
        mean: impl Into<AnyMean>,
        likelihood: Gaussian,
        inducing: impl Into<AnyInducing>,
        jitter: Jitter,
    ) -> Self {
        Self {
            kernel: kernel.into(),
            mean: mean.into(),
            likelihood,
            inducing: inducing.into(),
            jitter,
            priors: Priors::default(),
            row_columns: RowColumns::default(),
            merges_replicates: false,
        }
    }

    /// Merges rows with equal inputs and equal noise wherever that saves time: a rows with the mean target ȳ become one
    /// with the noise `σ²/a`. The bound, its gradient, predictions and leave-one-out predictions stay those of all rows, up
    /// to rounding, as for [`Exact`](super::Exact::with_merged_replicates). With n distinct inputs, the time is n·M² in the
    /// place of N·M².
    ///
    /// Rows are not merged if they have weights, or gradients with respect to the data are wanted, nor for
    /// [`tighter_bound`](Self::tighter_bound) and
    /// [`fully_independent_training_conditional`](Self::fully_independent_training_conditional).
    pub fn with_merged_replicates(mut self) -> Self {
        self.merges_replicates = true;
        self
    }

    /// The rows with their weights and noise.
    pub(super) fn rows(&self, inputs: Tensor<2>, targets: Tensor<2>) -> NoisyRows {
        let rows = self.all_rows(inputs, targets);
        match self.merges_replicates {
            true => rows.merged(),
            false => rows,
        }
    }

    /// The rows as they are.
    fn all_rows(&self, inputs: Tensor<2>, targets: Tensor<2>) -> NoisyRows {
        NoisyRows::of(inputs, targets, self.row_columns)
    }

    /// The rows with equal noise.
    pub(super) fn equal_noise(&self, rows: &NoisyRows) -> EqualNoise {
        EqualNoise::new(rows, self.likelihood.noise())
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &AnyInducing {
        &self.inducing
    }

    /// The jitter of `K_uu`.
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// The optimal distribution of the whitened variables, `L⁻¹u ~ N(b_p, B⁻¹)`, with the
    /// lower-triangular factor of `B⁻¹`. As the `q(u)` of a
    /// [`Whitened`](crate::variational::Whitened) posterior it attains this bound. Its parameters
    /// are on the device of the model and detached.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    pub fn optimal_distribution(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<VariationalGaussian, ConditionError> {
        let autodiff = self.likelihood.noise().is_autodiff();
        let Optimum {
            precision, mean, ..
        } = self.valid().optimum(inputs, targets)?;
        Ok(optimal_gaussian(mean, precision, autodiff)?)
    }

    /// The bound of an optimal `q(u | f_⊥)`, which also depends on `f_⊥`, the part of the function
    /// that the inducing variables do not determine:
    /// `Σ_p log N(y_p | m_p, Q + σ²I) − P·tr[(Q + σ²I)⁻¹(K − Q)]/2` (J. Shi, M. Titsias and A.
    /// Mnih, *Sparse Orthogonal Variational Inference for Gaussian Processes*, arXiv:1910.10596,
    /// eq. 14). With `B = RRᵀ` it equals the [objective](Self::full_objective) plus
    /// `P·tr[V(K − Q)Vᵀ]/(2σ⁴)`, `V = R⁻¹Λ`, and lies between the objective and the log evidence.
    /// Time N²·M, memory N².
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn tighter_bound(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let rows = self.all_rows(inputs.clone(), targets.clone());
        let ([_, outputs], equal) = (rows.targets.dims(), self.equal_noise(&rows));
        let bound = self.full_objective(inputs.clone(), targets)?;
        let (features, _) = self.features(inputs.clone())?;
        let nystrom = features.clone().transpose().exact_matmul(features.clone());
        let unexplained = self.kernel().matrix_at(inputs) - nystrom; // [N, N]
        let unexplained = equal.features(equal.residual(unexplained));
        let features = equal.features(features);
        let precision = precision(gram(features.clone()), equal.noise.clone());
        let weighted = cholesky(precision, Jitter::NONE)?.solve(features); // V, [M, N]
        let regained = (weighted.clone().exact_matmul(unexplained) * weighted).sum();
        Ok(bound + regained / equal.noise.square() * (0.5 * outputs as f64))
    }

    /// `Σ_p log N(y_p | m_p, Q + σ²I)`: the deterministic training conditional (DTC) approximation
    /// of the log evidence (J. Quiñonero-Candela and C. Rasmussen, *A Unifying View of Sparse
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
        let rows = self.rows(inputs, targets);
        let (features, _) = self.features(rows.inputs.clone())?;
        self.low_rank_density(features, &rows)
    }

    /// `Σ_p log N(y_p | m_p, Q + diag(K − Q) + σ²I)`: the fully independent training conditional
    /// (FITC) approximation of the log evidence (E. Snelson and Z. Ghahramani, *Sparse Gaussian
    /// Processes using Pseudo-inputs*, 2005). It is not a lower bound.
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
        let rows = self.all_rows(inputs.clone(), targets);
        let [_, outputs] = rows.targets.dims();
        let (features, unexplained) = self.features(inputs.clone())?;
        let noise = self.likelihood.noise();
        let of_one = unexplained.clamp_min(0.0) + rows.of_one(noise); // [N]
        let variance = rows.over_weights(of_one.clone());
        let deviation = variance.clone().sqrt();
        let features = features / deviation.clone().unsqueeze_dim(0); // [M, N]
        let residual =
            self.mean.residual(rows.targets.clone(), inputs) / deviation.unsqueeze_dim(1); // [N, P]
        let one = Tensor::ones([1], (&features.device(), features.dtype()));
        let standardized = low_rank_log_density(features, residual, one)?;
        let density = standardized - variance.log().sum() * (0.5 * outputs as f64);
        Ok(match rows.weighting(of_one) {
            Some(each) => density + each.sum(),
            None => density,
        })
    }

    /// `Σ_p log N(y_p | m_p, Q + σ²I)`, or with noise of the rows `Q + σ²I + diag(v)`, for the features Λ.
    fn low_rank_density(
        &self,
        features: Tensor<2>,
        rows: &NoisyRows,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let [_, outputs] = rows.targets.dims();
        let equal = self.equal_noise(rows);
        let residual = (self.mean).residual(rows.targets.clone(), rows.inputs.clone());
        let residual = equal.residual(residual);
        let density = low_rank_log_density(equal.features(features), residual, equal.noise.clone());
        let density = equal.log_density(density?, outputs);
        Ok(rows.log_density(density, self.likelihood.noise()))
    }

    /// L, the factor of `K_uu`.
    fn factor(&self) -> Result<CholeskyFactor<2>, NotPositiveDefinite> {
        cholesky(self.inducing.kuu(&self.kernel).squeeze_dim(0), self.jitter)
    }

    /// `K_uf`, [M, N].
    fn kuf(&self, inputs: Tensor<2>) -> Tensor<2> {
        self.inducing.kuf(&self.kernel, inputs).squeeze_dim(0)
    }

    /// `Λ`, [M, N], and `diag(K − Q)`, `[N]`.
    pub(super) fn features(
        &self,
        inputs: Tensor<2>,
    ) -> Result<(Tensor<2>, Tensor<1>), NotPositiveDefinite> {
        let factor = self.factor()?;
        let prior_variance = self.kernel().diagonal_at(inputs.clone());
        let features = factor.solve(self.kuf(inputs));
        let unexplained = prior_variance - column_squares(features.clone());
        Ok((features, unexplained))
    }

    /// The optimal `q(u)`, with `ΛΛᵀ` and `Λy` accumulated block by block.
    fn optimum(&self, inputs: Tensor<2>, targets: Tensor<2>) -> Result<Optimum, ConditionError> {
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let noisy = self.rows(inputs.inner(), targets.inner());
        let equal = self.equal_noise(&noisy);
        let inputs = noisy.inputs;
        let targets = self.mean.residual(noisy.targets, inputs.clone());
        let targets = equal.residual(targets);
        let [rows, outputs] = targets.dims();
        let factor = self.factor()?;
        let size = self.inducing.count();
        let options = (&targets.device(), targets.dtype());
        let mut squares = Tensor::<2>::zeros([size, size], options); // ΛΛᵀ
        let mut projected = Tensor::<2>::zeros([size, outputs], options);
        for start in (0..rows).step_by(BLOCK) {
            let length = BLOCK.min(rows - start);
            let block = inputs.clone().narrow(0, start, length);
            let features = factor.solve(self.kuf(block)); // [M, block]
            let features = equal.block(start, length).features(features);
            let targets = targets.clone().narrow(0, start, length); // [block, P]
            projected = projected + features.clone().exact_matmul(targets);
            squares = squares + gram(features);
        }
        let precision = precision(squares, equal.noise.clone());
        let precision_factor = cholesky(precision.clone(), Jitter::NONE)?;
        let mean = posterior_mean(&precision_factor, projected, equal.noise);
        Ok(Optimum {
            factor,
            precision,
            precision_factor,
            mean,
        })
    }
}

impl Collapsed {
    /// `Σ_p log N(y_p | m_p, Q + σ²I) − P·tr(K − Q)/(2σ²)`.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let rows = self.rows(inputs, targets);
        let ([_, outputs], equal) = (rows.targets.dims(), self.equal_noise(&rows));
        let (features, unexplained) = self.features(rows.inputs.clone())?;
        let evidence = self.low_rank_density(features, &rows)?;
        let unexplained = equal.variances(unexplained).sum();
        Ok(evidence - unexplained / equal.noise * (0.5 * outputs as f64))
    }

    /// The process given the data, on the device without autodiff.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    pub fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<ConditionedProcess>, ConditionError> {
        let this = self.valid();
        let Optimum {
            factor,
            precision_factor,
            mean,
            ..
        } = this.optimum(inputs, targets)?;
        let process = ConditionedProcess::new(
            this.kernel,
            this.inducing,
            factor,
            mean.transpose(),
            WhitenedCovariance::Precision(precision_factor),
        );
        Ok(WithMean::new(process, this.mean))
    }
}
