//! Posteriors with one Gaussian over one set of inducing variables.

/// Defines such a posterior and its configuration for the given coordinates of the Gaussian.
macro_rules! one_gaussian {
    (
        $(#[$documentation:meta])*
        $posterior:ident, $config:ident, $coordinates:expr, over $variables:literal
    ) => {
        $(#[$documentation])*
        #[derive(burn::module::Module, Debug)]
        pub struct $posterior<I: burn::module::Module> {
            inducing: I,
            distribution: $crate::process::VariationalGaussian,
            #[module(skip)]
            jitter: $crate::ops::Jitter,
        }

        #[doc = concat!("Configuration of a [`", stringify!($posterior), "`] posterior.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $config {
            /// Full or diagonal covariance.
            pub covariance: $crate::process::CovarianceShape,
        }

        impl $crate::variational::definition::ConfigBuild for $config {
            type Posterior<I: burn::module::Module> = $posterior<I>;

            #[track_caller]
            fn build<const D: usize, I: burn::module::Module + 'static>(
                &self,
                sets: Vec<I>,
                start: &$crate::variational::definition::PosteriorInit<
                    '_,
                    impl $crate::variational::PriorCovariances<I, D>,
                >,
            ) -> Result<$posterior<I>, $crate::ops::NotPositiveDefinite>
            where
                burn::tensor::Tensor<D>: $crate::variational::FunctionMatrices,
            {
                use $crate::variational::definition::exactly;

                let [inducing] = exactly(sets);
                let gaussians = start.gaussians(&[&inducing], self.covariance, $coordinates)?;
                let [gaussian] = exactly(gaussians);
                Ok($posterior::new(inducing, gaussian, start.jitter))
            }
        }

        impl<I: burn::module::Module> $posterior<I> {
            #[doc = concat!("Creates a posterior from inducing variables, a distribution over ", $variables)]
            /// and a jitter.
            pub fn new(
                inducing: I,
                distribution: $crate::process::VariationalGaussian,
                jitter: $crate::ops::Jitter,
            ) -> Self {
                Self {
                    inducing,
                    distribution,
                    jitter,
                }
            }

            /// The inducing variables.
            pub fn inducing(&self) -> &I {
                &self.inducing
            }

            /// The jitter of `Cov[u, u]`.
            pub fn jitter(&self) -> $crate::ops::Jitter {
                self.jitter
            }

            #[doc = concat!("The distribution over ", $variables, ".")]
            pub fn distribution(&self) -> &$crate::process::VariationalGaussian {
                &self.distribution
            }
        }

        impl<I> $crate::variational::InducingGaussians for $posterior<I>
        where
            I: burn::module::Module + burn::module::ModuleDisplay,
        {
            type Inducing = I;

            fn sets(&self) -> Vec<(&I, &$crate::process::VariationalGaussian)> {
                vec![(&self.inducing, &self.distribution)]
            }

            fn coordinates(&self) -> $crate::variational::Coordinates {
                $coordinates
            }

            fn jitter(&self) -> $crate::ops::Jitter {
                self.jitter
            }
        }
    };
}

pub(super) use one_gaussian;
