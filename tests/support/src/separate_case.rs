//! Functions with separate kernels, and comparisons of a batch of them with single functions.

use burn::tensor::Tensor;
use burn_gp_core::{
    kernels::{
        AnyKernel, KernelConfig, KernelDefinition, Kernels, LinearConfig, StationaryConfig,
        WhiteConfig,
    },
    ops::Stationary,
    process::{Joint, Marginals},
    variational::{AnyPosterior, Evaluation},
};

use super::{
    Dense, Platform, assert_close, numbers,
    posterior_case::{DIMENSIONS, assert_same_joint, assert_same_marginals},
};

/// The number of functions in a batch.
pub const FUNCTIONS: usize = 3;

/// Separate kernels of the same kind, which run as a single operation; of different kinds; and of
/// different types. Then one kernel for all functions by clones, and kernels of one configuration that are stacked.
pub fn kernels(platform: &Platform) -> Vec<Kernels> {
    let stationary = |kind: Stationary, lengthscale: f64, variance: f64| {
        KernelConfig::from(
            StationaryConfig::new(kind)
                .with_lengthscale(lengthscale)
                .with_variance(variance),
        )
    };
    let smooth = |lengthscale, variance| stationary(Stationary::Matern52, lengthscale, variance);
    let linear = KernelConfig::from(LinearConfig {
        ard: true,
        variance: 0.5,
        ..LinearConfig::default()
    });
    let sets = vec![
        vec![smooth(0.7, 1.0), smooth(1.1, 2.0), smooth(1.6, 0.5)],
        vec![
            smooth(0.7, 1.0),
            stationary(Stationary::SquaredExponential, 0.8, 1.3),
            stationary(Stationary::Matern32, 1.2, 0.6),
        ],
        vec![
            smooth(0.7, 1.0),
            smooth(1.1, 2.0).plus(linear),
            smooth(1.6, 0.5).plus(KernelConfig::from(WhiteConfig { variance: 0.1 })),
        ],
    ];
    let init = |config: &KernelConfig| config.init(DIMENSIONS, platform.options());
    (sets.into_iter())
        .map(|configs| Kernels::separate(configs.iter().map(init)))
        .chain([
            Kernels::tied(init(&smooth(0.9, 1.4)), FUNCTIONS),
            Kernels::stacked(&of_one_configuration(platform)),
        ])
        .collect()
}

/// A kernel for each function, made from one configuration that is no stationary kernel.
pub fn of_one_configuration(platform: &Platform) -> Vec<AnyKernel> {
    let kernel = |(lengthscale, variance): (f64, f64)| {
        let smooth = StationaryConfig::new(Stationary::Matern52)
            .with_lengthscale(lengthscale)
            .with_variance(variance);
        let linear = LinearConfig::default().with_variance(0.3 * variance);
        let noise = WhiteConfig {
            variance: 0.1 * lengthscale,
        };
        (smooth.plus(linear).plus(noise)).init(DIMENSIONS, platform.options())
    };
    let values = [(0.7, 1.0), (1.1, 2.0), (1.6, 0.5)];
    values.into_iter().map(kernel).collect()
}

/// Compares a posterior of a batch of functions with posteriors of the single functions, at inputs
/// `x`.
#[track_caller]
pub fn assert_functions_alone<R: Into<AnyPosterior>>(
    what: &str,
    platform: &Platform,
    x: &Dense,
    kernels: &Kernels,
    together: impl Into<AnyPosterior>,
    alone: impl Fn(usize) -> R,
) {
    let x = || platform.matrix(x);
    // The tolerance covers rounding, because the batch multiplies in a different order.
    let tolerance = platform.tolerance(1e-11, 1e-4);
    let together = together.into();
    let Evaluation { marginals, kl } = together.evaluate(kernels, x()).expect("factor");
    let process = together.condition(kernels).expect("factor");
    let (predicted, joint) = (process.marginals(x()), process.joint(x()));
    assert_same_marginals(what, &predicted, &marginals, tolerance);
    let mut sum = 0.0;
    for (output, kernel) in kernels.each().iter().enumerate() {
        let kernel = &Kernels::from(kernel.clone());
        let alone: AnyPosterior = alone(output).into();
        let expected = alone.evaluate(kernel, x()).expect("factor");
        sum += numbers(expected.kl)[0];
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
    assert_close(what, &numbers(kl), &[sum], tolerance);
}
