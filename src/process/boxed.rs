//! Processes chosen at run time.

use burn::tensor::Tensor;

use super::{DrawableProcess, Joint, JointAcrossOutputs, Marginals, Process};
use crate::ops::NotPositiveDefinite;

/// Forwards to the process in the box.
macro_rules! boxed {
    ($process:ty) => {
        impl Process for Box<$process> {
            fn marginals(&self, x: Tensor<2>) -> Marginals {
                self.as_ref().marginals(x)
            }

            fn rows_per_input(&self) -> usize {
                self.as_ref().rows_per_input()
            }

            fn joint(&self, x: Tensor<2>) -> Joint {
                self.as_ref().joint(x)
            }

            fn joint_across_outputs(&self, x: Tensor<2>) -> JointAcrossOutputs {
                self.as_ref().joint_across_outputs(x)
            }

            fn sample(
                &self,
                x: Tensor<2>,
                samples: usize,
                seed: u64,
            ) -> Result<Tensor<3>, NotPositiveDefinite> {
                self.as_ref().sample(x, samples, seed)
            }
        }
    };
}

boxed!(dyn Process + Send + Sync);
boxed!(dyn DrawableProcess);
