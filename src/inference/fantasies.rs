//! A function given several sets of targets.

use burn::tensor::Tensor;

use crate::{
    means::AnyMean,
    process::{ConditionedProcess, Joint, Marginals, Process},
};

/// S processes of one function, each given another set of targets for the same inputs;
/// [`condition_on_fantasies`](crate::process::WithMean::condition_on_fantasies) makes them. Their predictions are those of S
/// functions, `[N, S]`, with equal variances.
#[derive(Clone, Debug)]
pub struct Fantasies {
    process: ConditionedProcess,
    mean: AnyMean,
}

impl Fantasies {
    /// From a process of S functions and the mean function that all of them have.
    pub(super) fn new(process: ConditionedProcess, mean: AnyMean) -> Self {
        Self { process, mean }
    }

    /// The S functions without their mean function.
    pub fn process(&self) -> &ConditionedProcess {
        &self.process
    }

    /// `f + m(x)` for values of all functions, [N, S].
    fn with_mean(&self, values: Tensor<2>, x: Tensor<2>) -> Tensor<2> {
        match x.dims() {
            [0, _] => values,
            _ => values + self.mean.forward(x),
        }
    }
}

impl Process for Fantasies {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        let Marginals { mean, variance } = self.process.marginals(x.clone());
        Marginals {
            mean: self.with_mean(mean, x),
            variance,
        }
    }

    fn rows_per_input(&self) -> usize {
        self.process.rows_per_input()
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        let Joint { mean, covariance } = self.process.joint(x.clone());
        Joint {
            mean: self.with_mean(mean, x),
            covariance,
        }
    }
}
