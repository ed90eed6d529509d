//! Moments of projected Gaussians, sums of columns, and layer normalization.

use burn_gp_core::ops;

use super::{BATCH, Case, SIZES, exact, triangles};

pub(super) fn cases() -> Vec<Case> {
    let [rows, columns, _] = SIZES;
    vec![
        exact("projected_moments", move |harness| {
            let basis = harness.normal([rows, columns]);
            let mean = harness.normal([BATCH, rows]);
            let scale = triangles(harness, BATCH, rows);
            let scale = harness.given(&scale, [BATCH, rows, rows]);
            let (means, variances) = ops::projected_moments(basis, mean, scale);
            harness.output("means", means);
            harness.output("variances", variances);
        }),
        exact("batch_projected_moments", move |harness| {
            let basis = harness.normal([BATCH, rows, columns]);
            let mean = harness.normal([BATCH, rows]);
            let scale = triangles(harness, BATCH, rows);
            let scale = harness.given(&scale, [BATCH, rows, rows]);
            let (means, variances) = ops::batch_projected_moments(basis, mean, scale);
            harness.output("means", means);
            harness.output("variances", variances);
        }),
        exact("marginals_minus_prior", move |harness| {
            let basis = harness.normal([rows, columns]);
            let mean = harness.normal([BATCH, rows]);
            let scale = triangles(harness, BATCH, rows);
            let scale = harness.given(&scale, [BATCH, rows, rows]);
            let (means, variances) = ops::marginals_minus_prior(basis, mean, scale);
            harness.output("means", means);
            harness.output("variances", variances);
        }),
        exact("batch_relative_moments", move |harness| {
            let basis = harness.normal([BATCH, rows, columns]);
            let mean = harness.normal([BATCH, rows]);
            let scale = triangles(harness, BATCH, rows);
            let scale = harness.given(&scale, [BATCH, rows, rows]);
            let (means, variances) = ops::batch_relative_moments(basis, mean, scale);
            harness.output("means", means);
            harness.output("variances", variances);
        }),
        exact("expected_gaussian_log_density", move |harness| {
            let [mean, targets] = [(); 2].map(|()| harness.normal([rows, BATCH]));
            let variance = harness.normal([rows, BATCH]).square() + 0.1;
            let noise = harness.normal([1]).square() + 0.5;
            let each = ops::expected_gaussian_log_density(mean, variance, targets, noise);
            harness.output("expectations", each);
        }),
        exact("column_squares", move |harness| {
            let basis = harness.normal([rows, columns]);
            harness.output("squares", ops::column_squares(basis));
        }),
        exact("batch_column_squares", move |harness| {
            let basis = harness.normal([BATCH, rows, columns]);
            harness.output("squares", ops::batch_column_squares(basis));
        }),
        exact("column_products", move |harness| {
            let (left, right) = (
                harness.normal([rows, columns]),
                harness.normal([rows, columns]),
            );
            harness.output("products", ops::column_products(left, right));
        }),
        exact("batch_column_products", move |harness| {
            let left = harness.normal([BATCH, rows, columns]);
            let right = harness.normal([BATCH, rows, columns]);
            harness.output("products", ops::batch_column_products(left, right));
        }),
        exact("gaussian_kl", move |harness| {
            let mean = harness.normal([BATCH, rows]);
            let scale = triangles(harness, BATCH, rows);
            let scale = harness.given(&scale, [BATCH, rows, rows]);
            harness.output("divergence", ops::gaussian_kl(mean, scale));
        }),
        exact("layer_normalization", move |harness| {
            let x = harness.normal([rows, columns]);
            let (scale, shift) = (harness.positive([columns]), harness.normal([columns]));
            harness.output(
                "normalized",
                ops::layer_normalization(x, scale, shift, 1e-5),
            );
        }),
    ]
}
