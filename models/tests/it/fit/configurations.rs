//! Impossible values of configurations are errors that name them, and no panic is reported.

use std::{cell::Cell, panic, sync::Once};

use burn_gp_core::{
    features::PerceptronConfig,
    kernels::{
        ChangePointConfig, ConstantConfig, CosineConfig, GibbsConfig, KernelConfig, LinearConfig,
        PolynomialConfig, RationalQuadraticConfig, SpectralMixtureConfig, WhiteConfig,
    },
    likelihoods::{
        BetaConfig, GammaConfig, HeteroskedasticConfig, NegativeBinomialConfig, OrdinalConfig,
        RobustMaxConfig,
    },
    parameter::ParameterError,
    variational::{LSvgpConfig, PseudoObservationsConfig},
};

use super::*;

thread_local! {
    static REPORTED: Cell<usize> = const { Cell::new(0) };
}

/// The error, and the number of panics that this thread has reported to find it.
fn reported<T>(work: impl FnOnce() -> Result<T, Error>) -> (Error, usize) {
    static COUNTED: Once = Once::new();
    COUNTED.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            REPORTED.set(REPORTED.get() + 1);
            report(panic);
        }));
    });
    REPORTED.set(0);
    let error = work().err().expect("an error");
    (error, REPORTED.get())
}

/// Kernels for two inputs with a value that is not possible, and its path.
fn kernels() -> Vec<(KernelConfig, &'static str)> {
    let rbf = || KernelConfig::from(StationaryConfig::rbf());
    let constant = |variance| KernelConfig::from(ConstantConfig { variance });
    let spectral = SpectralMixtureConfig::default();
    vec![
        (
            StationaryConfig::rbf().with_lengthscale(0.0).into(),
            "kernel.lengthscale",
        ),
        (
            StationaryConfig::rbf().with_variance(f64::NAN).into(),
            "kernel.variance",
        ),
        (
            RationalQuadraticConfig::default().with_shape(-1.0).into(),
            "kernel.shape",
        ),
        (
            LinearConfig::default().with_variance(f64::INFINITY).into(),
            "kernel.variance",
        ),
        (
            PolynomialConfig::default().with_degree(0).into(),
            "kernel.degree",
        ),
        (
            CosineConfig::default().with_period(0.0).into(),
            "kernel.period",
        ),
        (
            GibbsConfig::default().with_lengthscale(Some(-2.0)).into(),
            "kernel.lengthscale",
        ),
        (WhiteConfig { variance: -1.0 }.into(), "kernel.variance"),
        (spectral.with_components(0).into(), "kernel.components"),
        (rbf().scaled(0.0), "kernel.outputscale"),
        (
            rbf().plus(rbf().times(constant(0.0))),
            "kernel.second.second.variance",
        ),
        (rbf().periodic(-3.0), "kernel.period"),
        (
            rbf().deep(PerceptronConfig::default(), 0),
            "kernel.features",
        ),
        (
            ChangePointConfig {
                first: constant(1.0),
                second: constant(-1.0),
                change: Default::default(),
            }
            .into(),
            "kernel.second.variance",
        ),
    ]
}

#[test]
fn impossible_values_of_kernels_are_named() {
    let fit = Fit::new().steps(1);
    for (kernel, path) in kernels() {
        let (error, panics) =
            reported(|| ExactConfig::new(kernel.clone()).fit(inputs(), targets(), &fit));
        assert!(
            error.to_string().starts_with(&format!("{path} is ")),
            "{error}"
        );
        assert_eq!(panics, 0, "{error}");
        assert!(
            matches!(
                &error,
                Error::Init(InitError::Parameter(ParameterError::OutOfBounds { .. }))
            ),
            "{error:?}"
        );
        let layer = LayerConfig::new(kernel.clone()).with_inducing(4);
        let deep = DeepGpConfig::new(layer, GaussianConfig::default());
        let (error, panics) = reported(|| deep.fit(inputs(), targets(), &fit));
        let deep_path = format!("layers.output.{path} is ");
        assert!(error.to_string().starts_with(&deep_path), "{error}");
        assert_eq!(panics, 0, "{error}");
    }
    let kernel = KernelConfig::from(StationaryConfig::rbf());
    for (kernel, text) in [
        (
            kernel.clone().on_dimensions(vec![0, 2]),
            "kernel uses input 2, counted from zero, but the number of inputs is 2",
        ),
        (
            kernel.on_dimensions(Vec::new()),
            "kernel: active dimensions are empty; name at least one dimension",
        ),
    ] {
        let (error, panics) = reported(|| ExactConfig::new(kernel).fit(inputs(), targets(), &fit));
        assert_eq!((error.to_string().as_str(), panics), (text, 0));
    }
}

#[test]
fn impossible_values_of_likelihoods_and_posteriors_are_named() {
    let fit = Fit::new().steps(1);
    let heavy = StudentTConfig::default();
    let likelihoods: [(LikelihoodConfig, &str); 10] = [
        (
            GaussianConfig::new(0.0).into(),
            "likelihood.noise is 0; it must be finite and above 0",
        ),
        (
            HeteroskedasticConfig { noise: -1.0 }.into(),
            "likelihood.noise is -1",
        ),
        (
            heavy.clone().with_scale(0.0).into(),
            "likelihood.scale is 0",
        ),
        (
            heavy.with_degrees_of_freedom(2.0).into(),
            "likelihood.degrees_of_freedom is 2; it must be finite and above 2",
        ),
        (
            SoftmaxConfig::new(1).into(),
            "likelihood.classes is 1; it must be finite and above 1",
        ),
        (
            RobustMaxConfig {
                epsilon: 1.5,
                ..RobustMaxConfig::new(3)
            }
            .into(),
            "likelihood.epsilon is 1.5; it must lie between 0 and 1",
        ),
        (
            OrdinalConfig { classes: 1 }.into(),
            "likelihood.classes is 1",
        ),
        (
            NegativeBinomialConfig { dispersion: 0.0 }.into(),
            "likelihood.dispersion is 0",
        ),
        (GammaConfig { shape: -1.0 }.into(), "likelihood.shape is -1"),
        (
            BetaConfig { precision: 0.0 }.into(),
            "likelihood.precision is 0",
        ),
    ];
    for (likelihood, text) in likelihoods {
        let (error, panics) = reported(|| svgp(likelihood).fit(inputs(), targets(), &fit));
        assert!(error.to_string().starts_with(text), "{error}");
        assert_eq!(panics, 0, "{error}");
    }
    let observations = PseudoObservationsConfig::default().with_variance(-1.0);
    let posterior = LSvgpConfig { observations };
    let config = svgp(GaussianConfig::default()).with_posterior(posterior);
    let (error, panics) = reported(|| config.fit(inputs(), targets(), &fit));
    let text = "posterior.observations.variance is -1; it must be finite and above 0";
    assert_eq!((error.to_string().as_str(), panics), (text, 0));
}

/// The data have one distinct row, so that there is none for a second set.
#[test]
fn too_few_rows_for_orthogonal_points_are_told_as_such() {
    let solve = svgp(GaussianConfig::default())
        .with_posterior(SolveGpConfig::default())
        .with_inducing(InducingConfig::default().with_orthogonal(3));
    let error = error(solve.fit([1.0, 1.0], [0.5, 0.6], &Fit::new().steps(1)));
    assert!(
        matches!(error, Error::Init(InitError::Selection(_))),
        "{error}"
    );
}
