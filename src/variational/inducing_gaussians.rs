//! Posteriors that are Gaussian over sets of inducing variables.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};
use serde::{Deserialize, Serialize};

use super::{
    Evaluation, FunctionMatrices, Posterior, PriorCovariances,
    orthogonal_factor::{OrthogonalFactor, from_blocks, sum_of_sets},
};
use crate::{
    inducing::InducingVariables,
    kernels::KernelModule,
    ops::{CholeskyFactor, Jitter, NotPositiveDefinite},
    process::{
        ConditionedProcess, Marginals, Moments, Scale, VariationalGaussian, WhitenedCovariance,
        nonnegative,
    },
};

/// The parameterization of a Gaussian over inducing variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coordinates {
    /// Over the whitened variables `L⁻¹u`, with L the Cholesky factor of their covariance.
    #[default]
    Whitened,
    /// Over the inducing variables themselves.
    Unwhitened,
}

/// A posterior made of independent Gaussians over sets of inducing variables, each set orthogonal
/// to the ones before it. [`Whitened`](super::Whitened) and [`Unwhitened`](super::Unwhitened) have
/// one set, [`Orthogonal`](super::Orthogonal) any number.
///
/// Every type that implements this trait is a [`Posterior`], under a shared kernel as well as under
/// separate kernels. Let `L_tt` and `A_st` be the blocks of the Cholesky factor of the joint
/// covariance of all sets, `Λ_t = L_tt⁻¹(K_tf − Σ_{s<t} A_stᵀΛ_s)` the features, and `m_t`,
/// `S_t = W_tW_tᵀ` the whitened moments. Then
/// `μ = Σ_t Λ_tᵀm_t`, `σ² = k_ff + Σ_t [colsum((W_tᵀΛ_t)²) − colsum(Λ_t²)]`,
/// `KL = Σ_t ½(‖W_t‖²_F + ‖m_t‖² − M_t) − Σ_i log|W_t,ii|`.
pub trait InducingGaussians: Module + ModuleDisplay {
    /// The type of the inducing variables of a set.
    type Inducing: Module;

    /// The inducing variables and their Gaussians, in the order in which the sets are
    /// orthogonalized. There is at least one set.
    fn sets(&self) -> Vec<(&Self::Inducing, &VariationalGaussian)>;

    /// Whether the Gaussians are over whitened or unwhitened variables.
    fn coordinates(&self) -> Coordinates;

    /// The jitter for the covariance of every set.
    fn jitter(&self) -> Jitter;
}

/// Inducing variables with their Gaussians.
pub(crate) type Sets<'a, I> = [(&'a I, &'a VariationalGaussian)];

/// Gaussians over sets of inducing variables in whitened coordinates, under one prior.
#[derive(Clone, Debug)]
pub(crate) struct WhitenedSets<const D: usize> {
    pub factor: OrthogonalFactor<D>,
    pub moments: Vec<Moments>,
}

impl<const D: usize> WhitenedSets<D>
where
    Tensor<D>: FunctionMatrices,
{
    /// Factors the joint covariance block by block and whitens the moments.
    pub fn new<I>(
        prior: &impl PriorCovariances<I, D>,
        sets: &Sets<'_, I>,
        coordinates: Coordinates,
        jitter: Jitter,
    ) -> Result<Self, NotPositiveDefinite> {
        let inducing: Vec<&I> = sets.iter().map(|(inducing, _)| *inducing).collect();
        let factor = OrthogonalFactor::new(prior, &inducing, jitter)?;
        let blocks = factor.blocks().iter().zip(sets);
        let moments = blocks
            .map(|(block, (_, distribution))| match coordinates {
                Coordinates::Whitened => distribution.moments(),
                Coordinates::Unwhitened => whitened_moments(block, distribution),
            })
            .collect();
        Ok(Self { factor, moments })
    }

    /// The marginals of `q(f)` at `x`.
    pub fn marginals<I>(
        &self,
        prior: &impl PriorCovariances<I, D>,
        sets: &Sets<'_, I>,
        x: Tensor<2>,
    ) -> Marginals {
        let prior_variance = prior.variances(x.clone()); // [N, 1] or [N, P]
        let rows = |set: usize| prior.kuf(sets[set].0, x.clone());
        let (mean, change) = (self.factor).solve_and_project_relative(rows, &self.moments); // [N, P]
        Marginals {
            mean,
            variance: nonnegative(change + prior_variance),
        }
    }

    /// The KL divergence from the prior, `[1]`.
    pub fn kl(&self) -> Tensor<1> {
        let each = self.moments.iter().map(|m| m.clone().kl_from_standard());
        sum_of_sets(each, |sum, kl| sum + kl)
    }

    /// Merges all sets into one: the factor of the joint covariance, and the mean, `[P, M]`, and
    /// lower-triangular factor, `[P, M, M]`, of the whitened variables.
    pub fn into_one(self) -> (CholeskyFactor<D>, Tensor<2>, Tensor<3>) {
        let moments = self.moments.into_iter().map(Moments::into_full);
        let (means, scales) = moments.unzip();
        let (mean, scale) = (Tensor::cat(means, 1), from_blocks(scales, |_, _| None));
        (self.factor.into_one(), mean, scale)
    }
}

/// `L⁻¹m` and `L⁻¹W`.
fn whitened_moments<const D: usize>(
    factor: &CholeskyFactor<D>,
    distribution: &VariationalGaussian,
) -> Moments
where
    Tensor<D>: FunctionMatrices,
{
    let mean = distribution.mean();
    let [outputs, _] = mean.dims();
    let columns = Tensor::<D>::right_hand_sides(mean.unsqueeze_dim(2));
    // The triangles of several functions that share a factor are side by side, which is not a
    // triangle.
    let is_triangle = D == 3 || outputs == 1;
    let scale = match distribution.moments().scale {
        Scale::Full(scale) if is_triangle => {
            factor.solve_lower(Tensor::<D>::right_hand_sides(scale))
        }
        _ => factor.solve(Tensor::<D>::right_hand_sides(distribution.scale())),
    };
    Moments {
        mean: factor.solve(columns).of_each(outputs).squeeze_dim(2),
        scale: Scale::Full(scale.of_each(outputs)),
    }
}

/// A Gaussian over unwhitened inducing variables that equals the prior, for `outputs` functions,
/// from the Cholesky factor of the prior covariance.
pub(crate) fn prior_gaussian<const D: usize>(
    factor: &CholeskyFactor<D>,
    outputs: usize,
) -> VariationalGaussian
where
    Tensor<D>: FunctionMatrices,
{
    let scale = factor.lower().detach().repeated(outputs); // [P, M, M]
    let [_, size, _] = scale.dims();
    let mean = Tensor::zeros([outputs, size], (&scale.device(), scale.dtype()));
    VariationalGaussian::full(mean, scale)
}

/// [`Posterior::evaluate`] for Gaussians over sets of inducing variables.
pub(crate) fn evaluate<const D: usize, Q: InducingGaussians>(
    posterior: &Q,
    prior: &impl PriorCovariances<Q::Inducing, D>,
    x: Tensor<2>,
) -> Result<Evaluation, NotPositiveDefinite>
where
    Tensor<D>: FunctionMatrices,
{
    let (sets, coordinates) = (posterior.sets(), posterior.coordinates());
    let whitened = WhitenedSets::new(prior, &sets, coordinates, posterior.jitter())?;
    Ok(Evaluation {
        marginals: whitened.marginals(prior, &sets, x),
        kl: whitened.kl(),
    })
}

/// The parts of a conditioned process: the inducing variables of all sets merged into one, the
/// factor of their covariance, and the mean and factor of their whitened variables.
pub(crate) type Conditions<I, const D: usize> = (I, CholeskyFactor<D>, Tensor<2>, Tensor<3>);

/// The parts of the process conditioned on a posterior. Neither `posterior` nor `prior` may be on
/// an autodiff device.
pub(crate) fn conditions<const D: usize, Q: InducingGaussians>(
    posterior: &Q,
    prior: &impl PriorCovariances<Q::Inducing, D>,
) -> Result<Conditions<Q::Inducing, D>, NotPositiveDefinite>
where
    Tensor<D>: FunctionMatrices,
{
    let (sets, coordinates) = (posterior.sets(), posterior.coordinates());
    let whitened = WhitenedSets::new(prior, &sets, coordinates, posterior.jitter())?;
    let (factor, mean, scale) = whitened.into_one();
    let inducing = match sets.as_slice() {
        [(only, _)] => (*only).clone(),
        sets => {
            let sets: Vec<_> = sets.iter().map(|(set, _)| (*set).clone()).collect();
            prior.union(&sets)
        }
    };
    Ok((inducing, factor, mean, scale))
}

impl<K: KernelModule, Q: InducingGaussians> Posterior<K> for Q
where
    Q::Inducing: InducingVariables<K>,
{
    type Process = ConditionedProcess<K, Q::Inducing>;

    fn evaluate(&self, kernel: &K, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        evaluate::<2, Q>(self, kernel, x)
    }

    fn condition(&self, kernel: &K) -> Result<Self::Process, NotPositiveDefinite> {
        let kernel = kernel.valid();
        let (inducing, factor, mean, scale) = conditions::<2, Q>(&self.valid(), &kernel)?;
        let spread = WhitenedCovariance::Factor(scale);
        Ok(ConditionedProcess::new(
            kernel, inducing, factor, mean, spread,
        ))
    }
}
