//! The posterior of several outputs by a factor of the covariance of all observed entries.

use burn::tensor::Tensor;

use super::entries::Entries;
use crate::{
    ops::NotPositiveDefinite,
    process::{ConditionedProcess, Joint, JointAcrossOutputs, Marginals, Process},
};

/// P functions as one function of D + 1 inputs, of which the last is the number of the output, given observed entries
/// by a factor of their covariance matrix.
#[derive(Clone, Debug)]
pub struct EntriesProcess {
    process: ConditionedProcess,
    outputs: usize,
}

impl EntriesProcess {
    /// Creates P functions from the function of D + 1 inputs.
    pub(super) fn new(process: ConditionedProcess, outputs: usize) -> Self {
        Self { process, outputs }
    }

    /// All outputs at inputs, `[N, D]` to `[N·P, D + 1]`.
    fn entries(&self, x: Tensor<2>) -> Tensor<2> {
        let [rows, dimensions] = x.dims();
        match rows {
            0 => Tensor::zeros([0, dimensions + 1], (&x.device(), x.dtype())),
            _ => Entries::all([rows, self.outputs]).inputs(x),
        }
    }

    /// One column of values of all entries as a table, `[N·P, 1]` to `[N, P]`.
    fn table(&self, values: Tensor<2>) -> Tensor<2> {
        let [entries, _] = values.dims();
        match entries {
            0 => Tensor::zeros([0, self.outputs], (&values.device(), values.dtype())),
            _ => values.reshape([entries / self.outputs, self.outputs]),
        }
    }
}

impl Process for EntriesProcess {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        let Marginals { mean, variance } = self.process.marginals(self.entries(x));
        Marginals {
            mean: self.table(mean),
            variance: self.table(variance),
        }
    }

    fn rows_per_input(&self) -> usize {
        self.outputs
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        self.joint_across_outputs(x).of_each()
    }

    fn joint_across_outputs(&self, x: Tensor<2>) -> JointAcrossOutputs {
        let ([rows, _], outputs) = (x.dims(), self.outputs);
        let Joint { mean, covariance } = self.process.joint(self.entries(x));
        let covariance = match rows {
            0 => Tensor::zeros([outputs, outputs, 0, 0], (&mean.device(), mean.dtype())),
            _ => (covariance.reshape([rows, outputs, rows, outputs])).permute([1, 3, 0, 2]),
        };
        JointAcrossOutputs {
            mean: self.table(mean),
            covariance,
        }
    }

    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let ([rows, _], outputs) = (x.dims(), self.outputs);
        if rows == 0 || samples == 0 {
            let options = (&x.device(), x.dtype());
            return Ok(Tensor::zeros([samples, outputs, rows], options));
        }
        let draws = self.process.sample(self.entries(x), samples, seed)?; // [S, 1, N·P]
        Ok(draws.reshape([samples, rows, outputs]).swap_dims(1, 2))
    }
}
