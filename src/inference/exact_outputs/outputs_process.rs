//! The posterior of several outputs, in either form.

use burn::tensor::Tensor;

use super::{entries_process::EntriesProcess, kronecker_process::KroneckerProcess};
use crate::{
    ops::NotPositiveDefinite,
    process::{Joint, JointAcrossOutputs, Marginals, Process},
};

/// P correlated functions given observed targets.
#[derive(Clone, Debug)]
pub enum OutputsProcess {
    /// By a factor of the covariance of all observed targets.
    Entries(Box<EntriesProcess>),
    /// By eigenvectors, for tables with few holes.
    Kronecker(Box<KroneckerProcess>),
}

impl OutputsProcess {
    fn form(&self) -> &dyn Process {
        match self {
            Self::Entries(process) => &**process,
            Self::Kronecker(process) => &**process,
        }
    }
}

impl Process for OutputsProcess {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        self.form().marginals(x)
    }

    fn rows_per_input(&self) -> usize {
        self.form().rows_per_input()
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        self.form().joint(x)
    }

    fn joint_across_outputs(&self, x: Tensor<2>) -> JointAcrossOutputs {
        self.form().joint_across_outputs(x)
    }

    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        self.form().sample(x, samples, seed)
    }
}
