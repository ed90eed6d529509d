//! Cycles of dates and times.

use serde::{Deserialize, Serialize};

/// A cycle of dates and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cycle {
    /// The year.
    Year,
    /// The week.
    Week,
    /// The day.
    Day,
}

impl Cycle {
    /// In days.
    fn length(self) -> f64 {
        match self {
            Self::Year => 365.2425,
            Self::Week => 7.0,
            Self::Day => 1.0,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Week => "week",
            Self::Day => "day",
        }
    }
}

/// Writes days, and the sines and cosines of their phases in the cycles.
pub(super) fn write_date(days: f64, cycles: &[Cycle], values: &mut [f64]) {
    values[0] = days;
    for (cycle, wave) in cycles.iter().zip(values[1..].chunks_exact_mut(2)) {
        let phase = (days / cycle.length()).fract() * std::f64::consts::TAU;
        wave.copy_from_slice(&[phase.sin(), phase.cos()]);
    }
}
