//! Posteriors chosen at run time.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::{Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use super::{
    Coordinates, Evaluation, Expansion, FunctionMatrices, InducingGaussians, InducingSet,
    InverseFree, InverseFreeConfig, InverseFreeProcess, LSvgp, Orthogonal, OrthogonallyDecoupled,
    Posterior, PriorCovariances, PseudoObservationsConfig, Unwhitened, Whitened,
    orthogonal::prior_gaussians,
};
use crate::{
    inducing::{InducingVariables, SeparateInducing},
    kernels::{Kernel, SeparateKernels},
    ops::{Jitter, NotPositiveDefinite},
    process::{
        ConditionedProcess, CovarianceShape, EitherProcess, SeparateProcess, VariationalGaussian,
        WithMean,
    },
};

/// Configuration of any posterior, as stored in a model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "posterior", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PosteriorConfig {
    /// See [`Whitened`].
    Whitened {
        /// Full or diagonal covariance.
        #[serde(default)]
        covariance: CovarianceShape,
    },
    /// See [`Unwhitened`].
    Unwhitened {
        /// Full or diagonal covariance.
        #[serde(default)]
        covariance: CovarianceShape,
    },
    /// See [`Orthogonal`].
    Solve {
        /// Full or diagonal covariances.
        #[serde(default)]
        covariance: CovarianceShape,
        /// Whether the Gaussians are over whitened or unwhitened variables.
        #[serde(default)]
        coordinates: Coordinates,
    },
    /// See [`OrthogonallyDecoupled`].
    Odvgp {
        /// Full or diagonal covariance.
        #[serde(default)]
        covariance: CovarianceShape,
        /// Whether the Gaussian is over whitened or unwhitened variables.
        #[serde(default)]
        coordinates: Coordinates,
        /// The number of columns of `K_vv` used per step; all of them if absent.
        #[serde(default)]
        columns: Option<usize>,
        /// The seed for the order of the columns.
        #[serde(default)]
        seed: u64,
    },
    /// See [`LSvgp`].
    LSvgp {
        /// The pseudo-observations.
        #[serde(default)]
        observations: PseudoObservationsConfig,
    },
    /// See [`InverseFree`].
    InverseFree(InverseFreeConfig),
}

impl PosteriorConfig {
    /// Whether the posterior has a second set of inducing variables, orthogonal to the first.
    pub fn has_orthogonal_set(&self) -> bool {
        matches!(self, Self::Solve { .. } | Self::Odvgp { .. })
    }

    /// Initializes a posterior for `outputs` functions.
    ///
    /// The posterior equals the prior: in mean and, if its covariance is full, in covariance too.
    /// L-SVGP and the inverse-free posterior cannot represent the prior and start with zero mean
    /// and small variances.
    ///
    /// SOLVE-GP takes any number of sets of inducing variables, the orthogonally decoupled
    /// posterior exactly two, and every other posterior one.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    ///
    /// # Panics
    ///
    /// If the number of sets does not fit the posterior.
    #[track_caller]
    pub fn init<K: Kernel, I: InducingVariables<K>>(
        &self,
        sets: Vec<I>,
        kernel: &K,
        outputs: usize,
        jitter: Jitter,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnyPosterior<I>, NotPositiveDefinite> {
        self.at_prior::<2, I>(sets, kernel, outputs, jitter, options.into())
    }

    /// Like [`init`](Self::init), for functions with separate kernels.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    ///
    /// # Panics
    ///
    /// If the number of sets does not fit the posterior.
    #[track_caller]
    pub fn init_separate<K: Kernel, I: SeparateInducing<K>>(
        &self,
        sets: Vec<I>,
        kernels: &SeparateKernels<K>,
        jitter: Jitter,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnyPosterior<I>, NotPositiveDefinite> {
        self.at_prior::<3, I>(sets, kernels, kernels.outputs(), jitter, options.into())
    }

    #[track_caller]
    fn at_prior<const D: usize, I: Module>(
        &self,
        sets: Vec<I>,
        prior: &impl PriorCovariances<I, D>,
        outputs: usize,
        jitter: Jitter,
        options: TensorCreationOptions,
    ) -> Result<AnyPosterior<I>, NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let observations = |config: &PseudoObservationsConfig, inducing: &I| {
            // One S̃ if the kernel is shared, one per function if the kernels are separate.
            let groups = if D == 2 { 1 } else { outputs };
            config.init([outputs, prior.count(inducing)], groups, options.clone())
        };
        let gaussians = |sets: &[&I]| match self.form() {
            (CovarianceShape::Full, Coordinates::Unwhitened) => {
                prior_gaussians(prior, sets, outputs, jitter)
            }
            (shape, _) => {
                let sizes = sets.iter().map(|set| prior.count(set));
                let gaussian =
                    |size| VariationalGaussian::standard(size, outputs, shape, options.clone());
                Ok(sizes.map(gaussian).collect())
            }
        };
        Ok(match *self {
            Self::Whitened { .. } => {
                let [inducing] = exactly(sets);
                let [gaussian] = exactly(gaussians(&[&inducing])?);
                AnyPosterior::Whitened(Whitened::new(inducing, gaussian, jitter))
            }
            Self::Unwhitened { .. } => {
                let [inducing] = exactly(sets);
                let [gaussian] = exactly(gaussians(&[&inducing])?);
                AnyPosterior::Unwhitened(Unwhitened::new(inducing, gaussian, jitter))
            }
            Self::Solve { coordinates, .. } => {
                let gaussians = gaussians(&sets.iter().collect::<Vec<_>>())?;
                let sets = sets.into_iter().zip(gaussians);
                let sets = sets.map(|(inducing, gaussian)| InducingSet::new(inducing, gaussian));
                AnyPosterior::Solve(Orthogonal::new(sets.collect(), coordinates, jitter))
            }
            Self::Odvgp {
                coordinates,
                columns,
                seed,
                ..
            } => {
                let [inducing, orthogonal] = exactly(sets);
                let [gaussian] = exactly(gaussians(&[&inducing])?);
                let weights = Tensor::zeros([outputs, prior.count(&orthogonal)], options);
                let (first, second) = ((inducing, gaussian), (orthogonal, weights));
                let posterior = OrthogonallyDecoupled::new(first, second, coordinates, jitter);
                AnyPosterior::Odvgp(match columns {
                    Some(columns) => posterior.with_columns(columns, seed),
                    None => posterior,
                })
            }
            Self::LSvgp {
                observations: ref config,
            } => {
                let [inducing] = exactly(sets);
                let observations = observations(config, &inducing);
                AnyPosterior::LSvgp(LSvgp::new(inducing, observations))
            }
            Self::InverseFree(ref config) => {
                let [inducing] = exactly(sets);
                let observations = observations(&config.observations, &inducing);
                let posterior = InverseFree::at_start(inducing, observations, prior, config);
                AnyPosterior::InverseFree(posterior)
            }
        })
    }

    /// The shape of the covariances, and whether the Gaussians are over whitened variables.
    fn form(&self) -> (CovarianceShape, Coordinates) {
        match *self {
            Self::Whitened { covariance } => (covariance, Coordinates::Whitened),
            Self::Unwhitened { covariance } => (covariance, Coordinates::Unwhitened),
            Self::Solve {
                covariance,
                coordinates,
            }
            | Self::Odvgp {
                covariance,
                coordinates,
                ..
            } => (covariance, coordinates),
            Self::LSvgp { .. } | Self::InverseFree(_) => {
                (CovarianceShape::Diagonal, Coordinates::Unwhitened)
            }
        }
    }
}

/// Converts the sets to an array of the required length.
#[track_caller]
fn exactly<const N: usize, T>(sets: Vec<T>) -> [T; N] {
    match sets.try_into() {
        Ok(sets) => sets,
        Err(sets) => {
            let found = Vec::<T>::len(&sets);
            panic!("PosteriorConfig: {found} sets of inducing variables; expected {N}")
        }
    }
}

/// A posterior chosen at run time.
#[derive(Module, Debug)]
pub enum AnyPosterior<I: Module> {
    /// See [`Whitened`].
    Whitened(Whitened<I>),
    /// See [`Unwhitened`].
    Unwhitened(Unwhitened<I>),
    /// See [`Orthogonal`].
    Solve(Orthogonal<I>),
    /// See [`OrthogonallyDecoupled`].
    Odvgp(OrthogonallyDecoupled<I>),
    /// See [`LSvgp`].
    LSvgp(LSvgp<I>),
    /// See [`InverseFree`].
    InverseFree(InverseFree<I>),
}

impl<I: Module + ModuleDisplay> AnyPosterior<I> {
    /// The sets of inducing variables.
    pub fn inducing(&self) -> Vec<&I> {
        match self {
            Self::Odvgp(posterior) => vec![posterior.inducing(), posterior.orthogonal()],
            Self::LSvgp(posterior) => vec![posterior.inducing()],
            Self::InverseFree(posterior) => vec![posterior.inducing()],
            _ => self.sets().into_iter().map(|(set, _)| set).collect(),
        }
    }

    /// The Gaussians over the sets of inducing variables. An orthogonally decoupled posterior has
    /// one for its first set only; L-SVGP and the inverse-free posterior have none.
    pub fn distributions(&self) -> Vec<&VariationalGaussian> {
        self.sets()
            .into_iter()
            .map(|(_, gaussian)| gaussian)
            .collect()
    }

    fn sets(&self) -> Vec<(&I, &VariationalGaussian)> {
        match self {
            Self::Whitened(posterior) => posterior.sets(),
            Self::Unwhitened(posterior) => posterior.sets(),
            Self::Solve(posterior) => posterior.sets(),
            Self::Odvgp(posterior) => vec![(posterior.inducing(), posterior.distribution())],
            Self::LSvgp(_) | Self::InverseFree(_) => Vec::new(),
        }
    }
}

/// Implements [`Posterior`] for [`AnyPosterior`] under one type of prior.
macro_rules! posterior_under {
    ($prior:ty, $variables:ident, $process:ty) => {
        impl<K: Kernel, I: $variables<K>> Posterior<$prior> for AnyPosterior<I> {
            type Process = EitherProcess<
                EitherProcess<$process, WithMean<$process, Expansion<$prior, I>>>,
                InverseFreeProcess<$prior, I>,
            >;

            fn evaluate(
                &self,
                prior: &$prior,
                x: Tensor<2>,
            ) -> Result<Evaluation, NotPositiveDefinite> {
                match self {
                    Self::Whitened(posterior) => posterior.evaluate(prior, x),
                    Self::Unwhitened(posterior) => posterior.evaluate(prior, x),
                    Self::Solve(posterior) => posterior.evaluate(prior, x),
                    Self::Odvgp(posterior) => posterior.evaluate(prior, x),
                    Self::LSvgp(posterior) => posterior.evaluate(prior, x),
                    Self::InverseFree(posterior) => posterior.evaluate(prior, x),
                }
            }

            fn condition(&self, prior: &$prior) -> Result<Self::Process, NotPositiveDefinite> {
                let process = match self {
                    Self::InverseFree(posterior) => {
                        return Ok(EitherProcess::Second(posterior.condition(prior)?));
                    }
                    Self::Odvgp(posterior) => EitherProcess::Second(posterior.condition(prior)?),
                    Self::Whitened(posterior) => EitherProcess::First(posterior.condition(prior)?),
                    Self::Unwhitened(posterior) => {
                        EitherProcess::First(posterior.condition(prior)?)
                    }
                    Self::Solve(posterior) => EitherProcess::First(posterior.condition(prior)?),
                    Self::LSvgp(posterior) => EitherProcess::First(posterior.condition(prior)?),
                };
                Ok(EitherProcess::First(process))
            }

            fn after_step(self, prior: &$prior) -> Self {
                match self {
                    Self::Whitened(posterior) => Self::Whitened(posterior.after_step(prior)),
                    Self::Unwhitened(posterior) => Self::Unwhitened(posterior.after_step(prior)),
                    Self::Solve(posterior) => Self::Solve(posterior.after_step(prior)),
                    Self::Odvgp(posterior) => Self::Odvgp(posterior.after_step(prior)),
                    Self::LSvgp(posterior) => Self::LSvgp(posterior.after_step(prior)),
                    Self::InverseFree(posterior) => Self::InverseFree(posterior.after_step(prior)),
                }
            }

            fn refreshed(self, prior: &$prior) -> Self {
                match self {
                    Self::InverseFree(posterior) => Self::InverseFree(posterior.refreshed(prior)),
                    other => other,
                }
            }
        }
    };
}

posterior_under!(K, InducingVariables, ConditionedProcess<K, I>);
posterior_under!(SeparateKernels<K>, SeparateInducing, SeparateProcess<K, I>);
