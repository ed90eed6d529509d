//! Posteriors that are Gaussian over sets of inducing variables.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};
use serde::{Deserialize, Serialize};

use super::{
    Evaluation, Posterior,
    orthogonal_factor::{OrthogonalFactor, from_blocks, sum_of_sets},
};
use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::{CholeskyFactor, Jitter, NotPositiveDefinite},
    process::{
        ConditionedProcess, Marginals, Moments, SamplePaths, Scale, VariationalGaussian,
        WhitenedCovariance, nonnegative, of_each, prior_variances, right_hand_sides,
    },
};

/// The parameterization of a Gaussian over inducing variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parameterization {
    /// Over the whitened variables `L⁻¹u`, with L the Cholesky factor of their covariance.
    #[default]
    Whitened,
    /// Over the inducing variables themselves.
    Unwhitened,
}

/// A posterior made of independent Gaussians over sets of inducing variables, each set orthogonal
/// to the ones before it, such as [`SolveGp`](super::SolveGp).
///
/// Every type that implements this trait is a [`Posterior`]. Let `L_tt` and `A_st` be the blocks of the Cholesky factor of the joint
/// covariance of all sets, `Λ_t = L_tt⁻¹(K_tf − Σ_{s<t} A_stᵀΛ_s)` the features, and `m_t`,
/// `S_t = W_tW_tᵀ` the whitened moments. Then
/// `μ = Σ_t Λ_tᵀm_t`, `σ² = k_ff + Σ_t [colsum((W_tᵀΛ_t)²) − colsum(Λ_t²)]`,
/// `KL = Σ_t ½(‖W_t‖²_F + ‖m_t‖² − M_t) − Σ_i log|W_t,ii|`.
pub trait InducingGaussians: Module + ModuleDisplay + Sync + 'static {
    /// The inducing variables and their Gaussians, in the order in which the sets are
    /// orthogonalized. There is at least one set.
    fn sets(&self) -> Vec<(&AnyInducing, &VariationalGaussian)>;

    /// Whether the Gaussians are over whitened or unwhitened variables.
    fn parameterization(&self) -> Parameterization;

    /// The jitter for the covariance of every set.
    fn jitter(&self) -> Jitter;
}

/// The factor of the joint covariance of all sets, block by block, and the whitened moments of each.
fn whitened<Q: InducingGaussians>(
    posterior: &Q,
    prior: &Kernels,
) -> Result<(OrthogonalFactor, Vec<Moments>), NotPositiveDefinite> {
    let sets = posterior.sets();
    let inducing: Vec<&AnyInducing> = sets.iter().map(|(inducing, _)| *inducing).collect();
    let factor = OrthogonalFactor::new(prior, &inducing, posterior.jitter())?;
    let blocks = factor.blocks().iter().zip(sets);
    let moments = blocks
        .map(
            |(block, (_, distribution))| match posterior.parameterization() {
                Parameterization::Whitened => distribution.moments(),
                Parameterization::Unwhitened => whitened_moments(block, distribution),
            },
        )
        .collect();
    Ok((factor, moments))
}

/// `L⁻¹m` and `L⁻¹W`.
pub(super) fn whitened_moments(
    factor: &CholeskyFactor<3>,
    distribution: &VariationalGaussian,
) -> Moments {
    let mean = distribution.mean();
    let ([outputs, _], [batch, _, _]) = (mean.dims(), factor.triangle().dims());
    let columns = right_hand_sides(mean.unsqueeze_dim(2), batch);
    // The triangles of several functions that share a factor are side by side, which is not a
    // triangle.
    let scale = match distribution.moments().scale {
        Scale::Full(scale) if batch == outputs => factor.solve_lower(scale),
        _ => factor.solve(right_hand_sides(distribution.scale(), batch)),
    };
    Moments {
        mean: of_each(factor.solve(columns), outputs).squeeze_dim(2),
        scale: Scale::Full(of_each(scale, outputs)),
    }
}

/// A Gaussian over unwhitened inducing variables that equals the prior, for `outputs` functions,
/// from the Cholesky factor of the prior covariance.
pub(crate) fn prior_gaussian(factor: &CholeskyFactor<3>, outputs: usize) -> VariationalGaussian {
    let lower = factor.lower().detach(); // [B, M, M]
    let [batch, size, _] = lower.dims();
    let scale = lower.repeat_dim(0, outputs / batch); // [P, M, M]
    let mean = Tensor::zeros([outputs, size], (&scale.device(), scale.dtype()));
    VariationalGaussian::full(mean, scale)
}

impl<Q: InducingGaussians> Posterior for Q {
    fn evaluate(&self, prior: &Kernels, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let (factor, moments) = whitened(self, prior)?;
        let sets = self.sets();
        let kff = prior_variances(prior, x.clone()); // [N, B]
        let kuf = |set: usize| sets[set].0.kuf(prior, x.clone()); // [B, M_t, N]
        // Σ_t Λ_tᵀm_t and Σ_t [colsum((W_tᵀΛ_t)²) − colsum(Λ_t²)], [N, P]
        let (mean, change) = factor.solve_and_project_relative(kuf, &moments);
        let each = moments.into_iter().map(Moments::kl_from_standard);
        Ok(Evaluation {
            marginals: Marginals {
                mean,
                variance: nonnegative(change + kff),
            },
            kl: sum_of_sets(each, |sum, kl| sum + kl),
        })
    }

    /// The sets merged into one, with the factor of their joint covariance.
    fn condition(&self, prior: &Kernels) -> Result<Box<dyn SamplePaths>, NotPositiveDefinite> {
        let (this, prior) = (self.valid(), prior.valid());
        let (factor, moments) = whitened(&this, &prior)?;
        let (means, scales) = moments.into_iter().map(Moments::into_full).unzip();
        let (mean, scale) = (Tensor::cat(means, 1), from_blocks(scales, |_, _| None));
        let sets = this.sets();
        let others: Vec<&AnyInducing> = sets[1..].iter().map(|(set, _)| *set).collect();
        let inducing = match others.as_slice() {
            [] => sets[0].0.clone(),
            others => sets[0].0.union(others),
        };
        let spread = WhitenedCovariance::Factor(scale);
        let process = ConditionedProcess::new(prior, inducing, factor.into_one(), mean, spread);
        Ok(Box::new(process))
    }

    fn inducing(&self) -> Vec<&AnyInducing> {
        self.sets().into_iter().map(|(set, _)| set).collect()
    }

    fn distributions(&self) -> Vec<&VariationalGaussian> {
        let sets = self.sets().into_iter();
        sets.map(|(_, gaussian)| gaussian).collect()
    }
}
