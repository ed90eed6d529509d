//! Factors of two-by-two block matrices, compared with a factorization of the whole matrix.

use crate::support::{Dense, Platform, Random, assert_close, check_gradients, numbers, platforms};
use burn::tensor::Tensor;
use burn_gp_core::ops::{BlockFactor, Jitter, cholesky};

/// A positive-definite two-by-two block matrix with blocks of different sizes, and right-hand
/// sides.
struct Case {
    first: usize,
    second: usize,
    whole: Dense,
    rhs: Dense,
}

impl Case {
    fn new() -> Self {
        let mut random = Random::new(17);
        let (first, second) = (5, 3);
        Self {
            first,
            second,
            whole: random.positive_definite(first + second),
            rhs: random.matrix(first + second, 4),
        }
    }

    /// The factor from the blocks of `whole`.
    fn factor(&self, whole: &Tensor<2>, jitter: Jitter) -> BlockFactor {
        let Self { first, second, .. } = *self;
        let above = whole.clone().narrow(0, 0, first);
        let leading = cholesky(above.clone().narrow(1, 0, first), Jitter::NONE).unwrap();
        let trailing = whole.clone().narrow(0, first, second);
        BlockFactor::new(
            leading,
            above.narrow(1, first, second),
            trailing.narrow(1, first, second),
            jitter,
        )
        .unwrap()
    }

    fn split(&self, rhs: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let above = rhs.clone().narrow(0, 0, self.first);
        (above, rhs.clone().narrow(0, self.first, self.second))
    }
}

fn stacked((first, second): (Tensor<2>, Tensor<2>)) -> Tensor<2> {
    Tensor::cat(vec![first, second], 0)
}

#[test]
fn factor_and_solves_are_those_of_the_whole() {
    let case = Case::new();
    let whole = case.whole.cholesky();
    for platform in platforms() {
        let what = platform.to_string();
        let tolerance = platform.tolerance(1e-13, 1e-5);
        let factor = case.factor(&platform.matrix(&case.whole), Jitter::NONE);
        let ours = numbers(factor.joined().lower());
        assert_close(&what, &ours, &whole.values, tolerance);
        let (first, second) = case.split(&platform.matrix(&case.rhs));
        let ours = numbers(stacked(factor.solve(first.clone(), second.clone())));
        let expected = whole.solve_lower(&case.rhs).values;
        assert_close(&what, &ours, &expected, tolerance);
        let ours = numbers(stacked(factor.solve_transposed(first, second)));
        let expected = whole.solve_lower_transposed(&case.rhs).values;
        assert_close(&what, &ours, &expected, tolerance);
    }
}

#[test]
fn uncoupled_factors_keep_to_their_blocks() {
    let case = Case::new();
    for platform in platforms() {
        let factor = case.factor(&platform.matrix(&case.whole), Jitter::NONE);
        let (leading, trailing) = (factor.leading().clone(), factor.trailing().clone());
        let (first, second) = case.split(&platform.matrix(&case.rhs));
        let expected = stacked((leading.solve(first), trailing.solve(second)));
        let joined = BlockFactor::uncoupled(leading, trailing).joined();
        let ours = joined.solve(platform.matrix(&case.rhs));
        let tolerance = platform.tolerance(1e-13, 1e-5);
        let what = platform.to_string();
        assert_close(&what, &numbers(ours), &numbers(expected), tolerance);
    }
}

/// The complement is zero, as for two equal sets of points. The jitter is that of K₂.
#[test]
fn jitter_is_relative_to_the_trailing_block() {
    let size = 4;
    let block = Random::new(3).positive_definite(size);
    let jitter = Jitter::relative(1e-3);
    let mean = block.trace() / size as f64;
    for platform in platforms() {
        let matrix = platform.matrix(&block);
        let leading = cholesky(matrix.clone(), Jitter::NONE).unwrap();
        let factor = BlockFactor::new(leading, matrix.clone(), matrix, jitter).unwrap();
        let expected = Dense::identity(size).scaled((1e-3 * mean).sqrt());
        let ours = numbers(factor.trailing().lower());
        let tolerance = platform.tolerance(1e-11, 1e-2);
        assert_close(&platform.to_string(), &ours, &expected.values, tolerance);
    }
}

/// Gradients through both solves and the joined factor, with a jitter that affects the result.
#[test]
fn gradients() {
    let case = Case::new();
    let size = case.first + case.second;
    let inputs = [(&case.whole).into(), (&case.rhs).into()];
    let loss = |platform: &Platform, inputs: &[Tensor<1>]| {
        let root = inputs[0].clone().reshape([size, size]);
        let whole = (root.clone() + root.transpose()) * 0.5;
        let factor = case.factor(&whole, Jitter::relative(0.1));
        let (first, second) = case.split(&inputs[1].clone().reshape([size, 4]));
        let solved = stacked(factor.solve(first.clone(), second.clone()));
        let transposed = stacked(factor.solve_transposed(first, second));
        let weights = Random::new(29).matrix(size, size);
        let joined = factor.joined().lower() * platform.matrix(&weights);
        solved.square().sum() + transposed.square().sum() + joined.sum()
    };
    check_gradients("block factor", &inputs, 1e-4, &loss);
}

/// The complement has a negative eigenvalue, so that the jitter is raised from 0.01 to 0.1. The
/// factor and its gradients are those of the matrix with that much on the diagonal, where the jitter
/// depends on K₂ and not on the complement.
#[test]
fn jitter_of_the_trailing_block_is_raised() {
    for size in [4, 40] {
        let mut random = Random::new(31);
        let cross = random.matrix(2, size).scaled(0.5);
        let complement = random.with_eigenvalue(size, -0.05);
        let trailing = complement.plus(&cross.transposed().times(&cross));
        let added = 0.1 * trailing.trace() / size as f64;
        let expected = complement.plus(&Dense::identity(size).scaled(added));
        let factor = |platform: &Platform, cross: Tensor<2>, trailing: Tensor<2>| {
            let leading = platform.matrix(&Dense::identity(2));
            let leading = cholesky(leading, Jitter::NONE).unwrap();
            BlockFactor::new(leading, cross, trailing, Jitter::relative(0.01)).unwrap()
        };
        for platform in platforms() {
            let [cross, trailing] = [&cross, &trailing].map(|matrix| platform.matrix(matrix));
            let lower = numbers(factor(&platform, cross, trailing).trailing().lower());
            let tolerance = platform.tolerance(1e-13, 1e-5);
            let what = format!("{platform}, size {size}");
            assert_close(&what, &lower, &expected.cholesky().values, tolerance);
        }
        check_gradients(
            &format!("raised jitter, size {size}"),
            &[(&cross).into(), (&trailing).into()],
            1e-3,
            &|platform, inputs| {
                let cross = inputs[0].clone().reshape([2, size]);
                let trailing = inputs[1].clone().reshape([size, size]);
                let trailing = (trailing.clone() + trailing.transpose()) * 0.5;
                let factor = factor(platform, cross, trailing);
                factor.trailing().log_determinant() + factor.trailing().lower().square().sum()
            },
        );
    }
}
