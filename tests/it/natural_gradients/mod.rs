//! Natural-gradient steps, compared with dense formulas, the collapsed optimum and each other.

mod on_device;
mod step_sizes;

use crate::support::{
    Dense, Platform, Random, assert_close, double_precision_platforms, numbers, platforms,
    posterior_case::{Case, INDUCING, POINTS, assert_same_marginals, elbo, kernel},
};
use burn::{
    module::{Module, Param, list_param_ids},
    optim::GradientsParams,
    tensor::Tensor,
};
use burn_gp_core::{
    inference::Collapsed,
    likelihoods::{AnyLikelihood, Gaussian, LikelihoodConfig},
    means::ZeroMean,
    ops::{ExactMatmul, Jitter},
    optim::{NaturalGradient, NaturalStep},
    process::VariationalGaussian,
    variational::Posterior,
};

const OUTPUTS: usize = 3;
const SIZE: usize = 6;

/// A loss `Σ_p c_pᵀm_p + ½m_pᵀQ_pm_p + ½tr(T_pS_p)`, whose gradients with respect to m and S are
/// known.
struct Loss {
    slopes: Dense,
    mean_curvature: Vec<Dense>,
    covariance_slopes: Vec<Dense>,
}

impl Loss {
    fn new(random: &mut Random, size: usize) -> Self {
        let matrices = |random: &mut Random| -> Vec<Dense> {
            (0..OUTPUTS)
                .map(|_| random.positive_definite(size))
                .collect()
        };
        Self {
            slopes: random.matrix(OUTPUTS, size),
            mean_curvature: matrices(random),
            covariance_slopes: matrices(random),
        }
    }

    fn value(&self, q: &VariationalGaussian, platform: &Platform) -> Tensor<1> {
        let (mean, scale) = (q.mean(), q.scale());
        let column = mean.clone().unsqueeze_dim::<3>(2);
        let curved = platform
            .batch(&self.mean_curvature)
            .exact_matmul(column.clone());
        let covariance = scale.clone().exact_matmul(scale.transpose());
        (mean * platform.matrix(&self.slopes)).sum()
            + (column * curved).sum() * 0.5
            + (platform.batch(&self.covariance_slopes) * covariance).sum() * 0.5
    }
}

/// `S′⁻¹ = S⁻¹ + 2γ∂ℓ/∂S` and `m′ = m − γS′∂ℓ/∂m` with explicit inverses.
fn dense_step(
    mean: &[f64],
    covariance: &Dense,
    loss: &Loss,
    output: usize,
    step_size: f64,
) -> (Vec<f64>, Dense) {
    let slope = &loss.covariance_slopes[output];
    let precision = covariance.inverse().plus(&slope.scaled(step_size));
    let new_covariance = precision.inverse();
    let column = Dense::new(mean.len(), 1, mean.to_vec());
    let slopes = Dense::new(mean.len(), 1, loss.slopes.row(output).to_vec());
    let gradient = loss.mean_curvature[output].times(&column).plus(&slopes);
    let change = new_covariance.times(&gradient).scaled(step_size);
    (column.minus(&change).values, new_covariance)
}

fn member(values: &[f64], index: usize, size: usize) -> Dense {
    let area = size * size;
    Dense::new(size, size, values[index * area..][..area].to_vec())
}

fn covariance(scale: &Dense) -> Dense {
    scale.times(&scale.transposed())
}

fn gradients(loss: Tensor<1>, module: &impl Module) -> GradientsParams {
    GradientsParams::from_grads(loss.backward(), module)
}

/// One step of size γ, with the loss divided by 7.
fn step(
    q: VariationalGaussian,
    loss: &Loss,
    step_size: f64,
    platform: &Platform,
) -> NaturalStep<VariationalGaussian> {
    let mut gradients = gradients(loss.value(&q, platform) * (1.0 / 7.0), &q);
    NaturalGradient::new(step_size)
        .step(0, q, &mut gradients, 7.0)
        .expect("the loss is convex")
}

/// In f32 the tolerance is condition numbers of some hundreds times 6e-8. Large matrices are processed in
/// blocks.
#[test]
fn a_step_is_that_of_the_dense_formulas() {
    for platform in platforms() {
        for (size, step_size) in [(SIZE, 0.01), (SIZE, 0.3), (SIZE, 1.0), (150, 0.3)] {
            assert_dense_step(&platform.autodiff(), size, step_size);
        }
    }
}

fn assert_dense_step(platform: &Platform, size: usize, step_size: f64) {
    let mut random = Random::new(301);
    let loss = Loss::new(&mut random, size);
    let mean = random.matrix(OUTPUTS, size);
    let scale: Vec<Dense> = (0..OUTPUTS).map(|_| random.lower_triangle(size)).collect();
    let q = VariationalGaussian::full(platform.matrix(&mean), platform.batch(&scale));
    let stepped = step(q.train(), &loss, step_size, platform);
    assert_eq!(stepped.step_size, step_size);
    assert_eq!(stepped.distributions, 1);
    let means = numbers(stepped.module.mean());
    let scales = numbers(stepped.module.scale());
    let tolerance = platform.tolerance(1e-12, 1e-4);
    for output in 0..OUTPUTS {
        let what = format!("{platform}, {size} variables, step size {step_size}, output {output}");
        let (expected_mean, expected) = dense_step(
            mean.row(output),
            &covariance(&scale[output]),
            &loss,
            output,
            step_size,
        );
        let row = &means[output * size..][..size];
        assert_close(&what, row, &expected_mean, tolerance);
        let new_scale = member(&scales, output, size);
        let entries = |i: usize, j: usize| (j > i).then(|| new_scale[(i, j)]);
        let above = (0..size).flat_map(|i| (0..size).filter_map(move |j| entries(i, j)));
        assert!(above.into_iter().all(|entry| entry == 0.0), "{what}");
        let ours = covariance(&new_scale);
        assert_close(&what, &ours.values, &expected.values, tolerance);
    }
}

/// For independent variables, only the diagonals of the covariance gradients count.
#[test]
fn a_diagonal_step_is_that_of_the_dense_formulas() {
    for platform in platforms() {
        let platform = platform.autodiff();
        let mut random = Random::new(307);
        let mut loss = Loss::new(&mut random, SIZE);
        let mean = random.matrix(OUTPUTS, SIZE);
        let deviation = Dense::new(OUTPUTS, SIZE, random.uniforms(OUTPUTS * SIZE, 0.3, 1.5));
        let q = VariationalGaussian::diagonal(platform.matrix(&mean), platform.matrix(&deviation));
        let stepped = step(q.train(), &loss, 0.4, &platform);
        for slopes in &mut loss.covariance_slopes {
            let diagonal = slopes.diagonal();
            *slopes =
                Dense::from_function(SIZE, SIZE, |i, j| if i == j { diagonal[i] } else { 0.0 });
        }
        let (means, scales) = (
            numbers(stepped.module.mean()),
            numbers(stepped.module.scale()),
        );
        let tolerance = platform.tolerance(1e-12, 1e-5);
        for output in 0..OUTPUTS {
            let what = format!("{platform}, output {output}");
            let start = Dense::from_function(SIZE, SIZE, |i, j| {
                if i == j {
                    deviation[(output, i)].powi(2)
                } else {
                    0.0
                }
            });
            let (expected_mean, expected) =
                dense_step(mean.row(output), &start, &loss, output, 0.4);
            assert_close(
                &what,
                &means[output * SIZE..][..SIZE],
                &expected_mean,
                tolerance,
            );
            let ours = covariance(&member(&scales, output, SIZE));
            assert_close(&what, &ours.values, &expected.values, tolerance);
        }
    }
}

/// Steps of size 1 and ½ make the precision indefinite, but a step of ¼ does not. In the second
/// case no step keeps it positive definite.
#[test]
fn the_step_is_halved_until_the_covariance_is_positive_definite() {
    for platform in platforms() {
        let platform = platform.autodiff();
        let mut random = Random::new(311);
        let mut loss = Loss::new(&mut random, SIZE);
        let mean = random.matrix(OUTPUTS, SIZE);
        let identity = Dense::identity(SIZE);
        for diagonal in [false, true] {
            let q = || {
                let ones = Dense::new(OUTPUTS, SIZE, vec![1.0; OUTPUTS * SIZE]);
                let mean = platform.matrix(&mean);
                let q = if diagonal {
                    VariationalGaussian::diagonal(mean, platform.matrix(&ones))
                } else {
                    VariationalGaussian::full(
                        mean,
                        platform.batch(&vec![identity.clone(); OUTPUTS]),
                    )
                };
                q.train()
            };
            // I − 3γI is positive definite for γ ≤ ¼.
            loss.covariance_slopes = vec![identity.scaled(-3.0); OUTPUTS];
            let stepped = step(q(), &loss, 1.0, &platform);
            assert_eq!(stepped.step_size, 0.25, "{platform}");
            let tolerance = platform.tolerance(1e-12, 1e-5);
            let scales = numbers(stepped.module.scale());
            for output in 0..OUTPUTS {
                let expected = dense_step(mean.row(output), &identity, &loss, output, 0.25).1;
                let ours = covariance(&member(&scales, output, SIZE));
                assert_close(
                    &format!("{platform}"),
                    &ours.values,
                    &expected.values,
                    tolerance,
                );
            }
            loss.covariance_slopes = vec![identity.scaled(-1e6); OUTPUTS];
            let q = q();
            let mut gradients = gradients(loss.value(&q, &platform), &q);
            let error = (NaturalGradient::new(1.0).step(0, q, &mut gradients, 1.0))
                .expect_err("no step size of 1/4096 or more leaves a positive precision");
            assert_eq!((error.step_size, error.smallest), (1.0, 1.0 / 4096.0));
            assert!(error.to_string().contains("size 1.0e0"), "{error}");
        }
    }
}

/// One distribution has a frozen mean, the other is frozen completely.
#[test]
fn frozen_parameters_stay() {
    for platform in double_precision_platforms() {
        let platform = platform.autodiff();
        let mut random = Random::new(313);
        let loss = Loss::new(&mut random, SIZE);
        let mean = random.matrix(OUTPUTS, SIZE);
        let scale: Vec<Dense> = (0..OUTPUTS).map(|_| random.lower_triangle(SIZE)).collect();
        let q =
            || VariationalGaussian::full(platform.matrix(&mean), platform.batch(&scale)).train();
        struct FreezeMeans;
        impl burn::module::ModuleMapper for FreezeMeans {
            fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
                if D == 2 {
                    param.set_require_grad(false)
                } else {
                    param
                }
            }
        }
        let stepped = step(q().map(&mut FreezeMeans), &loss, 0.5, &platform);
        assert_eq!(numbers(stepped.module.mean()), mean.values);
        let scales = numbers(stepped.module.scale());
        for (output, scale) in scale.iter().enumerate() {
            let start = covariance(scale);
            let expected = dense_step(mean.row(output), &start, &loss, output, 0.5).1;
            let ours = covariance(&member(&scales, output, SIZE));
            assert_close("scale", &ours.values, &expected.values, 1e-12);
        }
        let other = q();
        let mut gradients = gradients(loss.value(&other, &platform), &other);
        let stepped = (NaturalGradient::new(0.5).step(0, q().no_grad(), &mut gradients, 1.0))
            .expect("there is nothing to do");
        assert_eq!(stepped.distributions, 0);
    }
}

/// One natural-gradient step on the full-batch bound.
fn bound_step<Q: Posterior + Module>(
    posterior: Q,
    case: &Case,
    likelihood: &AnyLikelihood,
    y: Tensor<2>,
    step_size: f64,
    platform: &Platform,
) -> (f64, Q) {
    let evaluation = posterior
        .evaluate(&kernel(platform), case.x(platform))
        .expect("factor");
    let bound = elbo(evaluation, likelihood, y, POINTS);
    let value = numbers(bound.clone())[0];
    let mut gradients = gradients(bound.neg(), &posterior);
    let step = NaturalGradient::new(step_size)
        .step(0, posterior, &mut gradients, 1.0)
        .expect("the likelihood is log-concave");
    assert_eq!((step.distributions, step.step_size), (1, step_size));
    (value, step.module)
}

fn collapsed(case: &Case, outputs: usize, platform: &Platform) -> Collapsed {
    Collapsed::new(
        kernel(platform).first().clone(),
        ZeroMean::new(outputs),
        Gaussian::new(0.2, platform.options()),
        case.inducing(platform),
        Jitter::INDUCING,
    )
}

/// With a Gaussian likelihood, one step of size one reaches the optimum from any distribution,
/// whitened or not: mean, covariance and bound. The tolerance 1e-8 is due to the condition number
/// of K_uu in the unwhitened form.
#[test]
fn one_step_of_size_one_lands_on_the_collapsed_optimum() {
    for platform in double_precision_platforms() {
        for outputs in [1, 3] {
            let case = Case::new(outputs);
            let (x, y) = (case.x(&platform), platform.matrix(&case.y));
            let optimum = collapsed(&case, outputs, &platform);
            let expected_bound = numbers(
                optimum
                    .full_objective(x.clone(), y.clone())
                    .expect("factor"),
            );
            let q = optimum
                .optimal_distribution(x.clone(), y.clone())
                .expect("factor");
            let platform = platform.autodiff();
            let y = platform.matrix(&case.y);
            let likelihood = crate::support::posterior_case::likelihood(&platform);
            let what = format!("{platform}, {outputs} outputs");

            let start = case.whitened(&platform).train();
            let (_, whitened) = bound_step(start, &case, &likelihood, y.clone(), 1.0, &platform);
            let ours = whitened.distribution();
            assert_close(&what, &numbers(ours.mean()), &numbers(q.mean()), 1e-8);
            assert_close(
                &what,
                &numbers(gram(ours.scale())),
                &numbers(gram(q.scale())),
                1e-8,
            );
            let (bound, _) = bound_step(whitened, &case, &likelihood, y.clone(), 1.0, &platform);
            assert_close(&what, &[bound], &expected_bound, 1e-8);

            let start = case.unwhitened(&platform).train();
            let (_, unwhitened) = bound_step(start, &case, &likelihood, y.clone(), 1.0, &platform);
            let factor = case.kuu().cholesky();
            let what = format!("unwhitened on {what}");
            let whitened_mean = Dense::new(outputs, INDUCING, numbers(q.mean()));
            let expected = whitened_mean.times(&factor.transposed());
            let ours = unwhitened.distribution();
            assert_close(&what, &numbers(ours.mean()), &expected.values, 1e-8);
            let area = INDUCING * INDUCING;
            let scales = (numbers(ours.scale()), numbers(q.scale()));
            for output in 0..outputs {
                let part = |values: &[f64]| {
                    Dense::new(INDUCING, INDUCING, values[output * area..][..area].to_vec())
                };
                let expected = covariance(&factor.times(&part(&scales.1)));
                let ours = covariance(&part(&scales.0));
                assert_close(&what, &ours.values, &expected.values, 1e-8);
            }
            let (bound, _) = bound_step(unwhitened, &case, &likelihood, y, 1.0, &platform);
            assert_close(&what, &[bound], &expected_bound, 1e-8);
        }
    }
}

fn gram(scale: Tensor<3>) -> Tensor<3> {
    scale.clone().exact_matmul(scale.transpose())
}

/// In single precision the step reaches the optimum up to the accuracy of the bound.
#[test]
fn one_step_in_single_precision_reaches_the_collapsed_bound() {
    for platform in platforms()
        .into_iter()
        .filter(|platform| !platform.is_double())
    {
        let case = Case::new(2);
        let optimum = collapsed(&case, 2, &platform);
        let (x, y) = (case.x(&platform), platform.matrix(&case.y));
        let expected = numbers(optimum.full_objective(x, y).expect("factor"));
        let platform = platform.autodiff();
        let likelihood = crate::support::posterior_case::likelihood(&platform);
        let y = platform.matrix(&case.y);
        let start = case.whitened(&platform).train();
        let (_, q) = bound_step(start, &case, &likelihood, y.clone(), 1.0, &platform);
        let (bound, _) = bound_step(q, &case, &likelihood, y, 1.0, &platform);
        assert_close(&format!("{platform}"), &[bound], &expected, 1e-3);
    }
}

fn labels(case: &Case, platform: &Platform) -> Tensor<2> {
    let labels: Vec<f64> = (case.y.values.iter())
        .map(|y| if *y > 0.0 { 1.0 } else { 0.0 })
        .collect();
    platform.tensor(&labels, [case.y.rows, case.y.columns])
}

/// The natural gradient does not depend on the coordinates: after several steps with a
/// non-conjugate likelihood, whitened and unwhitened posteriors are still the same distribution.
#[test]
fn whitened_and_unwhitened_posteriors_make_the_same_steps() {
    for platform in double_precision_platforms() {
        let platform = platform.autodiff();
        let case = Case::new(2);
        let likelihood = LikelihoodConfig::bernoulli().init(platform.options());
        let mut whitened = case.whitened(&platform).train();
        let mut unwhitened = case.unwhitened(&platform).train();
        for _ in 0..3 {
            let y = labels(&case, &platform);
            let (_, next) = bound_step(whitened, &case, &likelihood, y.clone(), 0.3, &platform);
            whitened = next;
            let (_, next) = bound_step(unwhitened, &case, &likelihood, y, 0.3, &platform);
            unwhitened = next;
        }
        let (kernel, x) = (kernel(&platform), case.x(&platform));
        let first = whitened.evaluate(&kernel, x.clone()).expect("factor");
        let second = unwhitened.evaluate(&kernel, x).expect("factor");
        let what = format!("{platform}");
        assert_same_marginals(&what, &first.marginals, &second.marginals, 1e-9);
        let kl = numbers(second.kl);
        assert_close(&what, &numbers(first.kl), &kl, 1e-9);
    }
}

/// Steps on a non-quadratic bound increase it and converge.
#[test]
fn the_bound_of_a_classifier_rises_to_its_optimum() {
    for platform in platforms() {
        let platform = platform.autodiff();
        let case = Case::new(1);
        let likelihood = LikelihoodConfig::bernoulli().init(platform.options());
        let mut posterior = case.whitened(&platform).train();
        let mut bounds = Vec::new();
        for _ in 0..25 {
            let y = labels(&case, &platform);
            let (bound, next) = bound_step(posterior, &case, &likelihood, y, 0.5, &platform);
            bounds.push(bound);
            posterior = next;
        }
        // The rounding error of the bound at convergence.
        let slack = platform.tolerance(1e-10, 1e-3);
        let rises = bounds.windows(2).all(|pair| pair[1] >= pair[0] - slack);
        assert!(rises, "{platform}: {bounds:?}");
        let (first, last) = (bounds[0], bounds[24]);
        assert!(last > first + 1.0, "{platform}: from {first} to {last}");
        assert!(last - bounds[23] <= 1e-3, "{platform}: {bounds:?}");
    }
}

/// The step takes only the gradients of the distribution. The optimizer receives all others.
#[test]
fn the_gradients_of_other_parameters_are_left() {
    for platform in platforms() {
        let platform = platform.autodiff();
        let case = Case::new(2);
        let posterior = case.whitened(&platform).train();
        let evaluation = posterior
            .evaluate(&kernel(&platform), case.x(&platform))
            .expect("factor");
        let likelihood = crate::support::posterior_case::likelihood(&platform);
        let y = platform.matrix(&case.y);
        let loss = elbo(evaluation, &likelihood, y, POINTS).neg();
        let mut gradients = gradients(loss, &posterior);
        let points = list_param_ids(posterior.inducing())[0];
        let [mean, scale] = list_param_ids(posterior.distribution())[..] else {
            panic!("a distribution is a mean and a scale")
        };
        assert!(gradients.get::<2>(mean).is_some() && gradients.get::<3>(scale).is_some());
        let before = gradients.get::<2>(points).expect("the points are trained");
        let start = numbers(posterior.inducing().inputs().expect("points"));
        let step = NaturalGradient::new(0.1)
            .step(0, posterior, &mut gradients, 1.0)
            .expect("the likelihood is log-concave");
        assert!(gradients.get::<2>(mean).is_none() && gradients.get::<3>(scale).is_none());
        let after = gradients.get::<2>(points).expect("it is left alone");
        assert_eq!(numbers(before), numbers(after));
        let mean = step.module.distribution().mean();
        assert!(mean.is_require_grad() && mean.is_autodiff());
        assert_eq!(
            numbers(step.module.inducing().inputs().expect("points")),
            start
        );
    }
}
