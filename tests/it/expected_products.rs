//! Expectations of kernels over normal inputs, compared with integrals on a grid, with products of covariances at known
//! inputs, and with central differences.

use burn::tensor::Tensor;
use burn_gp_core::{
    kernels::{
        AnyKernel, ExpectedProducts, Kernel, KernelDefinition, KernelModule, Linear, Scaled,
        StationaryConfig, StationaryKernel,
    },
    ops::{self, Stationary},
};

use crate::support::{
    Dense, Input, Platform, Random, assert_close, check_gradients, integrals::on_grid, numbers,
    platforms,
};

const ROWS: usize = 4;
const POINTS: usize = 3;

const LENGTHSCALES: [f64; 2] = [0.8, 1.7];
const VARIANCE: f64 = 1.3;
const SLOPES: [f64; 2] = [0.6, 1.4];
const SCALE: f64 = 0.7;

/// Means, variances and points with `dimensions` dimensions.
struct Case {
    mean: Dense,
    variance: Dense,
    points: Dense,
}

impl Case {
    fn new(dimensions: usize, scale: f64) -> Self {
        let mut random = Random::new(901);
        let variances = random.uniforms(ROWS * dimensions, 0.05, 1.5);
        Self {
            mean: random.points(ROWS, dimensions),
            variance: Dense::new(ROWS, dimensions, variances).scaled(scale),
            points: random.points(POINTS, dimensions),
        }
    }

    fn tensors(&self, platform: &Platform) -> [Tensor<2>; 3] {
        [&self.mean, &self.variance, &self.points].map(|matrix| platform.matrix(matrix))
    }

    /// Ψ0, Ψ1 and Ψ2 on a grid.
    fn integrated(&self, kernel: &dyn Fn(&[f64], &[f64]) -> f64) -> [Vec<f64>; 3] {
        let (mut variances, mut covariances) = (Vec::new(), Vec::new());
        let mut products = vec![0.0; POINTS * POINTS];
        for row in 0..ROWS {
            let functions = |x: &[f64]| {
                let with: Vec<f64> = (0..POINTS)
                    .map(|point| kernel(x, self.points.row(point)))
                    .collect();
                let pairs = with.iter().flat_map(|a| with.iter().map(move |b| a * b));
                let all = [kernel(x, x)]
                    .into_iter()
                    .chain(with.iter().copied())
                    .chain(pairs);
                all.collect()
            };
            let (mean, variance) = (self.mean.row(row), self.variance.row(row));
            let means = on_grid(mean, variance, &functions);
            variances.push(means[0]);
            covariances.extend(&means[1..=POINTS]);
            let sums = products.iter_mut().zip(&means[1 + POINTS..]);
            sums.for_each(|(sum, term)| *sum += term);
        }
        [variances, covariances, products]
    }
}

/// The kernels with a closed form, with formulas.
type Formula = fn(&[f64], &[f64]) -> f64;

fn squared_exponential(x: &[f64], z: &[f64]) -> f64 {
    let each = x.iter().zip(z).zip(LENGTHSCALES);
    VARIANCE * (-0.5 * each.map(|((a, b), l)| ((a - b) / l).powi(2)).sum::<f64>()).exp()
}

fn linear(x: &[f64], z: &[f64]) -> f64 {
    x.iter()
        .zip(z)
        .zip(SLOPES)
        .map(|((a, b), s)| s * a * b)
        .sum()
}

fn scaled_exponential(x: &[f64], z: &[f64]) -> f64 {
    SCALE * squared_exponential(x, z)
}

fn scaled_linear(x: &[f64], z: &[f64]) -> f64 {
    SCALE * linear(x, z)
}

fn kernels(platform: &Platform, dimensions: usize) -> Vec<(&'static str, AnyKernel, Formula)> {
    let options = platform.options();
    let stationary = || {
        let kind = Stationary::SquaredExponential;
        StationaryKernel::new(kind, &LENGTHSCALES[..dimensions], VARIANCE, options)
    };
    let linear_kernel = || Linear::new(&SLOPES[..dimensions], options);
    vec![
        ("rbf", stationary().boxed(), squared_exponential),
        ("linear", linear_kernel().boxed(), linear),
        (
            "scaled rbf",
            Scaled::new(stationary(), SCALE, options).boxed(),
            scaled_exponential,
        ),
        (
            "scaled linear",
            Scaled::new(linear_kernel(), SCALE, options).boxed(),
            scaled_linear,
        ),
    ]
}

fn statistics(
    expected: &ExpectedProducts,
    [mean, variance, points]: [Tensor<2>; 3],
) -> [Vec<f64>; 3] {
    [
        numbers(expected.variances(mean.clone(), variance.clone())),
        numbers(expected.covariances(mean.clone(), variance.clone(), points.clone())),
        numbers(expected.products(mean, variance, points)),
    ]
}

/// The grid is exact to 1e-12 in double precision; single precision has a few roundings of exponents.
#[test]
fn expectations_are_integrals() {
    for platform in platforms() {
        for dimensions in [1, 2] {
            let case = Case::new(dimensions, 1.0);
            for (name, kernel, formula) in kernels(&platform, dimensions) {
                let expected = kernel.expected_products().expect("a closed form");
                let ours = statistics(&expected, case.tensors(&platform));
                let reference = case.integrated(&formula);
                for (index, (ours, reference)) in ours.iter().zip(&reference).enumerate() {
                    let what = format!("{platform}, {name}, {dimensions} dimensions, Ψ{index}");
                    assert_close(&what, ours, reference, platform.tolerance(1e-9, 1e-5));
                }
            }
        }
    }
}

/// Known inputs have the covariances of the kernel, and their products.
#[test]
fn known_inputs_have_covariances_and_their_products() {
    for platform in platforms() {
        let case = Case::new(2, 0.0);
        for (name, kernel, _) in kernels(&platform, 2) {
            let [mean, variance, points] = case.tensors(&platform);
            let expected = kernel.expected_products().expect("a closed form");
            let [variances, covariances, products] =
                statistics(&expected, [mean.clone(), variance, points.clone()]);
            let what = format!("{platform}, {name}");
            let tolerance = platform.tolerance(1e-14, 1e-6);
            let diagonal = numbers(kernel.diagonal_at(mean.clone()));
            assert_close(&what, &variances, &diagonal, tolerance);
            let known = kernel.covariance_at(mean, points);
            let known = Dense::new(ROWS, POINTS, numbers(known));
            assert_close(&what, &covariances, &known.values, tolerance);
            let of_known = known.transposed().times(&known).values;
            assert_close(&what, &products, &of_known, 4.0 * tolerance);
        }
    }
}

/// One lengthscale and one slope are those of all dimensions.
#[test]
fn shared_parameters_are_those_of_all_dimensions() {
    for platform in platforms() {
        let (case, options) = (Case::new(2, 1.0), platform.options());
        let kind = Stationary::SquaredExponential;
        let pairs = [
            (
                StationaryKernel::new(kind, &[0.9], VARIANCE, options).boxed(),
                StationaryKernel::new(kind, &[0.9, 0.9], VARIANCE, options).boxed(),
            ),
            (
                Linear::new(&[0.9], options).boxed(),
                Linear::new(&[0.9, 0.9], options).boxed(),
            ),
        ];
        for (shared, each) in pairs {
            let [shared, each] = [shared, each].map(|kernel| {
                let expected = kernel.expected_products().expect("a closed form");
                statistics(&expected, case.tensors(&platform)).concat()
            });
            let tolerance = platform.tolerance(1e-14, 1e-6);
            assert_close(&platform.to_string(), &shared, &each, tolerance);
        }
    }
}

fn inputs(case: &Case) -> Vec<Input> {
    vec![
        (&case.mean).into(),
        (&case.variance).into(),
        (&case.points).into(),
        LENGTHSCALES.to_vec().into(),
        vec![VARIANCE].into(),
    ]
}

/// A sum of entries with different weights, so that no gradient cancels.
fn weighted(platform: &Platform, values: Tensor<2>) -> Tensor<1> {
    let [rows, columns] = values.dims();
    let weights: Vec<f64> = (0..rows * columns)
        .map(|index| (index as f64).sin() + 0.3)
        .collect();
    (values * platform.tensor(&weights, [rows, columns])).sum()
}

#[test]
fn gradients_are_central_differences() {
    let case = Case::new(2, 1.0);
    let shaped = |inputs: &[Tensor<1>]| {
        let matrix = |index: usize, rows: usize| inputs[index].clone().reshape([rows, 2]);
        let matrices = (matrix(0, ROWS), matrix(1, ROWS), matrix(2, POINTS));
        (matrices, inputs[3].clone(), inputs[4].clone())
    };
    check_gradients("Ψ1", &inputs(&case), 1e-4, &|platform, inputs| {
        let ((mean, variance, points), lengthscales, scale) = shaped(inputs);
        weighted(
            platform,
            ops::expected_covariance(mean, variance, points, lengthscales, scale),
        )
    });
    check_gradients("Ψ2", &inputs(&case), 1e-4, &|platform, inputs| {
        let ((mean, variance, points), lengthscales, scale) = shaped(inputs);
        weighted(
            platform,
            ops::expected_products(mean, variance, points, lengthscales, scale),
        )
    });
}

/// The kernels without a closed form, by name.
#[test]
fn other_kernels_are_refused() {
    for platform in platforms() {
        for kind in [
            Stationary::Matern12,
            Stationary::Matern32,
            Stationary::Matern52,
        ] {
            let kernel = StationaryConfig::new(kind).init(2, platform.options());
            let scaled = Scaled::new(kernel.clone(), 2.0, platform.options());
            for refusal in [kernel.expected_products(), scaled.expected_products()] {
                assert_eq!(
                    refusal.expect_err("no closed form").kernel,
                    format!("{kind:?}")
                );
            }
        }
        let sum = StationaryConfig::rbf().plus(StationaryConfig::rbf());
        let refusal = sum.init(2, platform.options()).expected_products();
        let message = refusal.expect_err("no closed form").to_string();
        assert!(message.starts_with("Sum has no closed form"), "{message}");
    }
}
