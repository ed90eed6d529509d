//! Every kernel against its formula.

mod support;

use burn::tensor::{Tensor, TensorCreationOptions};
use burn_gp::{
    kernels::{AnyKernel, Kernel, KernelConfig, Linear, StationaryConfig, StationaryKernel},
    ops::Stationary,
    parameter::Hyperparameter,
};
use support::{
    Dense, Platform, Random, assert_close, assert_finite, check_gradients, check_module_gradients,
    numbers, platforms,
};

const DIMENSIONS: usize = 3;

fn matern(kind: Stationary) -> StationaryConfig {
    StationaryConfig::new(kind)
        .with_lengthscale(1.3)
        .with_variance(0.7)
}

/// A configuration of every kind of kernel, alone and within others.
fn registry() -> Vec<(&'static str, KernelConfig)> {
    let linear = KernelConfig::Linear {
        ard: true,
        variance: 0.4,
    };
    let white = KernelConfig::White { variance: 0.3 };
    let constant = KernelConfig::Constant { variance: 1.2 };
    let smooth = KernelConfig::from(matern(Stationary::Matern52));
    vec![
        (
            "squared exponential",
            matern(Stationary::SquaredExponential).into(),
        ),
        ("matern 1/2", matern(Stationary::Matern12).into()),
        (
            "matern 3/2, isotropic",
            matern(Stationary::Matern32).isotropic().into(),
        ),
        ("matern 5/2", smooth.clone()),
        ("linear", linear.clone()),
        (
            "linear, isotropic",
            KernelConfig::Linear {
                ard: false,
                variance: 0.4,
            },
        ),
        ("constant", constant.clone()),
        ("white", white.clone()),
        ("scaled", smooth.clone().scaled(2.5)),
        ("sum", smooth.clone().plus(linear.clone())),
        ("product", smooth.clone().times(linear.clone())),
        (
            "active dimensions",
            smooth.clone().on_dimensions(vec![2, 0]),
        ),
        ("sum with white", smooth.clone().plus(white.clone())),
        ("product with white", smooth.clone().times(white.clone())),
        (
            "everything",
            smooth
                .on_dimensions(vec![1])
                .scaled(0.5)
                .plus(linear.on_dimensions(vec![0, 2]).times(constant))
                .plus(white.scaled(0.2)),
        ),
    ]
}

/// Which entry of the registry an [`AnyKernel`] is: a new variant does not compile without a name
/// here, and fails a test without a configuration in [`registry`].
fn variant(kernel: &AnyKernel) -> &'static str {
    match kernel {
        AnyKernel::Stationary(_) => "stationary",
        AnyKernel::Linear(_) => "linear",
        AnyKernel::Constant(_) => "constant",
        AnyKernel::White(_) => "white",
        AnyKernel::Scaled(_) => "scaled",
        AnyKernel::Sum(_) => "sum",
        AnyKernel::Product(_) => "product",
        AnyKernel::ActiveDimensions(_) => "active-dimensions",
    }
}

const VARIANTS: [&str; 8] = [
    "stationary",
    "linear",
    "constant",
    "white",
    "scaled",
    "sum",
    "product",
    "active-dimensions",
];

/// `k(a, b)` by its formula; `same` says that they are one point of one set.
fn reference(config: &KernelConfig, a: &[f64], b: &[f64], same: bool) -> f64 {
    let pairs = || a.iter().zip(b);
    match config {
        KernelConfig::Stationary(config) => {
            let square: f64 = pairs()
                .map(|(a, b)| ((a - b) / config.lengthscale).powi(2))
                .sum();
            let r = square.sqrt();
            let (s3, s5) = (3f64.sqrt() * r, 5f64.sqrt() * r);
            config.variance
                * match config.kind {
                    Stationary::SquaredExponential => (-0.5 * square).exp(),
                    Stationary::Matern12 => (-r).exp(),
                    Stationary::Matern32 => (1.0 + s3) * (-s3).exp(),
                    Stationary::Matern52 => (1.0 + s5 + s5 * s5 / 3.0) * (-s5).exp(),
                }
        }
        KernelConfig::Linear { variance, .. } => {
            variance * pairs().map(|(a, b)| a * b).sum::<f64>()
        }
        KernelConfig::Constant { variance } => *variance,
        KernelConfig::White { variance } => {
            if same {
                *variance
            } else {
                0.0
            }
        }
        KernelConfig::Scaled { base, outputscale } => outputscale * reference(base, a, b, same),
        KernelConfig::Sum { first, second } => {
            reference(first, a, b, same) + reference(second, a, b, same)
        }
        KernelConfig::Product { first, second } => {
            reference(first, a, b, same) * reference(second, a, b, same)
        }
        KernelConfig::ActiveDimensions { base, dimensions } => {
            let select = |x: &[f64]| dimensions.iter().map(|&d| x[d]).collect::<Vec<_>>();
            reference(base, &select(a), &select(b), same)
        }
    }
}

#[test]
fn every_variant_is_registered() {
    let platform = &platforms()[0];
    for name in VARIANTS {
        let found = registry()
            .iter()
            .any(|(_, config)| variant(&config.init(DIMENSIONS, platform.options())) == name);
        assert!(found, "no configuration of the variant {name}");
    }
}

#[test]
fn covariances_are_those_of_the_formula() {
    let mut random = Random::new(139);
    // The second set repeats a point of the first.
    let (x1, mut x2) = (random.points(70, DIMENSIONS), random.points(9, DIMENSIONS));
    for d in 0..DIMENSIONS {
        x2[(4, d)] = x1[(2, d)];
    }
    for platform in platforms() {
        for (name, config) in registry() {
            let kernel = config.init(DIMENSIONS, platform.options());
            let what = format!("{name} on {platform}");
            let tolerance = platform.tolerance(1e-13, 5e-6);
            let cross = kernel.covariance(platform.matrix(&x1), platform.matrix(&x2));
            let expected = Dense::from_function(70, 9, |i, j| {
                reference(&config, x1.row(i), x2.row(j), false)
            });
            assert_eq!(cross.dims(), [70, 9], "{what}");
            assert_close(&what, &numbers(cross), &expected.values, tolerance);
            let matrix = kernel.matrix(platform.matrix(&x1));
            let expected = Dense::from_function(70, 70, |i, j| {
                reference(&config, x1.row(i), x1.row(j), i == j)
            });
            assert_close(&what, &numbers(matrix), &expected.values, tolerance);
            let diagonal = kernel.diagonal(platform.matrix(&x1));
            assert_eq!(diagonal.dims(), [70], "{what}");
            assert_close(&what, &numbers(diagonal), &expected.diagonal(), tolerance);
        }
    }
}

/// Also with a point that is there twice.
#[test]
fn matrices_are_symmetric_and_positive_semidefinite() {
    let base = Random::new(149).points(20, DIMENSIONS);
    let x = Dense::from_function(22, DIMENSIONS, |i, d| base[(i % 20, d)]);
    for platform in platforms() {
        for (name, config) in registry() {
            let kernel = config.init(DIMENSIONS, platform.options());
            let matrix = Dense::new(22, 22, numbers(kernel.matrix(platform.matrix(&x))));
            let what = format!("{name} on {platform}");
            assert_finite(&what, &matrix.values);
            let tolerance = platform.tolerance(1e-14, 1e-6);
            assert_close(
                &what,
                &matrix.values,
                &matrix.transposed().values,
                tolerance,
            );
            // The factor exists once rounding is covered.
            let rounding = platform.tolerance(1e-12, 1e-4) * matrix.trace();
            matrix
                .plus(&Dense::identity(22).scaled(rounding))
                .cholesky();
        }
    }
}

/// The loss takes the matrix, the diagonal and a covariance with other points, each weighted.
fn loss(kernel: &AnyKernel, platform: &Platform, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<1> {
    let mut random = Random::new(151);
    let [rows, _] = x1.dims();
    let [columns, _] = x2.dims();
    let square = platform.matrix(&random.matrix(rows, rows));
    let rectangle = platform.matrix(&random.matrix(rows, columns));
    let line = platform.tensor(&random.normals(rows), [rows]);
    (kernel.matrix(x1.clone()) * square).sum()
        + (kernel.diagonal(x1.clone()) * line).sum()
        + (kernel.covariance(x1, x2) * rectangle).sum()
}

#[test]
fn gradients_of_inputs() {
    let mut random = Random::new(157);
    let (x1, x2) = (random.points(6, DIMENSIONS), random.points(4, DIMENSIONS));
    // The loss of a kernel without inputs is no function of them.
    let blind = ["constant", "white"];
    for (name, config) in registry() {
        if blind.contains(&name) {
            continue;
        }
        check_gradients(
            name,
            &[(&x1).into(), (&x2).into()],
            1e-3,
            &|platform, inputs| {
                let kernel = config.init(DIMENSIONS, platform.options());
                let x1 = inputs[0].clone().reshape([6, DIMENSIONS]);
                let x2 = inputs[1].clone().reshape([4, DIMENSIONS]);
                loss(&kernel, platform, x1, x2)
            },
        );
    }
}

/// At a repeated point, too: hyperparameters do not move points.
#[test]
fn gradients_of_hyperparameters() {
    let mut random = Random::new(163);
    let (mut x1, mut x2) = (random.points(6, DIMENSIONS), random.points(4, DIMENSIONS));
    for d in 0..DIMENSIONS {
        x1[(5, d)] = x1[(0, d)];
        x2[(1, d)] = x1[(3, d)];
    }
    for (name, config) in registry() {
        check_module_gradients(
            name,
            (1e-6, 1e-3),
            |platform| config.init(DIMENSIONS, platform.options()),
            |platform, kernel| loss(kernel, platform, platform.matrix(&x1), platform.matrix(&x2)),
        );
    }
}

#[test]
fn gradients_are_finite_at_coincident_points() {
    for platform in platforms() {
        for (name, config) in registry() {
            let tracked = platform.autodiff();
            let kernel = config.init(DIMENSIONS, tracked.options());
            let x = tracked
                .tensor(&[0.5; 4 * DIMENSIONS], [4, DIMENSIONS])
                .require_grad();
            let gradients = loss(&kernel, &tracked, x.clone(), x.clone()).backward();
            if let Some(gradient) = x.grad(&gradients) {
                assert_finite(&format!("{name} on {platform}"), &numbers(gradient));
            }
        }
    }
}

/// Lengthscales and variances of their own for every dimension.
#[test]
fn dimensions_have_parameters_of_their_own() {
    let scales = [0.5, 1.0, 4.0];
    let mut random = Random::new(167);
    let (x1, x2) = (random.points(7, 3), random.points(5, 3));
    for platform in platforms() {
        let kernel = StationaryKernel::new(Stationary::Matern32, &scales, 0.9, platform.options());
        let values = kernel.covariance(platform.matrix(&x1), platform.matrix(&x2));
        let stretch = |x: &Dense| Dense::from_function(x.rows, 3, |i, d| x[(i, d)] / scales[d]);
        let (s1, s2) = (stretch(&x1), stretch(&x2));
        let unit = StationaryConfig::new(Stationary::Matern32)
            .with_variance(0.9)
            .into();
        let expected =
            Dense::from_function(7, 5, |i, j| reference(&unit, s1.row(i), s2.row(j), false));
        let tolerance = platform.tolerance(1e-13, 5e-6);
        assert_close(
            &format!("{platform}"),
            &numbers(values),
            &expected.values,
            tolerance,
        );
        let kernel = Linear::new(&scales, platform.options());
        let values = kernel.covariance(platform.matrix(&x1), platform.matrix(&x2));
        let expected = Dense::from_function(7, 5, |i, j| {
            (0..3).map(|d| scales[d] * x1[(i, d)] * x2[(j, d)]).sum()
        });
        assert_close(
            &format!("{platform}"),
            &numbers(values),
            &expected.values,
            tolerance,
        );
        let squares: Vec<f64> = (0..7)
            .map(|i| (0..3).map(|d| scales[d] * x1[(i, d)].powi(2)).sum())
            .collect();
        let diagonal = numbers(kernel.diagonal(platform.matrix(&x1)));
        assert_close(&format!("{platform}"), &diagonal, &squares, tolerance);
    }
}

#[test]
fn hyperparameters_are_reported_with_their_paths_and_values() {
    for platform in platforms() {
        let config = KernelConfig::from(matern(Stationary::Matern52))
            .scaled(2.0)
            .plus(KernelConfig::White { variance: 0.25 });
        let reported = config.init(2, platform.options()).hyperparameters();
        let expected = [
            ("first.outputscale", vec![2.0]),
            ("first.base.lengthscale", vec![1.3, 1.3]),
            ("first.base.variance", vec![0.7]),
            ("second.variance", vec![0.25]),
        ];
        assert_eq!(reported.len(), expected.len());
        for (Hyperparameter { path, values }, (name, numbers)) in reported.iter().zip(&expected) {
            assert_eq!(path, name);
            let what = format!("{platform}, {path}");
            assert_close(&what, values, numbers, platform.tolerance(1e-14, 1e-6));
        }
    }
}

#[test]
fn configurations_survive_a_round_trip_through_json() {
    for (name, config) in registry() {
        let text = serde_json::to_string(&config).expect("serialisable");
        let back: KernelConfig = serde_json::from_str(&text).expect("readable");
        assert_eq!(back, config, "{name}: {text}");
    }
    let text = r#"{"kernel": "stationary", "kind": "matern52"}"#;
    let short: KernelConfig = serde_json::from_str(text).expect("readable");
    assert_eq!(
        short,
        KernelConfig::from(Stationary::Matern52),
        "defaults fill in the rest"
    );
}

#[test]
#[should_panic(expected = "active dimensions [0, 3] of inputs with 3 dimensions")]
fn a_dimension_that_does_not_exist_is_the_callers_error() {
    let platform = &platforms()[0];
    KernelConfig::from(Stationary::Matern32)
        .on_dimensions(vec![0, 3])
        .init(DIMENSIONS, platform.options());
}

#[test]
#[should_panic(expected = "positive hyperparameters")]
fn a_variance_that_is_not_positive_is_the_callers_error() {
    let options: TensorCreationOptions = platforms()[0].options().into();
    KernelConfig::White { variance: 0.0 }.init(DIMENSIONS, options);
}
