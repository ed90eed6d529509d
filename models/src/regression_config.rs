//! Configurations of full-batch regression.

/// Makes the configuration of a full-batch regression with a kernel, a mean, the noise, parameter
/// settings, and the given additional fields with their defaults.
macro_rules! regression_config {
    (
        $(#[$documentation:meta])*
        $config:ident {
            $($(#[$of_field:meta])* $field:ident: $type:ty = $default:expr),* $(,)?
        }
        $(#[$of_new:meta])*
        new
    ) => {
        $(#[$documentation])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, derive_setters::Setters)]
        #[serde(deny_unknown_fields)]
        #[setters(prefix = "with_")]
        pub struct $config {
            /// The kernel.
            #[setters(into)]
            pub kernel: burn_gp_core::kernels::KernelConfig,
            /// The mean function.
            pub mean: burn_gp_core::means::MeanConfig,
            /// The noise.
            pub likelihood: burn_gp_core::likelihoods::GaussianConfig,
            $($(#[$of_field])* pub $field: $type,)*
            /// Initial values, bounds and priors of the parameters, and which of them are not
            /// trained.
            #[serde(default)]
            pub parameters: burn_gp_core::parameter::ParameterConfig,
        }

        impl $config {
            $(#[$of_new])*
            pub fn new(kernel: impl Into<burn_gp_core::kernels::KernelConfig>) -> Self {
                Self {
                    kernel: kernel.into(),
                    mean: burn_gp_core::means::MeanConfig::zero(),
                    likelihood: Default::default(),
                    $($field: $default,)*
                    parameters: Default::default(),
                }
            }

            /// The model with the parameter settings, for training.
            fn ready<M: burn::module::Module, K: burn_gp_core::kernels::FunctionPrior>(
                &self,
                model: M,
                kernel: fn(&M) -> &K,
                data: &$crate::training::TrainingData,
            ) -> Result<M, burn_gp_core::parameter::ParameterError> {
                let (model, priors) = (self.parameters.apply(model)?, &self.parameters.priors);
                let parts: (_, &dyn burn_gp_core::likelihoods::LikelihoodDefinition) =
                    (Some(&self.kernel), &self.likelihood);
                Ok($crate::initial_scale::scaled_to_targets(model, kernel, parts, priors, data))
            }
        }
    };
}

pub(crate) use regression_config;
