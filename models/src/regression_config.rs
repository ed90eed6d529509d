//! Configurations of full-batch regression.

/// Makes the configuration of a full-batch regression from the fields that it has besides the
/// kernel, the mean, the noise and the settings of parameters, and their defaults.
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
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $config {
            /// The kernel.
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
                    mean: burn_gp_core::means::MeanConfig::Zero,
                    likelihood: Default::default(),
                    $($field: $default,)*
                    parameters: Default::default(),
                }
            }

            /// Sets the kernel.
            pub fn with_kernel(
                mut self,
                kernel: impl Into<burn_gp_core::kernels::KernelConfig>,
            ) -> Self {
                self.kernel = kernel.into();
                self
            }

            /// Sets the mean function.
            pub fn with_mean(mut self, mean: burn_gp_core::means::MeanConfig) -> Self {
                self.mean = mean;
                self
            }

            /// Sets the noise.
            pub fn with_likelihood(
                mut self,
                likelihood: burn_gp_core::likelihoods::GaussianConfig,
            ) -> Self {
                self.likelihood = likelihood;
                self
            }

            /// Sets initial values, bounds and priors of the parameters, and which of them are not
            /// trained.
            pub fn with_parameters(
                mut self,
                parameters: burn_gp_core::parameter::ParameterConfig,
            ) -> Self {
                self.parameters = parameters;
                self
            }
        }
    };
}

pub(crate) use regression_config;
