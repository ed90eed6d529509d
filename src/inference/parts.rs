//! The parts that all full-batch regressions have: fields `kernel`, `mean`, `likelihood` and
//! `priors`.

/// Implements the methods of a regression that read its parts and set its priors.
macro_rules! parts {
    ($regression:ident, kernels) => {
        parts!(@ $regression<>, $crate::likelihoods::Gaussian);

        impl $regression {
            /// The kernel.
            pub fn kernel(&self) -> &$crate::kernels::AnyKernel {
                self.kernel.first()
            }
        }
    };
    ($regression:ident<$($parameter:ident: $bound:path),+>) => {
        parts!($regression<$($parameter: $bound),+>, $crate::likelihoods::Gaussian);
    };
    ($regression:ident<$($parameter:ident: $bound:path),+>, $likelihood:ty) => {
        parts!(@ $regression<$($parameter: $bound),+>, $likelihood);

        impl<$($parameter: $bound),+> $regression<$($parameter),+> {
            /// The kernel.
            pub fn kernel(&self) -> &K {
                &self.kernel
            }
        }
    };
    (@ $regression:ident<$($parameter:ident: $bound:path),*>, $likelihood:ty) => {
        impl<$($parameter: $bound),*> $regression<$($parameter),*> {
            /// Sets priors of parameters, given by path. Trainers add their log density to the
            /// objective.
            pub fn with_priors(mut self, priors: $crate::parameter::Priors) -> Self {
                self.priors = priors;
                self
            }

            /// The priors of the parameters, given by path.
            pub fn priors(&self) -> &$crate::parameter::Priors {
                &self.priors
            }

            /// The mean function.
            pub fn mean(&self) -> &$crate::means::AnyMean {
                &self.mean
            }

            /// The likelihood.
            pub fn likelihood(&self) -> &$likelihood {
                &self.likelihood
            }
        }
    };
}

pub(super) use parts;
