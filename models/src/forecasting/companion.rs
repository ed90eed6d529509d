//! The average of a fitted series with a simple forecast.

use serde::{Deserialize, Serialize};

use super::{Baseline, Forecast, Series};

/// How much of a forecast is that of a baseline: the quantiles of transformed values are averages of the quantiles of
/// both, and so are their means and standard deviations, because both are normal (K. Lichtendahl, Y. Grushka-Cockayne
/// and R. Winkler, *Is it better to average probabilities or quantiles?*, 2013). The baseline forecasts values that are
/// transformed as those of the model are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Companion {
    /// The simple forecast.
    pub baseline: Baseline,
    /// Its season, in steps.
    pub season: usize,
    /// Its share, between zero and one.
    pub share: f64,
}

impl Companion {
    /// The shares that are compared besides none.
    pub(super) const SHARES: [f64; 2] = [0.5, 1.0];

    /// Averages the part of a forecast that lies after the end of a series.
    pub(super) fn average(self, forecast: &mut Forecast, series: &Series) {
        let past = (forecast.times.iter()).take_while(|time| **time <= series.last_time());
        let first = past.count();
        let (times, transform) = (&forecast.times[first..], forecast.transform);
        let simple = (self.baseline).forecast_transformed(series, self.season, times, transform);
        self.average_with(forecast, &simple);
    }

    /// Averages the last part of a forecast with that of the baseline.
    pub(super) fn average_with(self, forecast: &mut Forecast, simple: &Forecast) {
        let first = forecast.len() - simple.len();
        let averaged = |own: &mut [f64], simple: &[f64]| {
            let pairs = own[first..].iter_mut().zip(simple);
            pairs.for_each(|(own, simple)| *own += self.share * (simple - *own));
        };
        averaged(&mut forecast.means, &simple.means);
        averaged(&mut forecast.deviations, &simple.deviations);
    }

    /// The words about a structure with this companion.
    pub(super) fn words(self, structure: &str) -> String {
        match self.share < 1.0 {
            true => format!("{structure}, averaged with {}", self.baseline),
            false => format!("{} rather than {structure}", self.baseline),
        }
    }
}
