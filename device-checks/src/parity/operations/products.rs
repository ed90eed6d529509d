//! Products of matrices, and changes of their diagonals.

use burn_gp_core::ops;

use super::{BATCH, Case, SIZES, exact, triangles};

pub(super) fn cases() -> Vec<Case> {
    let [rows, columns, others] = SIZES;
    vec![
        exact("gram", move |harness| {
            let basis = harness.normal([BATCH, rows, columns]);
            harness.output("product", ops::gram(basis));
        }),
        exact("transposed_gram", move |harness| {
            let basis = harness.normal([BATCH, columns, rows]);
            harness.output("product", ops::transposed_gram(basis));
        }),
        exact("gram of a transposed view", move |harness| {
            let basis = harness.normal([columns, rows]);
            harness.output("product", ops::gram(basis.transpose()));
        }),
        exact("triangular_product", move |harness| {
            let lower = triangles(harness, BATCH, rows);
            let lower = harness.given(&lower, [BATCH, rows, rows]);
            let right = harness.normal([BATCH, rows, columns]);
            harness.output("product", ops::triangular_product(lower, right));
        }),
        exact("transposed_triangular_product", move |harness| {
            let lower = triangles(harness, BATCH, rows);
            let lower = harness.given(&lower, [BATCH, rows, rows]);
            let right = harness.normal([BATCH, rows, columns]);
            let product = ops::transposed_triangular_product(lower, right);
            harness.output("product", product);
        }),
        exact("subtract_product", move |harness| {
            let matrix = harness.normal([BATCH, rows, columns]);
            let left = harness.normal([BATCH, rows, others]);
            let right = harness.normal([BATCH, others, columns]);
            // `matrix − leftᵀ·right`.
            let left = left.swap_dims(1, 2);
            harness.output(
                "subtract_product",
                ops::subtract_product(matrix, left, right),
            );
        }),
        exact("congruence", move |harness| {
            let matrix = super::definite(harness, 1, rows);
            let matrix = harness.constant(&matrix, [rows, rows]);
            let lower = triangles(harness, 1, rows);
            let lower = harness.constant(&lower, [rows, rows]);
            let congruence = ops::congruence(matrix, lower.clone());
            harness.value("triangle", congruence.lower());
            harness.value("step", congruence.descend(lower, 0.1));
        }),
        exact("add_to_diagonal", move |harness| {
            let matrix = harness.normal([BATCH, rows, rows]);
            let value = harness.normal([BATCH]);
            harness.output("sum", ops::add_to_diagonal(matrix, value));
        }),
        exact("add_diagonal", move |harness| {
            let matrix = harness.normal([BATCH, rows, rows]);
            let diagonal = harness.normal([BATCH * rows]);
            harness.output("sum", ops::add_diagonal(matrix, diagonal));
        }),
    ]
}
