//! The orthogonally decoupled posterior.

use burn::{
    module::{Module, Param},
    tensor::{Int, Tensor},
};

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    AnyPosterior, ColumnSampling, Evaluation, Expansion, Parameterization, Posterior,
    PosteriorDefinition, PosteriorInit, definition::exactly, expansion::expand,
    inducing_gaussians::whitened_moments,
};
use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::{CholeskyFactor, Jitter, NotPositiveDefinite, cholesky},
    parameter::HostInteger,
    process::{
        ConditionedProcess, CovarianceShape, Marginals, Moments, SamplePaths, VariationalGaussian,
        WhitenedCovariance, WithMean, nonnegative, of_each, prior_variances, product_of_each,
        right_hand_sides,
    },
    register,
};

/// ODVGP: a Gaussian over the inducing variables `u = f(Z)`, plus a mean with a much larger set `v`
/// at O, orthogonal to u.
///
/// It is [`SolveGp`](super::SolveGp) with two sets, where the second covariance stays at its
/// prior value, `S_v = C_vv = K_vv − K_vu·K_uu⁻¹·K_uv` (H. Salimbeni, C. Cheng, B. Boots and M.
/// Deisenroth, *Orthogonally Decoupled Variational Gaussian Processes*, arXiv:1809.08820; J. Shi,
/// M. Titsias and A. Mnih, arXiv:1910.10596, section 3.2). The mean is `m_v = C_vv·a`, and training
/// optimizes a, so no matrix over v has to be factored or inverted:
/// `μ(x) = Λᵀ(L⁻¹m_u − L⁻¹K_uv·a) + k(x, O)·a` with `Λ = L⁻¹K_uf`. The variance is that of the
/// posterior on Z alone, and `KL_v = ½aᵀC_vv·a = ½aᵀK_vv·a − ½‖L⁻¹K_uv·a‖²`.
///
/// A step costs `M2·(N + M + M2)` covariances and a few multiplications for each.
/// [`with_columns`](Self::with_columns) limits a step to a subset J of the columns of `K_vv`, which
/// makes the cost linear in M2: `aᵀK_vv·a ≈ (M2/|J|)·Σ_{j∈J} a_j·(K_vv·a)_j`. Averaged over a cycle
/// through all columns, this estimate and its gradient are exact.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{
///     inducing::InducingPoints,
///     kernels::{Kernels, StationaryConfig},
///     ops::{Jitter, NotPositiveDefinite, Stationary},
///     process::{CovarianceShape, VariationalGaussian},
///     variational::{OrthogonallyDecoupled, OrthogonallyDecoupledConfig, Posterior},
/// };
///
/// # fn main() -> Result<(), NotPositiveDefinite> {
/// let device = Device::default();
/// let prior = Kernels::from(StationaryConfig::new(Stationary::Matern52).init(1, &device));
/// let inducing = || InducingPoints::new(Tensor::from_data([[0.0], [1.0], [2.0]], &device));
/// let jitter = Jitter::for_precision(DType::F32);
/// let distribution = || VariationalGaussian::standard(3, 1, CovarianceShape::Full, &device);
/// let mean_points = InducingPoints::new(Tensor::from_data([[0.5], [1.5]], &device));
/// let weights = Tensor::from_data([[1.0, -1.0]], &device);
/// let parameterization = OrthogonallyDecoupledConfig::default().parameterization;
/// let posterior = OrthogonallyDecoupled::new(
///     (inducing(), distribution()),
///     (mean_points, weights),
///     parameterization,
///     jitter,
/// );
/// let evaluation = posterior.evaluate(&prior, Tensor::from_data([[0.5], [1.5]], &device))?;
/// assert_eq!(evaluation.marginals.mean.dims(), [2, 1]);
/// // The weights of the second set move the mean away from the prior.
/// assert!(evaluation.kl.into_scalar::<f64>() > 0.0);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct OrthogonallyDecoupled {
    inducing: AnyInducing,
    distribution: VariationalGaussian,
    orthogonal: AnyInducing,
    /// a, [P, M2]
    weights: Param<Tensor<2>>,
    /// The number of optimizer steps so far, counted only if columns are sampled. It is part of the
    /// record, so that a restored posterior continues with the same sequence of columns.
    steps: HostInteger,
    #[module(skip)]
    columns: Option<ColumnSampling>,
    #[module(skip)]
    parameterization: Parameterization,
    #[module(skip)]
    jitter: Jitter,
}

/// Configuration of an [`OrthogonallyDecoupled`] posterior.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default, deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct OrthogonallyDecoupledConfig {
    /// Full or diagonal covariance.
    pub covariance: CovarianceShape,
    /// Whether the Gaussian is over whitened or unwhitened variables. The default is unwhitened.
    pub parameterization: Parameterization,
    /// The number of columns of `K_vv` used per step; all of them if absent.
    #[setters(strip_option)]
    pub columns: Option<usize>,
    /// The seed for the order of the columns.
    pub seed: u64,
}

/// A full covariance over unwhitened variables.
impl Default for OrthogonallyDecoupledConfig {
    fn default() -> Self {
        Self {
            covariance: CovarianceShape::Full,
            parameterization: Parameterization::Unwhitened,
            columns: None,
            seed: 0,
        }
    }
}

register!(
    Posterior,
    "odvgp",
    OrthogonallyDecoupledConfig,
    "Orthogonally decoupled: a second set of inducing points for the mean only, as in odvgp"
);

impl PosteriorDefinition for OrthogonallyDecoupledConfig {
    fn has_orthogonal_set(&self) -> bool {
        true
    }

    #[track_caller]
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let [inducing, orthogonal] = exactly(sets);
        let gaussians = start.gaussians(&[&inducing], self.covariance, self.parameterization)?;
        let [gaussian] = exactly(gaussians);
        let shape = [start.outputs, orthogonal.count()];
        let weights = Tensor::zeros(shape, start.options.clone());
        let (first, second) = ((inducing, gaussian), (orthogonal, weights));
        let posterior =
            OrthogonallyDecoupled::new(first, second, self.parameterization, start.jitter);
        Ok(match self.columns {
            Some(columns) => posterior.with_columns(columns, self.seed),
            None => posterior,
        }
        .into())
    }
}

impl OrthogonallyDecoupled {
    /// Creates a posterior from the inducing variables u with their distribution (over u or `L⁻¹u`,
    /// depending on the parameterization), and the inducing variables v of the mean with their weights
    /// a, `[P, M2]`.
    pub fn new(
        (inducing, distribution): (impl Into<AnyInducing>, VariationalGaussian),
        (orthogonal, weights): (impl Into<AnyInducing>, Tensor<2>),
        parameterization: Parameterization,
        jitter: Jitter,
    ) -> Self {
        let steps = HostInteger::new(0, &weights.device());
        Self {
            inducing: inducing.into(),
            distribution,
            orthogonal: orthogonal.into(),
            weights: Param::from_tensor(weights),
            steps,
            columns: None,
            parameterization,
            jitter,
        }
    }

    /// Uses only `columns` columns of `K_vv` per step, in an order that depends on the seed.
    pub fn with_columns(mut self, columns: usize, seed: u64) -> Self {
        self.columns = Some(ColumnSampling { columns, seed });
        self
    }

    /// The inducing variables u.
    pub fn inducing(&self) -> &AnyInducing {
        &self.inducing
    }

    /// The distribution over u, or over `L⁻¹u`.
    pub fn distribution(&self) -> &VariationalGaussian {
        &self.distribution
    }

    /// The inducing variables v of the mean.
    pub fn orthogonal(&self) -> &AnyInducing {
        &self.orthogonal
    }

    /// The weights a of the mean, `[P, M2]`.
    pub fn weights(&self) -> Tensor<2> {
        self.weights.val()
    }

    /// L, the Gaussian over `L⁻¹u`, and `L⁻¹K_uv·a`, `[P, M]`.
    fn whitened(
        &self,
        prior: &Kernels,
    ) -> Result<(CholeskyFactor<3>, Moments, Tensor<2>), NotPositiveDefinite> {
        let factor = cholesky(self.inducing.kuu(prior), self.jitter)?; // K_uu = LLᵀ, [B, M, M]
        let q = match self.parameterization {
            Parameterization::Whitened => self.distribution.moments(),
            Parameterization::Unwhitened => whitened_moments(&factor, &self.distribution),
        };
        let weights = self.weights();
        let [outputs, _] = weights.dims();
        let kuv = self.inducing.kuv(prior, &self.orthogonal); // [B, M, M2]
        let [batch, _, _] = kuv.dims();
        let explained = product_of_each(kuv, weights).unsqueeze_dim(2); // K_uv·a, [P, M, 1]
        let explained = factor.solve(right_hand_sides(explained, batch));
        Ok((factor, q, of_each(explained, outputs).squeeze_dim(2)))
    }

    /// `Σ_p a_pᵀK_vv·a_p`, or its estimate from the columns of this step, `[1]`.
    fn squared_norm(&self, prior: &Kernels) -> Tensor<1> {
        let weights = self.weights();
        let Some(sampling) = self.columns else {
            let all = product_of_each(self.orthogonal.kuu(prior), weights.clone());
            return (all * weights).sum();
        };
        let [_, size] = weights.dims();
        let columns = sampling.of_step(self.steps.get() as usize, size);
        let columns = Tensor::<1, Int>::from_data(columns.as_slice(), &weights.device());
        let block = self.orthogonal.kuu_columns(prior, columns.clone()); // [B, M2, |J|]
        let some = product_of_each(block.transpose(), weights.clone()); // [P, |J|]
        (some * weights.select(1, columns)).sum() * sampling.parts(size) as f64
    }
}

impl Posterior for OrthogonallyDecoupled {
    fn evaluate(&self, prior: &Kernels, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let (factor, mut q, explained) = self.whitened(prior)?;
        // ½(aᵀK_vv·a − ‖L⁻¹K_uv·a‖²)
        let norm = self.squared_norm(prior) - explained.clone().square().sum();
        let kl = q.clone().kl_from_standard() + norm * 0.5;
        q.mean = q.mean - explained;
        let kff = prior_variances(prior, x.clone()); // k_ff, [N, B]
        let kuf = self.inducing.kuf(prior, x.clone()); // [B, M, N]
        // Λ = L⁻¹K_uf: Λᵀ(m − L⁻¹K_uv·a), colsum((WᵀΛ)²) − colsum(Λ²), [N, P]
        let (mean, change) = q.solve_and_project_relative(&factor, kuf);
        Ok(Evaluation {
            marginals: Marginals {
                mean: mean + expand(prior, &self.orthogonal, self.weights(), x), // … + K_fv·a
                variance: nonnegative(change + kff),
            },
            kl,
        })
    }

    fn condition(&self, prior: &Kernels) -> Result<Box<dyn SamplePaths>, NotPositiveDefinite> {
        let (this, prior) = (self.valid(), prior.valid());
        let (factor, q, explained) = this.whitened(&prior)?;
        let (mean, scale) = q.into_full();
        let weights = this.weights();
        let expansion = Expansion::new(prior.clone(), this.orthogonal, weights);
        let spread = WhitenedCovariance::Factor(scale);
        let mean = mean - explained;
        let process = ConditionedProcess::new(prior, this.inducing, factor, mean, spread);
        Ok(Box::new(WithMean::new(process, expansion)))
    }

    /// Moves on to the columns of the next step.
    fn after_step(&mut self, _prior: &Kernels) {
        if self.columns.is_some() {
            self.steps = self.steps.clone().plus(1);
        }
    }

    fn inducing(&self) -> Vec<&AnyInducing> {
        vec![&self.inducing, &self.orthogonal]
    }

    fn distributions(&self) -> Vec<&VariationalGaussian> {
        vec![&self.distribution]
    }
}
