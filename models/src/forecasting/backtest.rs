//! Forecasts of the past, and their scores.

use super::{
    Baseline, Choice, FittedSeries, Forecast, ForecastError, ForecastScores, Forecasting, Series,
    Structure, Transform, scores::error_scale,
};

/// A forecast from one origin with what came after.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The last time before the forecast, in steps.
    pub origin: f64,
    /// The values after the origin.
    pub values: Vec<f64>,
    /// The forecast at their times.
    pub forecast: Forecast,
    /// Its scores.
    pub scores: ForecastScores,
    /// The scores of the baselines.
    pub baselines: Vec<(Baseline, ForecastScores)>,
}

/// Forecasts from several origins in the past.
#[derive(Clone, Debug, PartialEq)]
pub struct Backtest {
    /// The structure, chosen from the values before the first origin only.
    pub structure: Structure,
    /// The model of the first origin in words, with its transformation and companion.
    pub model: String,
    /// The forecasts, in the order of their origins.
    pub windows: Vec<Window>,
    /// The number of steps in a season of the baselines.
    pub season: usize,
}

impl Backtest {
    /// The mean scores of the model.
    pub fn scores(&self) -> Option<ForecastScores> {
        ForecastScores::mean(self.windows.iter().map(|window| &window.scores))
    }

    /// The mean scores of each baseline.
    pub fn baselines(&self) -> Vec<(Baseline, ForecastScores)> {
        let names = self.windows.first().map(|window| &window.baselines);
        let of = |index: usize| {
            let scores = self.windows.iter().map(|window| &window.baselines[index].1);
            ForecastScores::mean(scores)
        };
        let named = names.into_iter().flatten().enumerate();
        named
            .filter_map(|(index, (baseline, _))| Some((*baseline, of(index)?)))
            .collect()
    }

    /// The baseline with the smallest continuous ranked probability score, if that is smaller than the model's.
    pub fn better_baseline(&self) -> Option<Baseline> {
        let own = self.scores()?.crps;
        let baselines = self.baselines().into_iter();
        let best = baselines.min_by(|a, b| a.1.crps.total_cmp(&b.1.crps))?;
        (best.1.crps < own).then_some(best.0)
    }
}

impl Forecasting {
    /// Forecasts the last `origins` horizons, each from the values before it. The structure is chosen from the values
    /// before the first of them, and its parameters are fitted again at every origin, so that no forecast knows a later
    /// value. `None` if the values before the first origin are too few; then fewer origins are tried.
    ///
    /// # Errors
    ///
    /// When a model cannot be fitted.
    pub fn backtest(
        &self,
        series: &Series,
        origins: usize,
        levels: &[f64],
    ) -> Result<Option<Backtest>, ForecastError> {
        for count in (1..=origins).rev() {
            let first = series.last_time() - (count * self.horizon) as f64;
            let Some(known) = series.until(first) else {
                continue;
            };
            if known.is_constant() || known.len() < LEAST_VALUES {
                continue;
            }
            let choice = self.choose(&known)?;
            return self.windows(series, (choice, count), levels).map(Some);
        }
        Ok(None)
    }

    fn windows(
        &self,
        series: &Series,
        (choice, count): (Choice, usize),
        levels: &[f64],
    ) -> Result<Backtest, ForecastError> {
        let structure = choice.fitted.structure().clone();
        let model = choice.fitted.to_string();
        let season = self.repeats_after(choice.fitted.series());
        let baselines = Baseline::all(choice.fitted.series(), season);
        let mut fitted = choice.fitted;
        let mut windows = Vec::new();
        for window in (1..=count).rev() {
            let origin = series.last_time() - (window * self.horizon) as f64;
            let known = series.until(origin);
            let future = series.between(origin, origin + self.horizon as f64);
            let (Some(known), Some(future)) = (known, future) else {
                continue;
            };
            if window < count {
                let recent = self.recent(&known);
                // A later value may have no logarithm.
                let transform = match fitted.transform().check(&recent) {
                    Ok(()) => fitted.transform(),
                    Err(_) => Transform::None,
                };
                fitted = FittedSeries::new(&structure, &recent, transform, Some(&fitted))?;
            }
            let scale = error_scale(&known, season);
            let scored =
                |forecast: &Forecast| ForecastScores::new(forecast, future.values(), scale, levels);
            let forecast = fitted.forecast(future.times())?;
            let baselines = baselines.iter().map(|&baseline| {
                let forecast = baseline.forecast(&known, season, future.times());
                (baseline, scored(&forecast))
            });
            windows.push(Window {
                origin,
                values: future.values().to_vec(),
                scores: scored(&forecast),
                baselines: baselines.collect(),
                forecast,
            });
        }
        Ok(Backtest {
            structure,
            model,
            windows,
            season,
        })
    }
}

/// A backtest needs this many values before its first origin.
const LEAST_VALUES: usize = 10;
