//! Moments of projections with the solution of a triangular system.

use crate::support::{
    Dense, Platform, Random, assert_close, check_gradients, dense, numbers, platforms,
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{CholeskyFactor, marginals_minus_prior};

/// M, N, P: one variable, sizes around the blocks of a solve, several strips of columns and threads.
const SHAPES: [(usize, usize, usize); 6] = [
    (1, 1, 1),
    (5, 7, 1),
    (5, 1, 3),
    (65, 130, 3),
    (130, 1300, 1),
    (300, 600, 3),
];

/// L, B, m and W, and weights for the means and the changes of variances.
struct Inputs {
    lower: Dense,
    rhs: Dense,
    mean: Dense,
    scale: Vec<Dense>,
    weights: [Dense; 2],
}

impl Inputs {
    fn new((size, columns, outputs): (usize, usize, usize)) -> Self {
        let mut random = Random::new(137);
        // Near the identity, so that rounding is not magnified.
        let below = random.lower_triangle(size);
        let lower = Dense::from_function(size, size, |i, j| {
            let entry = below[(i, j)] / (2.0 * size as f64);
            if i == j { 1.5 + entry } else { entry }
        });
        Self {
            lower,
            rhs: random.matrix(size, columns),
            mean: random.matrix(outputs, size),
            scale: (0..outputs).map(|_| random.lower_triangle(size)).collect(),
            weights: [
                random.matrix(columns, outputs),
                random.matrix(columns, outputs),
            ],
        }
    }
}

type Moments = (Tensor<2>, Tensor<2>);

type Operation = fn(&CholeskyFactor<2>, Tensor<2>, Tensor<2>, Tensor<3>) -> Moments;

/// The operation, and what it stands for.
fn both() -> [Operation; 2] {
    [
        |factor, rhs, mean, scale| factor.marginals_minus_prior(rhs, mean, scale),
        |factor, rhs, mean, scale| marginals_minus_prior(factor.solve(rhs), mean, scale),
    ]
}

/// The moments and the gradients of those inputs that are tracked, by both.
fn results(platform: &Platform, inputs: &Inputs, tracked: [bool; 4]) -> [Vec<Vec<f64>>; 2] {
    both().map(|operation| {
        let track = |index: usize| tracked[index];
        let platform = platform.autodiff();
        let two = |index, matrix: &Dense| {
            let tensor = platform.matrix(matrix);
            if track(index) {
                tensor.require_grad()
            } else {
                tensor
            }
        };
        let (lower, rhs, mean) = (
            two(0, &inputs.lower),
            two(1, &inputs.rhs),
            two(2, &inputs.mean),
        );
        let scale = platform.batch(&inputs.scale);
        let scale = if track(3) {
            scale.require_grad()
        } else {
            scale
        };
        let factor = CholeskyFactor::from_lower(lower.clone()).expect("a regular triangle");
        let (means, changes) = operation(&factor, rhs.clone(), mean.clone(), scale.clone());
        let [first, second] = inputs
            .weights
            .each_ref()
            .map(|weights| platform.matrix(weights));
        let value = (means.clone() * first).sum() + (changes.clone() * second).sum();
        let mut all = vec![numbers(means), numbers(changes)];
        if tracked.contains(&true) {
            let gradients = value.backward();
            all.extend(
                [lower, rhs, mean]
                    .iter()
                    .filter_map(|t| t.grad(&gradients))
                    .map(numbers),
            );
            all.extend(scale.grad(&gradients).map(numbers));
        }
        assert_eq!(
            all.len(),
            2 + tracked.iter().filter(|&&tracked| tracked).count()
        );
        all
    })
}

#[test]
fn they_are_those_of_the_solution() {
    for platform in platforms() {
        for shape in SHAPES {
            let inputs = Inputs::new(shape);
            let [values, expected] = results(&platform, &inputs, [true; 4]);
            // Sums of up to 1300 products of normals in another order.
            let tolerance = platform.tolerance(1e-12, 1e-4);
            for (index, (values, expected)) in values.iter().zip(&expected).enumerate() {
                let what = format!("{platform}, {shape:?}, result {index}");
                assert_close(&what, values, expected, tolerance);
            }
        }
    }
}

/// Inputs without gradients change nothing for the others.
#[test]
fn only_what_is_tracked_has_a_gradient() {
    for platform in platforms() {
        let inputs = Inputs::new((65, 130, 2));
        for bits in 0..16 {
            let tracked = std::array::from_fn(|index| bits >> index & 1 == 1);
            let [values, expected] = results(&platform, &inputs, tracked);
            for (values, expected) in values.iter().zip(&expected) {
                let tolerance = platform.tolerance(1e-13, 1e-4);
                assert_close(
                    &format!("{platform}, {tracked:?}"),
                    values,
                    expected,
                    tolerance,
                );
            }
        }
    }
}

#[test]
fn gradients_are_those_of_differences() {
    for shape in [(5, 7, 1), (33, 20, 2)] {
        let (size, columns, outputs) = shape;
        let inputs = Inputs::new(shape);
        check_gradients(
            &format!("{shape:?}"),
            &[
                (&inputs.lower).into(),
                (&inputs.rhs).into(),
                (&inputs.mean).into(),
                dense::flatten(&inputs.scale).into(),
            ],
            1e-4,
            &|platform, tensors| {
                let lower = tensors[0].clone().reshape([size, size]);
                let factor = CholeskyFactor::from_lower(lower).expect("a regular triangle");
                let (means, changes) = factor.marginals_minus_prior(
                    tensors[1].clone().reshape([size, columns]),
                    tensors[2].clone().reshape([outputs, size]),
                    tensors[3].clone().reshape([outputs, size, size]),
                );
                let [first, second] = inputs
                    .weights
                    .each_ref()
                    .map(|weights| platform.matrix(weights));
                (means * first).sum() + (changes * second).sum()
            },
        );
    }
}

#[test]
#[should_panic(expected = "expected [M, M], [M, N], [P, M], [P, M, M]")]
fn shapes_must_match() {
    let platform = &platforms()[0];
    let inputs = Inputs::new((5, 7, 1));
    let factor = CholeskyFactor::from_lower(platform.matrix(&inputs.lower)).expect("regular");
    let rhs = platform.matrix(&inputs.rhs.transposed());
    factor.marginals_minus_prior(
        rhs,
        platform.matrix(&inputs.mean),
        platform.batch(&inputs.scale),
    );
}
