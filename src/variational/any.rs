//! Posteriors chosen at run time.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::{DType, Tensor, TensorCreationOptions},
};

// A glob import, since every posterior is named in the list below.
use super::{
    custom::PosteriorFunctions,
    definition::{ConfigBuild, PosteriorInit},
    *,
};
use crate::{
    custom::{Choice, Choices, configs, registered},
    inducing::{InducingVariables, SeparateInducing},
    kernels::{KernelModule, SeparateKernels},
    ops::{Jitter, NotPositiveDefinite},
    parameter::ParameterError,
    process::{DrawableProcess, VariationalGaussian},
};

/// Defines [`PosteriorConfig`] and [`AnyPosterior`] from the list of posteriors of this crate. `as`
/// is followed by a name for the command line, the fields that differ from the default, and the
/// help text.
macro_rules! posteriors {
    ($(
        $name:literal $variant:ident($config:ident => $posterior:ident)
        $(as $choice:literal { $($field:ident: $value:expr),* } $help:literal)+
    ),+ $(,)?) => {
        configs! {
            /// Configuration of any posterior, as stored in a model file.
            PosteriorConfig(CustomPosteriorConfig), tag = "posterior":
            $(
                #[doc = concat!("See [`", stringify!($posterior), "`].")]
                $name $variant($config)
            ),+
        }

        impl PosteriorConfig {
            /// Whether the posterior has a second set of inducing variables, orthogonal to the
            /// first.
            pub fn has_orthogonal_set(&self) -> bool {
                match self {
                    $(Self::$variant(config) => config.has_orthogonal_set(),)+
                    Self::Custom(config) => config.has_orthogonal_set(),
                }
            }

            #[track_caller]
            fn build<const D: usize, I: Module + 'static>(
                &self,
                sets: Vec<I>,
                start: &PosteriorInit<'_, impl PriorCovariances<I, D>>,
            ) -> Result<AnyPosterior<I>, NotPositiveDefinite>
            where
                Tensor<D>: FunctionMatrices,
            {
                Ok(match self {
                    $(Self::$variant(config) => {
                        AnyPosterior::$variant(config.build(sets, start)?)
                    })+
                    Self::Custom(config) => AnyPosterior::Custom(config.build(sets, start)?),
                })
            }
        }

        impl Choices for fn() -> PosteriorConfig {
            fn choices() -> impl Iterator<Item = PosteriorName> {
                let own = [$($(
                    PosteriorName::new($choice, $help, || {
                        $config { $($field: $value,)* ..Default::default() }.into()
                    })
                ),+),+];
                let registered = registered::<PosteriorFunctions>();
                own.into_iter().chain(registered.map(|functions| functions.name))
            }
        }

        /// A posterior chosen at run time.
        #[derive(Module, Debug)]
        pub enum AnyPosterior<I: Module> {
            $(
                #[doc = concat!("See [`", stringify!($posterior), "`].")]
                $variant($posterior<I>),
            )+
            /// A posterior of another crate.
            Custom(CustomPosterior),
        }

        impl<I: Module + ModuleDisplay + 'static> AnyPosterior<I> {
            /// The sets of inducing variables.
            pub fn inducing(&self) -> Vec<&I> {
                match self {
                    $(Self::$variant(posterior) => InducingSets::inducing(posterior),)+
                    Self::Custom(posterior) => posterior.inducing(),
                }
            }

            /// The Gaussians over the sets of inducing variables. An orthogonally decoupled
            /// posterior has one for its first set only; L-SVGP and the inverse-free posterior have
            /// none.
            pub fn distributions(&self) -> Vec<&VariationalGaussian> {
                match self {
                    $(Self::$variant(posterior) => InducingSets::distributions(posterior),)+
                    Self::Custom(posterior) => posterior.distributions(),
                }
            }
        }

        posteriors!(@under K, InducingVariables; $($variant)+);
        posteriors!(@under SeparateKernels<K>, SeparateInducing; $($variant)+);
    };
    (@under $prior:ty, $variables:ident; $($variant:ident)+) => {
        impl<K: KernelModule, I: $variables<K>> Posterior<$prior> for AnyPosterior<I> {
            type Process = Box<dyn DrawableProcess>;

            fn evaluate(
                &self,
                prior: &$prior,
                x: Tensor<2>,
            ) -> Result<Evaluation, NotPositiveDefinite> {
                match self {
                    $(Self::$variant(posterior) => posterior.evaluate(prior, x),)+
                    Self::Custom(posterior) => posterior.evaluate(prior, x),
                }
            }

            fn condition(&self, prior: &$prior) -> Result<Self::Process, NotPositiveDefinite> {
                Ok(match self {
                    $(Self::$variant(posterior) => Box::new(posterior.condition(prior)?),)+
                    Self::Custom(posterior) => posterior.condition(prior)?,
                })
            }

            fn after_step(self, prior: &$prior) -> Self {
                match self {
                    $(Self::$variant(posterior) => Self::$variant(posterior.after_step(prior)),)+
                    Self::Custom(posterior) => Self::Custom(posterior.after_step(prior)),
                }
            }

            fn synchronized(self, prior: &$prior) -> Self {
                match self {
                    $(Self::$variant(posterior) => Self::$variant(posterior.synchronized(prior)),)+
                    Self::Custom(posterior) => Self::Custom(posterior.synchronized(prior)),
                }
            }
        }
    };
}

posteriors! {
    "whitened" Whitened(WhitenedConfig => Whitened)
        as "whitened" {} "A Gaussian over whitened inducing variables, as in the model svgp",
    "unwhitened" Unwhitened(UnwhitenedConfig => Unwhitened)
        as "unwhitened" {} "A Gaussian over the inducing variables themselves, as in svgp-unwhitened",
    "solve" Solve(OrthogonalConfig => Orthogonal)
        as "solve" {}
            "With a second, orthogonal set of inducing points (SOLVE-GP), as in solve"
        as "solve-unwhitened" { coordinates: Coordinates::Unwhitened }
            "SOLVE-GP over unwhitened inducing variables, as in solve-unwhitened",
    "odvgp" Odvgp(OrthogonallyDecoupledConfig => OrthogonallyDecoupled)
        as "odvgp" { coordinates: Coordinates::Unwhitened }
            "Orthogonally decoupled: a second set of inducing points for the mean only, as in odvgp",
    "l-svgp" LSvgp(LSvgpConfig => LSvgp)
        as "l-svgp" {} "Pseudo-observations with Cholesky factors (L-SVGP), as in l-svgp",
    "inverse-free" InverseFree(InverseFreeConfig => InverseFree)
        as "inverse-free" {}
            "Pseudo-observations with matrix products only (R-SVGP), as in inverse-free",
}

/// A posterior chosen by name.
pub type PosteriorName = Choice<fn() -> PosteriorConfig>;

impl PosteriorConfig {
    /// The configuration that creates the same parameters in every precision as this one does in
    /// `precision`. It serves to read models that were saved in another precision.
    pub fn as_in(mut self, precision: DType) -> Self {
        if let Self::LSvgp(LSvgpConfig { observations })
        | Self::InverseFree(InverseFreeConfig { observations, .. }) = &mut self
        {
            *observations = observations.with_floor_of(precision);
        }
        self
    }

    /// Checks the values of the configuration. `path` is the path of the posterior in its model, for
    /// error messages.
    ///
    /// # Errors
    ///
    /// When a value is out of range.
    pub fn check(&self, path: &str) -> Result<(), ParameterError> {
        match self {
            Self::LSvgp(LSvgpConfig { observations })
            | Self::InverseFree(InverseFreeConfig { observations, .. }) => {
                let positive = |name, value| {
                    ParameterError::check_positive(&format!("{path}.observations.{name}"), value)
                };
                positive("variance", observations.variance)?;
                observations
                    .floor
                    .map_or(Ok(()), |floor| positive("floor", floor))
            }
            Self::Custom(config) => config.check().map_err(|reason| ParameterError::Refused {
                path: path.to_owned(),
                reason,
            }),
            _ => Ok(()),
        }
    }

    /// Initializes a posterior for `outputs` functions.
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
    pub fn init<K: KernelModule, I: InducingVariables<K>>(
        &self,
        sets: Vec<I>,
        kernel: &K,
        outputs: usize,
        jitter: Jitter,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnyPosterior<I>, NotPositiveDefinite> {
        let functions = (outputs, jitter, options.into());
        self.init_as(FirstGaussians::Prior, sets, kernel, functions)
    }

    /// Like [`init`](Self::init), with the given initial Gaussians, number of functions, jitter and
    /// type.
    #[track_caller]
    pub(crate) fn init_as<K: KernelModule, I: InducingVariables<K>>(
        &self,
        first: FirstGaussians,
        sets: Vec<I>,
        kernel: &K,
        (outputs, jitter, options): (usize, Jitter, TensorCreationOptions),
    ) -> Result<AnyPosterior<I>, NotPositiveDefinite> {
        let start = PosteriorInit {
            prior: kernel,
            first,
            outputs,
            jitter,
            options,
        };
        self.build::<2, I>(sets, &start)
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
    pub fn init_separate<K: KernelModule, I: SeparateInducing<K>>(
        &self,
        sets: Vec<I>,
        kernels: &SeparateKernels<K>,
        jitter: Jitter,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnyPosterior<I>, NotPositiveDefinite> {
        let functions = (jitter, options.into());
        self.init_separate_as(FirstGaussians::Prior, sets, kernels, functions)
    }

    /// Like [`init_separate`](Self::init_separate), with the given initial Gaussians.
    #[track_caller]
    pub(crate) fn init_separate_as<K: KernelModule, I: SeparateInducing<K>>(
        &self,
        first: FirstGaussians,
        sets: Vec<I>,
        kernels: &SeparateKernels<K>,
        (jitter, options): (Jitter, TensorCreationOptions),
    ) -> Result<AnyPosterior<I>, NotPositiveDefinite> {
        let start = PosteriorInit {
            prior: kernels,
            first,
            outputs: kernels.outputs(),
            jitter,
            options,
        };
        self.build::<3, I>(sets, &start)
    }
}
