//! Simple forecasts that a model should beat.

use core::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::{
    Forecast, Series, Transform,
    exponential_smoothing::{ExponentialSmoothing, LONGEST_SEASON},
    scores::differences,
};

/// A simple forecast with normal intervals (R. Hyndman and G. Athanasopoulos, *Forecasting: principles and practice*,
/// 3rd edition, sections 5.2 and 5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// The last value, `ŷ = y_T` with variance `σ²h`.
    Naive,
    /// The value one season before, with variance `σ²(⌊(h − 1)/m⌋ + 1)`.
    SeasonalNaive,
    /// The line through the first and the last value, with variance `σ²h(1 + h/(T − 1))`.
    Drift,
    /// Exponential smoothing: a level, without or with a trend, a damped trend and a season of at most 24 steps, of the
    /// values or, if all are positive, of their logarithms; the one with the best corrected information criterion of
    /// Akaike (R. Hyndman, A. Koehler, J. Ord and R. Snyder, *Forecasting with Exponential Smoothing*, 2008, with
    /// additive errors). The latest thousand values count.
    Ets,
}

/// This many of the latest values count in exponential smoothing.
const MOST_SMOOTHED: usize = 1000;

impl Display for Baseline {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Naive => "naive",
            Self::SeasonalNaive => "seasonal naive",
            Self::Drift => "drift",
            Self::Ets => "ETS",
        })
    }
}

impl Baseline {
    /// All baselines of a series with a season of `season` steps; without a season, one step. Exponential smoothing
    /// needs times that are whole steps.
    pub fn all(series: &Series, season: usize) -> Vec<Self> {
        let mut all = match season {
            0 | 1 => vec![Self::Naive, Self::Drift],
            _ => vec![Self::Naive, Self::SeasonalNaive, Self::Drift],
        };
        let is_smoothed = season <= LONGEST_SEASON && Self::Ets.is_possible(series);
        all.extend(is_smoothed.then_some(Self::Ets));
        all
    }

    /// Whether the forecast is not the naive one for lack of values or because of uneven times.
    pub(super) fn is_possible(self, series: &Series) -> bool {
        let values = || series.latest(MOST_SMOOTHED).by_step();
        self != Self::Ets || values().is_some_and(|values| ExponentialSmoothing::has_form(&values))
    }

    /// The forecast of transformed values at times after the series, in steps: that of exponential smoothing does not
    /// choose a transformation of its own.
    pub(super) fn forecast_transformed(
        self,
        series: &Series,
        season: usize,
        times: &[f64],
        transform: Transform,
    ) -> Forecast {
        let transformed = series.map(|value| transform.apply(value));
        let forecast = match self {
            Self::Ets => match plainly_smoothed(&transformed, season) {
                Some(model) => of_smoothing(&model, transform, series, times),
                None => Self::Naive.forecast(&transformed, season, times),
            },
            _ => self.forecast(&transformed, season, times),
        };
        Forecast {
            transform,
            ..forecast
        }
    }

    /// The forecast at times after the series, in steps. Where exponential smoothing is impossible, because of uneven
    /// times or too few values, it is the naive forecast.
    pub fn forecast(self, series: &Series, season: usize, times: &[f64]) -> Forecast {
        if self == Self::Ets {
            return match smoothed(series, season) {
                Some((model, transform)) => of_smoothing(&model, transform, series, times),
                None => Self::Naive.forecast(series, season, times),
            };
        }
        let last_time = series.last_time();
        let last = series.values()[series.len() - 1];
        let span = (series.span() - 1.0).max(1.0);
        let slope = (last - series.values()[0]) / span;
        let lag = match self {
            Self::SeasonalNaive => season.max(1),
            Self::Naive | Self::Drift | Self::Ets => 1,
        };
        let mut errors = differences(series, lag);
        if self == Self::Drift {
            errors.iter_mut().for_each(|error| *error -= slope);
        }
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        let sigma = (squares / errors.len().max(1) as f64).sqrt();
        let one = |&time: &f64| {
            let ahead = time - last_time;
            match self {
                Self::Naive | Self::Ets => (last, sigma * ahead.sqrt()),
                Self::SeasonalNaive => {
                    let seasons = (ahead / lag as f64 - 1e-9).floor() + 1.0;
                    (before(series, time, lag as f64), sigma * seasons.sqrt())
                }
                Self::Drift => {
                    let variance = ahead * (1.0 + ahead / span);
                    (last + slope * ahead, sigma * variance.sqrt())
                }
            }
        };
        let (means, deviations) = times.iter().map(one).unzip();
        Forecast {
            times: times.to_vec(),
            means,
            deviations,
            transform: Transform::None,
        }
    }
}

/// Exponential smoothing of the values as they are.
fn plainly_smoothed(series: &Series, season: usize) -> Option<ExponentialSmoothing> {
    let values = series.latest(MOST_SMOOTHED).by_step()?;
    ExponentialSmoothing::of(&values, season)
}

/// Exponential smoothing of the values or of their logarithms, whichever has the better criterion.
fn smoothed(series: &Series, season: usize) -> Option<(ExponentialSmoothing, Transform)> {
    let values = series.latest(MOST_SMOOTHED).by_step()?;
    let plain = ExponentialSmoothing::of(&values, season)?;
    let own = || values.iter().flatten();
    if own().any(|value| *value <= 0.0) {
        return Some((plain, Transform::None));
    }
    let logarithms: Vec<_> = values.iter().map(|value| value.map(f64::ln)).collect();
    let logarithmic = ExponentialSmoothing::of(&logarithms, season)?;
    // −2 log densities of values have twice the sum of their logarithms more than those of logarithms.
    let slopes: f64 = own().map(|value| value.ln()).sum();
    Some(
        match logarithmic.criterion + 2.0 * slopes < plain.criterion {
            true => (logarithmic, Transform::Log),
            false => (plain, Transform::None),
        },
    )
}

/// The forecast of exponential smoothing at the nearest steps.
fn of_smoothing(
    model: &ExponentialSmoothing,
    transform: Transform,
    series: &Series,
    times: &[f64],
) -> Forecast {
    let step = |time: &f64| ((time - series.last_time()).round() as usize).max(1);
    let ahead = model.ahead(times.iter().map(step).max().unwrap_or(1));
    let (means, deviations) = (times.iter().map(|time| ahead[step(time) - 1]))
        .map(|[mean, deviation]| (mean, deviation))
        .unzip();
    Forecast {
        times: times.to_vec(),
        means,
        deviations,
        transform,
    }
}

/// The latest value a whole number of seasons before a time, or the last value if there is none.
fn before(series: &Series, time: f64, season: f64) -> f64 {
    let times = series.times();
    let mut wanted = time - season;
    while wanted >= times[0] - 0.5 {
        let place = times.partition_point(|own| *own < wanted - 0.5);
        if times
            .get(place)
            .is_some_and(|own| (own - wanted).abs() < 0.5)
        {
            return series.values()[place];
        }
        wanted -= season;
    }
    series.values()[series.len() - 1]
}
