//! One series of values over time.

use std::sync::Arc;

use super::{Covariate, ForecastError};

/// A series has values at all steps if there are at most this many steps for each value.
const MOST_STEPS: f64 = 10.0;

/// The values of a series, at times in steps of the series, in the order of time.
///
/// Times may be uneven, repeated and missing; a regular series has whole numbers.
///
/// ```
/// use burn_gp_models::forecasting::Series;
///
/// # fn main() -> Result<(), burn_gp_models::forecasting::ForecastError> {
/// // Months 0, 1 and 3: the value of month 2 is missing.
/// let series = Series::regular(&[112.0, 118.0, f64::NAN, 129.0])?;
/// assert_eq!(series.times(), [0.0, 1.0, 3.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    times: Vec<f64>,
    values: Vec<f64>,
    covariates: Arc<[Covariate]>,
}

impl Series {
    /// Puts values in the order of their times. NaN marks a missing value.
    ///
    /// # Errors
    ///
    /// If a time or a value is infinite, a time is NaN, or there is no value.
    ///
    /// # Panics
    ///
    /// If the numbers of times and values differ.
    #[track_caller]
    pub fn new(times: &[f64], values: &[f64]) -> Result<Self, ForecastError> {
        assert!(
            times.len() == values.len(),
            "Series: {} times and {} values",
            times.len(),
            values.len()
        );
        let mut rows: Vec<(f64, f64)> = (times.iter().copied().zip(values.iter().copied()))
            .filter(|(_, value)| !value.is_nan())
            .collect();
        if let Some(&(time, value)) = (rows.iter()).find(|(t, y)| !t.is_finite() || !y.is_finite())
        {
            return Err(ForecastError::NotFinite { time, value });
        }
        if rows.is_empty() {
            return Err(ForecastError::Empty);
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (times, values) = rows.into_iter().unzip();
        Ok(Self {
            times,
            values,
            covariates: Arc::default(),
        })
    }

    /// The series with covariates in place of its own. They need values at its times, and at those of forecasts.
    ///
    /// # Errors
    ///
    /// When a covariate has no value at a time of the series.
    pub fn with_covariates(self, covariates: Vec<Covariate>) -> Result<Self, ForecastError> {
        for covariate in &covariates {
            let unknown = self
                .times
                .iter()
                .find(|time| covariate.at(**time).is_none());
            if let Some(&time) = unknown {
                return Err(ForecastError::Unknown {
                    covariate: covariate.name().to_owned(),
                    time,
                });
            }
        }
        Ok(Self {
            covariates: covariates.into(),
            ..self
        })
    }

    /// The covariates.
    pub fn covariates(&self) -> &[Covariate] {
        &self.covariates
    }

    /// A value for each step from zero; NaN marks a missing one.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn regular(values: &[f64]) -> Result<Self, ForecastError> {
        let times: Vec<f64> = (0..values.len()).map(|step| step as f64).collect();
        Self::new(&times, values)
    }

    /// The times, in steps, in increasing order.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The values, in the order of the times.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The last time.
    pub fn last_time(&self) -> f64 {
        self.times[self.times.len() - 1]
    }

    /// The number of steps from the first to the last time, both included.
    pub fn span(&self) -> f64 {
        self.last_time() - self.times[0] + 1.0
    }

    /// Whether all values are equal.
    pub fn is_constant(&self) -> bool {
        self.values.iter().all(|value| *value == self.values[0])
    }

    /// The values up to a time, included; `None` if there are none.
    pub fn until(&self, time: f64) -> Option<Self> {
        let count = self.times.partition_point(|own| *own <= time);
        (count > 0).then(|| self.rows(0..count))
    }

    /// The values after a time up to another one, included; `None` if there are none.
    pub fn between(&self, after: f64, until: f64) -> Option<Self> {
        let first = self.times.partition_point(|own| *own <= after);
        let end = self.times.partition_point(|own| *own <= until);
        (first < end).then(|| self.rows(first..end))
    }

    /// At most this many of the latest values.
    pub fn latest(&self, count: usize) -> Self {
        self.rows(self.len().saturating_sub(count.max(1))..self.len())
    }

    /// The values at all whole steps from the first to the last time; the mean of several at one time. `None` if times are
    /// not whole numbers, or most of the steps are missing.
    pub(super) fn by_step(&self) -> Option<Vec<Option<f64>>> {
        let is_whole = self.times.iter().all(|time| time.fract() == 0.0);
        if !is_whole || self.span() > MOST_STEPS * self.len() as f64 {
            return None;
        }
        let mut sums = vec![(0.0, 0.0); self.span() as usize];
        for (time, value) in self.times.iter().zip(&self.values) {
            let (sum, count) = &mut sums[(time - self.times[0]) as usize];
            *sum += value;
            *count += 1.0;
        }
        let mean = |(sum, count): (f64, f64)| (count > 0.0).then(|| sum / count);
        Some(sums.into_iter().map(mean).collect())
    }

    /// The series of other values at the same times, without covariates.
    pub(super) fn map(&self, value: impl Fn(f64) -> f64) -> Self {
        Self {
            times: self.times.clone(),
            values: self.values.iter().map(|own| value(*own)).collect(),
            covariates: Arc::default(),
        }
    }

    fn rows(&self, rows: std::ops::Range<usize>) -> Self {
        Self {
            times: self.times[rows.clone()].to_vec(),
            values: self.values[rows].to_vec(),
            covariates: Arc::clone(&self.covariates),
        }
    }

    /// The times of the next steps after the last one, 1 to `horizon`.
    pub fn next_times(&self, horizon: usize) -> Vec<f64> {
        let last = self.last_time();
        (1..=horizon).map(|step| last + step as f64).collect()
    }
}
