//! Inputs beside time whose future is known: prices, weather forecasts, holidays.

use serde::{Deserialize, Serialize};

use super::ForecastError;

/// Times that differ by less than this part of a step are the same.
const NEAR: f64 = 1e-6;

/// A number at the times of a series and of its forecasts. Its effect on the (transformed) values is a coefficient with a
/// normal prior, which is integrated out.
///
/// ```
/// use burn_gp_models::forecasting::Covariate;
///
/// # fn main() -> Result<(), burn_gp_models::forecasting::ForecastError> {
/// let price = Covariate::known("price", &[0.0, 1.0, 2.0], &[9.5, 9.5, 8.0])?;
/// let holiday = Covariate::event("holiday", &[2.0]);
/// assert_eq!((price.at(1.0), price.at(3.0)), (Some(9.5), None));
/// assert_eq!((holiday.at(2.0), holiday.at(3.0)), (Some(1.0), Some(0.0)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Covariate {
    name: String,
    /// The times from which on values hold, in increasing order.
    times: Vec<f64>,
    /// The last time of each value: its first one, except for events that last.
    ends: Vec<f64>,
    values: Vec<f64>,
    /// The value at all other times, if it is known.
    otherwise: Option<f64>,
}

impl Covariate {
    /// Values at times in any order, in steps. Several rows of a time must agree.
    ///
    /// # Errors
    ///
    /// If two values of a time differ, or a number is not finite.
    ///
    /// # Panics
    ///
    /// If the numbers of times and values differ.
    #[track_caller]
    pub fn known(name: &str, times: &[f64], values: &[f64]) -> Result<Self, ForecastError> {
        assert!(
            times.len() == values.len(),
            "Covariate: {} times and {} values",
            times.len(),
            values.len()
        );
        let mut rows: Vec<(f64, f64)> = times.iter().copied().zip(values.iter().copied()).collect();
        if let Some(&(time, value)) = rows.iter().find(|(t, x)| !t.is_finite() || !x.is_finite()) {
            return Err(ForecastError::NotFinite { time, value });
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let differ = |pair: &&[(f64, f64)]| pair[1].0 - pair[0].0 < NEAR && pair[0].1 != pair[1].1;
        if let Some(pair) = rows.windows(2).find(differ) {
            return Err(ForecastError::TwoValues {
                covariate: name.to_owned(),
                time: pair[0].0,
            });
        }
        rows.dedup_by(|next, kept| next.0 - kept.0 < NEAR);
        let (times, values): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
        Ok(Self {
            name: name.to_owned(),
            ends: times.clone(),
            times,
            values,
            otherwise: None,
        })
    }

    /// One at some times, in steps, and zero at all others.
    pub fn event(name: &str, times: &[f64]) -> Self {
        let spans: Vec<[f64; 2]> = times.iter().map(|time| [*time, *time]).collect();
        Self::lasting_event(name, &spans)
    }

    /// One from the first to the last time of some spans, both included, in steps, and zero at all others.
    ///
    /// ```
    /// use burn_gp_models::forecasting::Covariate;
    ///
    /// let fair = Covariate::lasting_event("fair", &[[3.0, 5.0]]);
    /// let values = [2.0, 3.0, 5.0, 6.0].map(|time| fair.at(time));
    /// assert_eq!(values, [Some(0.0), Some(1.0), Some(1.0), Some(0.0)]);
    /// ```
    pub fn lasting_event(name: &str, spans: &[[f64; 2]]) -> Self {
        let mut spans = spans.to_vec();
        spans.sort_by(|a, b| a[0].total_cmp(&b[0]));
        // Spans that overlap are one.
        spans.dedup_by(|next, kept| {
            let overlaps = next[0] - kept[1] < NEAR;
            if overlaps {
                kept[1] = kept[1].max(next[1]);
            }
            overlaps
        });
        let (times, ends): (Vec<f64>, Vec<f64>) =
            spans.iter().map(|span| (span[0], span[1])).unzip();
        Self {
            name: name.to_owned(),
            values: vec![1.0; times.len()],
            times,
            ends,
            otherwise: Some(0.0),
        }
    }

    /// The same covariate with the values of another one at times that it does not know; an event with the times of both.
    ///
    /// # Errors
    ///
    /// If two values of a time differ.
    pub fn with(&self, news: &Self) -> Result<Self, ForecastError> {
        let times = [&self.times[..], &news.times[..]].concat();
        if self.is_event() {
            let ends = [&self.ends[..], &news.ends[..]].concat();
            let spans = times
                .into_iter()
                .zip(ends)
                .map(|(first, last)| [first, last]);
            return Ok(Self::lasting_event(&self.name, &spans.collect::<Vec<_>>()));
        }
        let values = [&self.values[..], &news.values[..]].concat();
        Self::known(&self.name, &times, &values)
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is zero except at some times.
    pub fn is_event(&self) -> bool {
        self.otherwise.is_some()
    }

    /// The value at a time, if it is known.
    pub fn at(&self, time: f64) -> Option<f64> {
        let begun = self.times.partition_point(|own| *own <= time + NEAR);
        match begun.checked_sub(1) {
            Some(place) if time <= self.ends[place] + NEAR => Some(self.values[place]),
            _ => self.otherwise,
        }
    }

    /// Whether it has one value at all times of a list.
    pub fn is_constant_at(&self, times: &[f64]) -> bool {
        let mut values = times.iter().map(|time| self.at(*time));
        let first = values.next().flatten();
        first.is_some() && values.all(|value| value == first)
    }

    fn required(&self, time: f64) -> Result<f64, ForecastError> {
        self.at(time).ok_or_else(|| ForecastError::Unknown {
            covariate: self.name.clone(),
            time,
        })
    }

    /// The mean and the standard deviation at times, from which on effects are measured; zero and one for an event, and
    /// a deviation of one if all values are equal.
    fn scale(&self, times: &[f64]) -> Result<[f64; 2], ForecastError> {
        if self.is_event() {
            return Ok([0.0, 1.0]);
        }
        let values: Vec<f64> = (times.iter())
            .map(|time| self.required(*time))
            .collect::<Result<_, _>>()?;
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / count).sqrt();
        let is_constant = deviation <= f64::EPSILON * mean.abs();
        Ok([mean, if is_constant { 1.0 } else { deviation }])
    }
}

/// The scales of covariates: the mean and the standard deviation of each in a series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CovariateScales(Vec<[f64; 2]>);

impl CovariateScales {
    pub(super) fn of(covariates: &[Covariate], times: &[f64]) -> Result<Self, ForecastError> {
        let scales = covariates.iter().map(|covariate| covariate.scale(times));
        Ok(Self(scales.collect::<Result<_, _>>()?))
    }

    /// The scaled covariates at times, `[T, C]`.
    pub(super) fn rows(
        &self,
        covariates: &[Covariate],
        times: &[f64],
    ) -> Result<Vec<f64>, ForecastError> {
        let mut rows = Vec::with_capacity(times.len() * covariates.len());
        for time in times {
            for (covariate, [mean, deviation]) in covariates.iter().zip(&self.0) {
                rows.push((covariate.required(*time)? - mean) / deviation);
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_time_must_agree_and_unknown_ones_are_named() {
        let price = Covariate::known("price", &[1.0, 0.0, 1.0], &[3.0, 2.0, 3.0]).unwrap();
        assert_eq!(price.times, [0.0, 1.0]);
        let error = Covariate::known("price", &[1.0, 1.0], &[3.0, 4.0]).unwrap_err();
        assert!(
            matches!(error, ForecastError::TwoValues { time: 1.0, .. }),
            "{error}"
        );
        let scales = CovariateScales::of(std::slice::from_ref(&price), &[0.0, 1.0]).unwrap();
        assert_eq!(
            scales
                .rows(std::slice::from_ref(&price), &[1.0, 0.0])
                .unwrap(),
            [1.0, -1.0]
        );
        let error = scales.rows(&[price], &[2.0]).unwrap_err();
        assert!(
            matches!(error, ForecastError::Unknown { time: 2.0, .. }),
            "{error}"
        );
        let event = Covariate::event("holiday", &[4.0, 1.0, 4.0]);
        let scales = CovariateScales::of(std::slice::from_ref(&event), &[0.0, 1.0]).unwrap();
        assert_eq!(
            scales.rows(&[event], &[0.0, 1.0, 4.0]).unwrap(),
            [0.0, 1.0, 1.0]
        );
    }

    #[test]
    fn events_last_from_the_first_to_the_last_time_of_their_spans() {
        let event =
            Covariate::lasting_event("fair", &[[8.0, 9.0], [1.0, 3.0], [2.0, 4.0], [6.0, 1e12]]);
        assert_eq!(
            (&event.times[..], &event.ends[..]),
            (&[1.0, 6.0][..], &[4.0, 1e12][..])
        );
        for (time, value) in [(0.0, 0.0), (1.0, 1.0), (4.0, 1.0), (5.0, 0.0), (1e9, 1.0)] {
            assert_eq!(event.at(time), Some(value), "{time}");
        }
        let more = event.with(&Covariate::event("fair", &[5.0])).unwrap();
        assert_eq!([0.0, 5.0].map(|time| more.at(time)), [Some(0.0), Some(1.0)]);
        assert!(event.is_constant_at(&[1.0, 2.0, 7.0]) && !event.is_constant_at(&[1.0, 5.0]));
    }
}
