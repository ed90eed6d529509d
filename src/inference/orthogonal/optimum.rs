//! The optimal distributions of both sets of inducing variables.

use burn::{module::Module, tensor::Tensor};

use super::{CollapsedOrthogonal, features::Features};
use crate::{
    inference::{
        ConditionError, check_rows,
        low_rank::{optimal_gaussian, posterior_mean, precision},
    },
    ops::{BlockFactor, CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, cholesky, gram},
    process::{BLOCK, VariationalGaussian},
};

/// The sums over data that determine the optimum.
struct Sums {
    /// `ΛΛᵀ` and `ΓΓᵀ`
    squares: [Tensor<2>; 2],
    /// `ΛΓᵀ`, [M, M2]
    cross: Tensor<2>,
    /// `Λy`, [M, P], and `Γy`, [M2, P]
    projected: [Tensor<2>; 2],
}

/// `B = I + σ⁻²ΛΛᵀ` and `B_v = I + σ⁻²ΓΓᵀ`, the precisions of the whitened variables.
pub(super) struct Precisions(pub [Tensor<2>; 2]);

/// The optimal distributions in whitened coordinates: `L⁻¹u ~ N(b_p, B⁻¹)` and
/// `L_v⁻¹v_⊥ ~ N(c_p, B_v⁻¹)`.
pub(super) struct Optimum {
    /// The factor of the covariance of all inducing variables.
    pub factor: BlockFactor,
    pub precisions: Precisions,
    /// b, [M, P], and c, [M2, P]
    pub means: [Tensor<2>; 2],
}

impl Sums {
    /// The sums for no data.
    fn empty(sizes: [usize; 2], targets: &Tensor<2>) -> Self {
        let options = (&targets.device(), targets.dtype());
        let ([first, second], [_, outputs]) = (sizes, targets.dims());
        let zeros = |rows: usize, columns: usize| Tensor::zeros([rows, columns], options);
        Self {
            squares: [zeros(first, first), zeros(second, second)],
            cross: zeros(first, second),
            projected: [zeros(first, outputs), zeros(second, outputs)],
        }
    }

    /// Adds data with the given features and targets, [N, P], to the sums.
    fn plus(self, features: Features, targets: Tensor<2>) -> Self {
        let Features {
            inducing,
            orthogonal,
        } = features;
        let ([first, second], [first_projected, second_projected]) = (self.squares, self.projected);
        Self {
            cross: self.cross
                + inducing
                    .clone()
                    .exact_matmul(orthogonal.clone().transpose()),
            projected: [
                first_projected + inducing.clone().exact_matmul(targets.clone()),
                second_projected + orthogonal.clone().exact_matmul(targets),
            ],
            squares: [first + gram(inducing), second + gram(orthogonal)],
        }
    }
}

impl Precisions {
    /// The precisions from `ΛΛᵀ` and `ΓΓᵀ`.
    pub fn new(squares: [Tensor<2>; 2], noise: &Tensor<1>) -> Self {
        Self(squares.map(|squares| precision(squares, noise.clone())))
    }

    /// The factors of both precisions.
    pub fn factors(&self) -> Result<[CholeskyFactor<2>; 2], NotPositiveDefinite> {
        let [inducing, orthogonal] = self.0.clone();
        Ok([
            cholesky(inducing, Jitter::NONE)?,
            cholesky(orthogonal, Jitter::NONE)?,
        ])
    }
}

/// The minimizers b, [M, P], and c, [M2, P], of `‖y − Λᵀb − Γᵀc‖²/σ² + ‖b‖² + ‖c‖²`, by elimination
/// of b. The remaining matrix for c, `I + Γ(Q + σ²I)⁻¹Γᵀ`, also has eigenvalues of at least one.
///
/// # Shapes
///
/// - `factor` (of B): [M, M]; `orthogonal` (B_v): [M2, M2]; `cross` (ΛΓᵀ): [M, M2]
/// - `projected` (Λy, Γy): [M, P], [M2, P]
pub(super) fn optimal_means(
    factor: CholeskyFactor<2>,
    orthogonal: Tensor<2>,
    cross: Tensor<2>,
    projected: [Tensor<2>; 2],
    noise: Tensor<1>,
) -> Result<[Tensor<2>; 2], NotPositiveDefinite> {
    let per_noise = |sum: Tensor<2>| sum / noise.clone().reshape([1, 1]);
    let factor = BlockFactor::new(factor, per_noise(cross), orthogonal, Jitter::NONE)?;
    let [first, second] = projected.map(per_noise);
    let (first, second) = factor.solve(first, second);
    Ok(factor.solve_transposed(first, second).into())
}

impl CollapsedOrthogonal {
    /// The factor of the joint covariance of all inducing variables, and the sums over blocks of
    /// data, with the residuals `y − m(X)` for y. The module must not be on an autodiff device.
    fn sums(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<(BlockFactor, Sums), ConditionError> {
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let (inputs, targets) = (inputs.inner(), targets.inner());
        let targets = self.mean.residual(targets, inputs.clone());
        let [rows, _] = targets.dims();
        let factor = self.factor()?;
        let sizes = [self.inducing.count(), self.orthogonal.count()];
        let sums = (0..rows)
            .step_by(BLOCK)
            .fold(Sums::empty(sizes, &targets), |sums, start| {
                let length = BLOCK.min(rows - start);
                let block = inputs.clone().narrow(0, start, length);
                let features = self.features(&factor, block);
                sums.plus(features, targets.clone().narrow(0, start, length))
            });
        Ok((factor, sums))
    }

    /// The optimal `q(u)` and `q(v_⊥)`. The module must not be on an autodiff device.
    pub(super) fn optimum(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Optimum, ConditionError> {
        let (factor, sums) = self.sums(inputs, targets)?;
        let noise = self.likelihood.noise();
        let precisions = Precisions::new(sums.squares, &noise);
        let [inducing, orthogonal] = precisions.0.clone();
        let inducing = cholesky(inducing, Jitter::NONE)?;
        let means = optimal_means(inducing, orthogonal, sums.cross, sums.projected, noise)?;
        Ok(Optimum {
            factor,
            precisions,
            means,
        })
    }

    /// Whether the model is on an autodiff device.
    fn is_autodiff(&self) -> bool {
        self.likelihood.noise().is_autodiff()
    }

    /// The optimal distributions of the whitened variables, `L⁻¹u` and `L_v⁻¹v_⊥`, which attain the
    /// [objective](super::CollapsedOrthogonal::full_objective) (arXiv:1910.10596, eqs. 28 and 29).
    /// Their parameters are on the device of the model and detached.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    pub fn optimal_distributions(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<[VariationalGaussian; 2], ConditionError> {
        let Optimum {
            precisions: Precisions([inducing, orthogonal]),
            means: [inducing_mean, orthogonal_mean],
            ..
        } = self.valid().optimum(inputs, targets)?;
        let autodiff = self.is_autodiff();
        Ok([
            optimal_gaussian(inducing_mean, inducing, autodiff)?,
            optimal_gaussian(orthogonal_mean, orthogonal, autodiff)?,
        ])
    }

    /// The optimal distribution of `L⁻¹u` for a given distribution of `L_v⁻¹v_⊥`. It attains the
    /// [bound of that distribution](Self::bound). Its parameters are on the device of the model and
    /// detached.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - `orthogonal`: P Gaussians over M2 variables
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    pub fn optimal_inducing(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        orthogonal: &VariationalGaussian,
    ) -> Result<VariationalGaussian, ConditionError> {
        let this = self.valid();
        let (_, sums) = this.sums(inputs, targets)?;
        let ([squares, _], [projected, _]) = (sums.squares, sums.projected);
        let noise = this.likelihood.noise();
        let known = sums
            .cross
            .exact_matmul(orthogonal.valid().mean().transpose()); // [M, P]
        let precision = precision(squares, noise.clone());
        let factor = cholesky(precision.clone(), Jitter::NONE)?;
        let mean = posterior_mean(&factor, projected - known, noise);
        Ok(optimal_gaussian(mean, precision, self.is_autodiff())?)
    }

    /// The optimal weights `a = C_vv⁻¹m_v` of the orthogonally decoupled posterior, whose mean is
    /// `k(x, Z)K_uu⁻¹m_u + c(x, O)a`. Its `q(u)` is the first of the [optimal
    /// distributions](Self::optimal_distributions). The weights are detached.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[P, M2]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    pub fn optimal_weights(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<2>, ConditionError> {
        let Optimum {
            factor,
            means: [_, orthogonal],
            ..
        } = self.valid().optimum(inputs, targets)?;
        let weights = factor.trailing().solve_transposed(orthogonal).transpose();
        Ok(if self.is_autodiff() {
            weights.autodiff()
        } else {
            weights
        })
    }
}
