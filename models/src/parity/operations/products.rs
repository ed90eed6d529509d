//! Products of matrices, and changes of their diagonals.

use burn_gp_core::ops;

use super::{BATCH, Case, SIZES, exact, triangles};

pub(super) fn cases() -> Vec<Case> {
    let [rows, columns, others] = SIZES;
    vec![
        exact("gram", move |site| {
            let basis = site.normal([BATCH, rows, columns]);
            site.output("product", ops::gram(basis));
        }),
        exact("transposed_gram", move |site| {
            let basis = site.normal([BATCH, columns, rows]);
            site.output("product", ops::transposed_gram(basis));
        }),
        exact("gram of a transposed view", move |site| {
            let basis = site.normal([columns, rows]);
            site.output("product", ops::gram(basis.transpose()));
        }),
        exact("triangular_product", move |site| {
            let lower = triangles(site, BATCH, rows);
            let lower = site.given(&lower, [BATCH, rows, rows]);
            let right = site.normal([BATCH, rows, columns]);
            site.output("product", ops::triangular_product(lower, right));
        }),
        exact("transposed_triangular_product", move |site| {
            let lower = triangles(site, BATCH, rows);
            let lower = site.given(&lower, [BATCH, rows, rows]);
            let right = site.normal([BATCH, rows, columns]);
            let product = ops::transposed_triangular_product(lower, right);
            site.output("product", product);
        }),
        exact("remainder", move |site| {
            let matrix = site.normal([BATCH, rows, columns]);
            let left = site.normal([BATCH, rows, others]);
            let right = site.normal([BATCH, others, columns]);
            // `matrix − leftᵀ·right`.
            let left = left.swap_dims(1, 2);
            site.output("remainder", ops::remainder(matrix, left, right));
        }),
        exact("congruence", move |site| {
            let matrix = super::definite(site, 1, rows);
            let matrix = site.constant(&matrix, [rows, rows]);
            let lower = triangles(site, 1, rows);
            let lower = site.constant(&lower, [rows, rows]);
            let congruence = ops::congruence(matrix, lower.clone());
            site.value("triangle", congruence.lower());
            site.value("step", congruence.descend(lower, 0.1));
        }),
        exact("add_to_diagonal", move |site| {
            let matrix = site.normal([BATCH, rows, rows]);
            let value = site.normal([BATCH]);
            site.output("sum", ops::add_to_diagonal(matrix, value));
        }),
        exact("add_diagonal", move |site| {
            let matrix = site.normal([BATCH, rows, rows]);
            let diagonal = site.normal([BATCH * rows]);
            site.output("sum", ops::add_diagonal(matrix, diagonal));
        }),
    ]
}
