//! Fitted series in a folder.

use std::path::Path;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Covariate, FittedSeries, ForecastError, Series, fitted::FittedState};
use crate::{
    CheckedFolder, SavedModelError,
    saved_model::{read_versioned, write_versioned},
};

/// The name of the file with fitted series.
pub const FORECASTS_FILE: &str = "forecasts.json";

/// A series with its fit, if it has one, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedSeries {
    name: String,
    times: Vec<f64>,
    values: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    covariates: Vec<Covariate>,
    fit: Option<FittedState>,
}

impl SavedSeries {
    /// A series, and its fit if it has one.
    pub fn new(name: &str, series: &Series, fitted: Option<&FittedSeries>) -> Self {
        Self {
            name: name.to_owned(),
            times: series.times().to_vec(),
            values: series.values().to_vec(),
            covariates: series.covariates().to_vec(),
            fit: fitted.map(FittedSeries::state),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The series.
    ///
    /// # Errors
    ///
    /// When there is no value, or a covariate is not known at a time.
    pub fn series(&self) -> Result<Series, ForecastError> {
        if self.times.len() != self.values.len() {
            return Err(ForecastError::Empty);
        }
        Series::new(&self.times, &self.values)?.with_covariates(self.covariates.clone())
    }

    /// The saved parameters, given a series: the saved one, or one that goes on. Nothing is trained; the cost is that of
    /// one pass over the values. `None` if there was no fit.
    ///
    /// # Errors
    ///
    /// When parameters are unknown or impossible, or the filter fails.
    pub fn fitted(&self, series: &Series) -> Result<Option<FittedSeries>, ForecastError> {
        let fitted = self
            .fit
            .as_ref()
            .map(|state| FittedSeries::of_state(state, series));
        fitted.transpose()
    }
}

/// Fitted series, and any data that the caller stores with them (`C`: names, the calendar).
///
/// ```
/// use burn_gp_models::forecasting::{Forecasting, SavedForecasts, SavedSeries, Series};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let temporary = std::env::temp_dir().join(format!("burn-gp-forecasts-{}", std::process::id()));
/// # std::fs::create_dir_all(&temporary)?;
/// # let folder = temporary.as_path();
/// let value = |day: usize| (day as f64 / 5.0).sin() + day as f64 / 20.0;
/// let series = Series::regular(&(0..40).map(value).collect::<Vec<f64>>())?;
/// let fitted = Forecasting::new(5).choose(&series)?.fitted;
/// let saved = SavedForecasts {
///     series: vec![SavedSeries::new("visits", &series, Some(&fitted))],
///     context: "days".to_owned(),
/// };
/// saved.save(folder)?;
///
/// let loaded = SavedForecasts::<String>::load(folder)?;
/// // Three more days: the same parameters, given all values.
/// let longer = Series::regular(&(0..43).map(value).collect::<Vec<f64>>())?;
/// let forecast = match loaded.series[0].fitted(&longer)? {
///     Some(fitted) => fitted.forecast(&longer.next_times(5))?,
///     None => unreachable!(),
/// };
/// assert!((forecast.medians()[0] - value(43)).abs() < 0.5);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SavedForecasts<C> {
    /// The series.
    pub series: Vec<SavedSeries>,
    /// The data that the caller stores with them.
    pub context: C,
}

/// What the file has besides its version.
#[derive(Deserialize)]
struct Content<C> {
    context: C,
    series: Vec<SavedSeries>,
}

impl<C: Serialize + DeserializeOwned> SavedForecasts<C> {
    /// Writes [`FORECASTS_FILE`] and its checksum into an existing folder.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), SavedModelError> {
        #[derive(Serialize)]
        struct Borrowed<'a, C> {
            context: &'a C,
            series: &'a [SavedSeries],
        }
        let content = Borrowed {
            context: &self.context,
            series: &self.series,
        };
        write_versioned(folder, FORECASTS_FILE, &content)
    }

    /// Reads the file of a folder.
    ///
    /// # Errors
    ///
    /// When the file is missing or damaged, or has an unknown format version.
    pub fn load(folder: &Path) -> Result<Self, SavedModelError> {
        let checked = CheckedFolder::open(folder)?;
        let Content { context, series } = read_versioned(&checked, folder, FORECASTS_FILE)?;
        Ok(Self { series, context })
    }
}
