//! Orthogonal sets of inducing points for functions with separate kernels: the batch compared with
//! each function alone.

use crate::support::{
    Dense, Platform, Random, assert_close, check_gradients, check_module_gradients, numbers,
    platforms,
    posterior_case::{DIMENSIONS, elbo, likelihood},
    separate_case::{FUNCTIONS, assert_functions_alone, kernels},
};
use burn::module::Module;
use burn_gp_core::{
    inducing::{Inducing, InducingPoints, SeparatePoints},
    kernels::Kernels,
    ops::{Jitter, add_to_diagonal},
    process::VariationalGaussian,
    variational::{AnyPosterior, InducingSet, OrthogonallyDecoupled, Parameterization, SolveGp},
};

const OUTPUTS: usize = FUNCTIONS;
const POINTS: usize = 11;
const SIZES: [usize; 2] = [5, 4];

/// The values of a posterior with two sets.
struct Case {
    x: Dense,
    y: Dense,
    /// The points of each set and function.
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

    /// The posterior with index `kind` and the given points, for all functions or one.
    fn posterior<I: Inducing>(
        &self,
        platform: &Platform,
        kind: usize,
        outputs: std::ops::Range<usize>,
        inducing: impl Fn(usize) -> I,
    ) -> AnyPosterior {
        let (first, count) = (outputs.start, outputs.len());
        let mean = |set: usize| platform.matrix(&self.mean[set]).narrow(0, first, count);
        let gaussian = |set: usize| {
            let scale = platform.batch(&self.scale[set]).narrow(0, first, count);
            VariationalGaussian::full(mean(set), scale)
        };
        let parameterization = [Parameterization::Whitened, Parameterization::Unwhitened][kind % 2];
        // The jitter is large enough to affect the gradients.
        let jitter = Jitter::relative(1e-2);
        if kind < 2 {
            let set = |set| InducingSet::new(inducing(set), gaussian(set));
            AnyPosterior::from(SolveGp::new(vec![set(0), set(1)], parameterization, jitter))
        } else {
            let (first, second) = ((inducing(0), gaussian(0)), (inducing(1), mean(1)));
            let posterior = OrthogonallyDecoupled::new(first, second, parameterization, jitter);
            AnyPosterior::from(if kind == 3 {
                posterior.with_columns(3, 1)
            } else {
                posterior
            })
        }
    }
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
                let all = 0..OUTPUTS;
                let separate = |set: usize| SeparatePoints::new(platform.batch(&case.points[set]));
                let together = case.posterior(&platform, kind, all.clone(), separate);
                assert_functions_alone(&what, &platform, &case.x, kernels, together, |output| {
                    case.posterior(&platform, kind, output..output + 1, |set| {
                        points(set, output)
                    })
                });
                let together = case.posterior(&platform, kind, all, |set| points(set, 0));
                assert_functions_alone(&what, &platform, &case.x, kernels, together, |output| {
                    case.posterior(&platform, kind, output..output + 1, |set| points(set, 0))
                });
            }
        }
    }
}

/// A prior and a posterior as one module.
#[derive(Module, Debug)]
struct Model {
    kernels: Kernels,
    posterior: AnyPosterior,
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

/// Each matrix of a batch has its own value added to its diagonal.
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
