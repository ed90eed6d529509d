//! Orthogonal sets of inducing points for functions with kernels of their own: the batch against
//! each function alone.

mod support;

use burn::{module::Module, tensor::Tensor};
use burn_gp::{
    inducing::{InducingPoints, SeparateInducing, SeparatePoints},
    kernels::{AnyKernel, KernelConfig, StationaryConfig},
    likelihoods::Marginals,
    multi_output::SeparateKernels,
    ops::{Jitter, Stationary, add_to_diagonal},
    variational::{
        AnyPosterior, Coordinates, Evaluation, InducingSet, Joint, Orthogonal,
        OrthogonallyDecoupled, Posterior, Process, VariationalGaussian,
    },
};
use support::{
    Dense, Platform, Random, assert_close, check_gradients, check_module_gradients, numbers,
    platforms,
    posterior_case::{DIMENSIONS, assert_same_joint, assert_same_marginals, elbo, likelihood},
};

const OUTPUTS: usize = 3;
const POINTS: usize = 11;
const SIZES: [usize; 2] = [5, 4];

/// The numbers of a posterior with two sets.
struct Case {
    x: Dense,
    y: Dense,
    /// Of each set and function.
    points: Vec<Vec<Dense>>,
    mean: Vec<Dense>,
    scale: Vec<Vec<Dense>>,
}

impl Case {
    fn new() -> Self {
        let mut random = Random::new(839);
        Self {
            x: random.points(POINTS, DIMENSIONS),
            y: random.matrix(POINTS, OUTPUTS),
            points: SIZES
                .map(|size| {
                    (0..OUTPUTS)
                        .map(|_| random.points(size, DIMENSIONS))
                        .collect()
                })
                .to_vec(),
            mean: SIZES.map(|size| random.matrix(OUTPUTS, size)).to_vec(),
            scale: SIZES
                .map(|size| (0..OUTPUTS).map(|_| random.lower_triangle(size)).collect())
                .to_vec(),
        }
    }

    /// The posterior number `kind` with the given points, for all functions or one.
    fn posterior<I: Module + burn::module::ModuleDisplay>(
        &self,
        platform: &Platform,
        kind: usize,
        outputs: std::ops::Range<usize>,
        inducing: impl Fn(usize) -> I,
    ) -> AnyPosterior<I> {
        let (first, count) = (outputs.start, outputs.len());
        let mean = |set: usize| platform.matrix(&self.mean[set]).narrow(0, first, count);
        let gaussian = |set: usize| {
            let scale = platform.batch(&self.scale[set]).narrow(0, first, count);
            VariationalGaussian::full(mean(set), scale)
        };
        let coordinates = [Coordinates::Whitened, Coordinates::Unwhitened][kind % 2];
        // A jitter that matters, so that its share of gradients is seen.
        let jitter = Jitter::relative(1e-2);
        if kind < 2 {
            let set = |set| InducingSet::new(inducing(set), gaussian(set));
            AnyPosterior::Solve(Orthogonal::new(vec![set(0), set(1)], coordinates, jitter))
        } else {
            let (first, second) = ((inducing(0), gaussian(0)), (inducing(1), mean(1)));
            let posterior = OrthogonallyDecoupled::new(first, second, coordinates, jitter);
            AnyPosterior::Odvgp(if kind == 3 {
                posterior.with_columns(3, 1)
            } else {
                posterior
            })
        }
    }
}

/// Kernels of one type with a fused operation, and of several types.
fn kernels(platform: &Platform) -> Vec<SeparateKernels<AnyKernel>> {
    let smooth = |lengthscale, variance| {
        KernelConfig::from(
            StationaryConfig::new(Stationary::Matern52)
                .with_lengthscale(lengthscale)
                .with_variance(variance),
        )
    };
    let white = KernelConfig::White { variance: 0.1 };
    let linear = KernelConfig::Linear {
        ard: true,
        variance: 0.5,
    };
    let init = |config: KernelConfig| config.init(DIMENSIONS, platform.options());
    [
        vec![smooth(0.7, 1.0), smooth(1.1, 2.0), smooth(1.6, 0.5)],
        vec![
            smooth(0.7, 1.0),
            smooth(1.1, 2.0).plus(linear),
            smooth(1.6, 0.5).plus(white),
        ],
    ]
    .map(|configs| SeparateKernels::new(configs.into_iter().map(init).collect()))
    .to_vec()
}

#[track_caller]
fn check<I>(
    what: &str,
    platform: &Platform,
    (case, kernels, kind): (&Case, &SeparateKernels<AnyKernel>, usize),
    together: impl Fn(usize) -> I,
    alone: impl Fn(usize, usize) -> InducingPoints,
) where
    I: SeparateInducing<AnyKernel>,
{
    let x = || platform.matrix(&case.x);
    // Rounding: the batch multiplies in another order.
    let tolerance = platform.tolerance(1e-11, 1e-4);
    let together = case.posterior(platform, kind, 0..OUTPUTS, together);
    let Evaluation {
        marginals,
        divergence,
    } = together.evaluate(kernels, x()).expect("factor");
    let process = together.condition(kernels).expect("factor");
    let (predicted, joint) = (process.marginals(x()), process.joint(x()));
    assert_same_marginals(what, &predicted, &marginals, tolerance);
    let mut sum = 0.0;
    for output in 0..OUTPUTS {
        let kernel = &kernels.kernels()[output];
        let points = |set| alone(set, output);
        let alone = case.posterior(platform, kind, output..output + 1, points);
        let expected = alone.evaluate(kernel, x()).expect("factor");
        sum += numbers(expected.divergence)[0];
        let column = |tensor: &Tensor<2>| tensor.clone().narrow(1, output, 1);
        let ours = Marginals {
            mean: column(&marginals.mean),
            variance: column(&marginals.variance),
        };
        let what = format!("{what}, output {output}");
        assert_same_marginals(&what, &ours, &expected.marginals, tolerance);
        let ours = Joint {
            mean: column(&joint.mean),
            covariance: joint.covariance.clone().narrow(0, output, 1),
        };
        let expected = alone.condition(kernel).expect("factor").joint(x());
        assert_same_joint(&what, ours, expected, tolerance);
    }
    assert_close(what, &numbers(divergence), &[sum], tolerance);
}

#[test]
fn functions_of_a_batch_are_functions_alone() {
    for platform in platforms() {
        let case = Case::new();
        let points = |set: usize, output: usize| {
            InducingPoints::new(platform.matrix(&case.points[set][output]))
        };
        for (number, kernels) in kernels(&platform).iter().enumerate() {
            for kind in 0..4 {
                let what = format!("{platform}, kernels {number}, posterior {kind}");
                let case = (&case, kernels, kind);
                let separate =
                    |set: usize| SeparatePoints::new(platform.batch(&case.0.points[set]));
                check(&what, &platform, case, separate, points);
                let shared = |set| points(set, 0);
                check(&what, &platform, case, shared, |set, _| points(set, 0));
            }
        }
    }
}

/// A prior and a posterior as one module.
#[derive(Module, Debug)]
struct Model {
    kernels: SeparateKernels<AnyKernel>,
    posterior: AnyPosterior<SeparatePoints>,
}

#[test]
fn gradients_of_the_bound() {
    let case = Case::new();
    for kind in 0..4 {
        check_module_gradients(
            &format!("posterior {kind}"),
            (1e-5, 2e-2),
            |platform| Model {
                kernels: kernels(platform)[0].clone(),
                posterior: case.posterior(platform, kind, 0..OUTPUTS, |set| {
                    SeparatePoints::new(platform.batch(&case.points[set]))
                }),
            },
            |platform, model| {
                let x = platform.matrix(&case.x);
                let evaluation = model.posterior.evaluate(&model.kernels, x);
                let y = platform.matrix(&case.y);
                elbo(
                    evaluation.expect("factor"),
                    &likelihood(platform),
                    y,
                    POINTS,
                )
            },
        );
    }
}

/// Additions to the diagonals of a batch, each matrix its own.
#[test]
fn every_matrix_of_a_batch_has_a_value_for_its_diagonal() {
    let mut random = Random::new(853);
    let (matrices, weights) = (random.normals(2 * 16), random.normals(2 * 16));
    let values = [0.3, -1.7];
    for platform in platforms() {
        let batch = platform.tensor(&matrices, [2, 4, 4]);
        let ours = numbers(add_to_diagonal(batch, platform.tensor(&values, [2])));
        let mut expected = matrices.clone();
        for (member, value) in values.iter().enumerate() {
            (0..4).for_each(|i| expected[16 * member + 5 * i] += value);
        }
        assert_close(&format!("{platform}"), &ours, &expected, 1e-6);
    }
    check_gradients(
        "add_to_diagonal",
        &[matrices.into(), values.to_vec().into()],
        1e-5,
        &|platform, inputs| {
            let batch = inputs[0].clone().reshape([2, 4, 4]);
            let shifted = add_to_diagonal(batch, inputs[1].clone());
            (shifted.square() * platform.tensor(&weights, [2, 4, 4])).sum()
        },
    );
}
