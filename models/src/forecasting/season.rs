//! Seasons of a series.

use core::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// A pattern that repeats after a known number of steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Season {
    /// The period, in steps; not always a whole number (a year has 365.25 days).
    pub period: f64,
    /// What it is called, such as `yearly season`.
    pub name: String,
}

impl Season {
    /// A season of a number of steps.
    pub fn of_steps(period: f64) -> Self {
        Self {
            period,
            name: format!("season of {period} steps"),
        }
    }

    /// A season of the calendar, such as `yearly`.
    pub fn named(period: f64, name: &str) -> Self {
        Self {
            period,
            name: format!("{name} season"),
        }
    }

    /// Whether the period is a whole number of steps.
    pub fn is_whole(&self) -> bool {
        self.period.fract() == 0.0
    }
}

impl Display for Season {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

/// The seasons that occur at least twice within a number of steps.
pub(super) fn usable(seasons: &[Season], span: f64) -> Vec<Season> {
    let is_usable = |season: &&Season| season.period >= 2.0 && 2.0 * season.period <= span;
    seasons.iter().filter(is_usable).cloned().collect()
}

/// The number of steps after which simple forecasts repeat a value: the longest season of whole steps that occurs
/// twice, or one.
pub fn repeats_after(seasons: &[Season], span: f64) -> usize {
    let whole = usable(seasons, span).into_iter().filter(Season::is_whole);
    whole
        .map(|season| season.period as usize)
        .max()
        .unwrap_or(1)
}
