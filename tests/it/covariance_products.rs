//! Products with a stationary covariance, compared with the explicit covariance matrix.

use crate::support::{
    Dense, Input, Platform, Random, assert_close, check_gradients,
    gradients::{Loss, autodiff_gradients},
    numbers, platforms,
    stationary::{KINDS, profile},
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{Blocks, Stationary, block_covariance, covariance_product};

/// σ² of every case.
const VARIANCE: f64 = 1.7;

/// Rounding of sums of up to 2000 terms of order one, relative to the largest entry.
fn tolerance(platform: &Platform) -> f64 {
    if platform.is_double() { 1e-12 } else { 1e-5 }
}

/// Points, others, values and vectors.
#[derive(Clone, Debug)]
struct Case {
    runs: usize,
    points: Dense,
    others: Dense,
    lengthscales: Vec<f64>,
    /// s
    values: Vec<f64>,
    /// V, [N, R]
    vectors: Dense,
}

impl Case {
    fn new([points, others]: [usize; 2], dimensions: usize, runs: usize, shared: bool) -> Self {
        let mut random = Random::new((points + dimensions) as u64);
        let scales = if shared { 1 } else { dimensions };
        // Lengthscales grow with the dimension, which keeps distances of order one.
        let unit = (dimensions as f64).sqrt();
        Self {
            runs,
            points: random.points(points, dimensions),
            others: random.points(others, dimensions),
            lengthscales: random.uniforms(scales, 0.5 * unit, 1.5 * unit),
            values: random.uniforms(points, -1.0, 1.0),
            vectors: random.matrix(points, 3),
        }
    }

    fn blocks(&self) -> Blocks {
        Blocks::new(self.points.rows, self.runs)
    }

    fn row<'x>(&self, points: &'x Dense, row: usize) -> &'x [f64] {
        let dimensions = self.points.columns;
        &points.values[row * dimensions..][..dimensions]
    }

    fn expected_blocks(&self, kind: Stationary, others: &Dense) -> Vec<f64> {
        let mut expected = vec![0.0; self.runs * others.rows];
        for (run, range) in self.blocks().ranges().enumerate() {
            for n in 0..others.rows {
                for b in range.clone() {
                    let (a, b_point) = (self.row(others, n), self.row(&self.points, b));
                    let covariance = VARIANCE * profile(kind, a, b_point, &self.lengthscales);
                    expected[run * others.rows + n] += self.values[b] * covariance;
                }
            }
        }
        expected
    }

    fn expected_product(&self, kind: Stationary, others: &Dense) -> Vec<f64> {
        let width = self.vectors.columns;
        let mut expected = vec![0.0; others.rows * width];
        for n in 0..others.rows {
            for b in 0..self.points.rows {
                let (a, b_point) = (self.row(others, n), self.row(&self.points, b));
                let covariance = VARIANCE * profile(kind, a, b_point, &self.lengthscales);
                for r in 0..width {
                    expected[n * width + r] += covariance * self.vectors[(b, r)];
                }
            }
        }
        expected
    }

    /// Points, others, lengthscales, variance, values, vectors.
    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::from(&self.points),
            Input::from(&self.others),
            self.lengthscales.clone().into(),
            vec![VARIANCE].into(),
            self.values.clone().into(),
            Input::from(&self.vectors),
        ]
    }

    /// Both sets of points from inputs in the order of [`inputs`](Self::inputs).
    fn sets(&self, x: &[Tensor<1>]) -> [Tensor<2>; 2] {
        let set = |index: usize, points: &Dense| {
            let shape = [points.rows, points.columns];
            x[index].clone().reshape(shape)
        };
        [set(0, &self.points), set(1, &self.others)]
    }

    /// `tr(Cᵀ·Sᵀk(x, x′))` for inputs in the order of [`inputs`](Self::inputs) and a fixed C.
    fn blocks_loss(
        &self,
        kind: Stationary,
        platform: &Platform,
        x: &[Tensor<1>],
        same: bool,
    ) -> Tensor<1> {
        let [points, others] = self.sets(x);
        let [scales, variance, values] = [x[2].clone(), x[3].clone(), x[4].clone()];
        let others = (!same).then_some(others);
        let blocks = self.blocks();
        let product = block_covariance(kind, blocks, points, others, scales, variance, values);
        // Unused parts of the product must not break the gradient.
        (product.clone() * self.weights(platform, product.dims())).sum()
            + (x[1].clone().sum() + x[5].clone().sum()) * 0.5
    }

    fn product_loss(
        &self,
        kind: Stationary,
        platform: &Platform,
        x: &[Tensor<1>],
        same: bool,
    ) -> Tensor<1> {
        let [points, others] = self.sets(x);
        let vectors = x[5]
            .clone()
            .reshape([self.points.rows, self.vectors.columns]);
        let (scales, variance) = (x[2].clone(), x[3].clone());
        let (left, right) = match same {
            true => (points, None),
            false => (others, Some(points)),
        };
        let product = covariance_product(kind, left, right, scales, variance, vectors);
        (product.clone() * self.weights(platform, product.dims())).sum()
            + (x[1].clone().sum() + x[4].clone().sum()) * 0.5
    }

    /// C
    fn weights(&self, platform: &Platform, [rows, columns]: [usize; 2]) -> Tensor<2> {
        let weights = Random::new(77).matrix(rows, columns);
        platform.tensor(&weights.values, [rows, columns])
    }
}

/// Runs of one and of many points, runs longer than a tile, several tiles, one and several
/// lengthscales, few and many vectors.
fn cases() -> Vec<Case> {
    let of_vectors = |points: usize, vectors: usize| Case {
        vectors: Random::new(5).matrix(points, vectors),
        ..Case::new([points, 20], 4, 6, false)
    };
    vec![
        of_vectors(300, 70),
        of_vectors(130, 1),
        of_vectors(250, 16),
        of_vectors(64, 17),
        Case::new([7, 5], 2, 3, false),
        Case::new([150, 40], 9, 150, false),
        Case::new([1700, 600], 3, 37, true),
        Case::new([1650, 9], 2, 2, false),
        Case::new([90, 33], 35, 4, true),
    ]
}

#[test]
fn blocks_are_those_of_the_whole_matrix() {
    for case in cases() {
        for kind in KINDS {
            let same = case.expected_blocks(kind, &case.points);
            let other = case.expected_blocks(kind, &case.others);
            for platform in platforms() {
                let dimensions = case.points.columns;
                let tensor =
                    |points: &Dense| platform.tensor(&points.values, [points.rows, dimensions]);
                let scales: Tensor<1> =
                    platform.tensor(&case.lengthscales, [case.lengthscales.len()]);
                let variance: Tensor<1> = platform.tensor(&[VARIANCE], [1]);
                let values: Tensor<1> = platform.tensor(&case.values, [case.values.len()]);
                for (others, expected) in [(None, &same), (Some(tensor(&case.others)), &other)] {
                    let actual = block_covariance(
                        kind,
                        case.blocks(),
                        tensor(&case.points),
                        others,
                        scales.clone(),
                        variance.clone(),
                        values.clone(),
                    );
                    let what = format!("{kind:?}, {} runs on {platform}", case.runs);
                    assert_close(&what, &numbers(actual), expected, tolerance(&platform));
                }
            }
        }
    }
}

#[test]
fn products_are_those_of_the_whole_matrix() {
    for case in cases() {
        for kind in KINDS {
            let same = case.expected_product(kind, &case.points);
            let other = case.expected_product(kind, &case.others);
            for platform in platforms() {
                let dimensions = case.points.columns;
                let tensor =
                    |points: &Dense| platform.tensor(&points.values, [points.rows, dimensions]);
                let points = tensor(&case.points);
                let pairs = [
                    (points.clone(), None, &same),
                    (tensor(&case.others), Some(points), &other),
                ];
                for (left, right, expected) in pairs {
                    let actual = covariance_product(
                        kind,
                        left,
                        right,
                        platform.tensor(&case.lengthscales, [case.lengthscales.len()]),
                        platform.tensor(&[VARIANCE], [1]),
                        platform.tensor(
                            &case.vectors.values,
                            [case.points.rows, case.vectors.columns],
                        ),
                    );
                    let what = format!("{kind:?} of {} points on {platform}", case.points.rows);
                    assert_close(&what, &numbers(actual), expected, tolerance(&platform));
                }
            }
        }
    }
}

/// Small enough for finite differences, with several tiles in one case. The slope of Matérn-1/2
/// jumps at coincident points, so it is checked at points that do not move through each other.
#[test]
fn gradients_are_those_of_central_differences() {
    let cases = [
        Case::new([9, 6], 2, 4, false),
        Case::new([900, 3], 2, 40, true),
    ];
    for case in &cases {
        for kind in [
            Stationary::SquaredExponential,
            Stationary::Matern32,
            Stationary::Matern52,
        ] {
            for same in [true, false] {
                let what = format!("{kind:?}, {} points, same {same}", case.points.rows);
                check_gradients(&what, &case.inputs(), 2e-4, &|platform, x| {
                    case.blocks_loss(kind, platform, x, same)
                });
                let what = format!("{what}, product");
                check_gradients(&what, &case.inputs(), 2e-4, &|platform, x| {
                    case.product_loss(kind, platform, x, same)
                });
            }
        }
    }
}

/// The gradients of points (if `tracked`), lengthscales, variance and vectors of `K(X, X)·V`, with the points
/// given once or twice.
fn gradients_of_one_set(
    case: &Case,
    platform: &Platform,
    twice: bool,
    tracked: bool,
) -> Vec<Vec<f64>> {
    let platform = platform.autodiff();
    let matrix = |dense: &Dense| platform.tensor(&dense.values, [dense.rows, dense.columns]);
    let points: Tensor<2> = matrix(&case.points);
    let points = if tracked {
        points.require_grad()
    } else {
        points
    };
    let scales: Tensor<1> = platform.tensor(&case.lengthscales, [case.lengthscales.len()]);
    let variance: Tensor<1> = platform.tensor(&[VARIANCE], [1]);
    let vectors: Tensor<2> = matrix(&case.vectors).require_grad();
    let [scales, variance] = [scales, variance].map(Tensor::require_grad);
    let product = covariance_product(
        Stationary::Matern52,
        points.clone(),
        twice.then(|| points.clone()),
        scales.clone(),
        variance.clone(),
        vectors.clone(),
    );
    let weights = case.weights(&platform, product.dims());
    let gradients = (product * weights).sum().backward();
    let of_points = points.grad(&gradients).map(numbers);
    let others = [scales.grad(&gradients), variance.grad(&gradients)].map(|g| g.map(numbers));
    let of_vectors = vectors.grad(&gradients).map(numbers);
    (of_points.into_iter().chain(others.into_iter().flatten()))
        .chain(of_vectors)
        .collect()
}

/// The CPU has one pass for few vectors, and tiles for more and for two sets. An odd number of points leaves
/// a row alone.
#[test]
fn one_set_has_the_gradients_of_the_same_points_given_twice() {
    for vectors in [1, 11, 16, 17, 70] {
        let case = Case {
            vectors: Random::new(5).matrix(333, vectors),
            ..Case::new([333, 3], 3, 7, false)
        };
        for platform in platforms() {
            let expected = gradients_of_one_set(&case, &platform, true, true);
            assert_eq!(expected.len(), 4);
            for (tracked, expected) in [(true, &expected[..]), (false, &expected[1..])] {
                let actual = gradients_of_one_set(&case, &platform, false, tracked);
                assert_eq!(actual.len(), expected.len());
                for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                    let what = format!("{vectors} vectors, {tracked}, {index}, on {platform}");
                    // Sums of up to 333² terms of both signs.
                    assert_close(&what, actual, expected, platform.tolerance(1e-11, 5e-5));
                }
            }
        }
    }
}

/// More covariances than GPUs keep at a time: the points are processed in parts, of which one ends
/// within a run. Gradients are compared with those of the first platform.
#[test]
fn products_of_many_points_have_the_gradients_of_the_first_platform() {
    let case = Case {
        vectors: Random::new(5).matrix(4200, 2),
        ..Case::new([4200, 2100], 1, 7, true)
    };
    let (kind, inputs) = (Stationary::Matern32, case.inputs());
    let losses: [(&str, Loss<'_>); 2] = [
        ("product", &|platform, x| {
            case.product_loss(kind, platform, x, false)
        }),
        ("blocks", &|platform, x| {
            case.blocks_loss(kind, platform, x, false)
        }),
    ];
    for (what, loss) in losses {
        let gradients = platforms().into_iter().map(|platform| {
            let gradients = autodiff_gradients(&platform.autodiff(), &inputs, loss);
            (platform, gradients)
        });
        let all: Vec<_> = gradients.collect();
        let (_, expected) = &all[0];
        for (platform, gradients) in &all[1..] {
            for (index, (gradient, expected)) in gradients.iter().zip(expected).enumerate() {
                let what = format!("{what} on {platform}, gradient of input {index}");
                // Sums of up to 4200 terms of both signs.
                let tolerance = platform.tolerance(1e-11, 5e-5);
                assert_close(&what, gradient, expected, tolerance);
            }
        }
    }
}

#[test]
fn points_that_meet_themselves_have_finite_gradients() {
    let mut case = Case::new([40, 6], 2, 5, false);
    let first = case.points.values[..2].to_vec();
    case.points.values[20..22].copy_from_slice(&first);
    for kind in KINDS {
        for platform in platforms() {
            let inputs: Vec<Tensor<1>> = (case.inputs().iter())
                .map(|input| {
                    let count = input.values.len();
                    platform
                        .autodiff()
                        .tensor(&input.values, [count])
                        .require_grad()
                })
                .collect();
            let gradients = case
                .blocks_loss(kind, &platform.autodiff(), &inputs, true)
                .backward();
            for input in [0, 2, 3, 4] {
                let gradient = inputs[input].grad(&gradients).expect("it is tracked");
                let gradient = numbers(gradient);
                assert!(
                    gradient.iter().all(|g| g.is_finite()),
                    "{kind:?}: {gradient:?}"
                );
            }
        }
    }
}

#[test]
#[should_panic(expected = "4 blocks of 3 points")]
fn more_runs_than_points_are_refused() {
    let _ = Blocks::new(3, 4);
}
