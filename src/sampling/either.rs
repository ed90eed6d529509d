//! Draws from processes that have one of two types.

use burn::tensor::Tensor;

use super::{PathOptions, Paths, SamplePaths};
use crate::{kernels::NoSpectrum, process::EitherProcess};

/// Draws that have one of two types.
#[derive(Clone, Debug)]
pub enum EitherPaths<A, B> {
    /// The first type.
    First(A),
    /// The second type.
    Second(B),
}

impl<A: SamplePaths, B: SamplePaths> SamplePaths for EitherProcess<A, B> {
    type Paths = EitherPaths<A::Paths, B::Paths>;

    fn paths(&self, options: PathOptions) -> Result<Self::Paths, NoSpectrum> {
        Ok(match self {
            Self::First(process) => EitherPaths::First(process.paths(options)?),
            Self::Second(process) => EitherPaths::Second(process.paths(options)?),
        })
    }
}

impl<A: Paths, B: Paths> Paths for EitherPaths<A, B> {
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        match self {
            Self::First(paths) => paths.evaluate(x),
            Self::Second(paths) => paths.evaluate(x),
        }
    }
}
