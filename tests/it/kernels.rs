//! All kernels compared with their formulas.

use std::collections::BTreeSet;

use crate::support::{
    Dense, Platform, Random, assert_close, assert_finite, check_gradients, check_module_gradients,
    kernel_registry::{DIMENSIONS, reference, registry, sees_inputs, stationary},
    numbers, parameter_gradients, platforms,
};
use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    features::{Features, PerceptronConfig},
    kernels::{
        AnyKernel, ArcCosine, ArcCosineConfig, ArcCosineOrder, Cosine, DeepKernel, GibbsConfig,
        Kernel, KernelConfig, KernelModule, Linear, Polynomial, RationalQuadratic,
        RationalQuadraticConfig, SpectralMixtureConfig, StationaryConfig, StationaryKernel,
        WhiteConfig,
    },
    ops::Stationary,
    parameter::{Hyperparameter, hyperparameters},
};

/// All tags in a configuration, including those of nested kernels.
fn tags(value: &serde_json::Value, found: &mut BTreeSet<String>) {
    let Some(fields) = value.as_object() else {
        return;
    };
    if let Some(tag) = fields.get("kernel").and_then(|tag| tag.as_str()) {
        found.insert(tag.to_owned());
    }
    for field in fields.values() {
        tags(field, found);
    }
}

/// The registry contains all variants of the configuration.
#[test]
fn every_variant_is_registered() {
    let refusal = serde_json::from_str::<KernelConfig>(r#"{"kernel": "?"}"#)
        .expect_err("there is no such kernel")
        .to_string();
    let known: BTreeSet<String> = (refusal.split('`').skip(1).step_by(2))
        .filter(|name| *name != "?")
        .map(str::to_owned)
        .collect();
    assert!(known.contains("stationary"), "{refusal}");
    let mut found = BTreeSet::new();
    for (_, config) in registry() {
        tags(
            &serde_json::to_value(config).expect("serializable"),
            &mut found,
        );
    }
    assert_eq!(found, known);
}

/// A misspelled field is an error everywhere in a configuration, instead of a default.
#[test]
fn unknown_fields_are_refused() {
    fn with_a_slip(value: &serde_json::Value) -> Vec<serde_json::Value> {
        let Some(fields) = value.as_object() else {
            return Vec::new();
        };
        let mut slip = fields.clone();
        slip.insert("lenghtscale".to_owned(), 2.0.into());
        let within = fields.iter().flat_map(|(name, field)| {
            with_a_slip(field).into_iter().map(|changed| {
                let mut own = fields.clone();
                own.insert(name.clone(), changed);
                own
            })
        });
        let all = std::iter::once(slip).chain(within);
        all.map(serde_json::Value::Object).collect()
    }
    for (name, config) in registry() {
        let value = serde_json::to_value(config).expect("serializable");
        for slip in with_a_slip(&value) {
            let read = serde_json::from_value::<KernelConfig>(slip.clone());
            assert!(read.is_err(), "{name}: {slip}");
        }
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
            let cross = kernel.covariance_at(platform.matrix(&x1), platform.matrix(&x2));
            let expected = Dense::from_function(70, 9, |i, j| {
                reference(&config, x1.row(i), x2.row(j), false)
            });
            assert_eq!(cross.dims(), [70, 9], "{what}");
            assert_close(&what, &numbers(cross), &expected.values, tolerance);
            let matrix = kernel.matrix_at(platform.matrix(&x1));
            let expected = Dense::from_function(70, 70, |i, j| {
                reference(&config, x1.row(i), x1.row(j), i == j)
            });
            assert_close(&what, &numbers(matrix), &expected.values, tolerance);
            let diagonal = kernel.diagonal_at(platform.matrix(&x1));
            assert_eq!(diagonal.dims(), [70], "{what}");
            assert_close(&what, &numbers(diagonal), &expected.diagonal(), tolerance);
        }
    }
}

/// The points include a repeated one.
#[test]
fn matrices_are_symmetric_and_positive_semidefinite() {
    let base = Random::new(149).points(20, DIMENSIONS);
    let x = Dense::from_function(22, DIMENSIONS, |i, d| base[(i % 20, d)]);
    for platform in platforms() {
        for (name, config) in registry() {
            let kernel = config.init(DIMENSIONS, platform.options());
            let matrix = Dense::new(22, 22, numbers(kernel.matrix_at(platform.matrix(&x))));
            let what = format!("{name} on {platform}");
            assert_finite(&what, &matrix.values);
            let tolerance = platform.tolerance(1e-14, 1e-6);
            assert_close(
                &what,
                &matrix.values,
                &matrix.transposed().values,
                tolerance,
            );
            // The factor exists if a diagonal term covers rounding.
            let rounding = platform.tolerance(1e-12, 1e-4) * matrix.trace();
            matrix
                .plus(&Dense::identity(22).scaled(rounding))
                .cholesky();
        }
    }
}

/// A loss of the matrix, the diagonal and a covariance with other points, each weighted.
fn loss(kernel: &AnyKernel, platform: &Platform, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<1> {
    let mut random = Random::new(151);
    let [rows, _] = x1.dims();
    let [columns, _] = x2.dims();
    let square = platform.matrix(&random.matrix(rows, rows));
    let rectangle = platform.matrix(&random.matrix(rows, columns));
    let line = platform.tensor(&random.normals(rows), [rows]);
    (kernel.matrix_at(x1.clone()) * square).sum()
        + (kernel.diagonal_at(x1.clone()) * line).sum()
        + (kernel.covariance_at(x1, x2) * rectangle).sum()
}

#[test]
fn gradients_of_inputs() {
    let mut random = Random::new(157);
    let (x1, x2) = (random.points(6, DIMENSIONS), random.points(4, DIMENSIONS));
    for (name, config) in registry() {
        if !sees_inputs(&config) {
            continue;
        }
        check_gradients(
            &name,
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

/// The points include a repeated one, because hyperparameters do not move points.
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
            &name,
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
            let what = format!("{name} on {platform}");
            if let Some(gradient) = x.grad(&gradients) {
                assert_finite(&what, &numbers(gradient));
            }
            for gradient in parameter_gradients(&kernel, &gradients) {
                assert_finite(&what, &gradient);
            }
        }
    }
}

/// A parameter per dimension has the effect of stretching that dimension.
#[test]
fn dimensions_have_parameters_of_their_own() {
    let scales = [0.5, 1.0, 4.0];
    let mut random = Random::new(167);
    let (x1, x2) = (random.points(7, 3), random.points(5, 3));
    let stretch = |x: &Dense, by: fn(f64) -> f64| {
        Dense::from_function(x.rows, 3, |i, d| x[(i, d)] * by(scales[d]))
    };
    let inverse: fn(f64) -> f64 = |scale| 1.0 / scale;
    for platform in platforms() {
        let options = || platform.options();
        let (ones, order) = ([1.0; 3], ArcCosineOrder::Ramp);
        let compare = |what: &str, by, kernel: &dyn Fn(&[f64]) -> AnyKernel| {
            let values = |scales: &[f64], x1: &Dense, x2: &Dense| {
                let kernel = kernel(scales);
                let cross = kernel.covariance_at(platform.matrix(x1), platform.matrix(x2));
                let diagonal = kernel.diagonal_at(platform.matrix(x1));
                [numbers(cross), numbers(diagonal)].concat()
            };
            let actual = values(&scales, &x1, &x2);
            let expected = values(&ones, &stretch(&x1, by), &stretch(&x2, by));
            // Phases of the cosine are up to 41 radians and are rounded to 4e-6 twice.
            let single = if what == "cosine" { 1e-5 } else { 5e-6 };
            let what = format!("{what} on {platform}");
            assert_close(&what, &actual, &expected, platform.tolerance(1e-13, single));
        };
        compare("stationary", inverse, &|scales| {
            let kind = Stationary::Matern32;
            StationaryKernel::new(kind, scales, 0.9, options()).boxed()
        });
        compare("rational quadratic", inverse, &|scales| {
            RationalQuadratic::new(scales, 0.9, 1.4, options()).boxed()
        });
        compare("cosine", inverse, &|scales| {
            Cosine::new(scales, 0.9, options()).boxed()
        });
        compare("linear", f64::sqrt, &|scales| {
            Linear::new(scales, options()).boxed()
        });
        compare("polynomial", f64::sqrt, &|scales| {
            Polynomial::new(scales, 0.9, 3, options()).boxed()
        });
        compare("arc-cosine", f64::sqrt, &|scales| {
            ArcCosine::new(order, scales, 0.4, 0.9, options()).boxed()
        });
    }
}

/// However large the shape is, no digits are lost: a device's `log(1 + t)` may be that of the rounded sum.
#[test]
fn rational_quadratic_kernels_of_large_shapes_are_nearly_squared_exponential() {
    let x = Random::new(179).points(12, DIMENSIONS);
    for platform in platforms() {
        let kind = Stationary::SquaredExponential;
        let squared = StationaryKernel::new(kind, &[1.0], 1.0, platform.options());
        let expected = numbers(squared.matrix_at(platform.matrix(&x)));
        for shape in [1e4, 1e6] {
            let kernel = RationalQuadratic::new(&[1.0], 1.0, shape, platform.options());
            let found = numbers(kernel.matrix_at(platform.matrix(&x)));
            // The kernels differ by at most s²/(8α)·e^(−s/2) < 0.28/α.
            let tolerance = 0.28 / shape + platform.tolerance(1e-14, 2e-6);
            for (found, expected) in found.iter().zip(&expected) {
                let error = (found - expected).abs();
                assert!(error < tolerance, "shape {shape} on {platform}: {error}");
            }
        }
    }
}

/// The active dimensions of a base kernel refer to the inputs, for sine and cosine alike.
#[test]
fn periodic_versions_of_restricted_kernels() {
    let base = KernelConfig::from(stationary(Stationary::Matern32));
    let within = base.clone().on_dimensions(vec![2]).periodic(1.7);
    let around = base.periodic(1.7).on_dimensions(vec![2]);
    let x = Random::new(173).points(12, DIMENSIONS);
    for platform in platforms() {
        let [within, around] = [&within, &around].map(|config| {
            let kernel = config.init(DIMENSIONS, platform.options());
            numbers(kernel.matrix_at(platform.matrix(&x)))
        });
        assert_close(
            &format!("{platform}"),
            &within,
            &around,
            platform.tolerance(1e-15, 1e-7),
        );
    }
}

/// A kernel can use the outputs of any module.
#[test]
fn kernels_on_a_module_of_ones_own() {
    #[derive(Module, Debug)]
    struct Norm {}

    impl Features for Norm {
        fn forward(&self, x: Tensor<2>) -> Tensor<2> {
            x.square().sum_dim(1)
        }
    }

    let x = Random::new(179).points(12, DIMENSIONS);
    let norms = Dense::from_function(12, 1, |i, _| x.row(i).iter().map(|x| x * x).sum());
    for platform in platforms() {
        let base = stationary(Stationary::Matern52).init(1, platform.options());
        let kernel = DeepKernel::new(base.clone(), Norm {});
        let expected = numbers(base.matrix_at(platform.matrix(&norms)));
        let matrix = numbers(kernel.matrix_at(platform.matrix(&x)));
        assert_close(
            &format!("{platform}"),
            &matrix,
            &expected,
            platform.tolerance(1e-14, 5e-6),
        );
    }
}

#[test]
fn hyperparameters_are_reported_with_their_paths_and_values() {
    for platform in platforms() {
        let config = KernelConfig::from(stationary(Stationary::Matern52))
            .scaled(2.0)
            .plus(KernelConfig::from(WhiteConfig { variance: 0.25 }));
        let reported = hyperparameters(&config.init(2, platform.options()));
        let expected = [
            ("first.base.lengthscale", vec![1.3, 1.3]),
            ("first.base.variance", vec![0.7]),
            ("first.outputscale", vec![2.0]),
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

/// The default lengthscale is `√D`, where D is the number of inputs that the kernel sees.
#[test]
fn first_lengthscales_grow_with_the_number_of_inputs() {
    let plain = KernelConfig::from(Stationary::Matern52);
    let given =
        KernelConfig::from(StationaryConfig::new(Stationary::Matern52).with_lengthscale(1.0));
    let rational = KernelConfig::from(RationalQuadraticConfig::default());
    for platform in platforms() {
        let lengthscales = |config: &KernelConfig, dimensions: usize| {
            let reported = hyperparameters(&config.init(dimensions, platform.options()));
            let found = reported
                .into_iter()
                .find(|found| found.path.ends_with("lengthscale"));
            found.expect("a lengthscale").values
        };
        let cases = [
            ("of 4 inputs", plain.clone(), vec![2.0; 4]),
            ("shared", plain.clone().isotropic(), vec![2.0]),
            ("given", given.clone(), vec![1.0; 4]),
            ("rational quadratic", rational.clone(), vec![2.0; 4]),
            (
                "of 2 of them",
                plain.clone().on_dimensions(vec![0, 3]),
                vec![2f64.sqrt(); 2],
            ),
            ("periodic", plain.clone().periodic(1.0), vec![2.0; 4]),
            (
                "of 3 features",
                plain.clone().deep(PerceptronConfig::default(), 3),
                vec![3f64.sqrt(); 3],
            ),
        ];
        for (name, config, expected) in cases {
            let what = format!("{platform}, {name}");
            assert_close(
                &what,
                &lengthscales(&config, 4),
                &expected,
                platform.tolerance(1e-14, 1e-6),
            );
        }
    }
}

/// Network weights are not reported as hyperparameters.
#[test]
fn networks_are_not_reported() {
    let platform = &platforms()[0];
    let config = KernelConfig::from(stationary(Stationary::Matern52))
        .deep(PerceptronConfig::default(), 2)
        .plus(KernelConfig::from(SpectralMixtureConfig {
            components: 1,
            ..SpectralMixtureConfig::default()
        }));
    let reported = hyperparameters(&config.init(2, platform.options()));
    let paths: Vec<&str> = reported
        .iter()
        .map(|parameter| parameter.path.as_str())
        .collect();
    let expected = [
        "first.base.lengthscale",
        "first.base.variance",
        "second.components.0.variance",
        "second.components.0.lengthscale",
        "second.components.0.frequency",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn configurations_survive_a_round_trip_through_json() {
    for (name, config) in registry() {
        let text = serde_json::to_string(&config).expect("serializable");
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
    let step = ArcCosineConfig {
        order: ArcCosineOrder::Step,
        ..ArcCosineConfig::default()
    };
    let expected = KernelConfig::from(step).deep(PerceptronConfig::default(), 2);
    let text = r#"{"kernel": "deep", "base": {"kernel": "arc-cosine", "order": "step"}}"#;
    let short: KernelConfig = serde_json::from_str(text).expect("readable");
    assert_eq!(short, expected, "defaults fill in the rest");
}

#[test]
#[should_panic(expected = "kernel uses input 3, counted from zero, but the number of inputs is 3")]
fn a_dimension_that_does_not_exist_is_the_callers_error() {
    let platform = &platforms()[0];
    KernelConfig::from(Stationary::Matern32)
        .on_dimensions(vec![0, 3])
        .init(DIMENSIONS, platform.options());
}

#[test]
#[should_panic(expected = "kernel.variance is 0; it must be finite and above 0")]
fn a_variance_that_is_not_positive_is_the_callers_error() {
    let options: TensorCreationOptions = platforms()[0].options().into();
    KernelConfig::from(WhiteConfig { variance: 0.0 }).init(DIMENSIONS, options);
}

/// The lengthscales of a Gibbs kernel stay above 1e-6, from which it starts too.
#[test]
fn a_gibbs_kernel_with_a_tiny_lengthscale_is_refused() {
    let gibbs = |lengthscale| {
        KernelConfig::from(GibbsConfig {
            lengthscale: Some(lengthscale),
            ..GibbsConfig::default()
        })
    };
    for lengthscale in [1e-320, 1e-8, 1e-6] {
        let config = gibbs(lengthscale);
        let deep = config.clone().deep(PerceptronConfig::default(), 2);
        for (config, path) in [(config, "kernel"), (deep, "kernel.base")] {
            let error = config.check_for("kernel", DIMENSIONS).expect_err("refused");
            let expected = format!("{path}: the lengthscale of a Gibbs kernel is");
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
    }
    let usable = gibbs(2e-6);
    usable.check_for("kernel", DIMENSIONS).expect("a kernel");
    let _ = usable.init(DIMENSIONS, platforms()[0].options());
}
