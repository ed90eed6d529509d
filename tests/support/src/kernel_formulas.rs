//! The formulas of all kernels.

use std::f64::consts::PI;

use burn_gp_core::{
    kernels::{
        ActiveDimensionsConfig, ArcCosineConfig, ChangePointConfig, ConstantConfig, CosineConfig,
        DampedOscillatorConfig, DeepConfig, ExchangeableConfig, GibbsConfig, GneitingConfig,
        IndexConfig, KernelConfig, LinearConfig, MaternConfig, OrdinalKernelConfig, PeriodicConfig,
        PolynomialConfig, PreferenceConfig, ProductConfig, RationalQuadraticConfig, ScaledConfig,
        SpectralMixtureConfig, StationaryConfig, SumConfig, WhiteConfig,
    },
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
    if let Some(PreferenceConfig { base }) = config.downcast_ref() {
        let [[a, b], [other_a, other_b]] = [a, b].map(|x| [&x[..x.len() / 2], &x[x.len() / 2..]]);
        let within = reference(base, a, other_a, same) + reference(base, b, other_b, same);
        let between = reference(base, a, other_b, false) + reference(base, b, other_a, false);
        return Some(within - between);
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
