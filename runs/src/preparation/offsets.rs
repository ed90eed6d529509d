//! Inputs that are known terms of the function.

use burn_gp_core::{kernels::KernelConfig, likelihoods::TargetKind};
use burn_gp_datasets::Schema;

use super::{Part, PreparedData};

/// The inputs on which the kernel acts: all but known terms of the function.
pub fn kernel_inputs(schema: &Schema) -> Vec<usize> {
    let offsets = schema.offset_inputs();
    let inputs = 0..schema.input_names.len();
    inputs.filter(|input| !offsets.contains(input)).collect()
}

/// A kernel of the inputs that are no known terms, as a kernel of all inputs.
pub fn on_kernel_inputs(kernel: KernelConfig, schema: &Schema) -> KernelConfig {
    match schema.offset_inputs().is_empty() {
        true => kernel,
        false => kernel.on_dimensions(kernel_inputs(schema)),
    }
}

impl PreparedData {
    /// The inputs on which the kernel acts.
    pub fn kernel_inputs(&self) -> Vec<usize> {
        kernel_inputs(&self.schema)
    }

    /// Their number.
    pub fn kernel_dimensions(&self) -> usize {
        self.kernel_inputs().len()
    }

    /// The sum of the known terms of each row of a part, in the units of the function.
    pub fn offsets(&self, part: &Part) -> Vec<f64> {
        let terms = self.schema.offset_inputs();
        let rows = part
            .inputs
            .values()
            .chunks_exact(part.inputs.columns().max(1));
        rows.map(|row| terms.iter().map(|&term| row[term]).sum())
            .collect()
    }

    /// The targets of a part as values of the function without its known terms, where the likelihood has a logarithm as
    /// its link or the function is on the scale of the target.
    pub fn targets_without_offsets(&self, part: &Part) -> Vec<f64> {
        if self.schema.offset_inputs().is_empty() {
            return part.targets.clone();
        }
        let without: fn(f64, f64) -> f64 = match self.likelihood.target() {
            // Half a count keeps the logarithm of zero finite.
            TargetKind::Counts => |target, offset| (target + 0.5).ln() - offset,
            TargetKind::PositiveNumbers => {
                |target, offset| target.max(f64::MIN_POSITIVE).ln() - offset
            }
            kind if kind.is_any_number() => |target, offset| target - offset,
            _ => |target, _| target,
        };
        let pairs = part.targets.iter().zip(self.offsets(part));
        pairs
            .map(|(&target, offset)| without(target, offset))
            .collect()
    }

    /// The constant function for which the training targets have their mean.
    pub fn first_constant(&self) -> f64 {
        let kind = self.likelihood.target();
        let constant = kind.first_constant(&self.train.likelihood_targets().0);
        let offsets = self.offsets(&self.train);
        let count = offsets.len().max(1) as f64;
        constant
            - match kind {
                // The mean of e^c·e^o is that of the targets.
                TargetKind::Counts | TargetKind::PositiveNumbers => {
                    (offsets.iter().map(|offset| offset.exp()).sum::<f64>() / count).ln()
                }
                TargetKind::Fractions | TargetKind::Successes => {
                    offsets.iter().sum::<f64>() / count
                }
                _ => 0.0,
            }
    }
}
