//! Configurations of posteriors.

use burn::tensor::{DType, TensorCreationOptions};

use super::{
    AnyPosterior, InducingSet, Parameterization, Posterior, PseudoObservations,
    PseudoObservationsConfig, orthogonal_factor::OrthogonalFactor, prior_gaussian,
};
use crate::{
    custom::{AnyDefinition, ComponentConfig, ComponentName, component_kind},
    inducing::AnyInducing,
    kernels::Kernels,
    ops::{Jitter, NotPositiveDefinite},
    parameter::ParameterError,
    process::{CovarianceShape, VariationalGaussian},
};

/// The configuration of a posterior. [`register!`](crate::register) it, and the posterior works in
/// configurations of models with one or several layers, on points and on patches, with shared and separate
/// kernels, and in files.
pub trait PosteriorDefinition: AnyDefinition {
    /// Makes the posterior over sets of inducing variables. There is one set, or two if there is an
    /// [orthogonal set](Self::has_orthogonal_set).
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite>;

    /// Whether the posterior has a second set of inducing variables, orthogonal to the first.
    fn has_orthogonal_set(&self) -> bool {
        false
    }

    /// Checks the values, apart from those of [`positive`](Self::positive).
    ///
    /// # Errors
    ///
    /// The reason, if one is out of range.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The fields that must be positive, with their values; `None` if absent.
    fn positive(&self) -> Vec<(&'static str, Option<f64>)> {
        Vec::new()
    }

    /// Fills in what depends on the precision, so that the configuration creates the same parameters in
    /// every precision as in `precision`.
    fn fix_precision(&mut self, _precision: DType) {}
}

component_kind!(Posterior, PosteriorDefinition, "posterior");

/// The configuration of any posterior, as stored in a model file.
pub type PosteriorConfig = ComponentConfig<dyn Posterior>;

/// A posterior chosen by name, with its default configuration.
pub type PosteriorName = ComponentName<dyn Posterior>;

impl PosteriorConfig {
    /// Checks the values of the configuration. `path` is the path of the posterior in its model, for
    /// error messages.
    ///
    /// # Errors
    ///
    /// When a value is out of range.
    pub fn check(&self, path: &str) -> Result<(), ParameterError> {
        for (name, value) in self.positive() {
            if let Some(value) = value {
                ParameterError::check_positive(&format!("{path}.{name}"), value)?;
            }
        }
        PosteriorDefinition::check(&**self).map_err(|reason| ParameterError::Refused {
            path: path.to_owned(),
            reason,
        })
    }

    /// Initializes a posterior for `outputs` functions. If the kernels are separate, there is one for each.
    ///
    /// The posterior equals the prior: in mean and, if its covariance is full, in covariance too.
    /// L-SVGP and the inverse-free posterior cannot represent the prior and start with zero mean
    /// and small variances.
    ///
    /// SOLVE-GP takes any number of sets of inducing variables, the orthogonally decoupled
    /// posterior exactly two, and every other posterior of this crate one.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    ///
    /// # Panics
    ///
    /// If the number of sets does not fit the posterior.
    #[track_caller]
    pub fn init<I: Into<AnyInducing>>(
        &self,
        sets: Vec<I>,
        prior: &Kernels,
        outputs: usize,
        jitter: Jitter,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let start = PosteriorInit {
            prior,
            first: FirstGaussians::Prior,
            outputs,
            jitter,
            options: options.into(),
        };
        self.build(sets.into_iter().map(Into::into).collect(), &start)
    }
}

/// The Gaussians of a new posterior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstGaussians {
    /// They equal the prior: in mean and, if their covariance is full, in covariance too.
    Prior,
    /// They are standard normal and will be replaced by those of a record. The prior is not
    /// evaluated: the covariance of inducing variables that are not loaded yet may have no factor.
    Skeleton,
}

/// The prior of a new posterior, and the type of its parameters.
#[derive(Clone, Debug)]
pub struct PosteriorInit<'a> {
    /// The kernels.
    pub prior: &'a Kernels,
    /// The initial Gaussians.
    pub first: FirstGaussians,
    /// The number of functions, P.
    pub outputs: usize,
    /// The jitter of the covariance of the inducing variables.
    pub jitter: Jitter,
    /// The device and the type of the parameters.
    pub options: TensorCreationOptions,
}

impl PosteriorInit<'_> {
    /// The initial Gaussian over each set.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn gaussians(
        &self,
        sets: &[&AnyInducing],
        shape: CovarianceShape,
        parameterization: Parameterization,
    ) -> Result<Vec<VariationalGaussian>, NotPositiveDefinite> {
        let is_standard =
            parameterization == Parameterization::Whitened || shape == CovarianceShape::Diagonal;
        if self.first == FirstGaussians::Prior && !is_standard {
            let factor = OrthogonalFactor::new(self.prior, sets, self.jitter)?;
            let blocks = factor.blocks().iter();
            return Ok(blocks
                .map(|block| prior_gaussian(block, self.outputs))
                .collect());
        }
        let options = || self.options.clone();
        let standard = |set: &&AnyInducing| {
            VariationalGaussian::standard(set.count(), self.outputs, shape, options())
        };
        Ok(sets.iter().map(standard).collect())
    }

    /// The sets, each with its initial Gaussian.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn inducing_sets(
        &self,
        sets: Vec<AnyInducing>,
        shape: CovarianceShape,
        parameterization: Parameterization,
    ) -> Result<Vec<InducingSet>, NotPositiveDefinite> {
        let all: Vec<&AnyInducing> = sets.iter().collect();
        let gaussians = self.gaussians(&all, shape, parameterization)?;
        let sets = sets.into_iter().zip(gaussians);
        let sets = sets.map(|(inducing, gaussian)| InducingSet::new(inducing, gaussian));
        Ok(sets.collect())
    }

    /// Pseudo-observations of the inducing variables, with one S̃ for each kernel.
    pub fn observations(
        &self,
        config: &PseudoObservationsConfig,
        inducing: &AnyInducing,
    ) -> PseudoObservations {
        let groups = match inducing.of_function(0) {
            Some(_) => self.outputs,
            None => self.prior.count(),
        };
        let shape = [self.outputs, inducing.count()];
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
