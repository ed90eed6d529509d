//! Likelihoods with one positive parameter.

/// Implements what likelihoods with one parameter, a positive number, have in common: their
/// [definition](super::LikelihoodDefinition), `init` of the configuration, and the method that returns the parameter.
/// The configuration has the initial value in a field of the same name.
macro_rules! one_parameter {
    ($config:ident, $kind:ident => $likelihood:ident { $(#[$of_parameter:meta])* $parameter:ident }) => {
        impl $crate::likelihoods::LikelihoodDefinition for $config {
            fn init(
                &self,
                options: burn::tensor::TensorCreationOptions,
            ) -> $crate::likelihoods::AnyLikelihood {
                self.init(options).into()
            }

            fn target(&self) -> $crate::likelihoods::TargetKind {
                $crate::likelihoods::TargetKind::$kind
            }

            fn check(&self) -> Result<(), $crate::parameter::ParameterError> {
                let path = concat!("likelihood.", stringify!($parameter));
                $crate::parameter::ParameterError::check_positive(path, self.$parameter)
            }
        }

        impl $config {
            /// Creates the likelihood.
            ///
            /// # Panics
            ///
            #[doc = concat!("If the ", stringify!($parameter), " is not positive.")]
            #[track_caller]
            pub fn init(
                &self,
                options: impl Into<burn::tensor::TensorCreationOptions>,
            ) -> $likelihood {
                $likelihood {
                    $parameter: $crate::parameter::Positive::new(&[self.$parameter], options),
                }
            }
        }

        impl $likelihood {
            $(#[$of_parameter])*
            pub fn $parameter(&self) -> burn::tensor::Tensor<1> {
                self.$parameter.value()
            }
        }
    };
}

pub(super) use one_parameter;
