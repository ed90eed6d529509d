//! Products with the covariance of points with many duplicates, compared with products of the
//! distinct points: `K = E·K_u·Eᵀ`, where the matrix E repeats the distinct points. Only on the CPU are
//! duplicates computed once.

use crate::support::{Dense, Platform, Random, assert_close, numbers, platforms};
use burn::tensor::Tensor;
use burn_gp_core::ops::{Blocks, Stationary, block_covariance, covariance, covariance_product};

/// N, large enough that the library searches for duplicates.
const POINTS: usize = 9000;

/// The number of distinct points. Duplicates occur within a run and across two runs.
const DISTINCT: usize = 45;

/// The number of runs, whose boundaries lie among duplicates.
const RUNS: usize = 7;

const DIMENSIONS: usize = 3;

/// R
const WIDTH: usize = 2;

const KIND: Stationary = Stationary::Matern32;

/// The arguments of the operations, and the weights of their results in a loss.
struct Case {
    distinct: Dense,
    /// The distinct point of each point. Some duplicates are far apart.
    places: Vec<usize>,
    lengthscales: Vec<f64>,
    values: Dense,
    vectors: Dense,
    block_weights: Dense,
    product_weights: Dense,
}

impl Case {
    fn new() -> Self {
        let mut random = Random::new(61);
        let run = |point: usize| point * DISTINCT / POINTS;
        let places = (0..POINTS).map(|point| match point % 11 {
            0 => random.below(DISTINCT),
            _ => run(point),
        });
        let places = places.collect();
        Self {
            distinct: random.matrix(DISTINCT, DIMENSIONS),
            places,
            lengthscales: random.uniforms(DIMENSIONS, 0.8, 1.6),
            values: random.matrix(POINTS, 1),
            vectors: random.matrix(POINTS, WIDTH),
            block_weights: random.matrix(RUNS, POINTS),
            product_weights: random.matrix(POINTS, WIDTH),
        }
    }

    fn blocks(&self) -> Blocks {
        Blocks::new(POINTS, RUNS)
    }

    /// E, [N, U]
    fn repeats(&self, platform: &Platform) -> Tensor<2> {
        let mut entries = vec![0.0; POINTS * DISTINCT];
        for (point, place) in self.places.iter().enumerate() {
            entries[point * DISTINCT + place] = 1.0;
        }
        platform.tensor(&entries, [POINTS, DISTINCT])
    }

    /// x, [N, D]
    fn points(&self, platform: &Platform) -> Tensor<2> {
        let rows = self
            .places
            .iter()
            .flat_map(|&place| self.distinct.row(place));
        let rows: Vec<f64> = rows.copied().collect();
        platform.tensor(&rows, [POINTS, DIMENSIONS])
    }

    /// S, [N, I], with trained values.
    fn combinations(&self, platform: &Platform, values: &Tensor<2>) -> Tensor<2> {
        let mut pattern = vec![0.0; POINTS * RUNS];
        for (run, range) in self.blocks().ranges().enumerate() {
            range.for_each(|point| pattern[point * RUNS + run] = 1.0);
        }
        platform.tensor(&pattern, [POINTS, RUNS]) * values.clone()
    }
}

/// The results of both operations, and the gradients of a loss with respect to the lengthscales,
/// the variance, the values and the vectors.
type Outcome = Vec<Vec<f64>>;

/// With `trained` the points are trained too. Their gradients then differ between duplicates.
fn ours(case: &Case, platform: &Platform, trained: bool) -> Outcome {
    let points = case.points(platform);
    let points = if trained {
        points.require_grad()
    } else {
        points
    };
    outcome(case, platform, &|scales, variance, values, vectors| {
        let flat = values.reshape([POINTS]);
        let blocks = block_covariance(
            KIND,
            case.blocks(),
            points.clone(),
            None,
            scales.clone(),
            variance.clone(),
            flat,
        );
        let product = covariance_product(KIND, points.clone(), None, scales, variance, vectors);
        (blocks, product)
    })
}

fn expected(case: &Case, platform: &Platform) -> Outcome {
    let (repeats, distinct) = (case.repeats(platform), platform.matrix(&case.distinct));
    outcome(case, platform, &|scales, variance, values, vectors| {
        let covariance = covariance(KIND, distinct.clone(), distinct.clone(), scales, variance);
        let combinations = case.combinations(platform, &values); // [N, I]
        let half = repeats.clone().matmul(covariance); // [N, U]
        let sums = repeats.clone().transpose().matmul(combinations); // [U, I]
        let products = half
            .clone()
            .matmul(repeats.clone().transpose().matmul(vectors));
        (half.matmul(sums).transpose(), products)
    })
}

/// Maps lengthscales, variance, values and vectors to both results.
type Operations<'a> =
    &'a dyn Fn(Tensor<1>, Tensor<1>, Tensor<2>, Tensor<2>) -> (Tensor<2>, Tensor<2>);

fn outcome(case: &Case, platform: &Platform, operations: Operations<'_>) -> Outcome {
    let scales = platform
        .tensor(&case.lengthscales, [DIMENSIONS])
        .require_grad();
    let variance = platform.tensor(&[1.3], [1]).require_grad();
    let values = platform.matrix(&case.values).require_grad();
    let vectors = platform.matrix(&case.vectors).require_grad();
    let (blocks, product) = operations(
        scales.clone(),
        variance.clone(),
        values.clone(),
        vectors.clone(),
    );
    let loss = (blocks.clone() * platform.matrix(&case.block_weights)).sum()
        + (product.clone() * platform.matrix(&case.product_weights)).sum();
    let gradients = loss.backward();
    vec![
        numbers(blocks),
        numbers(product),
        numbers(scales.grad(&gradients).unwrap()),
        numbers(variance.grad(&gradients).unwrap()),
        numbers(values.grad(&gradients).unwrap()),
        numbers(vectors.grad(&gradients).unwrap()),
    ]
}

const NAMES: [&str; 6] = [
    "blocks",
    "product",
    "lengthscales",
    "variance",
    "values",
    "vectors",
];

/// Sums of thousands of products in another order.
fn tolerance(platform: &Platform) -> f64 {
    platform.tolerance(1e-11, 2e-3)
}

#[test]
fn products_and_gradients_are_those_of_the_points_that_differ() {
    let case = Case::new();
    for platform in platforms().into_iter().filter(Platform::is_host) {
        let platform = platform.autodiff();
        let (ours, expected) = (ours(&case, &platform, false), expected(&case, &platform));
        for ((ours, expected), name) in ours.iter().zip(&expected).zip(NAMES) {
            let what = format!("{platform}, {name}");
            assert_close(&what, ours, expected, tolerance(&platform));
        }
    }
}

/// Trained points stop being duplicates after one step, because each has its own gradient.
#[test]
fn trained_points_have_gradients_of_their_own() {
    let case = Case::new();
    for platform in platforms().into_iter().filter(Platform::is_host) {
        let platform = platform.autodiff();
        let trained = ours(&case, &platform, true);
        let given = ours(&case, &platform, false);
        for ((trained, given), name) in trained.iter().zip(&given).zip(NAMES) {
            let what = format!("{platform}, {name}");
            assert_close(&what, trained, given, tolerance(&platform));
        }
        let points = case.points(&platform).require_grad();
        let product = covariance_product(
            KIND,
            points.clone(),
            None,
            platform.tensor(&case.lengthscales, [DIMENSIONS]),
            platform.tensor(&[1.3], [1]),
            platform.matrix(&case.vectors),
        );
        let loss = (product * platform.matrix(&case.product_weights)).sum();
        let gradient = numbers(points.grad(&loss.backward()).unwrap());
        let rows: Vec<&[f64]> = gradient.chunks_exact(DIMENSIONS).collect();
        assert_eq!(case.places[1], case.places[2], "two copies of one point");
        assert!(rows[1] != rows[2], "{platform}: {:?}", rows[1]);
    }
}
