//! Means chosen at run time.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use super::{
    ConstantMean, CustomMean, CustomMeanConfig, IdentityMean, LinearMean, Mean, ProjectionMean,
    ZeroMean,
    custom::{MeanFunctions, MeanObject},
};
use crate::custom::{Choice, Choices, configs, registered};

/// Defines [`MeanConfig`] and [`AnyMean`] from the lists of means of this crate. Each line of the
/// first list has the name, the fields, and the expression that makes the mean for given numbers of
/// dimensions and outputs. `as` is followed by the configuration that the name stands for on the
/// command line, with its help text. The second list has the types.
macro_rules! means {
    (
        |$dimensions:ident, $outputs:ident, $options:ident|;
        $(
            $(#[$attribute:meta])*
            $name:literal $config:ident
            $({ $($(#[$of_field:meta])* $field:ident: $type:ty),+ $(,)? })?
            => $make:expr
            $(, as $choice:ident($default:expr) $help:literal)?;
        )+
        $($variant:ident($mean:ty)),+ $(,)?
    ) => {
        configs! {
            /// Configuration of any mean, as stored in a model file.
            #[derive(Default)]
            #[serde(deny_unknown_fields)]
            MeanConfig(CustomMeanConfig), tag = "mean":
            $(
                $(#[$attribute])*
                $name $config $({ $($(#[$of_field])* $field: $type),+ })?
            ),+
        }

        impl MeanConfig {
            $($(
                #[doc = concat!("The mean `", $name, "`, by its name.")]
                pub const $choice: MeanName = MeanName::new($name, $help, || $default);
            )?)+

            /// Creates the mean of `outputs` functions of inputs with `dimensions` dimensions.
            #[track_caller]
            pub fn init(
                &self,
                $dimensions: usize,
                $outputs: usize,
                options: impl Into<TensorCreationOptions>,
            ) -> AnyMean {
                let $options = options.into();
                match self {
                    $(Self::$config $({ $($field),+ })? => $make.into(),)+
                    Self::Custom(config) => {
                        AnyMean::Custom(config.init($dimensions, $outputs, $options))
                    }
                }
            }
        }

        impl Choices for fn() -> MeanConfig {
            fn choices() -> impl Iterator<Item = MeanName> {
                let own = [$($(MeanConfig::$choice,)?)+];
                let registered = registered::<MeanFunctions>();
                own.into_iter().chain(registered.map(|functions| functions.name))
            }
        }

        /// A mean chosen at run time.
        #[derive(Module, Debug)]
        pub enum AnyMean {
            $(
                #[doc = concat!("See [`", stringify!($mean), "`].")]
                $variant($mean),
            )+
            /// A mean of another crate.
            Custom(CustomMean),
        }

        $(
            impl From<$mean> for AnyMean {
                fn from(mean: $mean) -> Self {
                    Self::$variant(mean)
                }
            }
        )+

        impl AnyMean {
            fn object(&self) -> &dyn MeanObject {
                match self {
                    $(Self::$variant(mean) => mean,)+
                    Self::Custom(mean) => mean.piece(),
                }
            }
        }
    };
}

means! {
    |dimensions, outputs, options|;
    /// See [`ZeroMean`].
    #[default]
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    "zero" Zero => ZeroMean::new(outputs), as ZERO(Self::Zero) "Zero";
    /// See [`ConstantMean`]. It starts at the given value.
    "constant" Constant {
        /// The initial value of every constant.
        #[serde(default)]
        value: f64,
    } => ConstantMean::new(Tensor::full([outputs], *value, options)),
        as CONSTANT(Self::Constant { value: 0.0 }) "A trained constant";
    /// See [`LinearMean`]. It starts at zero.
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    "linear" Linear => LinearMean::zeros(dimensions, outputs, options),
        as LINEAR(Self::Linear) "A trained linear function of the inputs";
    /// The inputs themselves, see [`IdentityMean`]; or a [`ProjectionMean`] if the numbers of
    /// functions and inputs differ.
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    "identity" Identity => passing_through(dimensions, outputs, options);

    Zero(ZeroMean),
    Constant(ConstantMean),
    Linear(LinearMean),
    Identity(IdentityMean),
    Projection(ProjectionMean),
}

/// A mean chosen by name.
pub type MeanName = Choice<fn() -> MeanConfig>;

/// Passes on as many inputs as there are functions.
fn passing_through(dimensions: usize, outputs: usize, options: TensorCreationOptions) -> AnyMean {
    match dimensions == outputs {
        true => IdentityMean::new().into(),
        false => ProjectionMean::truncation(dimensions, outputs, options).into(),
    }
}

impl MeanConfig {
    /// Like [`init`](Self::init), for inputs like `inputs`, `[N, D]`. A projection uses their
    /// principal directions.
    pub fn init_for(&self, inputs: &Tensor<2>, outputs: usize) -> AnyMean {
        let [_, dimensions] = inputs.dims();
        let options = (&inputs.device().inner(), inputs.dtype());
        match self.init(dimensions, outputs, options) {
            AnyMean::Projection(_) => ProjectionMean::principal(inputs.clone(), outputs).into(),
            mean => mean,
        }
    }
}

impl Mean for AnyMean {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.object().forward(x)
    }

    fn residual(&self, targets: Tensor<2>, x: Tensor<2>) -> Tensor<2> {
        self.object().residual(targets, x)
    }

    fn add_to(&self, values: Tensor<2>, x: Tensor<2>) -> Tensor<2> {
        self.object().add_to(values, x)
    }

    fn add_to_draws(&self, draws: Tensor<3>, x: Tensor<2>) -> Tensor<3> {
        self.object().add_to_draws(draws, x)
    }
}
