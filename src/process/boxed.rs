//! Processes chosen at run time.

use burn::tensor::Tensor;

use super::{DrawableProcess, EitherProcess, Joint, JointAcrossOutputs, Marginals, Process};
use crate::ops::NotPositiveDefinite;

/// Forwards the methods of processes to another process.
macro_rules! forward {
    ($self:ident => $process:expr) => {
        fn marginals(&$self, x: Tensor<2>) -> Marginals {
            $process.marginals(x)
        }

        fn rows_per_input(&$self) -> usize {
            $process.rows_per_input()
        }

        fn joint(&$self, x: Tensor<2>) -> Joint {
            $process.joint(x)
        }

        fn joint_across_outputs(&$self, x: Tensor<2>) -> JointAcrossOutputs {
            $process.joint_across_outputs(x)
        }

        fn sample(
            &$self,
            x: Tensor<2>,
            samples: usize,
            seed: u64,
        ) -> Result<Tensor<3>, NotPositiveDefinite> {
            $process.sample(x, samples, seed)
        }
    };
}

impl Process for Box<dyn Process + Send + Sync> {
    forward!(self => self.as_ref());
}

impl Process for Box<dyn DrawableProcess> {
    forward!(self => self.as_ref().process());
}

impl<A: Process, B: Process> Process for EitherProcess<A, B> {
    forward!(self => self.process());
}
