//! Processes with a mean function.

use burn::tensor::Tensor;

use super::{Joint, JointAcrossOutputs, Process};
use crate::{means::AnyMean, ops::NotPositiveDefinite, process::Marginals};

/// The process `m(x) + g(x)`: a zero-mean process `g` shifted by a mean function.
#[derive(Clone, Debug)]
pub struct WithMean<P> {
    process: P,
    mean: AnyMean,
}

impl<P: Process> WithMean<P> {
    /// Shifts `process` by `mean`.
    pub fn new(process: P, mean: impl Into<AnyMean>) -> Self {
        Self {
            process,
            mean: mean.into(),
        }
    }

    /// Replaces the process and keeps the mean function.
    pub fn map<Q: Process>(self, change: impl FnOnce(P) -> Q) -> WithMean<Q> {
        WithMean {
            process: change(self.process),
            mean: self.mean,
        }
    }

    /// The process without its mean function.
    pub fn process(&self) -> &P {
        &self.process
    }

    /// The mean function.
    pub fn mean(&self) -> &AnyMean {
        &self.mean
    }
}

impl<P: Process> Process for WithMean<P> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        let Marginals { mean, variance } = self.process.marginals(x.clone());
        Marginals {
            mean: self.mean.add_to(mean, x),
            variance,
        }
    }

    fn rows_per_input(&self) -> usize {
        self.process.rows_per_input()
    }

    fn joint_inputs(&self) -> usize {
        self.process.joint_inputs()
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        let Joint { mean, covariance } = self.process.joint(x.clone());
        Joint {
            mean: self.mean.add_to(mean, x),
            covariance,
        }
    }

    fn joint_across_outputs(&self, x: Tensor<2>) -> JointAcrossOutputs {
        let JointAcrossOutputs { mean, covariance } = self.process.joint_across_outputs(x.clone());
        JointAcrossOutputs {
            mean: self.mean.add_to(mean, x),
            covariance,
        }
    }

    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let draws = self.process.sample(x.clone(), samples, seed)?;
        Ok(self.mean.add_to_draws(draws, x))
    }
}
