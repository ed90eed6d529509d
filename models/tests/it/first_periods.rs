//! Periods and frequencies of exact and sparse regression start at peaks of the periodogram.

use core::f64::consts::TAU;

use burn::tensor::{DType, Device};
use burn_gp_core::{
    kernels::{
        CosineConfig, DampedOscillatorConfig, KernelConfig, SpectralMixtureConfig, StationaryConfig,
    },
    parameter::ParameterConfig,
};
use burn_gp_models::{
    ExactConfig, Fit, FitModel, Fitted, ModelConfig, SgprConfig, first_periods,
    training::TrainingData,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::StandardNormal;

/// A signal at 200 days of which some are missing, a long gap among them, with noise.
struct Series {
    x: Vec<f64>,
    y: Vec<f64>,
    /// The variance of the noise that was drawn.
    noise: f64,
}

fn series(signal: impl Fn(f64) -> f64, deviation: f64, seed: u64) -> Series {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let is_there = |day: &f64, draw: f64| draw > 0.15 && !(90.0..115.0).contains(day);
    let days: Vec<f64> = (0..200)
        .map(f64::from)
        .filter(|day| is_there(day, random.random()))
        .collect();
    let noise: Vec<f64> = (days.iter())
        .map(|_| deviation * random.sample::<f64, _>(StandardNormal))
        .collect();
    let square = noise.iter().map(|noise| noise * noise).sum::<f64>();
    Series {
        y: days
            .iter()
            .zip(&noise)
            .map(|(day, noise)| signal(*day) + noise)
            .collect(),
        noise: square / days.len() as f64,
        x: days,
    }
}

fn fit(config: impl Into<ModelConfig>, series: &Series) -> Fitted {
    let scale = Fit::new().scale_inputs(false).scale_targets(false);
    let fit = scale.on((&Device::flex(), DType::F64));
    config
        .into()
        .fit(&series.x, &series.y, &fit)
        .expect("a fit")
}

fn value(fitted: &Fitted, path: &str) -> f64 {
    let all = fitted.hyperparameters();
    let found = all.iter().find(|found| found.path == path);
    found
        .unwrap_or_else(|| panic!("{path} is not in {all:?}"))
        .values[0]
}

#[track_caller]
fn assert_within(what: &str, found: f64, expected: f64, share: f64) {
    let error = (found / expected - 1.0).abs();
    assert!(error < share, "{what}: {found}, not {expected}");
}

/// A wave that is no sinusoid.
fn wave(day: f64, period: f64) -> f64 {
    let phase = TAU * day / period;
    phase.sin() + 0.5 * (2.0 * phase + 1.0).sin()
}

fn periodic() -> KernelConfig {
    KernelConfig::from(StationaryConfig::rbf()).periodic(1.0)
}

#[test]
fn exact_regression_finds_the_period_and_the_noise() {
    for (seed, period) in [(1, 5.3), (2, 12.0), (3, 29.5), (4, 61.0)] {
        let series = series(|day| wave(day, period), 0.3, seed);
        for (kernel, path) in [
            (periodic(), "kernel.period"),
            (
                periodic().plus(StationaryConfig::matern52()),
                "kernel.first.period",
            ),
        ] {
            let fitted = fit(ExactConfig::new(kernel), &series);
            let what = format!("{path}, seed {seed}");
            assert_within(&what, value(&fitted, path), period, 0.02);
            assert_within(&what, value(&fitted, "likelihood.noise"), series.noise, 0.2);
        }
    }
}

#[test]
fn cosines_oscillators_and_sparse_models_find_them_too() {
    for (seed, period) in [(5, 7.0), (6, 23.0)] {
        let series = series(|day| 2.0 * (TAU * day / period).sin(), 0.5, seed);
        let cosine = KernelConfig::from(CosineConfig::default());
        let oscillator = KernelConfig::from(DampedOscillatorConfig::default().with_quality(50.0));
        let models: [(ModelConfig, &str); 3] = [
            (ExactConfig::new(cosine).into(), "exact"),
            (ExactConfig::new(oscillator).into(), "damped oscillator"),
            (SgprConfig::new(periodic()).with_inducing(60).into(), "sgpr"),
        ];
        for (model, what) in models {
            let fitted = fit(model, &series);
            assert_within(what, value(&fitted, "kernel.period"), period, 0.02);
            assert_within(what, value(&fitted, "likelihood.noise"), series.noise, 0.2);
        }
    }
}

#[test]
fn each_part_of_a_sum_has_its_own_period() {
    for seed in [7, 8] {
        let signal = |day: f64| 1.5 * wave(day, 31.0) + wave(day, 7.0);
        let series = series(signal, 0.3, seed);
        let fitted = fit(ExactConfig::new(periodic().plus(periodic())), &series);
        let mut periods =
            ["first", "second"].map(|part| value(&fitted, &format!("kernel.{part}.period")));
        periods.sort_unstable_by(f64::total_cmp);
        assert_within("the short one", periods[0], 7.0, 0.02);
        assert_within("the long one", periods[1], 31.0, 0.02);
        assert_within(
            "noise",
            value(&fitted, "likelihood.noise"),
            series.noise,
            0.2,
        );
    }
}

#[test]
fn a_spectral_mixture_finds_its_frequencies() {
    for seed in [9, 10] {
        let signal = |day: f64| 1.5 * (TAU * day / 17.0).sin() + (TAU * day / 6.1).cos();
        let series = series(signal, 0.4, seed);
        let kernel = SpectralMixtureConfig {
            components: 2,
            ..SpectralMixtureConfig::default()
        };
        let fitted = fit(ExactConfig::new(kernel), &series);
        let mut frequencies = [0, 1].map(|component| {
            value(&fitted, &format!("kernel.components.{component}.frequency")).abs()
        });
        frequencies.sort_unstable_by(f64::total_cmp);
        assert_within("the slow one", frequencies[0], 1.0 / 17.0, 0.02);
        assert_within("the fast one", frequencies[1], 1.0 / 6.1, 0.02);
        assert_within(
            "noise",
            value(&fitted, "likelihood.noise"),
            series.noise,
            0.2,
        );
    }
}

/// Values that the user set stay, and noise has no waves to start from.
#[test]
fn what_the_user_set_is_left_alone() {
    let found = series(|day| wave(day, 12.0), 0.3, 11);
    let data = |y: &[f64]| TrainingData::new(&found.x, y, &Device::flex(), DType::F64);
    let none = ParameterConfig::default();
    assert!(!first_periods(&periodic(), &none, &data(&found.y)).is_empty());
    let own = KernelConfig::from(StationaryConfig::rbf()).periodic(9.0);
    assert!(first_periods(&own, &none, &data(&found.y)).is_empty());
    let set = ParameterConfig {
        values: [("kernel.period".to_owned(), vec![9.0])].into(),
        ..none.clone()
    };
    assert!(first_periods(&periodic(), &set, &data(&found.y)).is_empty());
    let frozen = none.clone().with_frozen(vec!["kernel".to_owned()]);
    assert!(first_periods(&periodic(), &frozen, &data(&found.y)).is_empty());
    let noise = series(|_| 0.0, 1.0, 12);
    let of_noise = TrainingData::new(&noise.x, &noise.y, &Device::flex(), DType::F64);
    assert!(first_periods(&periodic(), &none, &of_noise).is_empty());
}
