//! Features of kernels compared with the covariance.

use burn::tensor::Tensor;
use burn_gp_core::{
    features::{Activation, PerceptronConfig},
    inducing::InducingPatches,
    kernels::{
        AnyKernel, Basis, Convolutional, Kernel, KernelConfig, KernelModule, LinearConfig, Matern,
        NoFunctionDraws, PolynomialConfig, PriorFeatures, RandomFourier, RationalQuadratic,
        StationaryConfig,
    },
    ops::{Jitter, Stationary},
    patches::{ImageShape, PatchGrid},
    process::{CovarianceShape, VariationalGaussian},
    sampling::{PathOptions, SamplePaths},
    variational::{Posterior, Whitened},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::support::{
    Dense, Input, Platform, Random, assert_close, check_gradients, check_module_gradients,
    double_precision_platforms,
    kernel_registry::{DIMENSIONS, network, registry},
    largest, numbers, parameter_gradients, platforms,
};

fn features(
    kernel: &impl Kernel,
    (dimensions, count, seed): (usize, usize, u64),
    platform: &Platform,
) -> Result<PriorFeatures, NoFunctionDraws> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    kernel.prior_features(dimensions, count, &mut random, platform.options().into())
}

/// The names of kernels without features that are part of the kernel: functions under the white kernel are not
/// continuous, and index and exchangeable kernels have infinitely many independent levels. The spectrum of a damped
/// oscillator has no closed form in its quality, and that of Gneiting's kernel none in space and time.
fn without_features(config: &KernelConfig) -> Vec<&'static str> {
    let text = serde_json::to_string(config).expect("serializable");
    let is_part = |tag: &str| text.contains(&format!(r#""kernel":"{tag}""#));
    let all = [
        ("white", "White"),
        ("index", "Index"),
        ("exchangeable", "Exchangeable"),
        ("damped-oscillator", "DampedOscillator"),
        ("gneiting", "Gneiting"),
    ];
    let parts = all.into_iter().filter(|(tag, _)| is_part(tag));
    parts.map(|(_, name)| name).collect()
}

/// The kernels of the registry whose functions can be drawn.
pub fn drawable() -> impl Iterator<Item = (String, KernelConfig)> {
    (registry().into_iter()).filter(|(_, config)| without_features(config).is_empty())
}

/// `φ(x)ᵀφ(x′)`, row-major.
fn products(features: &PriorFeatures, x1: &Tensor<2>, x2: &Tensor<2>) -> Vec<f64> {
    let [one, other] = [x1, x2].map(|x| {
        let values = features.evaluate(x.clone());
        let [count, points] = values.dims();
        assert_eq!(count, features.count());
        Dense::new(count, points, numbers(values))
    });
    one.transposed().times(&other).values
}

/// Means over seeds, with their standard errors.
fn means(draws: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let count = draws.len() as f64;
    let moments = |entry: usize| {
        let values = || draws.iter().map(move |draw| draw[entry]);
        let mean = values().sum::<f64>() / count;
        let squares = values().map(|value| (value - mean).powi(2)).sum::<f64>();
        (mean, (squares / (count * (count - 1.0))).sqrt())
    };
    (0..draws[0].len()).map(moments).collect()
}

/// Asserts that means of 24 draws are within seven of their standard errors, which is one of two
/// million for Student's distribution, plus rounding.
#[track_caller]
fn assert_means(what: &str, draws: &[Vec<f64>], expected: &[f64], rounding: f64) {
    for (entry, ((mean, error), expected)) in means(draws).into_iter().zip(expected).enumerate() {
        let off = (mean - expected).abs();
        assert!(
            off <= 7.0 * error + rounding,
            "{what}, {entry}: {mean:.6e} for {expected:.6e}, standard error {error:.2e}"
        );
    }
}

const SEEDS: u64 = 24;

/// Whether the kernel has finitely many features.
fn is_finite(name: &str) -> bool {
    let finite = ["linear", "polynomial", "periodic linear"];
    finite.iter().any(|start| name.starts_with(start))
}

/// Kernels without features name the part that has none. All others have features whose
/// products are the covariances on average, also if they are new. The standard error of 24·500
/// features is below a tenth of the variance. The rounding error is that of features of size one.
#[test]
fn features_of_every_kernel_have_its_covariance() {
    let platform = &double_precision_platforms()[0];
    let mut random = Random::new(701);
    let [x1, x2] = [4, 3].map(|count| platform.matrix(&random.points(count, DIMENSIONS)));
    for (name, config) in registry() {
        let kernel: AnyKernel = config.init(DIMENSIONS, platform.options());
        let what = format!("{name} on {platform}");
        let draw = |seed| features(&kernel, (DIMENSIONS, 500, seed), platform);
        let without = without_features(&config);
        if !without.is_empty() {
            let refusal = draw(0).expect_err(&what);
            let expected = |kernel: &&str| NoFunctionDraws::NoFeatures {
                kernel: (*kernel).to_owned(),
            };
            let named: Vec<_> = without.iter().map(expected).collect();
            assert!(named.contains(&refusal), "{what}: {refusal}");
            continue;
        }
        let draws: Vec<Vec<f64>> = (0..SEEDS)
            .map(|seed| products(&draw(seed).expect(&what), &x1, &x2))
            .collect();
        let expected = numbers(kernel.covariance_at(x1.clone(), x2.clone()));
        let scale = largest(&numbers(kernel.diagonal_at(x1.clone())));
        let rounding = 1e-12 * scale;
        assert_means(&what, &draws, &expected, rounding);
        let allowed = if is_finite(&name) {
            rounding
        } else {
            0.1 * scale
        };
        let spread = means(&draws).into_iter().map(|(_, error)| error);
        let spread = spread.fold(0.0, f64::max);
        assert!(
            spread <= allowed,
            "{what}: standard error {spread:.2e} of {scale:.2e}"
        );
    }
}

/// A seed draws the same features on every platform. In single precision, phases of some tens have rounding
/// errors of 1e-5.
#[test]
fn features_are_those_of_the_first_platform() {
    let reference = &double_precision_platforms()[0];
    let points = Random::new(703).points(4, DIMENSIONS);
    for (name, config) in drawable() {
        let values = |platform: &Platform| {
            let kernel: AnyKernel = config.init(DIMENSIONS, platform.options());
            let drawn = features(&kernel, (DIMENSIONS, 100, 3), platform).expect(&name);
            numbers(drawn.evaluate(platform.matrix(&points)))
        };
        let expected = values(reference);
        for platform in platforms() {
            let what = format!("{name} on {platform}");
            let tolerance = platform.tolerance(1e-12, 1e-4);
            assert_close(&what, &values(&platform), &expected, tolerance);
        }
    }
}

/// Kernels that are bases of features have those and no others.
#[test]
fn features_of_kernels_of_finite_rank_are_exact() {
    let points = Random::new(709).points(5, DIMENSIONS);
    for platform in platforms() {
        let x = platform.matrix(&points);
        let outputs = PerceptronConfig::init(
            &network(Activation::Tanh),
            DIMENSIONS,
            7,
            platform.options(),
        );
        let basis = Basis::new(outputs).times(0.4);
        let smooth =
            StationaryConfig::new(Stationary::Matern52).init(DIMENSIONS, platform.options());
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let fourier = RandomFourier::new(&smooth, DIMENSIONS, 9, &mut random, platform.options());
        let fourier = fourier.expect("a spectrum");
        let check = |what: &str, kernel: &dyn Fn() -> (PriorFeatures, Tensor<2>), count: usize| {
            let (features, covariance) = kernel();
            assert_eq!(features.count(), count, "{what}");
            assert_close(
                &format!("{what} on {platform}"),
                &products(&features, &x, &x),
                &numbers(covariance),
                platform.tolerance(1e-13, 1e-5),
            );
        };
        let drawn = |kernel: Result<PriorFeatures, _>| kernel.expect("features");
        let sizes = (DIMENSIONS, 4, 0);
        let of_basis = || {
            (
                drawn(features(&basis, sizes, &platform)),
                basis.matrix_at(x.clone()),
            )
        };
        check("basis", &of_basis, 7);
        let of_fourier = || {
            (
                drawn(features(&fourier, sizes, &platform)),
                fourier.matrix_at(x.clone()),
            )
        };
        check("random Fourier", &of_fourier, 18);
    }
}

/// The factors of products are in the order of their own, and each counts once.
#[test]
fn polynomials_have_as_many_features_as_monomials() {
    let platform = &platforms()[0];
    let count = |dimensions: usize, degree: usize| {
        let config = PolynomialConfig {
            degree,
            ..PolynomialConfig::default()
        };
        let kernel: AnyKernel = KernelConfig::from(config).init(dimensions, platform.options());
        features(&kernel, (dimensions, 10, 0), platform).map(|features| features.count())
    };
    assert_eq!(count(2, 3), Ok(10));
    assert_eq!(count(100, 2), Ok(5151));
    let refused = |count| {
        let kernel = "Polynomial".to_owned();
        Err(NoFunctionDraws::TooManyFeatures { kernel, count })
    };
    assert_eq!(count(100, 5), refused(96_560_646));
    // `(164 choose 64)` needs 154 bits.
    assert_eq!(count(100, 64), refused(usize::MAX));
    let text = count(100, 5).expect_err("too many").to_string();
    assert!(text.contains("Polynomial has 96560646 features"), "{text}");
    assert!(text.contains("more than 262144"), "{text}");
    assert!(text.contains("Process::sample"), "{text}");
}

/// A product with a kernel of finitely many features has all products of features, up to a limit.
/// That of stationary kernels has no more than each of them.
#[test]
fn features_of_products_are_counted() {
    let platform = &platforms()[0];
    let smooth = || KernelConfig::from(StationaryConfig::new(Stationary::Matern52));
    let count = |config: KernelConfig, frequencies: usize| {
        let kernel: AnyKernel = config.init(DIMENSIONS, platform.options());
        features(&kernel, (DIMENSIONS, frequencies, 0), platform).map(|features| features.count())
    };
    let linear = || KernelConfig::from(LinearConfig::default());
    assert_eq!(count(smooth().times(linear()), 50), Ok(2 * 50 * DIMENSIONS));
    assert_eq!(count(smooth().times(smooth()).times(smooth()), 50), Ok(100));
    assert_eq!(count(smooth().plus(smooth()), 50), Ok(200));
    let kernel = "Product".to_owned();
    let refused = NoFunctionDraws::TooManyFeatures {
        kernel,
        count: 2 * 50_000 * DIMENSIONS,
    };
    assert_eq!(count(smooth().times(linear()), 50_000), Err(refused));
}

/// Fixed weights of the values of features.
fn weighted(values: Tensor<2>, platform: &Platform) -> Tensor<1> {
    let [rows, columns] = values.dims();
    let weights = Random::new(719).matrix(rows, columns);
    (values * platform.matrix(&weights)).sum()
}

/// Whether central differences are right: not at steps, and not at the frequencies of functions that
/// have no derivative, which are as large as thousands.
fn is_smooth(name: &str) -> bool {
    !["arc-cosine 0", "matern 1/2", "smoothness 0.7"]
        .iter()
        .any(|rough| name.contains(rough))
}

/// The features are functions of the points with gradients. In f32 phases cost digits.
#[test]
fn features_have_gradients_of_points() {
    let x = Random::new(727).points(3, DIMENSIONS);
    for (name, config) in drawable().filter(|(name, _)| is_smooth(name)) {
        // A constant has none.
        if name == "constant" || name.starts_with("constant on") {
            continue;
        }
        check_gradients(&name, &[Input::from(&x)], 1e-2, &|platform, inputs| {
            let plain = platform.without_autodiff();
            let kernel: AnyKernel = config.init(DIMENSIONS, plain.options());
            let features = features(&kernel, (DIMENSIONS, 3, 5), &plain).expect("features");
            let x = inputs[0].clone().reshape([3, DIMENSIONS]);
            weighted(features.evaluate(x), platform)
        });
    }
}

/// Gradients reach every hyperparameter and every weight of a network. Draws of a rational quadratic
/// kernel are no smooth functions of its shape, nor those of a Matérn kernel of its smoothness, which the next tests have.
#[test]
fn features_have_gradients_of_hyperparameters() {
    let x = Random::new(733).points(3, DIMENSIONS);
    let is_other = |name: &String| {
        is_smooth(name) && !name.contains("rational") && !name.contains("smoothness")
    };
    for (name, config) in drawable().filter(|(name, _)| is_other(name)) {
        let build =
            |platform: &Platform| -> AnyKernel { config.init(DIMENSIONS, platform.options()) };
        check_module_gradients(&name, (1e-6, 1e-2), build, |platform, kernel| {
            let features = features(kernel, (DIMENSIONS, 3, 7), platform).expect("features");
            weighted(features.evaluate(platform.matrix(&x)), platform)
        });
    }
}

/// On average the gradients of `φ(x)ᵀφ(x′)` are those of the covariance.
#[test]
fn features_have_the_gradients_of_a_rational_quadratic() {
    for shape in [0.3, 1.2, 8.0] {
        check_mean_gradients(&format!("shape {shape}"), |platform| {
            RationalQuadratic::new(&[0.9, 1.4], 1.3, shape, platform.options())
        });
    }
}

/// The gradient of one draw has a variance for ν > 1.
#[test]
fn features_have_the_gradients_of_a_matern_of_any_smoothness() {
    for smoothness in [1.6, 3.0, 8.0] {
        check_mean_gradients(&format!("smoothness {smoothness}"), |platform| {
            Matern::new(&[0.9, 1.4], 1.3, smoothness, platform.options())
        });
    }
}

/// Compares the mean gradients of `φ(x)ᵀφ(x′)`, over draws, with those of the covariance. The shape is the last parameter.
fn check_mean_gradients<K: KernelModule>(what: &str, kernel: impl Fn(&Platform) -> K) {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        let kernel = kernel(&tracked);
        let x1 = tracked.tensor(&[0.2, -0.4], [1, 2]);
        let x2 = tracked.tensor(&[1.1, 0.3], [1, 2]);
        let slopes =
            |covariance: Tensor<2>| parameter_gradients(&kernel, &covariance.backward()).concat();
        let draws: Vec<Vec<f64>> = (0..SEEDS)
            .map(|seed| {
                let features = features(&kernel, (2, 2000, seed), &tracked).expect("features");
                let [one, other] = [&x1, &x2].map(|x| features.evaluate(x.clone()));
                slopes((one * other).sum_dim(0))
            })
            .collect();
        let expected = slopes(kernel.covariance_at(x1, x2));
        let what = format!("{what} on {platform}");
        assert_means(&what, &draws, &expected, 1e-8);
        let &(_, error) = means(&draws).last().expect("parameters");
        let slope = expected[expected.len() - 1].abs();
        assert!(error < 0.2 * slope, "{what}: {error:.2e} of {slope:.2e}");
    }
}

/// Responses to patches are no values of the functions of images.
#[test]
fn inducing_patches_are_named() {
    let platform = &platforms()[0];
    let grid = PatchGrid::new(ImageShape::new(4, 4, 1), 2, 1).expect("patches");
    let base = StationaryConfig::new(Stationary::Matern52).init(4, platform.options());
    let kernel = Convolutional::new(base, grid, platform.options());
    let patches = InducingPatches::new(platform.matrix(&Random::new(739).points(3, 4)));
    let q = VariationalGaussian::standard(1, 3, CovarianceShape::Full, platform.options());
    let process = Whitened::new(patches, q, Jitter::INDUCING)
        .condition(&kernel.clone().into())
        .expect("factor");
    let refusal = process.paths(PathOptions::new(2)).err().expect("no values");
    let inducing = "InducingPatches".to_owned();
    assert_eq!(refusal, NoFunctionDraws::NotFunctionValues { inducing });
    assert!(refusal.to_string().contains("Process::sample"), "{refusal}");
}
