//! Computation-aware regression: a posterior that conditions on some linear combinations of the
//! data and counts the omitted computation as uncertainty.

mod actions;
mod any;
mod bound;
mod iterations;
mod near_order;
mod preconditioner;
mod subspaces;
mod uncertainty;

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};
use serde::{Deserialize, Serialize};

pub use actions::{ActionStart, ActionVariables, Actions, BlockActions, DenseActions};
pub use any::{AnyActionPolicy, AnyActions};
pub use iterations::{Iterated, IterationRule, Iterations};
pub use near_order::near_order;
pub(in crate::inference) use preconditioner::Preconditioner;
pub use subspaces::grassmann_distance;
pub use uncertainty::Uncertainty;

use super::{
    ConditionError, check_rows,
    low_rank::precise_type,
    parts::parts,
    row_noise::{EqualNoise, NoisyRows},
    row_values::RowColumns,
};
use crate::{
    kernels::KernelModule,
    likelihoods::Gaussian,
    means::AnyMean,
    ops::{CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, cholesky},
    parameter::{Part, Priors, Role},
    process::{ConditionedProcess, WhitenedCovariance, WithMean},
};
pub(in crate::inference) use bound::symmetric;
use bound::{Terms, evidence_loss, projected_loss};

/// A regression problem: `y = f(X) + ε` with a zero-mean Gaussian process f.
#[derive(Debug)]
pub struct Regression<'a, K> {
    /// The kernel of f.
    pub kernel: &'a K,
    /// The variance σ² of ε, `[1]`, or one for each row, `[N]`.
    pub noise: &'a Tensor<1>,
    /// X, `[N, D]`.
    pub inputs: &'a Tensor<2>,
    /// y, `[N, P]`.
    pub residual: &'a Tensor<2>,
}

impl<K> Regression<'_, K> {
    /// The variance of ε as a column, [N, 1], or [1, 1] for all rows.
    pub(in crate::inference) fn noise_column(&self) -> Tensor<2> {
        self.noise.clone().unsqueeze_dim(1)
    }
}

/// Chooses the actions for a regression problem.
pub trait ActionPolicy: Module + ModuleDisplay {
    /// The type of the actions.
    type Actions: Actions;

    /// Chooses the actions.
    ///
    /// # Errors
    ///
    /// When a matrix required for the choice cannot be factored.
    fn actions<K: KernelModule>(
        &self,
        problem: &Regression<'_, K>,
    ) -> Result<Self::Actions, NotPositiveDefinite>;

    /// Updates the policy after a step of gradient descent; see [`ComputationAware::after_step`].
    fn after_step(self) -> Self {
        self
    }
}

/// Uses the trained actions for every problem.
impl ActionPolicy for BlockActions {
    type Actions = Self;

    fn actions<K: KernelModule>(&self, _: &Regression<'_, K>) -> Result<Self, NotPositiveDefinite> {
        Ok(self.clone())
    }

    /// Rescales the actions to unit length. The loss does not depend on their length, so its
    /// gradient is orthogonal to them and Adam steps tend to lengthen them. The longer they are,
    /// the less a step turns them. Frozen actions stay as they are.
    fn after_step(self) -> Self {
        match self.are_frozen() {
            true => self,
            false => self.normalized(),
        }
    }
}

/// Uses the given actions for every problem.
impl ActionPolicy for DenseActions {
    type Actions = Self;

    fn actions<K: KernelModule>(&self, _: &Regression<'_, K>) -> Result<Self, NotPositiveDefinite> {
        Ok(self.clone())
    }
}

/// The training loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionLoss {
    /// The negative evidence lower bound (arXiv:2411.01036, eq. 11).
    #[default]
    Evidence,
    /// The negative log density of the projected data (eq. 9), which uses the data only through the
    /// actions. It fits poorly and is provided for comparison.
    Projected,
}

/// Regression with a posterior conditioned on `Sᵀy` for I actions S. With `M = Sᵀ(K + σ²I)S` and
/// `ṽ = M⁻¹Sᵀ(y − m)`:
/// `μ(x) = m(x) + k(x, X)S·ṽ`, `k_I(x, x′) = k(x, x′) − k(x, X)S·M⁻¹·Sᵀk(X, x′)`
/// (J. Wenger, K. Wu, P. Hennig, J. Gardner, G. Pleiss and J. Cunningham, *Computation-Aware
/// Gaussian Processes: Model Selection And Linear-Time Inference*, arXiv:2411.01036, eq. 5).
///
/// The variance is the variance of the exact posterior plus the uncertainty that more computation
/// would remove, so it is never smaller than the exact variance. Memory N·I; time N² for the
/// covariances, which are never stored, plus N·I².
#[derive(Module, Debug)]
pub struct ComputationAware<K: Module, A: Module> {
    kernel: K,
    mean: AnyMean,
    likelihood: Gaussian,
    policy: Part<A>,
    #[module(skip)]
    loss: ActionLoss,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    row_columns: RowColumns,
}

parts!(ComputationAware<K: KernelModule, A: ActionPolicy>);
parts!(rows ComputationAware<K: KernelModule, A: ActionPolicy>);

impl<K: KernelModule, A: ActionPolicy> ComputationAware<K, A> {
    /// Creates regression with the given prior, noise and policy for the actions.
    pub fn new(kernel: K, mean: impl Into<AnyMean>, likelihood: Gaussian, policy: A) -> Self {
        Self {
            kernel,
            mean: mean.into(),
            likelihood,
            policy: Part::new(Role::Posterior, policy),
            loss: ActionLoss::default(),
            priors: Priors::default(),
            row_columns: RowColumns::default(),
        }
    }

    /// Sets the loss.
    pub fn with_loss(mut self, loss: ActionLoss) -> Self {
        self.loss = loss;
        self
    }

    /// The policy that chooses the actions.
    pub fn policy(&self) -> &A {
        &self.policy
    }
}

impl<K: KernelModule, A: ActionPolicy> ComputationAware<K, A> {
    /// The negative loss, summed over outputs. Actions that the policy computes from the
    /// hyperparameters receive no gradients.
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
        let rows = NoisyRows::of(inputs.clone(), targets, self.row_columns);
        let residual = self.mean.residual(rows.targets.clone(), inputs.clone());
        let [_, outputs] = residual.dims();
        let noise = self.likelihood.noise();
        let of_rows = rows.total(noise.clone());
        let actions = self.policy.actions(&Regression {
            kernel: &self.kernel,
            noise: of_rows.as_ref().unwrap_or(&noise),
            inputs: &inputs,
            residual: &residual,
        })?;
        let covariance = actions.covariance(&self.kernel, inputs.clone(), None); // [I, N]
        // Rows that are divided by the standard deviations of their noise have the noise one: SᵀDS replaces SᵀS.
        let equal = EqualNoise::new(&rows, noise.clone());
        let terms = Terms {
            projected: actions.project(covariance.clone().transpose()),
            gram: match of_rows.clone() {
                Some(noise) => actions.weighted_gram(noise),
                None => actions.gram(),
            },
            targets: actions.project(residual.clone()),
            prior: equal.variances(self.kernel.diagonal_at(inputs)).sum(),
            covariance: equal.features(covariance),
            residual: equal.residual(residual),
            noise: equal.noise.clone(),
        };
        let objective = match (self.loss, of_rows) {
            (ActionLoss::Evidence, _) => equal.log_density(evidence_loss(terms)?.neg(), outputs),
            (ActionLoss::Projected, None) => projected_loss(terms)?.neg(),
            (ActionLoss::Projected, Some(_)) => {
                // The density is that of coordinates in the span of S, and not of D^½S.
                let lengths =
                    log_determinant(terms.gram.clone())? - log_determinant(actions.gram())?;
                (projected_loss(terms)? + lengths * (0.5 * outputs as f64)).neg()
            }
        };
        Ok(rows.log_density(objective, noise))
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
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let this = self.valid();
        let (inputs, targets) = (inputs.inner(), targets.inner());
        let rows = NoisyRows::of(inputs.clone(), targets, this.row_columns);
        let residual = this.mean.residual(rows.targets.clone(), inputs.clone());
        let noise = this.likelihood.noise();
        let of_rows = rows.total(noise.clone());
        let actions = this.policy.actions(&Regression {
            kernel: &this.kernel,
            noise: of_rows.as_ref().unwrap_or(&noise),
            inputs: &inputs,
            residual: &residual,
        })?;
        let covariance = actions.covariance(&this.kernel, inputs.clone(), None); // [I, N]
        let projected = actions.project(covariance.transpose());
        let (dtype, precise) = (projected.dtype(), precise_type(&projected));
        let projected = projected.cast(precise);
        let observed = match of_rows {
            Some(noise) => actions.weighted_gram(noise).cast(precise), // SᵀDS
            None => actions.gram().cast(precise) * noise.cast(precise).reshape([1, 1]),
        };
        // Make the matrix exactly symmetric.
        let factor = cholesky(symmetric(projected) + observed, Jitter::NONE)?;
        let mean = factor.solve(actions.project(residual).cast(precise));
        let process = ConditionedProcess::new(
            this.kernel,
            ActionVariables::new(actions, inputs),
            rounded(factor, dtype)?,
            mean.cast(dtype).transpose(), // [P, I]
            WhitenedCovariance::Known,
        );
        Ok(WithMean::new(process, this.mean))
    }

    /// Updates the policy after a step of gradient descent.
    pub fn after_step(&mut self) {
        self.policy = self.policy.clone().map_module(A::after_step);
    }
}

/// `log|A|`, `[1]`.
fn log_determinant(matrix: Tensor<2>) -> Result<Tensor<1>, NotPositiveDefinite> {
    Ok(cholesky(symmetric(matrix), Jitter::NONE)?.log_determinant())
}

/// Casts a factor to another type.
fn rounded(
    factor: CholeskyFactor<2>,
    dtype: burn::tensor::DType,
) -> Result<CholeskyFactor<2>, NotPositiveDefinite> {
    let lower = factor.lower().cast(dtype);
    CholeskyFactor::from_lower(lower.clone())
        .or_else(|_| cholesky(lower.clone().exact_matmul(lower.transpose()), Jitter::NONE))
}
