//! The average of a fitted series with the seasonal naive forecast.

use serde::{Deserialize, Serialize};

use super::{Baseline, Forecast, Series};

/// How much of a forecast is the seasonal naive one: quantiles are averages of the quantiles of both, which are means
/// and standard deviations of transformed values (K. Lichtendahl, Y. Grushka-Cockayne and R. Winkler, *Is it better to
/// average probabilities or quantiles?*, 2013).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Companion {
    /// The season of the naive forecast, in steps.
    pub season: usize,
    /// Its share, between zero and one.
    pub share: f64,
}

impl Companion {
    /// The shares that are compared besides none.
    pub(super) const SHARES: [f64; 2] = [0.5, 1.0];

    /// Averages the part of a forecast that lies after the end of a series.
    pub(super) fn average(self, forecast: &mut Forecast, series: &Series) {
        let transformed = series.map(|value| forecast.transform.apply(value));
        let first = (forecast.times.iter()).take_while(|time| **time <= series.last_time());
        let first = first.count();
        let times = &forecast.times[first..];
        let naive = Baseline::SeasonalNaive.forecast(&transformed, self.season, times);
        let averaged = |own: &mut [f64], naive: &[f64]| {
            let pairs = own[first..].iter_mut().zip(naive);
            pairs.for_each(|(own, naive)| *own += self.share * (naive - *own));
        };
        averaged(&mut forecast.means, &naive.means);
        averaged(&mut forecast.deviations, &naive.deviations);
    }

    /// The words about a structure with this companion.
    pub(super) fn words(self, structure: &str) -> String {
        match self.share < 1.0 {
            true => format!("{structure}, averaged with seasonal naive"),
            false => format!("seasonal naive rather than {structure}"),
        }
    }
}
