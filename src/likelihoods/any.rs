//! Likelihoods chosen at run time.

use std::sync::Arc;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;

// A glob import, since every likelihood is named in the list below.
use super::{
    custom::LikelihoodFunctions,
    object::{self, forward, with_methods},
    *,
};
use crate::{
    custom::{Choices, configs, registered},
    parameter::ParameterError,
    process::Marginals,
};

/// Defines [`LikelihoodConfig`] and [`AnyLikelihood`] from the list of likelihoods of this crate.
/// Those without a configuration have no parameters. Each line ends with the kind of the targets,
/// the help text and, if it is not the default, the configuration for a noise variance and a number
/// of classes.
macro_rules! likelihoods {
    (
        $(
            $(#[$attribute:meta])*
            $name:literal $variant:ident $(($config:ty))?: $target:ident $help:literal
            $(by $start:expr)?
        ),+ $(,)?
    ) => {
        configs! {
            /// Configuration of any likelihood, as stored in a model file.
            #[serde(deny_unknown_fields)]
            LikelihoodConfig(CustomLikelihoodConfig), tag = "likelihood":
            $(
                #[doc = concat!("See [`", stringify!($variant), "`].")]
                $(#[$attribute])*
                $name $variant $(($config))?
            ),+
        }

        impl LikelihoodConfig {
            /// The kind of the targets.
            pub fn target(&self) -> TargetKind {
                match self {
                    $(
                        likelihoods!(@any $variant $(($config))?) => TargetKind::$target,
                    )+
                    Self::Custom(config) => config.target(),
                }
            }

            /// Creates the likelihood.
            ///
            /// # Panics
            ///
            /// If a value of the configuration is out of range.
            #[track_caller]
            pub fn init(&self, options: impl Into<TensorCreationOptions>) -> AnyLikelihood {
                let options = options.into();
                match self {
                    $(
                        likelihoods!(@pattern config $variant $(($config))?) => {
                            AnyLikelihood::$variant(
                                likelihoods!(@init config options $variant $(($config))?)
                            )
                        }
                    )+
                    Self::Custom(config) => AnyLikelihood::Custom(config.init(options)),
                }
            }
        }

        $(
            impl $variant {
                /// The likelihood by its name.
                pub const CHOICE: LikelihoodName = LikelihoodName::new(
                    $name,
                    $help,
                    LikelihoodStart {
                        target: TargetKind::$target,
                        config: likelihoods!(@start $variant $(($config))? $($start)?),
                    },
                );
            }
        )+

        $(likelihoods!(@new $variant $(($config))?);)+

        impl Choices for LikelihoodStart {
            fn choices() -> impl Iterator<Item = LikelihoodName> {
                let registered = registered::<LikelihoodFunctions>();
                [$($variant::CHOICE),+].into_iter().chain(registered.map(|functions| functions.name))
            }
        }

        /// A likelihood chosen at run time.
        #[derive(Module, Debug)]
        pub enum AnyLikelihood {
            $(
                #[doc = concat!("See [`", stringify!($variant), "`].")]
                $variant($variant),
            )+
            /// A likelihood of another crate.
            Custom(CustomLikelihood),
        }

        impl AnyLikelihood {
            fn object(&self) -> &dyn object::LikelihoodObject {
                match self {
                    $(Self::$variant(likelihood) => likelihood,)+
                    Self::Custom(likelihood) => likelihood.piece(),
                }
            }

            fn enlarged(self, decades: i64) -> Self {
                match self {
                    $(Self::$variant(own) => Self::$variant(own.in_larger_unit(decades)),)+
                    Self::Custom(likelihood) => {
                        Self::Custom(likelihood.with(|piece| piece.enlarged(decades)))
                    }
                }
            }
        }
    };
    (@any $variant:ident) => { Self::$variant };
    (@any $variant:ident ($config:ty)) => { Self::$variant(_) };
    (@pattern $bound:ident $variant:ident) => { Self::$variant };
    (@pattern $bound:ident $variant:ident ($config:ty)) => { Self::$variant($bound) };
    (@new $variant:ident) => {
        impl $variant {
            /// Creates the likelihood, which has no parameters.
            pub fn new() -> Self {
                Self {}
            }
        }
    };
    (@new $variant:ident ($config:ty)) => {};
    (@start $variant:ident) => { |_, _| LikelihoodConfig::$variant };
    (@start $variant:ident ($config:ty)) => { |_, _| <$config>::default().into() };
    (@start $variant:ident ($config:ty) $start:expr) => {
        |noise, classes| {
            let start: fn(f64, usize) -> $config = $start;
            start(noise, classes).into()
        }
    };
    (@init $bound:ident $options:ident $variant:ident) => { $variant::new() };
    (@init $bound:ident $options:ident $variant:ident ($config:ty)) => { $bound.init($options) };
}

likelihoods! {
    "gaussian" Gaussian(GaussianConfig): Numbers "Real numbers with normal noise"
        by |noise, _| GaussianConfig { noise },
    "heteroskedastic" Heteroskedastic(HeteroskedasticConfig):
        Numbers "Real numbers with normal noise whose variance depends on the inputs"
        by |noise, _| HeteroskedasticConfig { noise },
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    "fixed-noise" FixedNoise:
        Measurements "Real numbers with normal noise of known standard deviation, from --noise-column",
    "student-t" StudentT(StudentTConfig): Numbers "Real numbers with outliers"
        by |noise, _| StudentTConfig { scale: noise.sqrt(), ..Default::default() },
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    "bernoulli" Bernoulli: TwoClasses "Two classes, probit link",
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    "bernoulli-logit" BernoulliLogit: TwoClasses "Two classes, logit link",
    "softmax" Softmax(SoftmaxConfig):
        Classes "Unordered classes, with one latent function for each"
        by |_, classes| SoftmaxConfig::new(classes),
    "robust-max" RobustMax(RobustMaxConfig):
        Classes "Unordered classes: the largest function decides, except for rare errors"
        by |_, classes| RobustMaxConfig::new(classes),
    "ordinal" Ordinal(OrdinalConfig): OrderedClasses "Ordered classes"
        by |_, classes| OrdinalConfig { classes },
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    "poisson" Poisson: Counts "Counts",
    "negative-binomial" NegativeBinomial(NegativeBinomialConfig):
        Counts "Counts that vary more than a Poisson distribution allows",
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    "exponential" Exponential: PositiveNumbers "Waiting times",
    "gamma" Gamma(GammaConfig): PositiveNumbers "Positive numbers",
    "beta" Beta(BetaConfig): Fractions "Numbers between 0 and 1",
}

impl LikelihoodConfig {
    /// Checks the values of the configuration.
    ///
    /// # Errors
    ///
    /// When a value is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let positive = |name: &str, value| {
            ParameterError::check_positive(&format!("likelihood.{name}"), value)
        };
        let two_or_more = |classes: usize| {
            let bounds = (1.0, f64::INFINITY);
            ParameterError::check_between("likelihood.classes", classes as f64, bounds)
        };
        match self {
            Self::Gaussian(config) => config.check(),
            Self::Heteroskedastic(config) => positive("noise", config.noise),
            Self::StudentT(config) => {
                positive("scale", config.scale)?;
                config.check_degrees()
            }
            Self::Softmax(config) => two_or_more(config.classes),
            Self::RobustMax(config) => {
                two_or_more(config.classes)?;
                ParameterError::check_between("likelihood.epsilon", config.epsilon, (0.0, 1.0))
            }
            Self::Ordinal(config) => two_or_more(config.classes),
            Self::NegativeBinomial(config) => positive("dispersion", config.dispersion),
            Self::Gamma(config) => positive("shape", config.shape),
            Self::Beta(config) => positive("precision", config.precision),
            Self::Custom(config) => config.check().map_err(|reason| ParameterError::Refused {
                path: "likelihood".into(),
                reason,
            }),
            Self::FixedNoise
            | Self::Bernoulli
            | Self::BernoulliLogit
            | Self::Poisson
            | Self::Exponential => Ok(()),
        }
    }

    /// Checks the targets of a model with this likelihood, `[N, T]`.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`] for the first value that is impossible under the likelihood.
    ///
    /// # Panics
    ///
    /// If a value of the configuration is out of range, or the number of columns is not a multiple
    /// of the columns per output.
    #[track_caller]
    pub fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        let options = (&targets.device(), targets.dtype());
        self.init(options).check_tensor(targets)
    }
}

impl Likelihood for AnyLikelihood {
    const NAME: &'static str = "any";

    with_methods!(forward);

    fn sample<R: Rng>(&self, function: Tensor<3>, random: &mut R) -> Tensor<3> {
        self.object().draw(function, random)
    }

    fn in_larger_unit(self, decades: i64) -> Self {
        self.enlarged(decades)
    }
}
