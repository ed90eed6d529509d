//! A configuration of every kind of kernel.

use burn_gp_core::{
    features::{Activation, PerceptronConfig},
    kernels::{
        ActiveDimensionsConfig, ArcCosineConfig, ArcCosineOrder, Change, ChangePointConfig,
        ConstantConfig, CosineConfig, DampedOscillatorConfig, ExchangeableConfig, GibbsConfig,
        GneitingConfig, IndexConfig, KernelConfig, LinearConfig, MaternConfig, OrdinalKernelConfig,
        PeriodicConfig, PolynomialConfig, PreferenceConfig, RationalQuadraticConfig,
        SpectralMixtureConfig, StationaryConfig, WhiteConfig,
    },
    ops::Stationary,
};

pub use super::kernel_formulas::reference;

pub const DIMENSIONS: usize = 3;

pub fn stationary(kind: Stationary) -> StationaryConfig {
    StationaryConfig::new(kind)
        .with_lengthscale(1.3)
        .with_variance(0.7)
}

fn linear() -> KernelConfig {
    KernelConfig::from(LinearConfig {
        ard: true,
        variance: 0.4,
        ..LinearConfig::default()
    })
}

fn white() -> KernelConfig {
    KernelConfig::from(WhiteConfig { variance: 0.3 })
}

pub fn network(activation: Activation) -> PerceptronConfig {
    PerceptronConfig {
        hidden: vec![5, 4],
        activation,
        seed: 3,
        ..PerceptronConfig::default()
    }
}

fn arc_cosine(order: ArcCosineOrder, ard: bool) -> KernelConfig {
    KernelConfig::from(ArcCosineConfig {
        order,
        ard,
        weight_variance: 0.6,
        bias_variance: 0.5,
        variance: 0.8,
    })
}

fn gibbs(ard: bool) -> KernelConfig {
    KernelConfig::from(GibbsConfig {
        network: network(Activation::Tanh),
        ard,
        lengthscale: Some(0.8),
        variance: 1.1,
    })
}

fn rational_quadratic(ard: bool) -> KernelConfig {
    KernelConfig::from(RationalQuadraticConfig {
        ard,
        lengthscale: Some(0.9),
        variance: 1.1,
        shape: 0.7,
    })
}

fn matern(ard: bool, smoothness: f64) -> KernelConfig {
    KernelConfig::from(MaternConfig {
        ard,
        lengthscale: Some(0.9),
        variance: 1.1,
        smoothness,
    })
}

/// Space and time, with the time in the dimension `dimension` or the last.
fn gneiting(dimension: Option<usize>, smoothness: f64) -> GneitingConfig {
    GneitingConfig {
        dimension,
        lengthscale: Some(1.2),
        smoothness,
        time_lengthscale: 0.8,
        time_smoothness: 0.6,
        decay: 0.7,
        interaction: 0.4,
        variance: 1.3,
        ..GneitingConfig::default()
    }
}

fn polynomial(ard: bool, degree: usize) -> KernelConfig {
    KernelConfig::from(PolynomialConfig {
        ard,
        variance: 0.4,
        offset: 0.6,
        degree,
    })
}

fn cosine(ard: bool) -> KernelConfig {
    KernelConfig::from(CosineConfig {
        ard,
        period: 2.7,
        variance: 0.7,
    })
}

fn damped_oscillator(ard: bool, quality: f64) -> KernelConfig {
    KernelConfig::from(DampedOscillatorConfig {
        ard,
        period: 5.3,
        quality,
        variance: 0.7,
    })
}

fn index(rank: usize) -> KernelConfig {
    IndexConfig::new(3)
        .with_rank(rank)
        .with_dimension(1)
        .with_seed(7)
        .into()
}

fn exchangeable(ard: bool) -> KernelConfig {
    ExchangeableConfig {
        ard,
        variance: 0.8,
        correlation: 0.3,
    }
    .into()
}

fn preference(base: KernelConfig) -> KernelConfig {
    PreferenceConfig { base }.into()
}

/// Kernels of every kind, without nesting.
fn kinds() -> Vec<(&'static str, KernelConfig)> {
    let smooth = KernelConfig::from(stationary(Stationary::Matern52));
    let rough = KernelConfig::from(stationary(Stationary::Matern12));
    let squared_exponential = KernelConfig::from(stationary(Stationary::SquaredExponential));
    let change = Change {
        dimension: 1,
        location: 0.3,
        steepness: 2.5,
    };
    vec![
        ("squared exponential", squared_exponential.clone()),
        ("matern 1/2", rough.clone()),
        (
            "matern 3/2, isotropic",
            stationary(Stationary::Matern32).isotropic().into(),
        ),
        ("matern 5/2", smooth.clone()),
        ("rational quadratic", rational_quadratic(true)),
        ("rational quadratic, isotropic", rational_quadratic(false)),
        ("matern of smoothness 1.2", matern(true, 1.2)),
        ("matern of smoothness 0.7, isotropic", matern(false, 0.7)),
        ("matern of smoothness 3.7", matern(true, 3.7)),
        ("gneiting", gneiting(None, 1.5).into()),
        (
            "gneiting, time first, one lengthscale",
            gneiting(Some(0), 0.5).with_ard(false).into(),
        ),
        (
            "gneiting, separable",
            gneiting(None, 2.5)
                .with_interaction(0.0)
                .with_time_smoothness(1.0)
                .into(),
        ),
        ("linear", linear()),
        (
            "linear, isotropic",
            KernelConfig::from(LinearConfig {
                ard: false,
                variance: 0.4,
                ..LinearConfig::default()
            }),
        ),
        ("polynomial, degree 1", polynomial(true, 1)),
        ("polynomial, degree 2", polynomial(false, 2)),
        ("polynomial, degree 3", polynomial(true, 3)),
        ("arc-cosine 0", arc_cosine(ArcCosineOrder::Step, true)),
        ("arc-cosine 1", arc_cosine(ArcCosineOrder::Ramp, false)),
        ("arc-cosine 2", arc_cosine(ArcCosineOrder::Quadratic, true)),
        ("cosine", cosine(true)),
        ("cosine, isotropic", cosine(false)),
        ("damped oscillator", damped_oscillator(true, 3.0)),
        ("critically damped", damped_oscillator(false, 0.5)),
        ("overdamped", damped_oscillator(false, 0.3)),
        (
            "spectral mixture",
            KernelConfig::from(SpectralMixtureConfig {
                components: 3,
                highest_frequency: 0.7,
                lengthscale: 1.2,
                variance: 0.9,
            }),
        ),
        ("gibbs", gibbs(true)),
        ("gibbs, isotropic", gibbs(false)),
        (
            "constant",
            KernelConfig::from(ConstantConfig { variance: 1.2 }),
        ),
        ("white", white()),
        (
            "periodic squared exponential",
            squared_exponential.periodic(2.3),
        ),
        ("periodic matern 1/2", rough.clone().periodic(2.3)),
        (
            "periodic rational quadratic, one period",
            KernelConfig::from(PeriodicConfig {
                base: rational_quadratic(true),
                ard: false,
                period: 1.9,
            }),
        ),
        ("periodic linear", linear().periodic(2.3)),
        (
            "periodic sum",
            smooth
                .clone()
                .plus(polynomial(true, 2))
                .plus(white())
                .periodic(2.3),
        ),
        ("deep", smooth.clone().deep(network(Activation::Tanh), 2)),
        (
            "deep sum",
            rough
                .clone()
                .plus(white())
                .deep(network(Activation::Silu), 1),
        ),
        (
            "change point",
            KernelConfig::from(ChangePointConfig {
                first: smooth.clone(),
                second: linear().plus(white()),
                change,
            }),
        ),
        ("index", index(2)),
        ("index of rank zero", index(0)),
        ("exchangeable", exchangeable(true)),
        ("exchangeable, one correlation", exchangeable(false)),
        (
            "ordinal",
            OrdinalKernelConfig::new(StationaryConfig::rbf().with_lengthscale(0.4), 4)
                .with_dimension(1)
                .into(),
        ),
        (
            "preference",
            preference(smooth.clone()).on_dimensions(vec![2, 0]),
        ),
        (
            "preference with white utilities",
            preference(linear().plus(white())).on_dimensions(vec![0, 1, 2, 1]),
        ),
        ("scaled", smooth.clone().scaled(2.5)),
        ("sum", smooth.clone().plus(linear())),
        ("product", smooth.clone().times(linear())),
        (
            "active dimensions",
            smooth.clone().on_dimensions(vec![2, 0]),
        ),
        ("product with white", smooth.times(white())),
    ]
}

/// Kernels of every kind: alone, in a sum, in a product, scaled and restricted to some dimensions.
pub fn registry() -> Vec<(String, KernelConfig)> {
    let smooth = KernelConfig::from(stationary(Stationary::Matern52));
    let within = |(name, kernel): (&str, KernelConfig)| {
        [
            (name.to_owned(), kernel.clone()),
            (format!("{name} + white"), kernel.clone().plus(white())),
            (
                format!("matern 5/2 × {name}"),
                smooth.clone().times(kernel.clone()),
            ),
            (
                format!("{name} on two dimensions, scaled"),
                within_two_dimensions(kernel).scaled(0.5),
            ),
        ]
    };
    let nested = kinds().into_iter().flat_map(within);
    nested.chain(with_shared_parameters()).collect()
}

/// Kernels on three dimensions, some of which share a parameter.
fn with_shared_parameters() -> Vec<(String, KernelConfig)> {
    let smooth = KernelConfig::from(stationary(Stationary::Matern52));
    let both = smooth.clone().plus(linear());
    vec![
        (
            "matern 5/2, shared lengthscale".to_owned(),
            smooth.sharing(&[0, 1, 1]),
        ),
        (
            "linear, shared variance".to_owned(),
            linear().sharing(&[0, 0, 1]),
        ),
        (
            "sum, scaled, shared parameters".to_owned(),
            both.clone().scaled(0.5).sharing(&[0, 1, 0]),
        ),
        (
            "two dimensions, shared parameters".to_owned(),
            both.on_dimensions(vec![2, 1]).sharing(&[0, 1, 1]),
        ),
    ]
}

/// The kernel on two input dimensions, the first and the last of three.
fn within_two_dimensions(kernel: KernelConfig) -> KernelConfig {
    // This kernel selects dimensions itself.
    let kernel = match kernel.downcast_ref::<ActiveDimensionsConfig>() {
        Some(config) => config.base.clone().on_dimensions(vec![1, 0]),
        None => kernel,
    };
    kernel.on_dimensions(vec![2, 0])
}

/// Whether the value of a kernel depends on the inputs.
pub fn sees_inputs(config: &KernelConfig) -> bool {
    match config.name() {
        // Levels have no gradient.
        "constant" | "white" | "index" | "exchangeable" => false,
        "scaled" | "active-dimensions" | "sum" => {
            let parts = config.parts();
            parts.iter().any(|part| sees_inputs(part.kernel))
        }
        _ => true,
    }
}
