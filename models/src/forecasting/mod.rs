//! Forecasts of series over time: the choice of a structure, its parts, backtests and simple forecasts to compare with.
//!
//! A series is a sum of a trend, seasons, short memory and noise ([`Structure`]). Each is a kernel that is a linear
//! state-space model, so that all costs are linear in the length of the series. [`Forecasting`] chooses among them, and
//! [`FittedSeries`] forecasts and takes the series apart.
//!
//! ```
//! use burn_gp_models::forecasting::{Forecasting, Season, Series};
//!
//! # fn main() -> Result<(), burn_gp_models::forecasting::ForecastError> {
//! // Seven years of quarters: a line and a season.
//! let value = |quarter: i32| f64::from(quarter) + [5.0, 0.0, -5.0, 2.0][quarter as usize % 4];
//! let series = Series::regular(&(0..28).map(value).collect::<Vec<f64>>())?;
//! let forecasting = Forecasting::new(4).with_seasons(vec![Season::named(4.0, "yearly")]);
//!
//! let choice = forecasting.choose(&series)?;
//! println!("{}", choice.fitted.structure()); // such as "trend + yearly season"
//! let forecast = choice.fitted.forecast(&series.next_times(4))?;
//! let [lower, upper] = forecast.interval(0.8);
//! assert!(lower[0] < forecast.medians()[0] && forecast.medians()[0] < upper[0]);
//!
//! let parts = choice.fitted.components(series.times())?;
//! assert_eq!(parts[1].name, "yearly season");
//!
//! let backtest = forecasting.backtest(&series, 2, &[0.8])?.ok_or("too short");
//! # let _ = backtest;
//! # Ok(())
//! # }
//! ```

mod backtest;
mod baselines;
mod calendar;
mod choice;
mod companion;
mod covariates;
mod error;
mod exponential_smoothing;
mod fitted;
mod forecast;
mod nelder_mead;
mod posterior;
mod quasi_newton;
mod saved;
mod scores;
mod season;
mod series;
mod smoothing;
mod structure;
mod term_form;
mod timeline;
mod transform;

pub use backtest::{Backtest, Window};
pub use baselines::Baseline;
pub use calendar::{Calendar, TimeUnit, missing_steps};
pub use choice::{Candidate, Choice, Forecasting};
pub use companion::Companion;
pub use covariates::Covariate;
pub use error::ForecastError;
pub use fitted::{Component, FEWEST_VALUES, FittedSeries};
pub use forecast::Forecast;
pub use saved::{FORECASTS_FILE, SavedForecasts, SavedSeries};
pub use scores::{ForecastScores, error_scale};
pub use season::{Season, repeats_after};
pub use series::Series;
pub use structure::{Structure, Trend};
pub use transform::Transform;
