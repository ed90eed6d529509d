//! Boxed processes.

use burn::tensor::Tensor;

use super::{Joint, JointAcrossOutputs, Marginals, PathOptions, Paths, Process, SamplePaths};
use crate::{kernels::NoFunctionDraws, ops::NotPositiveDefinite};

impl<P: Process + ?Sized> Process for Box<P> {
    #[inline]
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        self.as_ref().marginals(x)
    }

    #[inline]
    fn rows_per_input(&self) -> usize {
        self.as_ref().rows_per_input()
    }

    #[inline]
    fn joint_inputs(&self) -> usize {
        self.as_ref().joint_inputs()
    }

    #[inline]
    fn joint(&self, x: Tensor<2>) -> Joint {
        self.as_ref().joint(x)
    }

    #[inline]
    fn joint_across_outputs(&self, x: Tensor<2>) -> JointAcrossOutputs {
        self.as_ref().joint_across_outputs(x)
    }

    #[inline]
    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        self.as_ref().sample(x, samples, seed)
    }
}

impl<P: SamplePaths + ?Sized> SamplePaths for Box<P> {
    #[inline]
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws> {
        self.as_ref().paths(options)
    }
}
