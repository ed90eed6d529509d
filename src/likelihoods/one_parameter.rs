//! Likelihoods with one parameter.

/// Implements what likelihoods with one parameter have in common: their [definition](super::LikelihoodDefinition), `init`
/// of the configuration, and the method that returns the parameter. The parameter is `Positive` or a `Fraction`, and the
/// configuration has its initial value in a field of the same name.
macro_rules! one_parameter {
    ($config:ident, $kind:ident => $likelihood:ident { $(#[$of_parameter:meta])* $parameter:ident: $type:ident }) => {
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
                let range = $crate::parameter::$type::RANGE;
                $crate::parameter::ParameterError::check_between(path, self.$parameter, range)
            }
        }

        impl $config {
            /// Creates the likelihood.
            ///
            /// # Panics
            ///
            #[doc = concat!(
                "If `", stringify!($parameter), "` is not possible for [`", stringify!($type), "`](crate::parameter::",
                stringify!($type), ")."
            )]
            #[track_caller]
            pub fn init(
                &self,
                options: impl Into<burn::tensor::TensorCreationOptions>,
            ) -> $likelihood {
                $likelihood {
                    $parameter: $crate::parameter::$type::new(&[self.$parameter], options),
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
