//! Default priors: few rows, constant targets, and more inputs than rows.

use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig, parameter::numbers};
use burn_gp_models::{ExactConfig, Fit, FitModel, Fitted, ModelConfig, SgprConfig, SvgpConfig};
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};

fn exact() -> ExactConfig {
    ExactConfig::new(StationaryConfig::matern52())
}

/// The mean and the standard deviation of a new target at one input.
fn predicted(model: &Fitted, x: f64) -> (f64, f64) {
    let predicted = model.predict([x]).expect("a prediction");
    (
        numbers(predicted.mean())[0],
        numbers(predicted.standard_deviation())[0],
    )
}

/// Nothing but the size of the target says how far from it others may be. Without priors the standard
/// deviations are 0.001.
#[test]
fn one_observation_leaves_the_function_unknown() {
    let model = exact().fit([0.3], [2.0], &Fit::new()).expect("a model");
    let (at, far) = (predicted(&model, 0.3), predicted(&model, 50.0));
    assert!((at.0 - 2.0).abs() < 1e-6, "{at:?}");
    assert!(at.1 > 0.5 && far.1 > at.1, "{at:?}, far {far:?}");
    assert!((0.5..4.0).contains(&far.1), "{far:?}");
    let bare = Fit::new().default_priors(false);
    let model = exact().fit([0.3], [2.0], &bare).expect("a model");
    assert!(predicted(&model, 50.0).1 < 0.01);
}

/// In units of a constant target, whatever they are.
#[test]
fn constant_targets_scale_with_their_size() {
    let x = [0.0, 1.0, 2.5];
    let of = |y: f64| {
        let model = exact().fit(x, [y; 3], &Fit::new()).expect("a model");
        predicted(&model, 40.0).1
    };
    let deviation = of(2.0);
    assert!((0.1..4.0).contains(&deviation), "{deviation}");
    for scale in [1e-3, 7.0, -3e4] {
        let ratio = of(2.0 * scale) / (deviation * scale.abs());
        assert!((ratio - 1.0).abs() < 1e-6, "{scale}: {ratio}");
    }
    assert!(of(0.0) > 0.1);
}

#[test]
fn two_observations_leave_the_function_unknown_elsewhere() {
    let model = exact()
        .fit([0.0, 1.0], [10.5, 11.7], &Fit::new())
        .expect("a model");
    let far = predicted(&model, 30.0);
    assert!((far.0 - 11.1).abs() < 0.6, "{far:?}");
    assert!(far.1 > 0.4, "{far:?}");
}

/// `y = 2x₀ − x₁ + ½x₂ + ε` with noise of standard deviation ½, and standard normal inputs.
struct Wide {
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    /// Targets of the same inputs with other noise.
    again: Vec<f64>,
}

impl Wide {
    fn new(rows: usize, columns: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let x: Vec<Vec<f64>> = (0..rows)
            .map(|_| (0..columns).map(|_| normal(&mut random)).collect())
            .collect();
        let mut targets = || {
            let target =
                |row: &Vec<f64>| 2.0 * row[0] - row[1] + 0.5 * row[2] + 0.5 * normal(&mut random);
            x.iter().map(target).collect()
        };
        let (y, again) = (targets(), targets());
        Self { x, y, again }
    }

    /// The share of new targets at the training inputs within intervals of 95 %.
    fn coverage(&self, config: impl Into<ModelConfig>, fit: &Fit) -> f64 {
        let config: ModelConfig = config.into();
        let model = config.fit(&self.x, &self.y, fit).expect("a model");
        let predicted = model.predict(&self.x).expect("predictions");
        let (lower, upper) = predicted.interval(0.95).expect("intervals");
        let (lower, upper) = (numbers(lower), numbers(upper));
        let covered = (self.again.iter().enumerate())
            .filter(|(row, y)| (lower[*row]..upper[*row]).contains(*y))
            .count();
        covered as f64 / self.y.len() as f64
    }
}

fn normal(random: &mut impl Rng) -> f64 {
    StandardNormal.sample(random)
}

/// The evidence alone has an optimum in which each row is a point of its own, which repeats its noise.
#[test]
fn more_inputs_than_rows_are_not_interpolated() {
    let kernel = StationaryConfig::matern52;
    let bare = Fit::new().default_priors(false);
    let mean = |of: &dyn Fn(&Wide) -> f64| {
        let seeds = 0..5;
        seeds.map(|seed| of(&Wide::new(40, 81, seed))).sum::<f64>() / 5.0
    };
    let exact = mean(&|data| data.coverage(exact(), &Fit::new()));
    let sparse = mean(&|data| data.coverage(SgprConfig::new(kernel()), &Fit::new()));
    let before = mean(&|data| data.coverage(ExactConfig::new(kernel()), &bare));
    // Of 200 new targets, 190 ± 3 are expected.
    assert!(
        exact > 0.9 && sparse > 0.9,
        "exact {exact}, sparse {sparse}"
    );
    assert!(before < 0.7, "without priors {before}");
    let variational = SvgpConfig::new(kernel(), GaussianConfig::default());
    let fit = Fit::l_bfgs().steps(100);
    let variational = Wide::new(40, 81, 0).coverage(variational, &fit);
    assert!(variational > 0.85, "variational {variational}");
}

/// Priors that the configuration has stay, and many rows get none.
#[test]
fn priors_are_added_where_there_are_none() {
    use burn_gp_core::parameter::{Prior, Priors};
    let own = Prior::HalfNormal { scale: 2.0 };
    let mut config = exact();
    config.parameters.priors = Priors([("likelihood.noise".to_owned(), own)].into());
    let paths = |rows: usize| {
        let mut config = ModelConfig::from(config.clone());
        config.add_default_priors(rows, 4);
        config.parameters().expect("parameters").priors.clone()
    };
    let priors = paths(50);
    assert_eq!(priors.0["likelihood.noise"], own);
    let names: Vec<&str> = priors.0.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["kernel.lengthscale", "kernel.variance", "likelihood.noise"]
    );
    let Prior::SplitLogNormal { mode, below, above } = priors.0["kernel.lengthscale"] else {
        panic!("{priors:?}");
    };
    // 3·√4, 1 + 4·4/50 and 1 + 14·4/50
    assert!((mode - 6.0f64.ln()).abs() < 1e-12, "{mode}");
    assert!((below - 1.32f64.recip()).abs() < 1e-12, "{below}");
    assert!((above - 3.0 / 2.12).abs() < 1e-12, "{above}");
    let many = paths(100_000);
    assert_eq!(many, config.parameters.priors);
}
