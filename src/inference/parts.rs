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
    // The field `row_columns` of regressions whose rows can have weights and noise of their own.
    (rows $regression:ident<$($parameter:ident: $bound:path),*>) => {
        impl<$($parameter: $bound),*> $regression<$($parameter),*> {
            /// Each row has a known noise variance `v_n` besides the trained one: `σ² + v_n` replaces σ². The variances are
            /// a further last column of the targets, `[N, P + 1]`. Predictions of new targets have the noise σ². See
            /// [`RowColumns`](crate::inference::RowColumns) for an example.
            pub fn with_row_noise(mut self) -> Self {
                self.row_columns.noise = true;
                self
            }

            /// Each row has a weight, `w_n > 0`, which counts it so many times. The weights are a further column of the
            /// targets, before that of noise, `[N, P + 1]`. See [`RowColumns`](crate::inference::RowColumns) for an
            /// example.
            pub fn with_row_weights(mut self) -> Self {
                self.row_columns.weights = true;
                self
            }

            /// The rows have these columns, too.
            pub fn with_row_columns(mut self, columns: $crate::inference::RowColumns) -> Self {
                self.row_columns |= columns;
                self
            }

            /// What the last columns of the targets say about the rows.
            pub fn row_columns(&self) -> $crate::inference::RowColumns {
                self.row_columns
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
