//! Exact products and operations made of them, for sizes around the tiles of a GPU kernel, empty
//! matrices, transposed memory and batches.

use burn::tensor::Tensor;
use burn_gp_core::ops::{
    ExactMatmul, batch_projected_moments, gram, subtract_product, transposed_gram,
    transposed_triangular_product, triangular_product,
};

use crate::support::{
    Dense, Input, Platform, Random, assert_close, check_gradients, dense::flatten, numbers,
    platforms,
};

/// Rows, terms and columns: around 16 and 64, from 256 rows and 512 terms on, and none.
const SIZES: [(usize, usize, usize); 15] = [
    (1, 1, 1),
    (63, 64, 65),
    (64, 65, 63),
    (65, 63, 64),
    (15, 16, 17),
    (130, 33, 1),
    (1, 200, 130),
    (16, 1, 64),
    (17, 300, 16),
    (257, 40, 65),
    (20, 1100, 70),
    (1, 900, 3),
    (0, 5, 3),
    (5, 0, 3),
    (5, 3, 0),
];

/// The rounding of a sum of so many products, relative to its largest value.
fn rounding(platform: &Platform, terms: usize) -> f64 {
    8.0 * (1.0 + (terms as f64).sqrt()) * platform.epsilon()
}

/// The same matrix, stored column by column.
fn turned(platform: &Platform, matrix: &Dense) -> Tensor<2> {
    platform.matrix(&matrix.transposed()).transpose()
}

#[test]
fn products_are_those_of_plain_loops() {
    for platform in platforms() {
        for (rows, terms, columns) in SIZES {
            // burn's product on ndarray divides by the number of entries.
            if platform.backend == "ndarray" && rows * terms * columns == 0 {
                continue;
            }
            let mut random = Random::new((rows + 7 * terms) as u64);
            let (a, b) = (random.matrix(rows, terms), random.matrix(terms, columns));
            let expected = a.times(&b).values;
            let tolerance = rounding(&platform, terms);
            let given = [platform.matrix(&a), turned(&platform, &a)];
            let others = [platform.matrix(&b), turned(&platform, &b)];
            for (i, left) in given.iter().enumerate() {
                for (j, right) in others.iter().enumerate() {
                    let product = left.clone().exact_matmul(right.clone());
                    assert_eq!(product.dims(), [rows, columns]);
                    let what = format!("{platform}, {rows} x {terms} x {columns}, form {i} {j}");
                    assert_close(&what, &numbers(product), &expected, tolerance);
                }
            }
        }
    }
}

/// Members of a batch, the same matrix for all of them, and permuted axes.
#[test]
fn batches_are_products_of_their_members() {
    for platform in platforms() {
        for (rows, terms, columns) in [(3, 5, 2), (65, 20, 17), (1, 70, 3), (3, 700, 5)] {
            let mut random = Random::new(11);
            let left: Vec<Dense> = (0..3).map(|_| random.matrix(rows, terms)).collect();
            let right: Vec<Dense> = (0..3).map(|_| random.matrix(terms, columns)).collect();
            let tolerance = rounding(&platform, terms);
            let what = format!("{platform}, {rows} x {terms} x {columns}");
            let product = platform.batch(&left).exact_matmul(platform.batch(&right));
            let expected = [0, 1, 2].map(|index| left[index].times(&right[index]));
            assert_close(&what, &numbers(product), &flatten(&expected), tolerance);
            let product = (platform.batch(&left)).exact_matmul(platform.batch(&right[..1]));
            let expected = [0, 1, 2].map(|index| left[index].times(&right[0]));
            assert_close(&what, &numbers(product), &flatten(&expected), tolerance);
            let stacked = (platform.batch(&left[..1])).exact_matmul(platform.batch(&right));
            let expected = [0, 1, 2].map(|index| left[0].times(&right[index]));
            assert_close(&what, &numbers(stacked), &flatten(&expected), tolerance);
            // [M, 3, K] as [3, M, K]
            let permuted = platform.batch(&left).swap_dims(0, 1).exact_matmul(
                platform.batch(&vec![right[0].clone(); rows]), // one for each row
            );
            let expected = [0, 1, 2].map(|index| left[index].times(&right[0]));
            let permuted = numbers(permuted.swap_dims(0, 1));
            assert_close(&what, &permuted, &flatten(&expected), tolerance);
        }
    }
}

#[test]
fn products_have_gradients() {
    for (rows, terms, columns) in [(3, 4, 2), (66, 17, 5)] {
        let mut random = Random::new(23);
        let (a, b) = (
            random.matrix(2 * rows, terms),
            random.matrix(terms, columns),
        );
        let weights = random.normals(2 * rows * columns);
        check_gradients(
            &format!("{rows} x {terms} x {columns}"),
            &[Input::from(&a), Input::from(&b)],
            1e-4,
            &|platform, inputs| {
                let left = inputs[0].clone().reshape([2, rows, terms]);
                let right = inputs[1].clone().reshape([1, terms, columns]);
                let product = left.exact_matmul(right);
                (product * platform.tensor(&weights, [2, rows, columns])).sum()
            },
        );
    }
}

/// Matrices that share their memory with a tensor that is used again.
#[test]
fn operations_take_any_memory_and_leave_it_alone() {
    for platform in platforms() {
        for (size, columns) in [
            (1, 3),
            (17, 5),
            (64, 64),
            (70, 130),
            (4, 0),
            (70, 1200),
            (600, 30),
        ] {
            let mut random = Random::new(size as u64);
            let (lower, rhs) = (random.lower_triangle(size), random.matrix(size, columns));
            let base = random.matrix(size, columns);
            let what = format!("{platform}, {size} x {columns}");
            let tolerance = rounding(&platform, size.max(columns));
            let (l, b) = (turned(&platform, &lower), turned(&platform, &rhs));

            let product = numbers(triangular_product(l.clone(), b.clone()));
            assert_close(&what, &product, &lower.times(&rhs).values, tolerance);
            let product = numbers(transposed_triangular_product(l.clone(), b.clone()));
            let expected = lower.transposed().times(&rhs).values;
            assert_close(&what, &product, &expected, tolerance);
            let product = numbers(gram(b.clone()));
            assert_close(
                &what,
                &product,
                &rhs.times(&rhs.transposed()).values,
                tolerance,
            );
            let product = numbers(transposed_gram(b.clone()));
            assert_close(
                &what,
                &product,
                &rhs.transposed().times(&rhs).values,
                tolerance,
            );

            let held = platform.matrix(&base);
            let expected = base.minus(&lower.transposed().times(&rhs)).values;
            for matrix in [
                held.clone(),
                turned(&platform, &base),
                platform.matrix(&base),
            ] {
                let rest = numbers(subtract_product(matrix, l.clone(), b.clone()));
                assert_close(&what, &rest, &expected, tolerance);
            }
            assert_eq!(numbers(held), numbers(platform.matrix(&base)), "{what}");
            assert_eq!(numbers(b), numbers(platform.matrix(&rhs)), "{what}");
        }
    }
}

/// The gradients are sums over the batch for a shared basis; here each variable has its own.
#[test]
fn moments_with_a_basis_each_have_gradients() {
    for (outputs, size, columns) in [(2, 3, 4), (3, 20, 33)] {
        let mut random = Random::new(37);
        let basis = random.normals(outputs * size * columns);
        let mean = random.normals(outputs * size);
        let scale: Vec<Dense> = (0..outputs).map(|_| random.lower_triangle(size)).collect();
        let weights = random.normals(2 * outputs * columns);
        check_gradients(
            &format!("{outputs} variables of {size}"),
            &[basis.into(), mean.into(), flatten(&scale).into()],
            1e-4,
            &|platform, inputs| {
                let (mean, variance) = batch_projected_moments(
                    inputs[0].clone().reshape([outputs, size, columns]),
                    inputs[1].clone().reshape([outputs, size]),
                    inputs[2].clone().reshape([outputs, size, size]).tril(0),
                );
                let moments = Tensor::cat(vec![mean, variance], 0);
                (moments * platform.tensor(&weights, [2 * columns, outputs])).sum()
            },
        );
    }
}
