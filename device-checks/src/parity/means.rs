//! Every mean by its name.

use burn_gp_core::means::MeanName;

use super::{Case, Group};

/// Rows, dimensions and functions.
const SIZES: [usize; 3] = [41, 3, 2];

pub(super) fn cases() -> Vec<Case> {
    let [rows, dimensions, functions] = SIZES;
    let case = |mean: MeanName| {
        Case::compare(Group::Mean, mean.name(), move |harness| {
            let x = harness.normal([rows, dimensions]);
            let mean = mean.config().init(dimensions, functions, harness.options());
            let mean = harness.module(mean);
            harness.output("means", mean.forward(x));
            Ok(())
        })
    };
    MeanName::all().map(case).collect()
}
