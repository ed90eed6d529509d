//! Sample paths: their spectra compared with the kernels, their moments compared with the joint
//! distributions, and properties of every single draw.

mod kernel_cases;
mod prior_features;
mod spectra;

use crate::support::{
    Dense, Platform, Random, assert_close, double_precision_platforms, first_platform,
    inverse_free_case::{FORMS, InverseFreeCase, inverses},
    kernel_registry, numbers,
    orthogonal_case::OrthogonalCase,
    platforms,
    posterior_case::{Case, DIMENSIONS, INDUCING, kernel},
};
use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, Exact},
    kernels::AnyKernel,
    likelihoods::Gaussian,
    means::{ConstantMean, LinearMean, ZeroMean},
    ops::Jitter,
    process::{Joint, Mixture, Process, VariationalGaussian, WithMean},
    sampling::{PathOptions, SamplePaths},
    variational::{Posterior, Whitened},
};
use kernel_cases::{kernels, mixtures_and_lines};
use prior_features::drawable;

/// A conditioned process with any of these kernels has sample paths.
#[test]
fn draws_under_mixtures_and_lines_have_the_moments_of_the_posterior() {
    let Some(platform) = &first_platform() else {
        return;
    };
    let points = Random::new(507).points(14, DIMENSIONS);
    let x = platform.matrix(&points);
    let targets = x.clone().narrow(1, 0, 1).sin();
    for config in mixtures_and_lines() {
        let kernel = config.init(DIMENSIONS, platform.options());
        let likelihood = Gaussian::new(0.3, platform.options());
        let process = Exact::new(kernel, ZeroMean::new(1), likelihood)
            .condition(x.clone(), targets.clone())
            .expect("factor");
        let at = platform.matrix(&Random::new(509).points(4, DIMENSIONS));
        check_moments(&format!("{config:?}"), &process, at);
    }
}

/// Draws at a few inputs have the moments of the joint distribution. The standard error of an
/// estimated covariance of variables with variances v and v′ is at most `√(2vv′/S)`, that of a mean
/// `√(v/S)`. The test allows four, plus the same for the frequencies that all draws share.
#[track_caller]
fn check_moments(what: &str, process: &impl SamplePaths, x: Tensor<2>) {
    check_moments_of(what, process, x, (4000, 2000));
}

/// The same for these numbers of draws and of frequencies.
#[track_caller]
fn check_moments_of(
    what: &str,
    process: &impl SamplePaths,
    x: Tensor<2>,
    (samples, frequencies): (usize, usize),
) {
    let options = PathOptions::new(samples)
        .with_frequencies(frequencies)
        .with_seed(23);
    let paths = process.paths(options).expect("the kernel has features");
    let draws = paths.evaluate(x.clone());
    let Joint { mean, covariance } = process.joint(x);
    let [_, outputs, points] = draws.dims();
    let (draws, mean, covariance) = (numbers(draws), numbers(mean), numbers(covariance));
    let error = 8.0 * (2.0 / samples as f64).sqrt();
    for p in 0..outputs {
        let value = |s: usize, n: usize| draws[(s * outputs + p) * points + n];
        let center = |n: usize| (0..samples).map(|s| value(s, n)).sum::<f64>() / samples as f64;
        let centers: Vec<f64> = (0..points).map(center).collect();
        let expected = |i: usize, j: usize| covariance[(p * points + i) * points + j];
        for i in 0..points {
            let off = (centers[i] - mean[i * outputs + p]).abs();
            let spread = expected(i, i).sqrt();
            assert!(
                off < error * spread,
                "{what}: mean {p}, {i}: off by {off:.3e} of {spread:.3e}"
            );
            for j in 0..=i {
                let products =
                    (0..samples).map(|s| (value(s, i) - centers[i]) * (value(s, j) - centers[j]));
                let ours = products.sum::<f64>() / samples as f64;
                let scale = (expected(i, i) * expected(j, j)).sqrt();
                let off = (ours - expected(i, j)).abs();
                assert!(
                    off < error * scale,
                    "{what}: covariance {p}, {i}, {j}: {ours:.4e} for {:.4e}",
                    expected(i, j)
                );
            }
        }
    }
}

#[test]
fn draws_have_the_moments_of_the_posterior() {
    for platform in platforms() {
        let case = Case::new(2);
        let kernel = kernel(&platform);
        let x = case.x(&platform).narrow(0, 0, 6);
        let whitened = case.whitened(&platform).condition(&kernel).expect("factor");
        check_moments(&format!("whitened on {platform}"), &whitened, x.clone());
        let unwhitened = case
            .unwhitened(&platform)
            .condition(&kernel)
            .expect("factor");
        check_moments(&format!("unwhitened on {platform}"), &unwhitened, x.clone());
        for (name, posterior) in OrthogonalCase::new(&[8, 5], 2).posteriors(&platform) {
            let process = posterior.condition(&kernel).expect("factor");
            check_moments(&format!("{name} on {platform}"), &process, x.clone());
        }
        // Also exact for an approximate inverse.
        let case = InverseFreeCase::new(2);
        let inverse = inverses(&case.noisy().inverse(), &mut Random::new(59)).swap_remove(1);
        for form in FORMS {
            let posterior = case.with_inverse(&platform, form, &inverse);
            let process = posterior.condition(&kernel).expect("no factor");
            let what = format!("inverse-free, {form:?} on {platform}");
            check_moments(&what, &process, x.clone());
            let process = case.l_svgp(&platform, form).condition(&kernel);
            let what = format!("L-SVGP, {form:?} on {platform}");
            check_moments(&what, &process.expect("factor"), x.clone());
        }
    }
}

/// If the posterior is much more certain than the prior, the update has to cancel the prior draw.
/// This is the same check near the data.
#[test]
fn draws_have_the_moments_of_regression() {
    for platform in platforms() {
        let case = Case::new(2);
        let gaussian = || Gaussian::new(0.2, platform.options());
        let (x, y) = (case.x(&platform), platform.matrix(&case.y));
        let at = x.clone().narrow(0, 0, 5);
        let exact = Exact::new(
            kernel(&platform).first().clone(),
            ZeroMean::new(2),
            gaussian(),
        );
        let exact = exact.condition(x.clone(), y.clone()).expect("factor");
        check_moments(&format!("exact on {platform}"), &exact, at.clone());
        let collapsed = Collapsed::new(
            kernel(&platform).first().clone(),
            ConstantMean::new(platform.tensor(&[0.5, -0.5], [2])),
            gaussian(),
            case.inducing(&platform),
            Jitter::INDUCING,
        );
        let collapsed = collapsed.condition(x, y).expect("factor");
        check_moments(&format!("collapsed on {platform}"), &collapsed, at);
    }
}

/// All kernels at once: the prior is a posterior with standard normal whitened variables.
#[test]
fn draws_of_every_kernel_have_the_moments_of_its_prior() {
    let Some(platform) = &first_platform() else {
        return;
    };
    let case = Case::new(1);
    for config in kernels() {
        // There is only one inducing point, because a constant kernel would be singular with more.
        let z = Dense::new(1, DIMENSIONS, case.z.row(0).to_vec());
        let inducing = InducingPoints::new(platform.matrix(&z));
        let shape = burn_gp_core::process::CovarianceShape::Full;
        let q = VariationalGaussian::standard(1, 1, shape, platform.options());
        let posterior = Whitened::new(inducing, q, Jitter::INDUCING);
        let kernel: AnyKernel = config.init(DIMENSIONS, platform.options());
        let process = posterior.condition(&kernel.into()).expect("factor");
        let x = case.x(platform).narrow(0, 0, 4);
        check_moments(&format!("{config:?}"), &process, x);
    }
}

/// If the inducing variables are certain, every draw passes through them for any number of
/// frequencies, because the update is exact. The tolerance 1e-6 is the condition number of K_uu
/// times the rounding error.
#[test]
fn draws_pass_through_what_is_known() {
    for platform in double_precision_platforms() {
        let case = Case::new(2);
        let kernel = kernel(&platform);
        let certain: Vec<Dense> = (0..2)
            .map(|_| Dense::identity(INDUCING).scaled(1e-12))
            .collect();
        let q = VariationalGaussian::full(platform.matrix(&case.mean), platform.batch(&certain));
        let posterior = Whitened::new(case.inducing(&platform), q, Jitter::NONE);
        let process = posterior.condition(&kernel).expect("factor");
        let z = platform.matrix(&case.z);
        let expected = numbers(process.marginals(z.clone()).mean.transpose());
        for frequencies in [1, 50] {
            let options = PathOptions::new(7).with_frequencies(frequencies);
            let paths = process.paths(options).expect("it is stationary");
            let values = numbers(paths.evaluate(z.clone()));
            for draw in values.chunks(2 * INDUCING) {
                assert_close(&format!("{platform}"), draw, &expected, 1e-6);
            }
        }
        // Elsewhere the draws differ.
        let paths = process
            .paths(PathOptions::new(2))
            .expect("it is stationary");
        let values = numbers(paths.evaluate(platform.tensor(&[9.0, 9.0], [1, 2])));
        assert!((values[0] - values[2]).abs() > 1e-3, "{values:?}");
    }
}

fn posterior_process(platform: &Platform, case: &Case) -> impl SamplePaths + use<> {
    let process = (case.whitened(platform).condition(&kernel(platform))).expect("factor");
    let weights = Dense::new(DIMENSIONS, 2, vec![0.3, -0.2, 0.1, 0.8]);
    let mean = LinearMean::new(
        platform.matrix(&weights),
        platform.tensor(&[1.0, -1.0], [2]),
    );
    WithMean::new(process, mean)
}

/// A draw gives the same values in every call, also together with other inputs.
#[test]
fn a_draw_is_a_function() {
    for platform in platforms() {
        let case = Case::new(2);
        let process = posterior_process(&platform, &case);
        let paths = process
            .paths(PathOptions::new(3))
            .expect("it is stationary");
        let x = case.x(&platform);
        let all = numbers(paths.evaluate(x.clone()));
        assert_eq!(all, numbers(paths.evaluate(x.clone())));
        let parts = [(0, 20), (20, 30)]
            .map(|(start, length)| paths.evaluate(x.clone().narrow(0, start, length)));
        let parts = numbers(Tensor::cat(parts.to_vec(), 2));
        // A product of another size sums in another order.
        assert_close(
            &format!("{platform}"),
            &parts,
            &all,
            platform.tolerance(1e-13, 1e-5),
        );
        let again = process
            .paths(PathOptions::new(3))
            .expect("it is stationary");
        assert_eq!(
            numbers(again.evaluate(x.clone())),
            all,
            "the seed says it all"
        );
        let other = process
            .paths(PathOptions::new(3).with_seed(1))
            .expect("it is stationary");
        assert_ne!(numbers(other.evaluate(x)), all);
    }
}

/// Gradients of a draw with respect to its input, compared with central differences. In f32 the
/// phases of some tens cost digits, so f32 is compared with f64.
#[test]
fn draws_have_gradients() {
    let case = Case::new(2);
    let mut reference: Option<Vec<f64>> = None;
    for platform in platforms() {
        let process = posterior_process(&platform, &case);
        let options = PathOptions::new(2).with_frequencies(200);
        let paths = process.paths(options).expect("it is stationary");
        let x = case.x(&platform.autodiff()).narrow(0, 0, 5).require_grad();
        let gradients = paths.evaluate(x.clone()).sum().backward();
        let slopes = numbers(x.grad(&gradients).expect("it was asked for"));
        if platform.is_double() {
            for (index, slope) in slopes.iter().enumerate() {
                let value = |step: f64| {
                    let mut values = case.x.values[..5 * DIMENSIONS].to_vec();
                    values[index] += step;
                    let x = platform.tensor(&values, [5, DIMENSIONS]);
                    numbers(paths.evaluate(x)).iter().sum::<f64>()
                };
                let difference = crate::support::gradients::central_difference(value);
                let error = (slope - difference).abs();
                assert!(
                    error < 1e-6 * difference.abs().max(1.0),
                    "{platform}, {index}: {error:.2e}"
                );
            }
            reference.get_or_insert(slopes);
        } else if let Some(reference) = &reference {
            assert_close(&format!("{platform}"), &slopes, reference, 1e-2);
        }
    }
}

/// Draws of mixed functions are mixtures of draws.
#[test]
fn draws_of_mixtures_are_mixed_draws() {
    for platform in platforms() {
        let case = Case::new(2);
        let latent = || (case.whitened(&platform).condition(&kernel(&platform))).expect("factor");
        let w = Dense::new(3, 2, vec![1.0, 0.3, -0.7, 0.9, 0.4, -1.6]);
        let mixture = Mixture::new(latent(), platform.matrix(&w));
        let x = case.x(&platform).narrow(0, 0, 4);
        let draws = |process: &dyn Fn() -> Tensor<3>| numbers(process());
        let options = PathOptions::new(5);
        let mixed = draws(&|| {
            mixture
                .paths(options)
                .expect("stationary")
                .evaluate(x.clone())
        });
        let plain = draws(&|| {
            latent()
                .paths(options)
                .expect("stationary")
                .evaluate(x.clone())
        });
        let expected: Vec<f64> = (0..5 * 3 * 4)
            .map(|index| {
                let (s, p, n) = (index / 12, index / 4 % 3, index % 4);
                (0..2).map(|q| w[(p, q)] * plain[(s * 2 + q) * 4 + n]).sum()
            })
            .collect();
        assert_close(
            &format!("{platform}"),
            &mixed,
            &expected,
            platform.tolerance(1e-13, 1e-5),
        );
        // The same with gradients.
        let platform = platform.autodiff();
        let x = case.x(&platform).narrow(0, 0, 4).require_grad();
        let paths = mixture.paths(options).expect("stationary");
        assert!(
            x.grad(&paths.evaluate(x.clone()).sum().backward())
                .is_some()
        );
    }
}

/// Regression under every kernel whose functions can be drawn, near the data and far from it.
#[test]
fn draws_under_every_kernel_have_the_moments_of_regression() {
    let Some(platform) = &first_platform() else {
        return;
    };
    let mut random = Random::new(607);
    let x = platform.matrix(&random.points(14, kernel_registry::DIMENSIONS));
    let y = x.clone().narrow(1, 0, 1).sin();
    let far = platform.matrix(&random.points(2, kernel_registry::DIMENSIONS));
    let at = Tensor::cat(vec![x.clone().narrow(0, 0, 2), far], 0);
    for (name, config) in drawable() {
        let kernel = config.init(kernel_registry::DIMENSIONS, platform.options());
        let likelihood = Gaussian::new(0.3, platform.options());
        let process = Exact::new(kernel, ZeroMean::new(1), likelihood)
            .condition(x.clone(), y.clone())
            .expect("factor");
        // The features of two items that are nearly equal cancel, up to products with frequencies that have heavy tails.
        let frequencies = if name.contains("preference") {
            4000
        } else {
            500
        };
        check_moments_of(&name, &process, at.clone(), (2000, frequencies));
    }
}

/// If functions cannot be drawn, the error names the kernel and the way that is left, and that way
/// gives values with the joint distribution's covariance.
#[test]
fn refused_draws_say_what_else_there_is() {
    let dimensions = kernel_registry::DIMENSIONS;
    let platform = &double_precision_platforms()[0];
    let mut random = Random::new(607);
    let (x, y) = (random.points(8, dimensions), random.matrix(8, 1));
    let at = platform.matrix(&random.points(3, dimensions));
    let kernels = kernel_registry::registry().into_iter();
    let noisy = kernels.filter(|(name, _)| ["white", "deep sum"].contains(&name.as_str()));
    assert_eq!(noisy.clone().count(), 2);
    for (name, config) in noisy {
        let kernel = config.init(dimensions, platform.options());
        let likelihood = Gaussian::new(0.3, platform.options());
        let process = Exact::new(kernel, ZeroMean::new(1), likelihood)
            .condition(platform.matrix(&x), platform.matrix(&y))
            .expect("factor");
        let refusal = process.paths(PathOptions::new(2)).err();
        let text = refusal.map(|refusal| refusal.to_string());
        let text = text.expect("noise is no function");
        assert!(text.contains("the kernel White"), "{name}: {text}");
        assert!(text.contains("Process::sample"), "{name}: {text}");
        let samples = 4000;
        let draws = numbers(process.sample(at.clone(), samples, 3).expect("factor"));
        let Joint { mean, covariance } = process.joint(at.clone());
        let (mean, covariance) = (numbers(mean), numbers(covariance));
        for point in 0..3 {
            let off = |draw: &[f64]| (draw[point] - mean[point]).powi(2);
            let variance = draws.chunks(3).map(off).sum::<f64>() / samples as f64;
            let expected = covariance[4 * point];
            // Five standard errors, √(2/S) each.
            let allowed = 5.0 * (2.0 / samples as f64).sqrt() * expected + 1e-6;
            assert!(
                (variance - expected).abs() < allowed,
                "{name}: {variance} for {expected}"
            );
        }
    }
}
