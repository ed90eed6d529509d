//! Training finds the posterior mode of the parameters where it has a closed form.

use burn_gp_core::kernels::WhiteConfig;

use super::*;

/// White noise as the function: the observations have the distribution `N(0, (v + σ²)·I)`, and the
/// mode of σ² has a closed form. All targets have the same square, so all batches are equivalent.
struct Conjugate {
    data: TrainingData,
    /// Σ y²
    squares: f64,
}

const COUNT: usize = 60;
/// v
const WHITE: f64 = 0.05;
const SHAPE: f64 = 25.0;
const RATE: f64 = 20.0;

impl Conjugate {
    fn new(dtype: DType) -> Self {
        let inputs: Vec<f64> = (0..COUNT).map(|i| i as f64 / COUNT as f64).collect();
        let targets: Vec<f64> = (0..COUNT)
            .map(|i| if i % 2 == 0 { 0.6 } else { -0.6 })
            .collect();
        Self {
            data: TrainingData::new(&inputs, &targets, &Device::default(), dtype),
            squares: COUNT as f64 * 0.36,
        }
    }

    fn parameters(prior: bool) -> ParameterConfig {
        let mut config = ParameterConfig {
            frozen: vec!["kernel".into()],
            ..ParameterConfig::default()
        };
        if prior {
            let gamma = Prior::Gamma {
                shape: SHAPE,
                rate: RATE,
            };
            config.priors.0.insert(NOISE.into(), gamma);
        }
        config
    }

    /// The root of the slope, which crosses zero once from above.
    fn root(slope: impl Fn(f64) -> f64) -> f64 {
        let (mut low, mut high) = (1e-4, 100.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if slope(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The slope of the log prior, which is a density of the logarithm.
    fn prior_slope(prior: bool, noise: f64) -> f64 {
        if prior { SHAPE / noise - RATE } else { 0.0 }
    }

    /// The mode of `log N(y | 0, (v + σ²)I)` plus the log prior.
    fn exact_mode(&self, prior: bool) -> f64 {
        let n = COUNT as f64;
        Self::root(|noise| {
            let s = noise + WHITE;
            Self::prior_slope(prior, noise) - 0.5 * n / s + 0.5 * self.squares / (s * s)
        })
    }

    /// The mode of `log N(y | 0, σ²I) − N·v/(2σ²)` plus the log prior: inducing points share no
    /// white noise with the data.
    fn sparse_mode(&self, prior: bool) -> f64 {
        let n = COUNT as f64;
        Self::root(|noise| {
            let squares = self.squares + n * WHITE;
            Self::prior_slope(prior, noise) - 0.5 * n / noise + 0.5 * squares / (noise * noise)
        })
    }
}

#[test]
fn fits_find_the_mode_with_and_without_a_prior() {
    let kernel = || KernelConfig::from(WhiteConfig { variance: WHITE });
    for dtype in types() {
        let case = Conjugate::new(dtype);
        // In single precision, rounding hides a flat optimum.
        let tolerance = if dtype == DType::F64 { 1e-5 } else { 3e-3 };
        let mut modes = Vec::new();
        for prior in [false, true] {
            let check = |what: &str, model: &dyn Fn() -> Vec<f64>, mode: f64| {
                let noise = model()[0];
                let error = (noise / mode - 1.0).abs();
                assert!(
                    error < tolerance,
                    "{what} in {dtype:?}: {noise}, expected {mode}"
                );
            };
            let parameters = Conjugate::parameters(prior);
            let exact = ExactConfig {
                parameters: parameters.clone(),
                ..ExactConfig::new(kernel()).with_likelihood(GaussianConfig::default())
            };
            let fit = || {
                let model = exact.init(&case.data).expect("a model");
                let model = full_batch(model, &case.data);
                model.parameter(NOISE).expect("noise")
            };
            check("exact", &fit, case.exact_mode(prior));
            let sgpr = SgprConfig {
                parameters: parameters.clone(),
                ..SgprConfig::new(kernel())
                    .with_likelihood(GaussianConfig::default())
                    .with_inducing(5)
            };
            let fit = || {
                let model = sgpr.init(&case.data).expect("a model");
                let model = full_batch(model, &case.data);
                model.parameter(NOISE).expect("noise")
            };
            check("sgpr", &fit, case.sparse_mode(prior));
            modes.push(case.sparse_mode(prior));
            // Adam's many small steps take long, and say nothing else in single precision.
            if dtype != DType::F64 {
                continue;
            }
            let svgp = SvgpConfig {
                parameters: parameters.clone(),
                ..SvgpConfig::new(kernel(), GaussianConfig::default()).with_inducing(5)
            };
            // Each batch has a tenth of the data. A prior scaled with the batch would count ten
            // times.
            let fit = || {
                let model = svgp.init(&case.data).expect("a model");
                let model = mini_batch(model, &case.data, (3000, COUNT / 10));
                model.parameter(NOISE).expect("noise")
            };
            check("svgp", &fit, case.sparse_mode(prior));
        }
        assert!(modes[1] > 1.3 * modes[0], "the prior matters: {modes:?}");
    }
}
