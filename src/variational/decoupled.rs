//! The orthogonally decoupled posterior.

use burn::{
    module::{Module, Param},
    tensor::{Int, Tensor},
};

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    ColumnSampling, Coordinates, Evaluation, Expansion, FunctionMatrices, InducingSets, Posterior,
    PriorCovariances,
    definition::{ConfigBuild, PosteriorInit, exactly},
    expansion::{expand, weighted},
    inducing_gaussians::WhitenedSets,
};
use crate::{
    inducing::InducingVariables,
    kernels::KernelModule,
    ops::{CholeskyFactor, Jitter, NotPositiveDefinite},
    parameter::HostInteger,
    process::{
        ConditionedProcess, CovarianceShape, VariationalGaussian, WhitenedCovariance, WithMean,
    },
};

/// ODVGP: a Gaussian over the inducing variables `u = f(Z)`, plus a mean with a much larger set `v`
/// at O, orthogonal to u.
///
/// It is [`Orthogonal`](super::Orthogonal) with two sets, where the second covariance stays at its
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
///     kernels::StationaryConfig,
///     ops::{Jitter, NotPositiveDefinite, Stationary},
///     process::{CovarianceShape, VariationalGaussian},
///     variational::{OrthogonallyDecoupled, OrthogonallyDecoupledConfig, Posterior},
/// };
///
/// # fn main() -> Result<(), NotPositiveDefinite> {
/// let device = Device::default();
/// let kernel = StationaryConfig::new(Stationary::Matern52).init(1, &device);
/// let inducing = || InducingPoints::new(Tensor::from_data([[0.0], [1.0], [2.0]], &device));
/// let jitter = Jitter::for_precision(DType::F32);
/// let distribution = || VariationalGaussian::standard(3, 1, CovarianceShape::Full, &device);
/// let mean_points = InducingPoints::new(Tensor::from_data([[0.5], [1.5]], &device));
/// let weights = Tensor::from_data([[1.0, -1.0]], &device);
/// let coordinates = OrthogonallyDecoupledConfig::default().coordinates;
/// let posterior = OrthogonallyDecoupled::new(
///     (inducing(), distribution()),
///     (mean_points, weights),
///     coordinates,
///     jitter,
/// );
/// let evaluation = posterior.evaluate(&kernel, Tensor::from_data([[0.5], [1.5]], &device))?;
/// assert_eq!(evaluation.marginals.mean.dims(), [2, 1]);
/// // The weights of the second set move the mean away from the prior.
/// assert!(evaluation.kl.into_scalar::<f64>() > 0.0);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct OrthogonallyDecoupled<I: Module> {
    inducing: I,
    distribution: VariationalGaussian,
    orthogonal: I,
    /// a, [P, M2]
    weights: Param<Tensor<2>>,
    /// The number of optimizer steps so far, counted only if columns are sampled. It is part of the
    /// record, so that a restored posterior continues with the same sequence of columns.
    steps: HostInteger,
    #[module(skip)]
    columns: Option<ColumnSampling>,
    #[module(skip)]
    coordinates: Coordinates,
    #[module(skip)]
    jitter: Jitter,
}

/// Configuration of an [`OrthogonallyDecoupled`] posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default, deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct OrthogonallyDecoupledConfig {
    /// Full or diagonal covariance.
    pub covariance: CovarianceShape,
    /// Whether the Gaussian is over whitened or unwhitened variables.
    pub coordinates: Coordinates,
    /// The number of columns of `K_vv` used per step; all of them if absent.
    #[setters(strip_option)]
    pub columns: Option<usize>,
    /// The seed for the order of the columns.
    pub seed: u64,
}

impl ConfigBuild for OrthogonallyDecoupledConfig {
    type Posterior<I: Module> = OrthogonallyDecoupled<I>;

    fn has_orthogonal_set(&self) -> bool {
        true
    }

    #[track_caller]
    fn build<const D: usize, I: Module + 'static>(
        &self,
        sets: Vec<I>,
        start: &PosteriorInit<'_, impl PriorCovariances<I, D>>,
    ) -> Result<OrthogonallyDecoupled<I>, NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let [inducing, orthogonal] = exactly(sets);
        let gaussians = start.gaussians(&[&inducing], self.covariance, self.coordinates)?;
        let [gaussian] = exactly(gaussians);
        let shape = [start.outputs, start.prior.count(&orthogonal)];
        let weights = Tensor::zeros(shape, start.options.clone());
        let (first, second) = ((inducing, gaussian), (orthogonal, weights));
        let posterior = OrthogonallyDecoupled::new(first, second, self.coordinates, start.jitter);
        Ok(match self.columns {
            Some(columns) => posterior.with_columns(columns, self.seed),
            None => posterior,
        })
    }
}

impl<I: Module> InducingSets for OrthogonallyDecoupled<I> {
    type Inducing = I;

    fn inducing(&self) -> Vec<&I> {
        vec![&self.inducing, &self.orthogonal]
    }

    fn distributions(&self) -> Vec<&VariationalGaussian> {
        vec![&self.distribution]
    }
}

impl<I: Module> OrthogonallyDecoupled<I> {
    /// Creates a posterior from the inducing variables u with their distribution (over u or `L⁻¹u`,
    /// depending on the coordinates), and the inducing variables v of the mean with their weights
    /// a, `[P, M2]`.
    pub fn new(
        (inducing, distribution): (I, VariationalGaussian),
        (orthogonal, weights): (I, Tensor<2>),
        coordinates: Coordinates,
        jitter: Jitter,
    ) -> Self {
        let steps = HostInteger::new(0, &weights.device());
        Self {
            inducing,
            distribution,
            orthogonal,
            weights: Param::from_tensor(weights),
            steps,
            columns: None,
            coordinates,
            jitter,
        }
    }

    /// Uses only `columns` columns of `K_vv` per step, in an order that depends on the seed.
    pub fn with_columns(mut self, columns: usize, seed: u64) -> Self {
        self.columns = Some(ColumnSampling { columns, seed });
        self
    }

    /// The inducing variables u.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// The distribution over u, or over `L⁻¹u`.
    pub fn distribution(&self) -> &VariationalGaussian {
        &self.distribution
    }

    /// The inducing variables v of the mean.
    pub fn orthogonal(&self) -> &I {
        &self.orthogonal
    }

    /// The weights a of the mean, `[P, M2]`.
    pub fn weights(&self) -> Tensor<2> {
        self.weights.val()
    }

    /// The Gaussian over u in whitened coordinates, and `L⁻¹K_uv·a`, `[P, M]`.
    fn whitened<const D: usize>(
        &self,
        prior: &impl PriorCovariances<I, D>,
    ) -> Result<(WhitenedSets<D>, Tensor<2>), NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let sets = [(&self.inducing, &self.distribution)];
        let whitened = WhitenedSets::new(prior, &sets, self.coordinates, self.jitter)?;
        let weights = self.weights();
        let [outputs, _] = weights.dims();
        let kuv = prior.kuv(&self.inducing, &self.orthogonal);
        let explained = weighted(kuv, weights).unsqueeze_dim(2); // K_uv·a, [P, M, 1]
        let explained = whitened.factor.blocks()[0].solve(Tensor::<D>::right_hand_sides(explained));
        Ok((whitened, explained.of_each(outputs).squeeze_dim(2)))
    }

    /// `Σ_p a_pᵀK_vv·a_p`, or its estimate from the columns of this step, `[1]`.
    fn squared_norm<const D: usize>(&self, prior: &impl PriorCovariances<I, D>) -> Tensor<1>
    where
        Tensor<D>: FunctionMatrices,
    {
        let weights = self.weights();
        let Some(sampling) = self.columns else {
            let all = weighted(prior.kuu(&self.orthogonal), weights.clone());
            return (all * weights).sum();
        };
        let [_, size] = weights.dims();
        let columns = sampling.of_step(self.steps.get() as usize, size);
        let columns = Tensor::<1, Int>::from_data(columns.as_slice(), &weights.device());
        let block = prior.kuu_columns(&self.orthogonal, columns.clone()); // [M2, |J|]
        let some = weighted(block.transpose(), weights.clone()); // [P, |J|]
        (some * weights.select(1, columns)).sum() * sampling.parts(size) as f64
    }

    /// [`Posterior::evaluate`], under a shared kernel or separate ones.
    pub(crate) fn evaluate_under<const D: usize>(
        &self,
        prior: &impl PriorCovariances<I, D>,
        x: Tensor<2>,
    ) -> Result<Evaluation, NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let (mut whitened, explained) = self.whitened(prior)?;
        let norm = self.squared_norm(prior) - explained.clone().square().sum();
        let kl = whitened.kl() + norm * 0.5;
        let mean = &mut whitened.moments[0].mean;
        *mean = mean.clone() - explained;
        let sets = [(&self.inducing, &self.distribution)];
        let mut marginals = whitened.marginals(prior, &sets, x.clone());
        marginals.mean = marginals.mean + expand(prior, &self.orthogonal, self.weights(), x);
        Ok(Evaluation { marginals, kl })
    }

    /// The factor of `K_uu`, and the mean and factor of the whitened u before the expansion over v
    /// is added.
    pub(crate) fn conditions<const D: usize>(
        &self,
        prior: &impl PriorCovariances<I, D>,
    ) -> Result<(CholeskyFactor<D>, Tensor<2>, Tensor<3>), NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let (whitened, explained) = self.whitened(prior)?;
        let (factor, mean, scale) = whitened.into_one();
        Ok((factor, mean - explained, scale))
    }

    /// Moves on to the columns of the next step.
    pub(crate) fn advanced(self) -> Self {
        if self.columns.is_none() {
            return self;
        }
        Self {
            steps: self.steps.plus(1),
            ..self
        }
    }
}

impl<K: KernelModule, I: InducingVariables<K>> Posterior<K> for OrthogonallyDecoupled<I> {
    type Process = WithMean<ConditionedProcess<K, I>>;

    fn evaluate(&self, kernel: &K, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        self.evaluate_under::<2>(kernel, x)
    }

    fn condition(&self, kernel: &K) -> Result<Self::Process, NotPositiveDefinite> {
        let (this, kernel) = (self.valid(), kernel.valid());
        let (factor, mean, scale) = this.conditions::<2>(&kernel)?;
        let expansion = Expansion::new(kernel.clone(), this.orthogonal.clone(), this.weights());
        let spread = WhitenedCovariance::Factor(scale);
        let process = ConditionedProcess::new(kernel, this.inducing, factor, mean, spread);
        Ok(WithMean::new(process, expansion))
    }

    fn after_step(self, _kernel: &K) -> Self {
        self.advanced()
    }
}
