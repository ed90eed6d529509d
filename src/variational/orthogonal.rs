//! Posteriors with orthogonal sets of inducing variables.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};

use super::{
    Coordinates, FunctionMatrices, InducingGaussians, PriorCovariances,
    orthogonal_factor::OrthogonalFactor, prior_gaussian,
};
use crate::{
    inducing::InducingVariables,
    kernels::Kernel,
    ops::{Jitter, NotPositiveDefinite},
    process::VariationalGaussian,
};

/// A set of inducing variables and the Gaussians over them.
#[derive(Module, Debug)]
pub struct InducingSet<I: Module> {
    inducing: I,
    distribution: VariationalGaussian,
}

impl<I: Module> InducingSet<I> {
    /// Inducing variables with a distribution over them.
    pub fn new(inducing: I, distribution: VariationalGaussian) -> Self {
        Self {
            inducing,
            distribution,
        }
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// The distribution.
    pub fn distribution(&self) -> &VariationalGaussian {
        &self.distribution
    }
}

/// SOLVE-GP: independent Gaussians over T sets of inducing variables, each of which summarizes what
/// the sets before it leave of the functions.
///
/// For two sets, `u = f(Z)` and `v = f(O) − E[f(O) | u]` with `c = k − k(·, Z)·K_uu⁻¹·k(Z, ·)` the
/// covariance that Z leaves and `C_vv` its matrix at O:
/// `μ(x) = k(x, Z)·K_uu⁻¹·m_u + c(x, O)·C_vv⁻¹·m_v`,
/// `σ²(x) = k(x, Z)·K_uu⁻¹·S_u·K_uu⁻¹·k(Z, x) + c(x, x) + c(x, O)·C_vv⁻¹(S_v − C_vv)C_vv⁻¹·c(O, x)`,
/// `KL = KL[N(m_u, S_u) ‖ N(0, K_uu)] + KL[N(m_v, S_v) ‖ N(0, C_vv)]`
/// (J. Shi, M. Titsias and A. Mnih, *Sparse Orthogonal Variational Inference for Gaussian
/// Processes*, arXiv:1910.10596, eqs. 33 to 36). The two
/// factorizations cost a quarter of one of M + M2 variables, and the couplings between the sets most
/// of the rest; what is saved for good are the parts of the covariance between u and v, in the
/// moments and in the divergence. One set is the whitened or unwhitened posterior; more than two
/// repeat the decomposition on what is left.
///
/// The computation is the paper's algorithm 1 (see [`InducingGaussians`] for the formulas). Where
/// the Gaussians are over the variables themselves, their moments are whitened, `L⁻¹m` and
/// `Pm = L⁻¹W`: the divergence needs both anyway, and `(Pm)ᵀΛ` is the paper's F (H for v) without
/// its solves for E and G, which have a column for each input.
///
/// Whitened, this is a whitened posterior on the union of the sets with a block-diagonal covariance
/// (the factor of whose prior covariance has the blocks above), and that is what
/// [`condition`](super::Posterior::condition) makes of it.
#[derive(Module, Debug)]
pub struct Orthogonal<I: Module> {
    sets: Vec<InducingSet<I>>,
    #[module(skip)]
    coordinates: Coordinates,
    #[module(skip)]
    jitter: Jitter,
}

impl<I: Module> Orthogonal<I> {
    /// A posterior with the given sets, in the order in which they are made orthogonal.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub fn new(sets: Vec<InducingSet<I>>, coordinates: Coordinates, jitter: Jitter) -> Self {
        assert!(
            !sets.is_empty(),
            "Orthogonal: no set of inducing variables given"
        );
        Self {
            sets,
            coordinates,
            jitter,
        }
    }

    /// A posterior over the inducing variables themselves that is equal to the prior under
    /// `kernel`, for `outputs` functions.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    ///
    /// # Panics
    ///
    /// If there are no inducing variables.
    #[track_caller]
    pub fn at_prior<K: Kernel>(
        inducing: Vec<I>,
        kernel: &K,
        outputs: usize,
        jitter: Jitter,
    ) -> Result<Self, NotPositiveDefinite>
    where
        I: InducingVariables<K>,
    {
        let sets: Vec<&I> = inducing.iter().collect();
        let gaussians = prior_gaussians::<2, I>(kernel, &sets, outputs, jitter)?;
        let sets = inducing.into_iter().zip(gaussians);
        let sets = sets.map(|(inducing, gaussian)| InducingSet::new(inducing, gaussian));
        Ok(Self::new(sets.collect(), Coordinates::Unwhitened, jitter))
    }

    /// The sets, in the order in which they are made orthogonal.
    pub fn inducing_sets(&self) -> &[InducingSet<I>] {
        &self.sets
    }
}

impl<I: Module + ModuleDisplay> InducingGaussians for Orthogonal<I> {
    type Inducing = I;

    fn sets(&self) -> Vec<(&I, &VariationalGaussian)> {
        let sets = self.sets.iter();
        sets.map(|set| (&set.inducing, &set.distribution)).collect()
    }

    fn coordinates(&self) -> Coordinates {
        self.coordinates
    }

    fn jitter(&self) -> Jitter {
        self.jitter
    }
}

/// Gaussians over the inducing variables of each set that are equal to the prior, for `outputs`
/// functions.
pub(crate) fn prior_gaussians<const D: usize, I>(
    prior: &impl PriorCovariances<I, D>,
    sets: &[&I],
    outputs: usize,
    jitter: Jitter,
) -> Result<Vec<VariationalGaussian>, NotPositiveDefinite>
where
    Tensor<D>: FunctionMatrices,
{
    let factor = OrthogonalFactor::new(prior, sets, jitter)?;
    let blocks = factor.blocks().iter();
    Ok(blocks.map(|block| prior_gaussian(block, outputs)).collect())
}
