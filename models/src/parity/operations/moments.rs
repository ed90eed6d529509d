//! Moments of projected Gaussians, sums of columns, and layer normalization.

use burn_gp_core::ops;

use super::{BATCH, Case, SIZES, exact, triangles};

pub(super) fn cases() -> Vec<Case> {
    let [rows, columns, _] = SIZES;
    vec![
        exact("projected_moments", move |site| {
            let basis = site.normal([rows, columns]);
            let mean = site.normal([BATCH, rows]);
            let scale = triangles(site, BATCH, rows);
            let scale = site.given(&scale, [BATCH, rows, rows]);
            let (means, variances) = ops::projected_moments(basis, mean, scale);
            site.output("means", means);
            site.output("variances", variances);
        }),
        exact("batch_projected_moments", move |site| {
            let basis = site.normal([BATCH, rows, columns]);
            let mean = site.normal([BATCH, rows]);
            let scale = triangles(site, BATCH, rows);
            let scale = site.given(&scale, [BATCH, rows, rows]);
            let (means, variances) = ops::batch_projected_moments(basis, mean, scale);
            site.output("means", means);
            site.output("variances", variances);
        }),
        exact("relative_moments", move |site| {
            let basis = site.normal([rows, columns]);
            let mean = site.normal([BATCH, rows]);
            let scale = triangles(site, BATCH, rows);
            let scale = site.given(&scale, [BATCH, rows, rows]);
            let (means, variances) = ops::relative_moments(basis, mean, scale);
            site.output("means", means);
            site.output("variances", variances);
        }),
        exact("batch_relative_moments", move |site| {
            let basis = site.normal([BATCH, rows, columns]);
            let mean = site.normal([BATCH, rows]);
            let scale = triangles(site, BATCH, rows);
            let scale = site.given(&scale, [BATCH, rows, rows]);
            let (means, variances) = ops::batch_relative_moments(basis, mean, scale);
            site.output("means", means);
            site.output("variances", variances);
        }),
        exact("expected_gaussian_log_density", move |site| {
            let [mean, targets] = [(); 2].map(|()| site.normal([rows, BATCH]));
            let variance = site.normal([rows, BATCH]).square() + 0.1;
            let noise = site.normal([1]).square() + 0.5;
            let each = ops::expected_gaussian_log_density(mean, variance, targets, noise);
            site.output("expectations", each);
        }),
        exact("column_squares", move |site| {
            let basis = site.normal([rows, columns]);
            site.output("squares", ops::column_squares(basis));
        }),
        exact("batch_column_squares", move |site| {
            let basis = site.normal([BATCH, rows, columns]);
            site.output("squares", ops::batch_column_squares(basis));
        }),
        exact("column_products", move |site| {
            let (left, right) = (site.normal([rows, columns]), site.normal([rows, columns]));
            site.output("products", ops::column_products(left, right));
        }),
        exact("batch_column_products", move |site| {
            let left = site.normal([BATCH, rows, columns]);
            let right = site.normal([BATCH, rows, columns]);
            site.output("products", ops::batch_column_products(left, right));
        }),
        exact("gaussian_kl", move |site| {
            let mean = site.normal([BATCH, rows]);
            let scale = triangles(site, BATCH, rows);
            let scale = site.given(&scale, [BATCH, rows, rows]);
            site.output("divergence", ops::gaussian_kl(mean, scale));
        }),
        exact("layer_normalization", move |site| {
            let x = site.normal([rows, columns]);
            let (scale, shift) = (site.positive([columns]), site.normal([columns]));
            site.output(
                "normalized",
                ops::layer_normalization(x, scale, shift, 1e-5),
            );
        }),
    ]
}
