//! Forecasts of series over time.

mod covariates;

use burn_gp_models::forecasting::{
    Backtest, Baseline, Companion, Forecast, ForecastError, ForecastScores, Forecasting, Season,
    Series, Transform, Trend, error_scale,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::StandardNormal;

fn normal(random: &mut ChaCha8Rng) -> f64 {
    random.sample(StandardNormal)
}

/// A line with a season of four steps and noise.
fn quarters(count: usize, noise: f64, seed: u64) -> Series {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let value = |quarter: usize| {
        let season = [6.0, 0.0, -6.0, 1.0][quarter % 4];
        0.5 * quarter as f64 + season + noise * normal(&mut random)
    };
    Series::regular(&(0..count).map(value).collect::<Vec<f64>>()).unwrap()
}

fn yearly(horizon: usize) -> Forecasting {
    Forecasting::new(horizon).with_seasons(vec![Season::named(4.0, "yearly")])
}

/// Scores of a normal forecast, computed by an independent program.
#[test]
fn scores_have_their_reference_values() {
    let train = [
        12.0, 15.0, 11.0, 18.0, 13.0, 16.5, 12.5, 19.0, 14.0, 17.0, 12.0, 20.5,
    ];
    let scale = error_scale(&Series::regular(&train).unwrap(), 4);
    assert!((scale - 1.0625).abs() < 1e-12);
    let forecast = Forecast {
        times: vec![12.0, 13.0, 14.0, 15.0],
        means: vec![14.2, 17.9, 13.4, 20.1],
        deviations: vec![0.9, 1.0, 1.1, 1.3],
        transform: Transform::None,
    };
    let truth = [15.0, 18.5, 12.5, 21.0];
    let scores = ForecastScores::new(&forecast, &truth, scale, &[0.8, 0.95]);
    let expected = [
        (scores.mase, 0.752_941_176_470_588_4),
        (scores.smape, 0.050_263_810_862_750_99),
        (scores.crps, 0.453_706_685_312_633_8),
        (scores.interval_score[0] * scale, 2.755_335_865_920_892),
        (scores.interval_score[1] * scale, 4.213_922_566_761_116),
    ];
    for (found, expected) in expected {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    assert_eq!(scores.coverage, [1.0, 1.0]);
}

/// The score of a log-normal forecast by quantiles is near that by integration of the squared distance of distribution
/// functions.
#[test]
fn the_score_of_logarithms_is_that_of_the_values() {
    let forecast = Forecast {
        times: vec![0.0],
        means: vec![0.3],
        deviations: vec![0.5],
        transform: Transform::Log,
    };
    let y = 1.9_f64;
    let scores = ForecastScores::new(&forecast, &[y], 1.0, &[]);
    let step = 1e-4;
    let integral: f64 = (1..200_000)
        .map(|place| {
            let value = f64::from(place) * step;
            let below = 0.5 * libm::erfc(-(value.ln() - 0.3) / 0.5 / 2f64.sqrt());
            let is_above = f64::from(u8::from(value >= y));
            (below - is_above).powi(2) * step
        })
        .sum();
    // 99 quantiles leave out the tails, a hundredth of the probability at each end.
    assert!(
        (scores.crps / integral - 1.0).abs() < 0.02,
        "{} {integral}",
        scores.crps
    );
    let [means, _] = forecast.moments();
    assert!((means[0] - (0.3_f64 + 0.125).exp()).abs() < 1e-12);
}

#[test]
fn baselines_have_their_formulas() {
    let series = Series::regular(&[1.0, 5.0, 2.0, 7.0, 3.0, 10.0]).unwrap();
    let times = [6.0, 7.0, 8.0];
    let seasonal = Baseline::SeasonalNaive.forecast(&series, 2, &times);
    assert_eq!(seasonal.means, [3.0, 10.0, 3.0]);
    // Differences 1, 2, 1 and 3, and a second season after two steps.
    let sigma = (15.0_f64 / 4.0).sqrt();
    for (found, expected) in seasonal.deviations.iter().zip([1.0, 1.0, 2f64.sqrt()]) {
        assert!((found - sigma * expected).abs() < 1e-12);
    }
    let drift = Baseline::Drift.forecast(&series, 2, &times);
    assert!((drift.means[1] - (10.0 + 2.0 * 9.0 / 5.0)).abs() < 1e-12);
    // A missing value is that of the season before.
    let gap = Series::regular(&[1.0, 5.0, 2.0, 7.0, f64::NAN, 10.0]).unwrap();
    assert_eq!(
        Baseline::SeasonalNaive.forecast(&gap, 2, &times).means,
        [2.0, 10.0, 2.0]
    );
}

/// Exponential smoothing continues a line with a season, of logarithms if swings grow, and is absent where times are
/// uneven or the season is long.
#[test]
fn exponential_smoothing_is_a_baseline_of_regular_series() {
    let season = [0.3, 0.0, -0.3, 0.1];
    let value = |t: usize| (1.0 + 0.05 * t as f64 + season[t % 4]).exp();
    let series = Series::regular(&(0..40).map(value).collect::<Vec<f64>>()).unwrap();
    let forecast = Baseline::Ets.forecast(&series, 4, &series.next_times(6));
    assert_eq!(forecast.transform, Transform::Log);
    for (median, time) in forecast.medians().iter().zip(&forecast.times) {
        let truth = value(*time as usize);
        assert!((median / truth - 1.0).abs() < 1e-2, "{median} {truth}");
    }
    let has_ets =
        |series: &Series, season: usize| Baseline::all(series, season).contains(&Baseline::Ets);
    assert!(has_ets(&series, 4) && has_ets(&series, 1));
    assert!(!has_ets(&series, 336));
    let uneven = Series::new(&[0.0, 0.5, 2.0, 3.0, 4.1, 5.0, 7.0], &[1.0; 7]).unwrap();
    assert!(!has_ets(&uneven, 1));
    let naive = Baseline::Naive.forecast(&uneven, 1, &[8.0]);
    assert_eq!(Baseline::Ets.forecast(&uneven, 1, &[8.0]), naive);
}

/// Quantiles of an average with a companion are averages of the quantiles of both, and the past stays as it is.
#[test]
fn forecasts_with_a_companion_are_averages() {
    let series = quarters(40, 0.5, 1);
    let fitted = yearly(4).choose(&series).unwrap().fitted;
    let fitted = fitted.with_companion(None);
    assert_eq!(fitted.transform(), Transform::None);
    let times = [vec![38.0, 39.0], series.next_times(5)].concat();
    let own = fitted.forecast(&times).unwrap();
    for baseline in [Baseline::SeasonalNaive, Baseline::Ets] {
        let simple = baseline.forecast(&series, 4, &times[2..]);
        let with_share = |share| {
            let companion = Companion {
                baseline,
                season: 4,
                share,
            };
            let fitted = fitted.given(&series).unwrap();
            fitted.with_companion(Some(companion))
        };
        let averaged = with_share(0.5);
        let words = format!(", averaged with {baseline}");
        assert!(averaged.to_string().ends_with(&words), "{averaged}");
        let forecast = averaged.forecast(&times).unwrap();
        for p in [0.1, 0.5, 0.9] {
            let (own, simple, found) = (own.quantile(p), simple.quantile(p), forecast.quantile(p));
            assert_eq!(own[..2], found[..2]);
            for (place, simple) in simple.iter().enumerate() {
                let expected = 0.5 * (own[place + 2] + simple);
                assert!((found[place + 2] - expected).abs() < 1e-9);
            }
        }
        let alone = with_share(1.0);
        let words = format!("{baseline} rather than ");
        assert!(alone.to_string().starts_with(&words), "{alone}");
        let forecast = alone.forecast(&times[2..]).unwrap();
        for (found, expected) in forecast.means.iter().zip(&simple.means) {
            assert!((found - expected).abs() < 1e-9);
        }
    }
}

/// A companion sees the logarithms of the values where the model does: its forecast is that of these numbers, as
/// logarithms.
#[test]
fn companions_have_the_transformation_of_the_model() {
    let logarithms = quarters(40, 0.3, 5);
    let values: Vec<f64> = (logarithms.values().iter())
        .map(|value| (0.1 * value).exp())
        .collect();
    let series = Series::regular(&values).unwrap();
    let forecasting = yearly(4).with_transform(Some(Transform::Log));
    let fitted = forecasting.choose(&series).unwrap().fitted;
    let times = series.next_times(6);
    // These numbers are partly negative: nothing takes their logarithms again.
    let scaled: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let scaled = Series::regular(&scaled).unwrap();
    for baseline in [Baseline::SeasonalNaive, Baseline::Ets] {
        let alone = fitted.given(&series).unwrap();
        let alone = alone.with_companion(Some(Companion {
            baseline,
            season: 4,
            share: 1.0,
        }));
        let forecast = alone.forecast(&times).unwrap();
        let expected = baseline.forecast(&scaled, 4, &times);
        assert_eq!(
            (forecast.transform, expected.transform),
            (Transform::Log, Transform::None)
        );
        let found = forecast.means.iter().chain(&forecast.deviations);
        for (found, expected) in found.zip(expected.means.iter().chain(&expected.deviations)) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}

/// A season of many steps that repeats exactly is known, whether by its kernel or by the value one season before.
#[test]
fn a_season_of_many_steps_is_known() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let shape: Vec<f64> = (0..48).map(|_| 4.0 * normal(&mut random)).collect();
    let values: Vec<f64> = (0..48 * 6)
        .map(|step| shape[step % 48] + 0.05 * normal(&mut random))
        .collect();
    let series = Series::regular(&values).unwrap();
    let forecasting = Forecasting::new(24).with_seasons(vec![Season::of_steps(48.0)]);
    let choice = forecasting.choose(&series).unwrap();
    let forecast = choice.fitted.forecast(&series.next_times(24)).unwrap();
    let errors = forecast.medians().into_iter().zip(&shape);
    let largest = errors
        .map(|(median, truth)| (median - truth).abs())
        .fold(0.0, f64::max);
    assert!(largest < 0.5, "{}: {largest}", choice.fitted);
}

#[test]
fn a_line_with_a_season_is_found_and_continued() {
    let series = quarters(60, 0.5, 1);
    let choice = yearly(8).choose(&series).unwrap();
    let structure = choice.fitted.structure();
    assert_eq!(structure.seasons.len(), 1, "{structure}");
    let times = series.next_times(8);
    let forecast = choice.fitted.forecast(&times).unwrap();
    for (median, time) in forecast.medians().iter().zip(&times) {
        let truth = 0.5 * time + [6.0, 0.0, -6.0, 1.0][*time as usize % 4];
        assert!(
            (median - truth).abs() < 2.0,
            "{structure}: {median} {truth}"
        );
    }
    // Parts add up to the forecast of the model alone, in the past, too.
    let fitted = choice.fitted.with_companion(None);
    let all = [series.times(), &times[..]].concat();
    let parts = fitted.components(&all).unwrap();
    let whole = fitted.forecast(&all).unwrap();
    for (place, mean) in whole.means.iter().enumerate() {
        let sum: f64 = parts.iter().map(|part| part.means[place]).sum();
        assert!((sum - mean).abs() < 1e-9);
    }
    // The season has its amplitude.
    let season = parts
        .iter()
        .find(|part| part.name == "yearly season")
        .unwrap();
    let range = season
        .means
        .iter()
        .fold(0.0, |most: f64, mean| most.max(mean.abs()));
    assert!((4.0..8.0).contains(&range), "{range}");
}

#[test]
fn a_random_walk_has_no_season_and_stays_where_it_is() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut level = 0.0;
    let values: Vec<f64> = (0..120)
        .map(|_| {
            level += normal(&mut random);
            level
        })
        .collect();
    let series = Series::regular(&values).unwrap();
    let choice = yearly(8).choose(&series).unwrap();
    assert!(choice.fitted.structure().seasons.is_empty());
    let forecast = choice.fitted.forecast(&series.next_times(8)).unwrap();
    // Steps of variance one: the standard deviation after eight is about √8.
    assert!(
        (1.7..4.5).contains(&forecast.deviations[7]),
        "{:?}",
        forecast.deviations
    );
    assert!((forecast.means[7] - values[119]).abs() < 4.0);
}

/// Forecasts of the past do not know what came later.
#[test]
fn a_backtest_does_not_see_the_future() {
    let series = quarters(48, 0.5, 2);
    let mut changed = series.values().to_vec();
    for value in &mut changed[44..] {
        *value += 1000.0;
    }
    let changed = Series::regular(&changed).unwrap();
    let of =
        |series: &Series| -> Backtest { yearly(4).backtest(series, 3, &[0.8]).unwrap().unwrap() };
    let (first, second) = (of(&series), of(&changed));
    assert_eq!(first.windows.len(), 3);
    assert_eq!(first.structure, second.structure);
    for (own, other) in first.windows.iter().zip(&second.windows) {
        assert_eq!(own.forecast, other.forecast);
        assert_eq!(own.forecast.times[0], own.origin + 1.0);
    }
    assert!(second.windows[2].scores.mase > 100.0);
    // The season makes it better than the value a season before.
    let scores = first.scores().unwrap();
    let baselines = first.baselines();
    let seasonal = baselines
        .iter()
        .find(|(name, _)| *name == Baseline::SeasonalNaive)
        .unwrap();
    assert!(scores.crps < seasonal.1.crps, "{scores:?} {seasonal:?}");
}

#[test]
fn growing_swings_are_logarithmic_and_stay_positive() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let value = |quarter: usize| {
        let season = [0.6, 0.0, -0.6, 0.1][quarter % 4];
        (0.05 * quarter as f64 + season + 0.1 * normal(&mut random)).exp()
    };
    let series = Series::regular(&(0..60).map(value).collect::<Vec<f64>>()).unwrap();
    let choice = yearly(8).choose(&series).unwrap();
    assert_eq!(choice.fitted.transform(), Transform::Log);
    let forecast = choice.fitted.forecast(&series.next_times(8)).unwrap();
    let [lower, upper] = forecast.interval(0.95);
    assert!(lower.iter().all(|end| *end > 0.0));
    assert!(upper.iter().zip(&lower).all(|(upper, lower)| upper > lower));
}

/// Intervals contain their share of values. 16 series of eight correlated values each: the standard error of the
/// coverage is about 0.05 if four values of a series count as one.
#[test]
fn intervals_contain_their_share() {
    let (mut inside, mut count) = (0, 0);
    for seed in 0..16 {
        let all = quarters(56, 1.0, 100 + seed);
        let known = all.until(47.0).unwrap();
        let future = all.between(47.0, 55.0).unwrap();
        let choice = yearly(8).choose(&known).unwrap();
        let [lower, upper] = choice
            .fitted
            .forecast(future.times())
            .unwrap()
            .interval(0.8);
        for (value, (lower, upper)) in future.values().iter().zip(lower.iter().zip(&upper)) {
            inside += usize::from(lower <= value && value <= upper);
            count += 1;
        }
    }
    let share = inside as f64 / count as f64;
    assert!((0.65..0.95).contains(&share), "{share}");
}

#[test]
fn uneven_and_repeated_times_are_forecast() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let mut time = 0.0_f64;
    let (mut times, mut values) = (Vec::new(), Vec::new());
    for row in 0..80 {
        if row % 9 != 0 {
            time += random.random_range(0.2..1.8);
        }
        times.push(time);
        values.push((0.15 * time).sin() + 0.1 * normal(&mut random));
    }
    let series = Series::new(&times, &values).unwrap();
    let choice = Forecasting::new(3).choose(&series).unwrap();
    let next = series.next_times(2);
    let forecast = choice.fitted.forecast(&next).unwrap();
    for (mean, time) in forecast.means.iter().zip(&next) {
        assert!((mean - (0.15 * time).sin()).abs() < 0.5);
    }
}

#[test]
fn series_without_a_model_say_why() {
    let error = |values: &[f64]| {
        let series = Series::regular(values).unwrap();
        Forecasting::new(3).choose(&series).unwrap_err().to_string()
    };
    assert_eq!(
        error(&[1.0, 2.0]),
        "the length of the series is 2; a model needs at least 5"
    );
    assert_eq!(
        error(&[7.0; 30]),
        "all values of the series are 7; there is nothing to learn"
    );
    assert!(matches!(
        Series::regular(&[f64::NAN]),
        Err(ForecastError::Empty)
    ));
    let log = Forecasting::new(3).with_transform(Some(Transform::Log));
    let found = log.choose(&quarters(20, 0.5, 1)).unwrap_err().to_string();
    assert!(
        found.starts_with("the logarithm needs positive values"),
        "{found}"
    );
    // One structure, without a choice.
    let one = burn_gp_models::forecasting::Structure {
        trend: Trend::Level,
        seasons: vec![],
        has_memory: false,
    };
    let given = Forecasting::new(3).with_structure(Some(one.clone()));
    let choice = given.choose(&quarters(20, 0.5, 1)).unwrap();
    assert_eq!(choice.fitted.structure(), &one);
}

/// A week whose last two days have another shape: the season of the week must follow each of its days.
#[test]
fn days_of_a_week_may_have_different_shapes() {
    let mut random = ChaCha8Rng::seed_from_u64(13);
    let truth = |step: usize| match step / 6 % 7 {
        0..5 => [0.0, 2.0, 9.0, 8.0, 5.0, 1.0][step % 6],
        _ => [3.0, 1.0, 0.0, 2.0, 6.0, 8.0][step % 6],
    };
    let values: Vec<f64> = (0..7 * 42)
        .map(|step| truth(step) + 0.5 * normal(&mut random))
        .collect();
    let series = Series::regular(&values).unwrap();
    let seasons = vec![Season::named(6.0, "daily"), Season::named(42.0, "weekly")];
    let choice = (Forecasting::new(42).with_seasons(seasons))
        .choose(&series)
        .unwrap();
    let structure = choice.fitted.structure().to_string();
    assert!(structure.contains("weekly season"), "{structure}");
    let times = series.next_times(42);
    let forecast = choice.fitted.forecast(&times).unwrap();
    let errors = forecast.medians().into_iter().zip(&times);
    let squares: f64 = errors
        .map(|(median, time)| (median - truth(*time as usize)).powi(2))
        .sum();
    // The value of the week before has an error of 0.5.
    let error = (squares / 42.0).sqrt();
    assert!(error < 0.5, "{structure}: {error}");
}
