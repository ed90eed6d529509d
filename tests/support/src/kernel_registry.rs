//! A configuration of every kind of kernel, and the formulas of all kernels.

use std::f64::consts::PI;

use burn_gp_core::{
    features::{Activation, PerceptronConfig},
    kernels::{
        ActiveDimensionsConfig, ArcCosineConfig, ArcCosineOrder, Change, ChangePointConfig,
        ConstantConfig, CosineConfig, DampedOscillatorConfig, DeepConfig, ExchangeableConfig,
        GibbsConfig, GneitingConfig, IndexConfig, KernelConfig, LinearConfig, MaternConfig,
        OrdinalKernelConfig, PeriodicConfig, PolynomialConfig, ProductConfig,
        RationalQuadraticConfig, ScaledConfig, SpectralMixtureConfig, StationaryConfig, SumConfig,
        WhiteConfig,
    },
    ops::Stationary,
    parameter::LOWER_BOUND,
};

use super::{
    formulas::{
        arc_cosine_formula, gneiting_formula, matern_profile, oscillator_profile, rational_profile,
    },
    parameter_values,
    perceptron::perceptron,
    platforms,
    stationary::profile_of_square,
};

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
        Some(config) => config.base.clone().on_dimensions(vec![1]),
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

/// The given lengthscale, or the square root of the number of inputs.
fn first_lengthscale(given: Option<f64>, dimensions: usize) -> f64 {
    given.unwrap_or((dimensions as f64).sqrt())
}

/// `k(a, b)` by its formula. `same` is true if both are the same point of one set.
pub fn reference(config: &KernelConfig, a: &[f64], b: &[f64], same: bool) -> f64 {
    let value = simple_formula(config, a, b, same);
    let value = value.or_else(|| formula_of_parts(config, a, b, same));
    value.unwrap_or_else(|| panic!("no formula for {}", config.name()))
}

/// The formula of a kernel that is not built from others.
fn simple_formula(config: &KernelConfig, a: &[f64], b: &[f64], same: bool) -> Option<f64> {
    let pairs = || a.iter().zip(b);
    let product = |variance: f64| variance * pairs().map(|(a, b)| a * b).sum::<f64>();
    let square = |given: Option<f64>| {
        let lengthscale = first_lengthscale(given, a.len());
        let square = pairs().map(|(a, b)| ((a - b) / lengthscale).powi(2));
        square.sum::<f64>()
    };
    if let Some(config) = config.downcast_ref::<StationaryConfig>() {
        let square = square(config.lengthscale);
        return Some(config.variance * profile_of_square(config.kind, square));
    }
    if let Some(config) = config.downcast_ref::<RationalQuadraticConfig>() {
        return Some(rational_profile(config, square(config.lengthscale)));
    }
    if let Some(config) = config.downcast_ref::<MaternConfig>() {
        let profile = matern_profile(config.smoothness, square(config.lengthscale));
        return Some(config.variance * profile);
    }
    if let Some(config) = config.downcast_ref::<GneitingConfig>() {
        return Some(gneiting_formula(config, a, b));
    }
    if let Some(config) = config.downcast_ref::<LinearConfig>() {
        return Some(product(config.variance));
    }
    if let Some(config) = config.downcast_ref::<PolynomialConfig>() {
        return Some((product(config.variance) + config.offset).powi(config.degree as i32));
    }
    if let Some(config) = config.downcast_ref::<ArcCosineConfig>() {
        return Some(arc_cosine_formula(config, a, b));
    }
    if let Some(config) = config.downcast_ref::<CosineConfig>() {
        let turns: f64 = pairs().map(|(a, b)| (a - b) / config.period).sum();
        return Some(config.variance * (2.0 * PI * turns).cos());
    }
    if let Some(config) = config.downcast_ref::<DampedOscillatorConfig>() {
        let turns: f64 = pairs().map(|(a, b)| (a - b) / config.period).sum();
        return Some(config.variance * oscillator_profile(config.quality, 2.0 * PI * turns.abs()));
    }
    if let Some(config) = config.downcast_ref::<SpectralMixtureConfig>() {
        return Some(spectral_formula(config, a, b));
    }
    if let Some(config) = config.downcast_ref::<GibbsConfig>() {
        return Some(gibbs_formula(config, a, b));
    }
    if let Some(config) = config.downcast_ref::<ConstantConfig>() {
        return Some(config.variance);
    }
    if let Some(config) = config.downcast_ref::<IndexConfig>() {
        return Some(index_formula(config, a, b));
    }
    if let Some(config) = config.downcast_ref::<ExchangeableConfig>() {
        let factors = pairs().map(|(a, b)| if a == b { 1.0 } else { config.correlation });
        return Some(config.variance * factors.product::<f64>());
    }
    let config = config.downcast_ref::<WhiteConfig>()?;
    Some(f64::from(same) * config.variance)
}

/// The formula of a kernel that is built from others.
fn formula_of_parts(config: &KernelConfig, a: &[f64], b: &[f64], same: bool) -> Option<f64> {
    if let Some(ScaledConfig { base, outputscale }) = config.downcast_ref() {
        return Some(outputscale * reference(base, a, b, same));
    }
    if let Some(SumConfig { first, second }) = config.downcast_ref() {
        return Some(reference(first, a, b, same) + reference(second, a, b, same));
    }
    if let Some(ProductConfig { first, second }) = config.downcast_ref() {
        return Some(reference(first, a, b, same) * reference(second, a, b, same));
    }
    if let Some(ActiveDimensionsConfig { base, dimensions }) = config.downcast_ref() {
        let select = |x: &[f64]| dimensions.iter().map(|&d| x[d]).collect::<Vec<_>>();
        return Some(reference(base, &select(a), &select(b), same));
    }
    if let Some(PeriodicConfig { base, period, .. }) = config.downcast_ref() {
        return Some(periodic_formula(base, *period, a, b, same));
    }
    if let Some(config) = config.downcast_ref::<DeepConfig>() {
        let [a, b] = [a, b].map(|x| perceptron(&config.network, x, config.features));
        return Some(reference(&config.base, &a, &b, same));
    }
    if let Some(config) = config.downcast_ref::<OrdinalKernelConfig>() {
        // Codes that round to negative numbers are unknown levels.
        let [first, second] = [a, b].map(|x| x[config.dimension].round_ties_even());
        if (first < 0.0 || second < 0.0) && first != second {
            return Some(0.0);
        }
        // All steps are equal at first.
        let last = (config.levels - 1) as f64;
        let [a, b] = [a, b].map(|x| [x[config.dimension].clamp(0.0, last) / last]);
        return Some(reference(&config.base, &a, &b, same));
    }
    let ChangePointConfig {
        first,
        second,
        change,
    } = config.downcast_ref()?;
    let [a_after, b_after] = [a, b]
        .map(|x| 1.0 / (1.0 + (-change.steepness * (x[change.dimension] - change.location)).exp()));
    let before = (1.0 - a_after) * (1.0 - b_after) * reference(first, a, b, same);
    Some(before + a_after * b_after * reference(second, a, b, same))
}

/// The entry of `WWᵀ + diag κ`, with κ = ½. W is read from the module.
fn index_formula(config: &IndexConfig, a: &[f64], b: &[f64]) -> f64 {
    let (levels, rank) = (config.levels, config.rank);
    let weights = match rank {
        0 => Vec::new(),
        _ => {
            let inputs = config.dimension + 1;
            let module = KernelConfig::from(config.clone()).init(inputs, platforms()[0].options());
            parameter_values(&module).remove(0)
        }
    };
    let row = |level: usize| &weights[level * rank..][..rank];
    let product =
        |a: usize, b: usize| -> f64 { row(a).iter().zip(row(b)).map(|(a, b)| a * b).sum() };
    let [a, b] = [a, b].map(|x| x[config.dimension].round_ties_even());
    let level = |code: f64| (0..levels).find(|&level| level as f64 == code);
    match (level(a), level(b)) {
        (Some(a), Some(b)) => product(a, b) + if a == b { 0.5 } else { 0.0 },
        (None, None) if a == b => {
            0.5 + (0..levels).map(|level| product(level, level)).sum::<f64>() / levels as f64
        }
        _ => 0.0,
    }
}

/// For a stationary base, a function of sines of half differences. For any other base, the kernel
/// on the circles.
fn periodic_formula(base: &KernelConfig, period: f64, a: &[f64], b: &[f64], same: bool) -> f64 {
    let sines = |given: Option<f64>| {
        let lengthscale = first_lengthscale(given, a.len());
        let pairs = a.iter().zip(b);
        let terms = pairs.map(|(a, b)| ((PI * (a - b) / period).sin() / lengthscale).powi(2));
        terms.sum::<f64>()
    };
    if let Some(config) = base.downcast_ref::<StationaryConfig>() {
        return config.variance * profile_of_square(config.kind, sines(config.lengthscale));
    }
    if let Some(config) = base.downcast_ref::<RationalQuadraticConfig>() {
        return rational_profile(config, sines(config.lengthscale));
    }
    let [a, b] = [a, b].map(|x| {
        let angles = || x.iter().map(|x| 2.0 * PI * x / period);
        let sines = angles().map(|angle| 0.5 * angle.sin());
        let cosines = angles().map(|angle| 0.5 * angle.cos());
        sines.chain(cosines).collect::<Vec<_>>()
    });
    reference(base, &a, &b, same)
}

fn spectral_formula(config: &SpectralMixtureConfig, a: &[f64], b: &[f64]) -> f64 {
    let count = config.components as f64;
    let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let squares: f64 = difference.iter().map(|t| t * t).sum();
    let envelope = (-0.5 * squares / config.lengthscale.powi(2)).exp();
    (0..config.components)
        .map(|q| {
            let frequency = config.highest_frequency * (q as f64 + 0.5) / count;
            let phase: f64 = difference.iter().map(|t| 2.0 * PI * frequency * t).sum();
            config.variance / count * envelope * phase.cos()
        })
        .sum()
}

fn gibbs_formula(config: &GibbsConfig, a: &[f64], b: &[f64]) -> f64 {
    let outputs = if config.ard { a.len() } else { 1 };
    let lengthscale = first_lengthscale(config.lengthscale, a.len());
    let offset = (lengthscale - LOWER_BOUND).exp_m1().ln();
    let scales = |x: &[f64]| -> Vec<f64> {
        let outputs = perceptron(&config.network, x, outputs);
        let scale = |output: &f64| LOWER_BOUND + (output + offset).exp().ln_1p();
        outputs.iter().map(scale).collect()
    };
    let (scales_a, scales_b) = (scales(a), scales(b));
    (0..a.len()).fold(config.variance, |product, d| {
        let output = if config.ard { d } else { 0 };
        let (scale_a, scale_b) = (scales_a[output], scales_b[output]);
        let sum = scale_a.powi(2) + scale_b.powi(2);
        product * (2.0 * scale_a * scale_b / sum).sqrt() * (-(a[d] - b[d]).powi(2) / sum).exp()
    })
}
