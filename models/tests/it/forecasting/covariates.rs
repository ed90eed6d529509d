//! Forecasts with covariates, and their files.

use burn_gp_models::forecasting::{
    Baseline, Companion, Covariate, Forecast, ForecastError, SavedForecasts, SavedSeries, Series,
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{normal, yearly};

/// Quarters of a line with a season, an effect of a price and an event, of which the last `future` are not values.
fn with_price(count: usize, future: usize) -> (Series, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let all = count + future;
    let prices: Vec<f64> = (0..all).map(|_| 5.0 + normal(&mut random)).collect();
    let is_event = |step: usize| step % 11 == 3;
    let truth = |step: usize| {
        let season = [2.0, 0.0, -2.0, 0.5][step % 4];
        let event = if is_event(step) { 6.0 } else { 0.0 };
        20.0 + 0.1 * step as f64 + season - 3.0 * prices[step] + event
    };
    let values: Vec<f64> = (0..count)
        .map(|step| truth(step) + 0.3 * normal(&mut random))
        .collect();
    let times: Vec<f64> = (0..all).map(|step| step as f64).collect();
    let events: Vec<f64> = (times.iter().copied())
        .filter(|time| is_event(*time as usize))
        .collect();
    let covariates = vec![
        Covariate::known("price", &times, &prices).unwrap(),
        Covariate::event("fair", &events),
    ];
    let series = Series::regular(&values).unwrap();
    let future = (count..all).map(truth).collect();
    (series.with_covariates(covariates).unwrap(), future)
}

#[test]
fn effects_of_covariates_are_found_and_continued() {
    let (series, future) = with_price(60, 8);
    let fitted = yearly(8).choose(&series).unwrap().fitted;
    assert!(fitted.to_string().contains(" + price + fair"), "{fitted}");
    let forecast = fitted.forecast(&series.next_times(8)).unwrap();
    // Without the covariates, errors are about three.
    for (median, truth) in forecast.medians().iter().zip(&future) {
        assert!((median - truth).abs() < 1.2, "{fitted}: {median} {truth}");
    }
    // The parts add up, and the share of the price is its coefficient times its distance from the mean.
    let times = [series.times(), &series.next_times(8)[..]].concat();
    let parts = fitted.components(&times).unwrap();
    let whole = fitted.forecast(&times).unwrap();
    for (place, mean) in whole.means.iter().enumerate() {
        let sum: f64 = parts.iter().map(|part| part.means[place]).sum();
        assert!((sum - mean).abs() < 1e-9);
    }
    let part = |name: &str| parts.iter().find(|part| part.name == name).unwrap();
    let price = |step: usize| series.covariates()[0].at(step as f64).unwrap();
    let slope = (part("price").means[7] - part("price").means[20]) / (price(7) - price(20));
    assert!((slope + 3.0).abs() < 0.3, "{slope}");
    assert!((part("fair").means[3] - 6.0).abs() < 1.0);
    assert_eq!(part("fair").means[4], 0.0);
    // The backtest knows the covariates of its future, and no later values.
    let backtest = yearly(4).backtest(&series, 2, &[0.8]).unwrap().unwrap();
    let (own, naive) = (backtest.scores().unwrap(), backtest.baselines());
    assert!(naive.iter().all(|(_, scores)| own.crps < 0.6 * scores.crps));
    // A price that is not known is an error.
    let error = fitted.forecast(&series.next_times(9)).unwrap_err();
    assert!(
        matches!(&error, ForecastError::Unknown { covariate, time } if covariate == "price" && *time == 68.0),
        "{error}"
    );
}

/// A saved fit forecasts as before, and with more values as the same parameters given them.
#[test]
fn saved_fits_forecast_again() {
    let folder = temp_dir::TempDir::new().unwrap();
    let (all, _) = with_price(60, 8);
    let series = all.until(55.0).unwrap();
    let fitted = yearly(4).choose(&series).unwrap().fitted;
    let fitted = fitted.with_companion(Some(Companion {
        baseline: Baseline::Ets,
        season: 4,
        share: 0.5,
    }));
    let saved = SavedForecasts {
        series: vec![
            SavedSeries::new("sales", &series, Some(&fitted)),
            SavedSeries::new("short", &series, None),
        ],
        context: 7_usize,
    };
    saved.save(folder.path()).unwrap();
    let loaded = SavedForecasts::<usize>::load(folder.path()).unwrap();
    assert_eq!((loaded.context, loaded.series.len()), (7, 2));
    assert_eq!(loaded, saved);
    let [sales, short] = &loaded.series[..] else {
        unreachable!()
    };
    assert_eq!((sales.name(), &sales.series().unwrap()), ("sales", &series));
    assert!(short.fitted(&series).unwrap().is_none());
    let again = sales.fitted(&series).unwrap().unwrap();
    assert_eq!(again.to_string(), fitted.to_string());
    let near = |own: &Forecast, other: &Forecast| {
        // Parameters are stored in natural units, and their logarithms rounded again.
        let pairs = own.means.iter().chain(&own.deviations);
        for (own, other) in pairs.zip(other.means.iter().chain(&other.deviations)) {
            assert!(
                (own - other).abs() < 1e-9 * own.abs().max(1.0),
                "{own} {other}"
            );
        }
    };
    let times = series.next_times(4);
    near(
        &again.forecast(&times).unwrap(),
        &fitted.forecast(&times).unwrap(),
    );
    assert!((again.criterion() - fitted.criterion()).abs() < 1e-8);
    let times = all.next_times(4);
    let updated = sales.fitted(&all).unwrap().unwrap();
    let expected = fitted.given(&all).unwrap();
    near(
        &updated.forecast(&times).unwrap(),
        &expected.forecast(&times).unwrap(),
    );
    // A changed file is refused.
    let file = folder.path().join("forecasts.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"sales\"", "\"saled\"")).unwrap();
    let error = SavedForecasts::<usize>::load(folder.path()).unwrap_err();
    assert!(error.to_string().contains("it is damaged"), "{error}");
}
