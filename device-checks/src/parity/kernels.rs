//! Every kernel by its name.

use burn_gp_core::{
    custom::ComponentName,
    kernels::{Kernel, KernelConfig, KernelModule},
};

use super::{Case, Group, Harness, Reason};

/// Points of the two sets, and their dimensions.
const SIZES: [usize; 3] = [41, 23, 3];

pub(super) fn cases() -> Vec<Case> {
    let case = |kernel: ComponentName<dyn Kernel>| {
        Case::compare(Group::Kernel, kernel.name(), move |harness| {
            compute(&kernel.config(), harness)
        })
    };
    ComponentName::all().map(case).collect()
}

fn compute(config: &KernelConfig, harness: &mut Harness) -> Result<(), Reason> {
    let [rows, others, dimensions] = SIZES;
    // Kernels of pairs take an even number.
    let dimensions = dimensions + usize::from(config.check_inputs(dimensions).is_err());
    config.check_for("kernel", dimensions)?;
    let kernel = config.init(dimensions, harness.options());
    let kernel = harness.module(kernel);
    let x1 = harness.normal([rows, dimensions]);
    let x2 = harness.normal([others, dimensions]);
    harness.output("covariance", kernel.covariance_at(x1.clone(), x2));
    harness.output("matrix", kernel.matrix_at(x1.clone()));
    harness.output("diagonal", kernel.diagonal_at(x1));
    Ok(())
}
