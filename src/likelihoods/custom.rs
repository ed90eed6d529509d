//! Likelihoods of other crates.

use burn::tensor::TensorCreationOptions;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Likelihood, LikelihoodConfig, LikelihoodName, LikelihoodStart, TargetKind,
    object::LikelihoodObject,
};
use crate::custom::{
    self, BoxedModule, CustomConfig, Fields, Registration, checked, of_type, of_type_mut, read,
};

/// The configuration of a likelihood of another crate. After registration, in one line
/// (`burn_gp_core::register_likelihood!(MyConfig)`), the likelihood works like those of this crate: in
/// configurations of models and in files. [`KernelDefinition`](crate::kernels::KernelDefinition) has an
/// example for kernels.
pub trait LikelihoodDefinition: Serialize + DeserializeOwned + 'static {
    /// The name in configurations. It should be unique: a configuration with a name that is
    /// registered twice is an error.
    const NAME: &'static str = Self::Likelihood::NAME;

    /// A line of help for the command line.
    const HELP: &'static str = "A likelihood of another crate";

    /// The kind of the targets.
    const TARGET: TargetKind = TargetKind::Numbers;

    /// The configuration for an initial noise variance and a number of classes. A likelihood
    /// ignores what it does not have.
    fn for_data(noise: f64, classes: usize) -> Self;

    /// Checks the values of a configuration that was read.
    ///
    /// # Errors
    ///
    /// The reason, if a value is out of range.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The likelihood.
    type Likelihood: Likelihood;

    /// Makes the likelihood.
    fn init(&self, options: TensorCreationOptions) -> Self::Likelihood;
}

/// A likelihood of another crate.
pub type CustomLikelihood = BoxedModule<dyn LikelihoodObject>;

/// The configuration of a likelihood of another crate, with its name.
pub type CustomLikelihoodConfig = CustomConfig<LikelihoodFunctions>;

/// A registered likelihood of another crate.
pub type LikelihoodRegistration = Registration<LikelihoodFunctions>;

/// The functions of a registered likelihood.
pub struct LikelihoodFunctions {
    pub(super) name: LikelihoodName,
    init: fn(&Fields, TensorCreationOptions) -> CustomLikelihood,
}

custom::kind!(
    "likelihood",
    LikelihoodConfig,
    LikelihoodFunctions,
    LikelihoodDefinition,
    "register_likelihood"
);

impl LikelihoodRegistration {
    /// Describes a likelihood for [`register_likelihood!`](crate::register_likelihood), which
    /// registers it.
    pub const fn of<D: LikelihoodDefinition>() -> Self {
        Self::new(
            D::NAME,
            |fields| read::<D>(fields)?.check(),
            LikelihoodFunctions {
                name: LikelihoodName::new(
                    D::NAME,
                    D::HELP,
                    LikelihoodStart {
                        target: D::TARGET,
                        config: |noise, classes| {
                            LikelihoodConfig::custom(D::for_data(noise, classes))
                        },
                    },
                ),
                init: |fields, options| {
                    let likelihood = checked::<D>(fields).init(options);
                    BoxedModule::new(
                        likelihood,
                        |module| of_type::<D::Likelihood>(module),
                        |module| of_type_mut::<D::Likelihood>(module),
                    )
                },
            },
        )
    }
}

/// Registers the configuration of a likelihood, a
/// [`LikelihoodDefinition`](crate::likelihoods::LikelihoodDefinition).
#[macro_export]
macro_rules! register_likelihood {
    ($definition:ty) => {
        $crate::custom::inventory::submit! {
            $crate::likelihoods::LikelihoodRegistration::of::<$definition>()
        }
    };
}

impl CustomLikelihoodConfig {
    pub(super) fn target(&self) -> TargetKind {
        let (functions, _) = self.parts();
        functions.name.target()
    }

    #[track_caller]
    pub(super) fn init(&self, options: TensorCreationOptions) -> CustomLikelihood {
        let (functions, fields) = self.parts();
        (functions.init)(fields, options)
    }
}
