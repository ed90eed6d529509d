//! A process of one of two types.

use burn::tensor::Tensor;

use super::{Joint, JointAcrossOutputs, Process};
use crate::{ops::NotPositiveDefinite, process::Marginals};

/// A process that has one of two types, chosen at run time.
#[derive(Clone, Debug)]
pub enum EitherProcess<A, B> {
    /// A process of the first type.
    First(A),
    /// A process of the second type.
    Second(B),
}

impl<A: Process, B: Process> Process for EitherProcess<A, B> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        match self {
            Self::First(process) => process.marginals(x),
            Self::Second(process) => process.marginals(x),
        }
    }

    fn rows_per_input(&self) -> usize {
        match self {
            Self::First(process) => process.rows_per_input(),
            Self::Second(process) => process.rows_per_input(),
        }
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        match self {
            Self::First(process) => process.joint(x),
            Self::Second(process) => process.joint(x),
        }
    }

    fn joint_across_outputs(&self, x: Tensor<2>) -> JointAcrossOutputs {
        match self {
            Self::First(process) => process.joint_across_outputs(x),
            Self::Second(process) => process.joint_across_outputs(x),
        }
    }

    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        match self {
            Self::First(process) => process.sample(x, samples, seed),
            Self::Second(process) => process.sample(x, samples, seed),
        }
    }
}
