//! What [`PosteriorConfig`](super::PosteriorConfig) needs to know about the configuration of each
//! posterior.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use super::{
    Coordinates, FunctionMatrices, InducingSet, PriorCovariances, PseudoObservations,
    PseudoObservationsConfig, orthogonal::prior_gaussians,
};
use crate::{
    ops::{Jitter, NotPositiveDefinite},
    process::{CovarianceShape, VariationalGaussian},
};

/// A configuration from which a posterior is made.
pub(super) trait ConfigBuild {
    /// The posterior over inducing variables `I`.
    type Posterior<I: Module>;

    /// Whether the posterior has a second set of inducing variables, orthogonal to the first.
    fn has_orthogonal_set(&self) -> bool {
        false
    }

    /// Makes the posterior over `sets`.
    fn build<const D: usize, I: Module + 'static>(
        &self,
        sets: Vec<I>,
        start: &PosteriorInit<'_, impl PriorCovariances<I, D>>,
    ) -> Result<Self::Posterior<I>, NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices;
}

/// The Gaussians of a new posterior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstGaussians {
    /// They equal the prior: in mean and, if their covariance is full, in covariance too.
    Prior,
    /// They are standard normal and will be replaced by those of a record. The prior is not
    /// evaluated: the covariance of inducing variables that are not loaded yet may have no factor.
    Blank,
}

/// The prior of a new posterior, and the type of its parameters.
pub(super) struct PosteriorInit<'a, P> {
    pub prior: &'a P,
    pub first: FirstGaussians,
    /// The number of functions, P.
    pub outputs: usize,
    pub jitter: Jitter,
    pub options: TensorCreationOptions,
}

impl<P> PosteriorInit<'_, P> {
    /// The initial Gaussian over each set.
    pub fn gaussians<const D: usize, I>(
        &self,
        sets: &[&I],
        shape: CovarianceShape,
        coordinates: Coordinates,
    ) -> Result<Vec<VariationalGaussian>, NotPositiveDefinite>
    where
        P: PriorCovariances<I, D>,
        Tensor<D>: FunctionMatrices,
    {
        let is_standard =
            coordinates == Coordinates::Whitened || shape == CovarianceShape::Diagonal;
        if self.first == FirstGaussians::Prior && !is_standard {
            return prior_gaussians(self.prior, sets, self.outputs, self.jitter);
        }
        let sizes = sets.iter().map(|set| self.prior.count(set));
        let options = || self.options.clone();
        let standard = |size| VariationalGaussian::standard(size, self.outputs, shape, options());
        Ok(sizes.map(standard).collect())
    }

    /// The sets, each with its initial Gaussian.
    pub fn inducing_sets<const D: usize, I: Module>(
        &self,
        sets: Vec<I>,
        shape: CovarianceShape,
        coordinates: Coordinates,
    ) -> Result<Vec<InducingSet<I>>, NotPositiveDefinite>
    where
        P: PriorCovariances<I, D>,
        Tensor<D>: FunctionMatrices,
    {
        let all: Vec<&I> = sets.iter().collect();
        let gaussians = self.gaussians(&all, shape, coordinates)?;
        let sets = sets.into_iter().zip(gaussians);
        let sets = sets.map(|(inducing, gaussian)| InducingSet::new(inducing, gaussian));
        Ok(sets.collect())
    }

    /// Pseudo-observations of the inducing variables.
    pub fn observations<const D: usize, I>(
        &self,
        config: &PseudoObservationsConfig,
        inducing: &I,
    ) -> PseudoObservations
    where
        P: PriorCovariances<I, D>,
    {
        // One S̃ if the kernel is shared, one per function if the kernels are separate.
        let groups = if D == 2 { 1 } else { self.outputs };
        let shape = [self.outputs, self.prior.count(inducing)];
        config.init(shape, groups, self.options.clone())
    }
}

/// The sets of a posterior that takes exactly `N`.
///
/// # Panics
///
/// If there are more or fewer.
#[track_caller]
pub(super) fn exactly<const N: usize, T>(sets: Vec<T>) -> [T; N] {
    match sets.try_into() {
        Ok(sets) => sets,
        Err(sets) => {
            let found = Vec::<T>::len(&sets);
            panic!("PosteriorConfig: {found} sets of inducing variables; expected {N}")
        }
    }
}
