//! The forecast of one series.

use std::fmt;

use burn_gp_models::forecasting::{
    Backtest, Baseline, Candidate, Component, Forecast, ForecastError, Forecasting, Series,
    Structure, Transform,
};

use super::table::NamedSeries;

/// Everything about one series.
#[derive(Debug)]
pub struct SeriesForecast {
    /// The name; empty for a single series.
    pub name: String,
    /// The values.
    pub series: Series,
    /// The forecast.
    pub forecast: Forecast,
    /// The forecasts of the past.
    pub backtest: Option<Backtest>,
    /// The model, or the reason why a baseline stands in its place.
    pub model: Result<Modeled, Fallback>,
}

/// What the model says about a series.
#[derive(Debug)]
pub struct Modeled {
    /// The chosen structure.
    pub structure: Structure,
    /// The transformation of the values.
    pub transform: Transform,
    /// The structures that were considered.
    pub candidates: Vec<Candidate>,
    /// The times of the components, in steps: those of values, and the future.
    pub times: Vec<f64>,
    /// The parts.
    pub components: Vec<Component>,
}

impl fmt::Display for Modeled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_log = match self.transform {
            Transform::None => "",
            Transform::Log => " of the logarithm",
        };
        write!(formatter, "{}{of_log}", self.structure)
    }
}

/// A baseline in the place of a model.
#[derive(Debug)]
pub struct Fallback {
    /// The baseline.
    pub baseline: Baseline,
    /// The reason, as a sentence.
    pub reason: String,
}

/// Forecasts a series. A series without a model gets the forecast of a baseline.
pub fn forecast_series(
    named: &NamedSeries,
    forecasting: &Forecasting,
    origins: usize,
    levels: &[f64],
) -> SeriesForecast {
    let NamedSeries { name, series } = named;
    let times = series.next_times(forecasting.horizon);
    let (forecast, backtest, model) = match modeled(series, forecasting, &times) {
        Ok((forecast, model)) => match forecasting.backtest(series, origins, levels) {
            Ok(backtest) => (forecast, backtest, Ok(model)),
            Err(error) => fallback(series, forecasting, &error),
        },
        Err(error) => fallback(series, forecasting, &error),
    };
    SeriesForecast {
        name: name.clone(),
        series: series.clone(),
        forecast,
        backtest,
        model,
    }
}

fn modeled(
    series: &Series,
    forecasting: &Forecasting,
    times: &[f64],
) -> Result<(Forecast, Modeled), ForecastError> {
    let choice = forecasting.choose(series)?;
    let fitted = choice.fitted;
    let mut all = fitted.series().times().to_vec();
    all.dedup();
    all.extend(times);
    let model = Modeled {
        structure: fitted.structure().clone(),
        transform: fitted.transform(),
        candidates: choice.candidates,
        components: fitted.components(&all)?,
        times: all,
    };
    Ok((fitted.forecast(times)?, model))
}

fn fallback(
    series: &Series,
    forecasting: &Forecasting,
    error: &ForecastError,
) -> (Forecast, Option<Backtest>, Result<Modeled, Fallback>) {
    let season = forecasting.repeats_after(series);
    let baseline = match season {
        1 => Baseline::Naive,
        _ => Baseline::SeasonalNaive,
    };
    let times = series.next_times(forecasting.horizon);
    let forecast = baseline.forecast(series, season, &times);
    let reason = error.to_string();
    (forecast, None, Err(Fallback { baseline, reason }))
}
