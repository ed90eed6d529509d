//! Random numbers, points and model components.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::{
    features::{Activation, FirstWeights, PerceptronConfig},
    kernels::{
        ActiveDimensionsConfig, ArcCosineConfig, ArcCosineOrder, Change, ChangePointConfig,
        ConstantConfig, CosineConfig, DampedOscillatorConfig, DeepConfig, GibbsConfig,
        GneitingConfig, KernelConfig, LinearConfig, MaternConfig, PeriodicConfig, PolynomialConfig,
        ProductConfig, RationalQuadraticConfig, ScaledConfig, SpectralMixtureConfig,
        StationaryConfig, SumConfig, WhiteConfig,
    },
};
use burn_gp_test_support::stationary::KINDS;
use proptest::prelude::*;

/// Parts of the messages of documented panics, which are mistakes of the caller.
pub const DOCUMENTED: &[&str] = &[
    "KernelConfig:",
    "positive hyperparameters must be finite and above",
    "fractions must lie between 0 and 1",
    "a polynomial kernel of degree 0",
    "a spectral mixture needs at least one component",
    "lengthscales around",
    "a Gneiting kernel of 1 inputs",
    "ActiveDimensions: no dimension given",
    "a kernel needs inputs with at least one dimension",
    "active dimensions",
    "a Student-t likelihood with",
    "a censored likelihood:",
    "an interval-censored likelihood:",
    "a softmax over",
    "a Dirichlet likelihood with concentration",
    "a robust arg max over",
    "an ordinal likelihood takes",
    "quasi-Monte Carlo takes",
    "Gauss-Hermite quadrature takes",
    "ConjugateGradients: probes must be at least 1",
    "metrics of",
    "probabilities of",
    "a calibration error",
];

/// Numbers of every kind. Half of them are typical values.
pub fn number() -> impl Strategy<Value = f64> {
    const CORNERS: &[f64] = &[
        0.0,
        -0.0,
        -1.0,
        1e-320,
        1e-40,
        1e-9,
        1.1e-6,
        1e6,
        1e38,
        1e40,
        1e300,
        f64::MAX,
        f64::EPSILON,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    prop_oneof![
        3 => 0.05..3.0f64,
        1 => -3.0..3.0f64,
        2 => proptest::sample::select(CORNERS),
        1 => any::<f64>(),
    ]
}

/// Typical values of a model's settings.
pub fn usual() -> impl Strategy<Value = f64> {
    prop_oneof![6 => 0.05..3.0f64, 1 => Just(1e-5), 1 => Just(1e4)]
}

pub fn size(most: usize) -> impl Strategy<Value = usize> {
    prop_oneof![1 => Just(0), 6 => 1..=most]
}

/// The CPU. A GPU compiles kernels for every new shape, which would slow the search down.
#[cfg(feature = "flex")]
fn device() -> Device {
    Device::flex()
}

#[cfg(not(feature = "flex"))]
fn device() -> Device {
    Device::default()
}

/// A floating-point type and a device, with or without autodiff.
pub fn options() -> impl Strategy<Value = (Device, DType)> {
    (any::<bool>(), any::<bool>()).prop_map(|(double, autodiff)| {
        let device = device();
        let device = if autodiff { device.autodiff() } else { device };
        (device, if double { DType::F64 } else { DType::F32 })
    })
}

/// A table of numbers, `[rows, columns]`.
#[derive(Clone, Debug)]
pub struct Table {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f64>,
}

impl Table {
    pub fn tensor(&self, options: &(Device, DType)) -> Tensor<2> {
        let data = TensorData::new(self.values.clone(), [self.rows, self.columns]);
        Tensor::from_data(data, (&options.0, options.1))
    }
}

pub fn table(rows: usize, columns: usize, value: BoxedStrategy<f64>) -> BoxedStrategy<Table> {
    proptest::collection::vec(value, rows * columns)
        .prop_map(move |values| Table {
            rows,
            columns,
            values,
        })
        .boxed()
}

/// Points with coordinates of every kind, including repeated points.
pub fn points(most: usize) -> impl Strategy<Value = Table> {
    (1..=most, 1usize..4, any::<bool>()).prop_flat_map(|(rows, columns, wild)| {
        let value = match wild {
            true => number().boxed(),
            false => prop_oneof![3 => -2.0..2.0f64, 1 => Just(0.5)].boxed(),
        };
        table(rows, columns, value)
    })
}

fn network() -> impl Strategy<Value = PerceptronConfig> {
    let activation = prop_oneof![
        Just(Activation::Tanh),
        Just(Activation::Relu),
        Just(Activation::Silu)
    ];
    (
        proptest::collection::vec(1usize..4, 0..3),
        activation,
        any::<u64>(),
    )
        .prop_map(|(hidden, activation, seed)| PerceptronConfig {
            hidden,
            activation,
            first_weights: FirstWeights::Glorot,
            seed,
        })
}

fn leaf(value: fn() -> BoxedStrategy<f64>) -> impl Strategy<Value = KernelConfig> {
    let number = move || value();
    let orders = &[
        ArcCosineOrder::Step,
        ArcCosineOrder::Ramp,
        ArcCosineOrder::Quadratic,
    ][..];
    prop_oneof![
        3 => (proptest::sample::select(&KINDS[..]), any::<bool>(), number(), number()).prop_map(
            |(kind, ard, lengthscale, variance)| KernelConfig::from(StationaryConfig { kind, ard, groups: Vec::new(), lengthscale: Some(lengthscale), variance })
        ),
        1 => (any::<bool>(), number(), number(), number()).prop_map(|(ard, lengthscale, variance, shape)| {
            KernelConfig::from(RationalQuadraticConfig { ard, lengthscale: Some(lengthscale), variance, shape })
        }),
        1 => (any::<bool>(), [number(), number(), number()]).prop_map(
            |(ard, [lengthscale, variance, smoothness])| {
                KernelConfig::from(MaternConfig { ard, lengthscale: Some(lengthscale), variance, smoothness })
            }
        ),
        1 => (
            proptest::option::of(0usize..3), any::<bool>(), proptest::sample::select(&[0.5, 1.5, 2.5][..]),
            [number(), number(), number(), number()], [0.0..=1.0f64, 0.0..=1.0f64]
        ).prop_map(
            |(dimension, ard, smoothness, [lengthscale, time_lengthscale, decay, variance], [time_smoothness, interaction])| {
                KernelConfig::from(GneitingConfig {
                    dimension, ard, lengthscale: Some(lengthscale), smoothness, time_lengthscale, time_smoothness,
                    decay, interaction, variance,
                })
            }
        ),
        1 => (any::<bool>(), number()).prop_map(|(ard, variance)| KernelConfig::from(LinearConfig { ard, variance, ..LinearConfig::default() })),
        1 => (any::<bool>(), number(), number(), 0usize..5).prop_map(|(ard, variance, offset, degree)| {
            KernelConfig::from(PolynomialConfig { ard, variance, offset, degree })
        }),
        1 => (proptest::sample::select(orders), any::<bool>(), [number(), number(), number()]).prop_map(
            |(order, ard, [weight_variance, bias_variance, variance])| {
                KernelConfig::from(ArcCosineConfig { order, ard, weight_variance, bias_variance, variance })
            }
        ),
        1 => (any::<bool>(), number(), number()).prop_map(|(ard, period, variance)| {
            KernelConfig::from(CosineConfig { ard, period, variance })
        }),
        1 => (any::<bool>(), [number(), number(), number()]).prop_map(
            |(ard, [period, quality, variance])| {
                KernelConfig::from(DampedOscillatorConfig { ard, period, quality, variance })
            }
        ),
        1 => (0usize..3, [number(), number(), number()]).prop_map(
            |(components, [highest_frequency, lengthscale, variance])| {
                KernelConfig::from(SpectralMixtureConfig { components, highest_frequency, lengthscale, variance })
            }
        ),
        1 => (network(), any::<bool>(), number(), number()).prop_map(|(network, ard, lengthscale, variance)| {
            KernelConfig::from(GibbsConfig { network, ard, lengthscale: Some(lengthscale), variance })
        }),
        1 => number().prop_map(|variance| KernelConfig::from(ConstantConfig { variance })),
        1 => number().prop_map(|variance| KernelConfig::from(WhiteConfig { variance })),
    ]
}

/// Nested kernels of every kind, with numbers from `value`.
pub fn kernel(value: fn() -> BoxedStrategy<f64>) -> impl Strategy<Value = KernelConfig> {
    leaf(value).prop_recursive(3, 12, 2, move |inner| {
        let kernel = || inner.clone();
        prop_oneof![
            (kernel(), value()).prop_map(|(base, outputscale)| KernelConfig::from(ScaledConfig {
                base,
                outputscale
            })),
            (kernel(), kernel())
                .prop_map(|(first, second)| KernelConfig::from(SumConfig { first, second })),
            (kernel(), kernel())
                .prop_map(|(first, second)| KernelConfig::from(ProductConfig { first, second })),
            (kernel(), proptest::collection::vec(0usize..3, 0..3)).prop_map(
                |(base, dimensions)| KernelConfig::from(ActiveDimensionsConfig {
                    base,
                    dimensions
                })
            ),
            (kernel(), any::<bool>(), value()).prop_map(|(base, ard, period)| {
                KernelConfig::from(PeriodicConfig { base, ard, period })
            }),
            (kernel(), network(), 1usize..3).prop_map(|(base, network, features)| {
                KernelConfig::from(DeepConfig {
                    base,
                    network,
                    features,
                })
            }),
            (kernel(), kernel(), 0usize..3, value(), value()).prop_map(
                |(first, second, dimension, location, steepness)| KernelConfig::from(
                    ChangePointConfig {
                        first,
                        second,
                        change: Change {
                            dimension,
                            location,
                            steepness
                        },
                    }
                )
            ),
        ]
    })
}

/// Kernels with typical values.
pub fn usual_kernel() -> impl Strategy<Value = KernelConfig> {
    kernel(|| usual().boxed())
}
