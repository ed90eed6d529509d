//! The forecast of one series.

use burn_gp_models::forecasting::{
    Backtest, Baseline, Candidate, Companion, Component, FittedSeries, Forecast, ForecastError,
    Forecasting, SavedSeries, Series, Transform,
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
    /// The series and its model, to be saved.
    pub saved: SavedSeries,
    /// The model, or the reason why a baseline stands in its place.
    pub model: Result<Modeled, Fallback>,
}

/// What the model says about a series.
#[derive(Debug)]
pub struct Modeled {
    /// The model in words.
    pub words: String,
    /// The transformation of the values.
    pub transform: Transform,
    /// How much of the forecast is that of a baseline.
    pub companion: Option<Companion>,
    /// The structures that were considered.
    pub candidates: Vec<Candidate>,
    /// The times of the components, in steps: those of values, and the future.
    pub times: Vec<f64>,
    /// The parts.
    pub components: Vec<Component>,
}

/// A baseline in the place of a model.
#[derive(Debug)]
pub struct Fallback {
    /// The baseline.
    pub baseline: Baseline,
    /// The reason, as a sentence.
    pub reason: String,
}

/// The forecast, the scores of the past and the model of a series, or a baseline.
struct Outcome {
    forecast: Forecast,
    backtest: Option<Backtest>,
    model: Result<(Modeled, FittedSeries), Fallback>,
}

impl Outcome {
    fn of(self, NamedSeries { name, series }: &NamedSeries) -> SeriesForecast {
        let (model, fitted) = match self.model {
            Ok((model, fitted)) => (Ok(model), Some(fitted)),
            Err(fallback) => (Err(fallback), None),
        };
        SeriesForecast {
            name: name.clone(),
            series: series.clone(),
            forecast: self.forecast,
            backtest: self.backtest,
            saved: SavedSeries::new(name, series, fitted.as_ref()),
            model,
        }
    }
}

/// Forecasts a series. A series without a model gets the forecast of a baseline.
pub fn forecast_series(
    named: &NamedSeries,
    forecasting: &Forecasting,
    origins: usize,
    levels: &[f64],
) -> SeriesForecast {
    let series = &named.series;
    let chosen = || -> Result<Outcome, ForecastError> {
        let choice = forecasting.choose(series)?;
        let (forecast, model) = modeled(&choice.fitted, choice.candidates, forecasting.horizon)?;
        Ok(Outcome {
            forecast,
            backtest: forecasting.backtest(series, origins, levels)?,
            model: Ok((model, choice.fitted)),
        })
    };
    let outcome = chosen()
        .unwrap_or_else(|error: ForecastError| fallback(series, forecasting, error.to_string()));
    outcome.of(named)
}

/// Forecasts a series by a saved model, given all its values now.
pub fn forecast_again(
    named: &NamedSeries,
    saved: &SavedSeries,
    forecasting: &Forecasting,
) -> SeriesForecast {
    let again = || -> Result<Outcome, ForecastError> {
        let Some(fitted) = saved.fitted(&named.series)? else {
            return Ok(fallback(
                &named.series,
                forecasting,
                "it had no model".to_owned(),
            ));
        };
        let (forecast, model) = modeled(&fitted, Vec::new(), forecasting.horizon)?;
        Ok(Outcome {
            forecast,
            backtest: None,
            model: Ok((model, fitted)),
        })
    };
    let outcome = again().unwrap_or_else(|error: ForecastError| {
        fallback(&named.series, forecasting, error.to_string())
    });
    outcome.of(named)
}

fn modeled(
    fitted: &FittedSeries,
    candidates: Vec<Candidate>,
    horizon: usize,
) -> Result<(Forecast, Modeled), ForecastError> {
    let series = fitted.series();
    let future = series.next_times(horizon);
    let mut all = series.times().to_vec();
    all.dedup();
    all.extend(&future);
    let model = Modeled {
        words: fitted.to_string(),
        transform: fitted.transform(),
        companion: fitted.companion(),
        candidates,
        components: fitted.components(&all)?,
        times: all,
    };
    Ok((fitted.forecast(&future)?, model))
}

fn fallback(series: &Series, forecasting: &Forecasting, reason: String) -> Outcome {
    let season = forecasting.repeats_after(series);
    let baseline = match season {
        1 => Baseline::Naive,
        _ => Baseline::SeasonalNaive,
    };
    let times = series.next_times(forecasting.horizon);
    Outcome {
        forecast: baseline.forecast(series, season, &times),
        backtest: None,
        model: Err(Fallback { baseline, reason }),
    }
}
