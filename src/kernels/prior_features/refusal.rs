//! Reasons why functions cannot be drawn.

use super::PriorFeatures;
use crate::kernels::{NoSpectrum, spectrum::plain_name};

/// The reason why functions cannot be drawn. Values at given inputs can be drawn under every kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFunctionDraws {
    /// The features of the kernel are unknown, or it has none, like the white kernel.
    #[error(
        "functions cannot be drawn because the kernel {kernel} has no features; \
         `Process::sample` draws values at given inputs"
    )]
    NoFeatures {
        /// The kernel's type.
        kernel: String,
    },
    /// The kernel has too many features.
    #[error(
        "functions cannot be drawn because the kernel {kernel} has {count} features, more than \
         {limit}; `Process::sample` draws values at given inputs",
        limit = PriorFeatures::LIMIT
    )]
    TooManyFeatures {
        /// The kernel's type.
        kernel: String,
        /// The number of features, limited to the largest `usize`.
        count: usize,
    },
    /// The process is conditioned on inducing variables that are not values of its functions.
    #[error(
        "functions cannot be drawn because the inducing variables {inducing} are not function values; \
         `Process::sample` draws values at given inputs"
    )]
    NotFunctionValues {
        /// The type of the inducing variables.
        inducing: String,
    },
}

impl NoFunctionDraws {
    /// Creates the error for a kernel of type `K` without features.
    pub fn of<K>() -> Self {
        Self::NoFeatures {
            kernel: plain_name::<K>(),
        }
    }

    /// Creates the error for inducing variables of type `I`.
    pub(crate) fn at<I: ?Sized>() -> Self {
        Self::NotFunctionValues {
            inducing: plain_name::<I>(),
        }
    }

    /// Returns an error if there are more features than the limit.
    pub(in crate::kernels) fn refuse_more(kernel: &str, count: usize) -> Result<(), Self> {
        if count <= PriorFeatures::LIMIT {
            return Ok(());
        }
        Err(Self::TooManyFeatures {
            kernel: kernel.to_owned(),
            count,
        })
    }
}

impl From<NoSpectrum> for NoFunctionDraws {
    fn from(NoSpectrum { kernel }: NoSpectrum) -> Self {
        Self::NoFeatures { kernel }
    }
}
