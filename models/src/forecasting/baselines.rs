//! Simple forecasts that a model should beat.

use core::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::{Forecast, Series, Transform, scores::differences};

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
}

impl Display for Baseline {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Naive => "naive",
            Self::SeasonalNaive => "seasonal naive",
            Self::Drift => "drift",
        })
    }
}

impl Baseline {
    /// All baselines of series with a season of `season` steps; without a season, one step.
    pub fn all(season: usize) -> Vec<Self> {
        match season {
            0 | 1 => vec![Self::Naive, Self::Drift],
            _ => vec![Self::Naive, Self::SeasonalNaive, Self::Drift],
        }
    }

    /// The forecast at times after the series, in steps.
    pub fn forecast(self, series: &Series, season: usize, times: &[f64]) -> Forecast {
        let last_time = series.last_time();
        let last = series.values()[series.len() - 1];
        let span = (series.span() - 1.0).max(1.0);
        let slope = (last - series.values()[0]) / span;
        let lag = match self {
            Self::SeasonalNaive => season.max(1),
            Self::Naive | Self::Drift => 1,
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
                Self::Naive => (last, sigma * ahead.sqrt()),
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
