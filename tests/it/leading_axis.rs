//! B sets of points, and P functions with kernels of their own, in one call, compared with a loop over single
//! sets and over models of one function.

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Gradients, Tensor},
};
use burn_gp_core::{
    features::Activation,
    inducing::InducingPoints,
    kernels::{
        AnyKernel, Basis, Convolutional, Kernel, KernelConfig, Kernels, RandomFourier, WhiteConfig,
    },
    ops::{Jitter, Stationary},
    patches::{ImageShape, PatchGrid},
    process::Marginals,
    rand::{SeedableRng, rngs::ChaCha8Rng},
    variational::{AnyPosterior, Evaluation, PosteriorName},
};

use crate::support::{
    Platform, Random, assert_close,
    comparison::assert_within,
    double_precision_platforms, kernel_registry, largest,
    module_gradients::{parameter_values, with_parameter_values},
    numbers,
    posterior_case::DIMENSIONS,
    separate_case::{FUNCTIONS, kernels, of_one_configuration},
};

const ROWS: usize = 11;
const INDUCING: usize = 6;
/// One call and a loop add in another order. On the CPU they agree to 1e-11; the rest is for processors that
/// round otherwise.
pub const TOLERANCE: f64 = 1e-10;

/// The gradients of all parameters.
struct Slopes<'a> {
    gradients: &'a Gradients,
    values: Vec<Option<Vec<f64>>>,
}

impl ModuleVisitor for Slopes<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = param.val().grad(self.gradients);
        self.values.push(gradient.map(numbers));
    }
}

pub fn slopes(module: &impl Module, gradients: &Gradients) -> Vec<Option<Vec<f64>>> {
    let mut slopes = Slopes {
        gradients,
        values: Vec::new(),
    };
    module.visit(&mut slopes);
    slopes.values
}

/// A weighted sum of means and variances, plus the divergence.
fn value(evaluation: Evaluation, weights: Tensor<2>) -> Tensor<1> {
    let Marginals { mean, variance } = evaluation.marginals;
    (mean * weights.clone()).sum() + (variance * weights.square()).sum() + evaluation.kl
}

/// The posterior with values that are not those of the prior.
fn moved(posterior: AnyPosterior) -> AnyPosterior {
    let moved: Vec<Vec<f64>> = (parameter_values(&posterior).into_iter().zip(1..))
        .map(|(values, number)| {
            let values = values.into_iter().enumerate();
            let shift = |index: usize| 0.1 * (2.3 * index as f64 + f64::from(number)).sin();
            values.map(|(index, value)| value + shift(index)).collect()
        })
        .collect();
    with_parameter_values(posterior, &moved)
}

/// The part of one function, if the values are not shared by all functions.
fn part(all: &[f64], size: usize, function: usize) -> &[f64] {
    match all.len() == size {
        true => all,
        false => &all[function * size..(function + 1) * size],
    }
}

/// Values and gradients of every registered posterior, for kernels that are computed in one operation and
/// for those that are not.
#[test]
fn functions_in_one_call_equal_a_loop_over_models_of_one_function() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        let mut random = Random::new(433);
        let x = random.points(ROWS, DIMENSIONS);
        let points = [(); 2].map(|()| random.points(INDUCING, DIMENSIONS));
        let weights = tracked.matrix(&random.matrix(ROWS, FUNCTIONS));
        for name in PosteriorName::all() {
            let config = name.config();
            let count = if config.has_orthogonal_set() { 2 } else { 1 };
            let sets = || points[..count].iter().map(|set| tracked.matrix(set));
            let init = |prior: &Kernels, functions: usize| {
                let sets: Vec<_> = sets().map(InducingPoints::new).collect();
                let jitter = Jitter::relative(1e-6);
                let posterior = config.init(sets, prior, functions, jitter, tracked.options());
                posterior.expect("a factor")
            };
            // The others share their parameters or are stacked.
            let separate = kernels(&tracked).into_iter().take(3);
            let separate = separate.map(|kernels| {
                let each = kernels.each().into_owned();
                (kernels, each)
            });
            let each = of_one_configuration(&tracked);
            let stacked = (Kernels::stacked(&each), each);
            for (case, (kernels, each)) in separate.chain([stacked]).enumerate() {
                let what = format!("{platform}, {}, kernels {case}", name.name());
                let together = moved(init(&kernels, FUNCTIONS));
                let values = parameter_values(&together);
                let evaluation = together.evaluate(&kernels, tracked.matrix(&x));
                let total = value(evaluation.expect("a factor"), weights.clone());
                let gradients = total.clone().backward();
                let (ours, of_kernels) = (
                    slopes(&together, &gradients),
                    slopes(&each, &gradients).into_iter(),
                );
                let (mut sum, mut expected_of_kernels) = (0.0, Vec::new());
                let mut shared: Vec<Vec<f64>> = Vec::new();
                for (function, kernel) in each.iter().enumerate() {
                    let what = format!("{what}, function {function}");
                    let prior = Kernels::from(kernel.clone());
                    let alone = init(&prior, 1);
                    let own: Vec<Vec<f64>> = (parameter_values(&alone).iter().zip(&values))
                        .map(|(own, all)| part(all, own.len(), function).to_vec())
                        .collect();
                    let alone = with_parameter_values(alone, &own);
                    let evaluation = alone.evaluate(&prior, tracked.matrix(&x));
                    let column = weights.clone().narrow(1, function, 1);
                    let own = value(evaluation.expect("a factor"), column);
                    sum += numbers(own.clone())[0];
                    let gradients = own.backward();
                    expected_of_kernels.extend(slopes(&prior, &gradients));
                    let own = slopes(&alone, &gradients);
                    assert_eq!(own.len(), ours.len(), "{what}");
                    shared.resize(own.len(), Vec::new());
                    for (index, (own, all)) in own.into_iter().zip(&ours).enumerate() {
                        let (own, all) = match (own, all) {
                            (Some(own), Some(all)) => (own, all),
                            (None, None) => continue,
                            _ => panic!("{what}, {index}: a gradient alone or together, not both"),
                        };
                        if own.len() == all.len() {
                            shared[index].resize(own.len(), 0.0);
                            let sums = shared[index].iter_mut().zip(own);
                            sums.for_each(|(sum, own)| *sum += own);
                        } else {
                            let all = part(all, own.len(), function);
                            assert_close(&format!("{what}, {index}"), all, &own, TOLERANCE);
                        }
                    }
                }
                assert_close(&what, &numbers(total), &[sum], TOLERANCE);
                for (ours, expected) in of_kernels.zip(expected_of_kernels) {
                    let (ours, expected) = (ours.expect("trained"), expected.expect("trained"));
                    assert_close(&format!("{what}, kernels"), &ours, &expected, TOLERANCE);
                }
                for (index, expected) in shared.iter().enumerate() {
                    if let Some(ours) = ours[index].as_ref().filter(|_| !expected.is_empty()) {
                        assert_close(&format!("{what}, {index}"), ours, expected, TOLERANCE);
                    }
                }
            }
        }
    }
}

/// The number of sets of points, B, and of points in each of both sets.
pub const SETS: usize = 3;
pub const SIZES: [usize; 2] = [5, 4];

/// Every registered kernel, and those without a configuration, with the dimensions of their points.
pub fn every_kernel(platform: &Platform) -> Vec<(String, AnyKernel, usize)> {
    let (dimensions, options) = (kernel_registry::DIMENSIONS, || platform.options());
    let registered = kernel_registry::registry().into_iter();
    let mut all: Vec<(String, AnyKernel, usize)> = registered
        .map(|(name, config)| (name, config.init(dimensions, options()), dimensions))
        .collect();
    let network = kernel_registry::network(Activation::Tanh).init(dimensions, 4, options());
    all.push(("basis".to_owned(), Basis::new(network).boxed(), dimensions));
    let smooth = kernel_registry::stationary(Stationary::Matern52);
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let kernel = smooth.clone().init(dimensions, options());
    let fourier = RandomFourier::new(&kernel, dimensions, 6, &mut random, options());
    let fourier = fourier.expect("a spectrum").boxed();
    all.push(("random Fourier".to_owned(), fourier, dimensions));
    let grid = PatchGrid::new(ImageShape::new(3, 3, 1), 2, 1).expect("patches");
    let base = KernelConfig::from(smooth.clone()).plus(WhiteConfig { variance: 0.3 });
    let convolutional = || Convolutional::new(base.clone().init(4, options()), grid, options());
    let located = convolutional().with_location(smooth.init(2, options()));
    all.push(("convolutional".to_owned(), convolutional().boxed(), 9));
    all.push(("convolutional, located".to_owned(), located.boxed(), 9));
    all
}

/// Sets of points, `[B, N, D]`, whose gradients are wanted.
pub fn sets(platform: &Platform, random: &mut Random, shape: [usize; 3]) -> Tensor<3> {
    let [count, rows, dimensions] = shape;
    let points = random.points(count * rows, dimensions);
    platform.tensor(&points.values, shape).require_grad()
}

/// The gradients of a weighted sum of values: of both sets of points, and of the parameters of a module.
pub fn gradients_of(
    platform: &Platform,
    values: Tensor<2>,
    points: [&Tensor<3>; 2],
    kernel: &impl Module,
) -> Vec<Option<Vec<f64>>> {
    let [rows, columns] = values.dims();
    let weights = platform.matrix(&Random::new(443).matrix(rows, columns));
    // White noise has no covariances that depend on anything, and autodiff needs something.
    let nothing = (points[0].clone().sum() + points[1].clone().sum()) * 0.0;
    let gradients = ((values * weights).sum() + nothing).backward();
    let points = points.map(|points| points.grad(&gradients).map(numbers));
    points
        .into_iter()
        .chain(slopes(kernel, &gradients))
        .collect()
}

#[track_caller]
pub fn assert_same_gradients(what: &str, ours: &[Option<Vec<f64>>], expected: &[Option<Vec<f64>>]) {
    assert_eq!(ours.len(), expected.len(), "{what}");
    // Some gradients are zero up to rounding.
    let all: Vec<f64> = expected.iter().flatten().flatten().copied().collect();
    for (index, pair) in ours.iter().zip(expected).enumerate() {
        let what = format!("{what}, gradient {index}");
        match pair {
            (Some(ours), Some(expected)) => {
                let scale = largest(expected).max(1e-3 * largest(&all));
                assert_within(&what, ours, expected, TOLERANCE * scale);
            }
            (None, None) => {}
            _ => panic!("{what}: in one call or in a loop, not both"),
        }
    }
}

/// Covariances, matrices and variances, flattened, of each of B pairs of sets, `[B, …]`.
fn everything(kernel: &AnyKernel, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<2> {
    let covariances = kernel.covariance(x1.clone(), x2).flatten(1, 2);
    let matrices = kernel.matrix(x1.clone()).flatten(1, 2);
    Tensor::cat(vec![covariances, matrices, kernel.diagonal(x1)], 1)
}

/// Values and gradients of points and hyperparameters, for every kernel.
#[test]
fn sets_of_points_in_one_call_equal_a_loop_over_them() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        for (name, kernel, dimensions) in every_kernel(&tracked) {
            let what = format!("{platform}, {name}");
            let mut random = Random::new(439);
            let [x1, x2] = SIZES.map(|rows| sets(&tracked, &mut random, [SETS, rows, dimensions]));
            let together = everything(&kernel, x1.clone(), x2.clone());
            let each = (0..SETS).map(|set| {
                let [x1, x2] = [&x1, &x2].map(|points| points.clone().narrow(0, set, 1));
                everything(&kernel, x1, x2)
            });
            let alone = Tensor::cat(each.collect(), 0);
            let [ours, expected] = [&together, &alone].map(|values| numbers(values.clone()));
            assert_close(&what, &ours, &expected, TOLERANCE);
            let [ours, expected] =
                [together, alone].map(|values| gradients_of(&tracked, values, [&x1, &x2], &kernel));
            assert_same_gradients(&what, &ours, &expected);
        }
    }
}

/// One set of points with each of B others, in both orders.
#[test]
fn one_set_of_points_is_compared_with_every_other() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        for (name, kernel, dimensions) in every_kernel(&tracked) {
            let mut random = Random::new(449);
            let [rows, columns] = SIZES;
            let one = sets(&tracked, &mut random, [1, rows, dimensions]);
            let many = sets(&tracked, &mut random, [SETS, columns, dimensions]);
            for swapped in [false, true] {
                let what = format!("{platform}, {name}, swapped: {swapped}");
                let covariances = |one: Tensor<3>| {
                    let (x1, x2) = match swapped {
                        false => (one, many.clone()),
                        true => (many.clone(), one),
                    };
                    kernel.covariance(x1, x2).flatten::<2>(1, 2)
                };
                let ours = covariances(one.clone());
                let expected = covariances(one.clone().expand([SETS, rows, dimensions]));
                assert_eq!(ours.dims(), [SETS, rows * columns], "{what}");
                let both = [&ours, &expected].map(|values| numbers(values.clone()));
                assert_close(&what, &both[0], &both[1], TOLERANCE);
                let [ours, expected] = [ours, expected]
                    .map(|values| gradients_of(&tracked, values, [&one, &many], &kernel));
                assert_same_gradients(&what, &ours, &expected);
            }
        }
    }
}
