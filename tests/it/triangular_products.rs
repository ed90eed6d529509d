//! Triangular products, remainders, column products and diagonals, compared with plain loops, with
//! their gradients.

use crate::support::{
    Dense, Input, Random, assert_close, check_gradients, dense::flatten, numbers, platforms,
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{
    add_diagonal, batch_column_products, column_products, congruence, subtract_product,
    transposed_triangular_product, triangular_product,
};

/// Sizes on both sides of all block boundaries, and enough for several threads.
const SIZES: [(usize, usize); 5] = [(1, 1), (7, 5), (65, 3), (130, 40), (300, 150)];

#[test]
fn products_are_those_of_plain_loops() {
    for platform in platforms() {
        for (size, columns) in SIZES {
            let mut random = Random::new(size as u64);
            let lower = [0, 1].map(|_| random.lower_triangle(size));
            let rhs = [0, 1].map(|_| random.matrix(size, columns));
            let what = format!("{platform}, {size} x {columns}");
            // Sums of `size` products have errors of a few units in the last place each.
            let tolerance = 20.0 * (size as f64).sqrt() * platform.epsilon();
            let (l, b) = (platform.matrix(&lower[0]), platform.matrix(&rhs[0]));
            let product = numbers(triangular_product(l.clone(), b.clone()));
            assert_close(&what, &product, &lower[0].times(&rhs[0]).values, tolerance);
            let product = numbers(transposed_triangular_product(l, b));
            let expected = lower[0].transposed().times(&rhs[0]);
            assert_close(&what, &product, &expected.values, tolerance);
            let (l, b) = (platform.batch(&lower), platform.batch(&rhs));
            let product = numbers(triangular_product(l, b));
            let expected = [0, 1].map(|index| lower[index].times(&rhs[index]));
            assert_close(&what, &product, &flatten(&expected), tolerance);
        }
    }
}

#[test]
fn products_have_gradients() {
    for size in [1, 6, 70] {
        let mut random = Random::new(31);
        let (lower, rhs) = (random.lower_triangle(size), random.matrix(size, 4));
        let weights = random.matrix(size, 4);
        for transposed in [false, true] {
            check_gradients(
                &format!("size {size}, transposed {transposed}"),
                &[Input::from(&lower), Input::from(&rhs)],
                1e-4,
                &|platform, inputs| {
                    // The entries above the diagonal are not an input.
                    let lower = inputs[0].clone().reshape([size, size]).tril(0);
                    let rhs = inputs[1].clone().reshape([size, 4]);
                    let product = if transposed {
                        transposed_triangular_product(lower, rhs)
                    } else {
                        triangular_product(lower, rhs)
                    };
                    (product * platform.matrix(&weights)).sum()
                },
            );
        }
    }
}

#[test]
fn remainders_are_those_of_plain_loops() {
    for platform in platforms() {
        for (inner, columns) in SIZES {
            let rows = inner / 2 + 3;
            let mut random = Random::new(53 + inner as u64);
            let matrix = [0, 1].map(|_| random.matrix(rows, columns));
            let left = [0, 1].map(|_| random.matrix(inner, rows));
            let right = [0, 1].map(|_| random.matrix(inner, columns));
            let expected = [0, 1].map(|index: usize| {
                matrix[index].minus(&left[index].transposed().times(&right[index]))
            });
            let what = format!("{platform}, {inner} x {columns}");
            // Sums of `inner` products have errors of a few units in the last place each.
            let tolerance = 20.0 * (inner as f64).sqrt() * platform.epsilon();
            let [b, a, x] = [&matrix[0], &left[0], &right[0]].map(|dense| platform.matrix(dense));
            let ours = numbers(subtract_product(b, a, x));
            assert_close(&what, &ours, &expected[0].values, tolerance);
            let [b, a, x] = [&matrix, &left, &right].map(|dense| platform.batch(dense));
            let ours = numbers(subtract_product(b, a, x));
            assert_close(&what, &ours, &flatten(&expected), tolerance);
        }
    }
}

#[test]
fn remainders_have_gradients() {
    let mut random = Random::new(59);
    let inputs = [
        random.matrix(2, 6),
        random.matrix(2, 10),
        random.matrix(2, 15),
    ];
    let weights = [0, 1].map(|_| random.matrix(2, 3));
    check_gradients(
        "two remainders",
        &inputs.each_ref().map(Input::from),
        1e-4,
        &|platform, inputs| {
            let of = |index: usize, rows, columns| -> Tensor<3> {
                inputs[index].clone().reshape([2, rows, columns])
            };
            let rest = subtract_product(of(0, 2, 3), of(1, 5, 2), of(2, 5, 3));
            (rest.square() * platform.batch(&weights)).sum()
        },
    );
}

#[test]
fn column_products_are_sums_of_products() {
    for platform in platforms() {
        for (rows, columns) in [(1, 1), (9, 4), (700, 300)] {
            let mut random = Random::new(37);
            let left = [0, 1].map(|_| random.matrix(rows, columns));
            let right = [0, 1].map(|_| random.matrix(rows, columns));
            let sums = |index: usize| -> Vec<f64> {
                let entry = |m, n| left[index][(m, n)] * right[index][(m, n)];
                let sum = |n| (0..rows).map(|m| entry(m, n)).sum();
                (0..columns).map(sum).collect()
            };
            let what = format!("{platform}, {rows} x {columns}");
            let tolerance = platform.tolerance(1e-12, 1e-4);
            let one = column_products(platform.matrix(&left[0]), platform.matrix(&right[0]));
            assert_close(&what, &numbers(one), &sums(0), tolerance);
            let both = batch_column_products(platform.batch(&left), platform.batch(&right));
            assert_close(
                &what,
                &numbers(both),
                &[sums(0), sums(1)].concat(),
                tolerance,
            );
        }
    }
}

#[test]
fn column_products_and_diagonals_have_gradients() {
    let mut random = Random::new(41);
    let inputs = [random.matrix(2, 6), random.matrix(2, 6)];
    let weights = Dense::new(2, 3, random.normals(6));
    check_gradients(
        "column products",
        &inputs.each_ref().map(Input::from),
        1e-4,
        &|platform, inputs| {
            let [left, right] = [0, 1].map(|index: usize| inputs[index].clone().reshape([2, 2, 3]));
            (batch_column_products(left, right) * platform.matrix(&weights)).sum()
        },
    );
    let weights = [0, 1].map(|_| random.matrix(3, 3));
    check_gradients(
        "diagonals",
        &[
            Input::from(random.normals(18)),
            Input::from(random.normals(6)),
        ],
        1e-4,
        &|platform, inputs| {
            let matrices = inputs[0].clone().reshape([2, 3, 3]);
            let sum = add_diagonal(matrices, inputs[1].clone());
            (sum.square() * platform.batch(&weights)).sum()
        },
    );
}

#[test]
fn diagonals_are_added_to_every_matrix_of_a_batch() {
    for platform in platforms() {
        let mut random = Random::new(43);
        let matrices = [0, 1].map(|_| random.matrix(4, 4));
        let diagonal = random.normals(8);
        let sum = add_diagonal(platform.batch(&matrices), platform.tensor(&diagonal, [8]));
        let expected = [0, 1].map(|p| {
            Dense::from_function(4, 4, |i, j| {
                matrices[p][(i, j)] + if i == j { diagonal[4 * p + i] } else { 0.0 }
            })
        });
        assert_close(
            &format!("{platform}"),
            &numbers(sum),
            &flatten(&expected),
            1e-6,
        );
    }
}

/// `LᵀAL`, its distance from the identity, and the step computed from it.
#[test]
fn congruences_are_those_of_plain_loops() {
    for platform in platforms() {
        for size in [1, 5, 64, 65, 130, 300] {
            let mut random = Random::new(47);
            let matrix = random.positive_definite(size);
            let lower = random.lower_triangle(size);
            let what = format!("{platform}, size {size}");
            let tolerance = 50.0 * (size as f64).sqrt() * platform.epsilon();
            let tensors = (platform.matrix(&matrix), platform.matrix(&lower));
            let ours = congruence(tensors.0, tensors.1.clone());
            let expected = lower.transposed().times(&matrix).times(&lower);
            let triangle = expected.lower();
            assert_close(&what, &numbers(ours.lower()), &triangle.values, tolerance);
            let distance = expected.minus(&Dense::identity(size));
            let norm = distance.values.iter().map(|e| e * e).sum::<f64>().sqrt();
            let largest = expected.diagonal().into_iter().fold(f64::MIN, f64::max);
            let (ours_norm, ours_largest) = ours.distance_from_identity();
            assert_close(
                &what,
                &[ours_norm, ours_largest],
                &[norm, largest],
                tolerance,
            );
            let step = Dense::from_function(size, size, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 0.5 * (expected[(i, i)] - 1.0),
                std::cmp::Ordering::Greater => expected[(i, j)],
            });
            let next = lower.minus(&lower.times(&step).scaled(0.3));
            let ours = numbers(ours.descend(tensors.1, 0.3));
            assert_close(&what, &ours, &next.values, tolerance);
        }
    }
}
