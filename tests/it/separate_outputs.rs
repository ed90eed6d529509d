//! Functions with separate kernels and inducing points: batched operations compared with single
//! operations, and batched posteriors with one posterior per function.

use crate::support::{
    Dense, Platform, Random, assert_close, check_gradients, check_module_gradients, numbers,
    platforms,
    posterior_case::{DIMENSIONS, assert_same_marginals, elbo, likelihood},
    separate_case::{FUNCTIONS, assert_functions_alone, kernels},
};
use burn::{module::Module, optim::GradientsParams, tensor::Tensor};
use burn_gp_core::{
    inducing::{Inducing, InducingPoints, SeparatePoints},
    kernels::{FunctionPrior, Kernels, StationaryKernel},
    ops::{
        Jitter, Stationary, batch_column_squares, batch_projected_moments, batch_relative_moments,
        cholesky, column_squares, covariance, covariances, marginals_minus_prior,
        projected_moments,
    },
    optim::NaturalGradient,
    process::{CovarianceShape, Marginals, Process, VariationalGaussian},
    sampling::{PathOptions, SamplePaths},
    variational::{Coregionalized, Posterior, Unwhitened, Whitened},
};

const OUTPUTS: usize = FUNCTIONS;
const POINTS: usize = 11;
const INDUCING: usize = 5;

fn batch(random: &mut Random, rows: usize, columns: usize) -> Vec<Dense> {
    (0..OUTPUTS).map(|_| random.points(rows, columns)).collect()
}

fn own<const D: usize>(tensor: &Tensor<D>, output: usize) -> Tensor<D> {
    tensor.clone().narrow(0, output, 1)
}

/// Every batched operation equals the single operation on each member, bit for bit.
#[test]
fn a_batch_is_its_members() {
    for platform in platforms() {
        let mut random = Random::new(601);
        let x1 = platform.batch(&batch(&mut random, 7, 2));
        let x2 = platform.batch(&batch(&mut random, 4, 2));
        let variances = platform.tensor(&[0.7, 1.0, 2.5], [OUTPUTS]);
        for scales in [1, 2] {
            let values = random.uniforms(OUTPUTS * scales, 0.4, 2.0);
            let lengthscales = platform.tensor(&values, [OUTPUTS * scales]);
            let all = covariances(
                Stationary::Matern52,
                x1.clone(),
                x2.clone(),
                lengthscales.clone(),
                variances.clone(),
            );
            for output in 0..OUTPUTS {
                let alone = covariance(
                    Stationary::Matern52,
                    own(&x1, output).squeeze_dim(0),
                    own(&x2, output).squeeze_dim(0),
                    lengthscales.clone().narrow(0, output * scales, scales),
                    own(&variances, output),
                );
                assert_eq!(numbers(own(&all, output)), numbers(alone), "{platform}");
            }
        }
        let basis = platform.batch(&batch(&mut random, 6, 9));
        let mean = platform.matrix(&random.matrix(OUTPUTS, 6));
        let scale: Vec<Dense> = (0..OUTPUTS).map(|_| random.lower_triangle(6)).collect();
        let scale = platform.batch(&scale);
        let squares = batch_column_squares(basis.clone());
        let (means, variances) =
            batch_projected_moments(basis.clone(), mean.clone(), scale.clone());
        let (_, changes) = batch_relative_moments(basis.clone(), mean.clone(), scale.clone());
        // Members with 130 rows run on several threads.
        let matrices: Vec<Dense> = (0..OUTPUTS)
            .map(|_| random.positive_definite(130))
            .collect();
        let matrices = platform.batch(&matrices);
        let factor = cholesky(matrices.clone(), Jitter::NONE).expect("positive definite");
        let solution = factor.solve(matrices.clone().narrow(2, 0, 60));
        for output in 0..OUTPUTS {
            let member: Tensor<2> = own(&basis, output).squeeze_dim(0);
            let alone = numbers(column_squares(member.clone()));
            assert_eq!(numbers(own(&squares, output)), alone, "{platform}");
            let (mean, scale) = (own(&mean, output), own(&scale, output));
            let (_, change) = marginals_minus_prior(member.clone(), mean.clone(), scale.clone());
            let alone = projected_moments(member, mean, scale);
            let column = |tensor: &Tensor<2>| numbers(tensor.clone().narrow(1, output, 1));
            assert_eq!(column(&means), numbers(alone.0), "{platform}");
            assert_eq!(column(&variances), numbers(alone.1), "{platform}");
            assert_eq!(column(&changes), numbers(change), "{platform}");
            let matrix: Tensor<2> = own(&matrices, output).squeeze_dim(0);
            let alone = cholesky(matrix.clone(), Jitter::NONE).expect("positive definite");
            let lower = numbers(alone.lower());
            assert_eq!(numbers(own(&factor.lower(), output)), lower, "{platform}");
            assert_eq!(numbers(factor.member(output).lower()), lower, "{platform}");
            let alone = alone.solve(matrix.narrow(1, 0, 60));
            assert_eq!(
                numbers(own(&solution, output)),
                numbers(alone),
                "{platform}"
            );
        }
    }
}

#[test]
fn gradients_of_batched_operations() {
    let mut random = Random::new(607);
    let (x1, x2) = (batch(&mut random, 5, 2), batch(&mut random, 4, 2));
    let flat = |members: &[Dense]| crate::support::dense::flatten(members);
    for scales in [1, 2] {
        let lengthscales = random.uniforms(OUTPUTS * scales, 0.5, 2.0);
        let weights = random.normals(OUTPUTS * 20);
        check_gradients(
            &format!("covariances, {scales} lengthscales"),
            &[
                flat(&x1).into(),
                flat(&x2).into(),
                lengthscales.into(),
                vec![0.7, 1.0, 2.5].into(),
            ],
            1e-4,
            &|platform, inputs| {
                let all = covariances(
                    Stationary::Matern52,
                    inputs[0].clone().reshape([OUTPUTS, 5, 2]),
                    inputs[1].clone().reshape([OUTPUTS, 4, 2]),
                    inputs[2].clone(),
                    inputs[3].clone(),
                );
                (all * platform.tensor(&weights, [OUTPUTS, 5, 4])).sum()
            },
        );
    }
    let basis = batch(&mut random, 4, 6);
    let weights = random.normals(OUTPUTS * 6);
    check_gradients(
        "batch_column_squares",
        &[flat(&basis).into()],
        1e-5,
        &|platform, inputs| {
            let squares = batch_column_squares(inputs[0].clone().reshape([OUTPUTS, 4, 6]));
            (squares * platform.tensor(&weights, [OUTPUTS, 6])).sum()
        },
    );
    let mean = random.matrix(OUTPUTS, 4);
    let scale: Vec<Dense> = (0..OUTPUTS).map(|_| random.lower_triangle(4)).collect();
    let more = random.normals(OUTPUTS * 6);
    type Operation = fn(Tensor<3>, Tensor<2>, Tensor<3>) -> (Tensor<2>, Tensor<2>);
    for (name, operation) in [
        (
            "batch_projected_moments",
            batch_projected_moments as Operation,
        ),
        ("batch_relative_moments", batch_relative_moments),
    ] {
        check_gradients(
            name,
            &[flat(&basis).into(), (&mean).into(), flat(&scale).into()],
            1e-4,
            &|platform, inputs| {
                let (means, variances) = operation(
                    inputs[0].clone().reshape([OUTPUTS, 4, 6]),
                    inputs[1].clone().reshape([OUTPUTS, 4]),
                    inputs[2].clone().reshape([OUTPUTS, 4, 4]),
                );
                (means * platform.tensor(&weights, [6, OUTPUTS])).sum()
                    + (variances * platform.tensor(&more, [6, OUTPUTS])).sum()
            },
        );
    }
}

/// A model of three functions.
struct Case {
    x: Dense,
    y: Dense,
    points: Vec<Dense>,
    mean: Dense,
    scale: Vec<Dense>,
}

impl Case {
    fn new() -> Self {
        let mut random = Random::new(613);
        Self {
            x: random.points(POINTS, DIMENSIONS),
            y: random.matrix(POINTS, OUTPUTS),
            points: batch(&mut random, INDUCING, DIMENSIONS),
            mean: random.matrix(OUTPUTS, INDUCING),
            scale: (0..OUTPUTS)
                .map(|_| random.lower_triangle(INDUCING))
                .collect(),
        }
    }

    fn separate(&self, platform: &Platform) -> SeparatePoints {
        SeparatePoints::new(platform.batch(&self.points))
    }

    fn shared(&self, platform: &Platform) -> InducingPoints {
        InducingPoints::new(platform.matrix(&self.points[0]))
    }

    /// The distribution of one function, or of all.
    fn distribution(
        &self,
        platform: &Platform,
        shape: CovarianceShape,
        outputs: std::ops::Range<usize>,
    ) -> VariationalGaussian {
        let (first, count) = (outputs.start, outputs.len());
        let mean = platform.matrix(&self.mean).narrow(0, first, count);
        match shape {
            CovarianceShape::Full => {
                let scale = platform.batch(&self.scale).narrow(0, first, count);
                VariationalGaussian::full(mean, scale)
            }
            CovarianceShape::Diagonal => {
                let deviation =
                    Dense::from_function(OUTPUTS, INDUCING, |p, m| self.scale[p][(m, m)]);
                let deviation = platform.matrix(&deviation).narrow(0, first, count);
                VariationalGaussian::diagonal(mean, deviation)
            }
        }
    }
}

#[test]
fn functions_of_a_batch_are_functions_alone() {
    for platform in platforms() {
        let case = Case::new();
        for (set, kernels) in kernels(&platform).iter().enumerate() {
            for shape in [CovarianceShape::Full, CovarianceShape::Diagonal] {
                let jitter = Jitter::INDUCING;
                let all = || case.distribution(&platform, shape, 0..OUTPUTS);
                let one = |output| case.distribution(&platform, shape, output..output + 1);
                let points =
                    |output: usize| InducingPoints::new(platform.matrix(&case.points[output]));
                let what = format!("{platform}, kernels {set}, {shape:?}");
                let together = Whitened::new(case.separate(&platform), all(), jitter);
                assert_functions_alone(&what, &platform, &case.x, kernels, together, |output| {
                    Whitened::new(points(output), one(output), jitter)
                });
                let together = Whitened::new(case.shared(&platform), all(), jitter);
                assert_functions_alone(&what, &platform, &case.x, kernels, together, |output| {
                    Whitened::new(points(0), one(output), jitter)
                });
                let together = Unwhitened::new(case.separate(&platform), all(), jitter);
                assert_functions_alone(&what, &platform, &case.x, kernels, together, |output| {
                    Unwhitened::new(points(output), one(output), jitter)
                });
            }
        }
    }
}

/// A prior and a posterior as one module.
#[derive(Module, Debug)]
struct Model<Q: Module> {
    kernels: Kernels,
    posterior: Q,
}

/// All gradients of the bound: kernels, points, distributions, and a mixing matrix.
#[test]
fn gradients_of_the_bound() {
    let case = Case::new();
    let kernels = |platform: &Platform| {
        let lengthscales = [[0.7, 1.3], [1.1, 0.8], [1.6, 2.0]];
        let kernel = |(index, lengthscales): (usize, &[f64; 2])| {
            let variance = 0.5 + index as f64;
            StationaryKernel::new(
                Stationary::Matern52,
                lengthscales,
                variance,
                platform.options(),
            )
        };
        Kernels::separate(lengthscales.iter().enumerate().map(kernel))
    };
    let distribution =
        |platform: &Platform| case.distribution(platform, CovarianceShape::Full, 0..OUTPUTS);
    // The jitter is large enough to affect the gradient.
    let jitter = Jitter::relative(1e-2);
    let tolerances = (1e-6, 1e-2);
    let build = |platform: &Platform| Model {
        kernels: kernels(platform),
        posterior: Whitened::new(case.separate(platform), distribution(platform), jitter),
    };
    check_module_gradients("whitened", tolerances, build, |platform, model| {
        bound(&case, platform, &model.kernels, &model.posterior)
    });
    let mixing = Dense::new(3, 3, vec![1.0, 0.3, -0.4, 0.2, 0.8, 0.5, -0.6, 0.1, 1.2]);
    let build = |platform: &Platform| {
        let latent = Unwhitened::new(case.shared(platform), distribution(platform), jitter);
        Model {
            kernels: kernels(platform),
            posterior: Coregionalized::new(latent, platform.matrix(&mixing)),
        }
    };
    check_module_gradients("mixed, unwhitened", tolerances, build, |platform, model| {
        bound(&case, platform, &model.kernels, &model.posterior)
    });
}

fn bound(
    case: &Case,
    platform: &Platform,
    kernels: &Kernels,
    posterior: &impl Posterior,
) -> Tensor<1> {
    let x = platform.matrix(&case.x);
    let evaluation = posterior.evaluate(kernels, x).expect("factor");
    elbo(
        evaluation,
        &likelihood(platform),
        platform.matrix(&case.y),
        POINTS,
    )
}

/// The general linear model of coregionalization: latent functions with separate kernels.
#[test]
fn an_identity_mixing_is_separate_outputs() {
    for platform in platforms() {
        let case = Case::new();
        let kernels = &kernels(&platform)[0];
        let all = case.distribution(&platform, CovarianceShape::Full, 0..OUTPUTS);
        let latent = Whitened::new(case.separate(&platform), all, Jitter::INDUCING);
        let x = platform.matrix(&case.x);
        let expected = latent.evaluate(kernels, x.clone()).expect("factor");
        let mixed = Coregionalized::new(latent, platform.matrix(&Dense::identity(OUTPUTS)));
        let ours = mixed.evaluate(kernels, x).expect("factor");
        let tolerance = platform.tolerance(1e-12, 1e-5);
        let what = format!("{platform}");
        assert_same_marginals(&what, &ours.marginals, &expected.marginals, tolerance);
        let kl = numbers(expected.kl);
        assert_close(&what, &numbers(ours.kl), &kl, tolerance);
    }
}

/// Natural gradients work here too: after one step of size one with a Gaussian likelihood, the
/// distribution is at the optimum.
#[test]
fn a_natural_step_of_size_one_is_at_the_optimum() {
    for platform in platforms().into_iter().filter(Platform::is_double) {
        let platform = platform.autodiff();
        let case = Case::new();
        let kernels = &kernels(&platform)[0].clone().train();
        let all = case.distribution(&platform, CovarianceShape::Full, 0..OUTPUTS);
        let mut posterior = Whitened::new(case.separate(&platform), all, Jitter::INDUCING).train();
        let mut bounds = Vec::new();
        for _ in 0..3 {
            let value = bound(&case, &platform, kernels, &posterior);
            bounds.push(numbers(value.clone())[0]);
            let mut gradients = GradientsParams::from_grads(value.neg().backward(), &posterior);
            posterior = (NaturalGradient::new(1.0).step(0, posterior, &mut gradients, 1.0))
                .expect("the likelihood is log-concave")
                .module;
        }
        assert!(bounds[1] > bounds[0] + 1.0, "{bounds:?}");
        assert_close(&format!("{platform}"), &bounds[2..], &bounds[1..2], 1e-10);
    }
}

/// Draws of the batch: the mean and standard deviation of each function are those of its process
/// (within 4 standard errors of 2000 draws, plus the same for the frequencies), and functions are
/// uncorrelated.
#[test]
fn draws_are_those_of_each_function() {
    for platform in platforms() {
        let case = Case::new();
        let kernels = &kernels(&platform)[1];
        let all = case.distribution(&platform, CovarianceShape::Full, 0..OUTPUTS);
        let posterior = Whitened::new(case.separate(&platform), all, Jitter::INDUCING);
        let process = posterior.condition(kernels).expect("factor");
        let x = platform.matrix(&case.x).narrow(0, 0, 1);
        let samples = 2000;
        let paths = process
            .paths(PathOptions::new(samples))
            .expect("they are stationary");
        let draws = numbers(paths.evaluate(x.clone()));
        let Marginals { mean, variance } = process.marginals(x);
        let (means, variances) = (numbers(mean), numbers(variance));
        let standard =
            |s: usize, p: usize| (draws[s * OUTPUTS + p] - means[p]) / variances[p].sqrt();
        let error = 8.0 * (2.0 / samples as f64).sqrt();
        for p in 0..OUTPUTS {
            let average = |value: &dyn Fn(usize) -> f64| {
                (0..samples).map(value).sum::<f64>() / samples as f64
            };
            assert!(
                average(&|s| standard(s, p)).abs() < error,
                "{platform}, mean {p}"
            );
            for q in 0..=p {
                let expected = if p == q { 1.0 } else { 0.0 };
                let ours = average(&|s| standard(s, p) * standard(s, q));
                assert!(
                    (ours - expected).abs() < error,
                    "{platform}, {p}, {q}: {ours}"
                );
            }
        }
    }
}

#[test]
fn hyperparameters_are_told_apart_by_output() {
    let platform = &platforms()[0];
    let kernels = &kernels(platform)[0];
    let paths: Vec<String> = (kernels.hyperparameters().into_iter())
        .map(|parameter| parameter.path)
        .collect();
    assert_eq!(paths.len(), 2 * OUTPUTS);
    assert_eq!(
        (paths[0].as_str(), paths[5].as_str()),
        ("kernels.0.lengthscale", "kernels.2.variance")
    );
    let inducing = Case::new().separate(platform);
    assert_eq!(inducing.count(), INDUCING);
}
