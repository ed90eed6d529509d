//! The limits of censored targets.

use burn::tensor::DType;

use super::likelihood::of_output;
use crate::parameter::ParameterError;

/// Limits in the units of the targets that a model gets. One value is for all outputs; several are one for each.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Limits {
    pub lower: Option<Vec<f64>>,
    pub upper: Option<Vec<f64>>,
    /// The logarithms of the scales of the targets.
    pub log_scales: Vec<f64>,
    /// The limits in the units of the data, infinite if there is none.
    pub stated: (f64, f64),
}

impl Limits {
    /// The relative distance within which a target is at a limit: some units in the last place, since targets and limits
    /// are standardized separately and rounded.
    pub fn tolerance(precision: DType) -> f64 {
        match precision {
            DType::F64 => 1e-12,
            _ => 1e-6,
        }
    }

    /// Checks limits, shifts and scales.
    pub fn check(
        (lower, upper): (Option<f64>, Option<f64>),
        (shifts, scales): (&[f64], &[f64]),
    ) -> Result<(), ParameterError> {
        let refused = |path: &str, reason: &str| {
            Err(ParameterError::Refused {
                path: path.to_owned(),
                reason: reason.to_owned(),
            })
        };
        if lower.is_none() && upper.is_none() {
            return refused(
                "likelihood",
                "give a limit, lower or upper; without one, use gaussian",
            );
        }
        let finite = (f64::NEG_INFINITY, f64::INFINITY);
        for (path, limit) in [("likelihood.lower", lower), ("likelihood.upper", upper)] {
            if let Some(limit) = limit {
                ParameterError::check_between(path, limit, finite)?;
            }
        }
        if let (Some(lower), Some(upper)) = (lower, upper) {
            ParameterError::check_between("likelihood.upper", upper, (lower, f64::INFINITY))?;
        }
        if shifts.len() != scales.len() {
            return refused("likelihood.shifts", "there must be as many as scales");
        }
        for (shift, scale) in shifts.iter().zip(scales) {
            ParameterError::check_between("likelihood.shifts", *shift, finite)?;
            ParameterError::check_positive("likelihood.scales", *scale)?;
        }
        Ok(())
    }

    /// Checked limits in the units of the data, with the shifts and scales of standardized outputs.
    pub fn new(
        (lower, upper): (Option<f64>, Option<f64>),
        (shifts, scales): (&[f64], &[f64]),
    ) -> Self {
        let units: Vec<(f64, f64)> = match scales.is_empty() {
            true => vec![(0.0, 1.0)],
            false => shifts.iter().copied().zip(scales.iter().copied()).collect(),
        };
        let of_outputs = |limit: f64| {
            let each = units.iter().map(|(shift, scale)| (limit - shift) / scale);
            each.collect::<Vec<_>>()
        };
        Self {
            lower: lower.map(of_outputs),
            upper: upper.map(of_outputs),
            log_scales: units.iter().map(|(_, scale)| scale.ln()).collect(),
            stated: (
                lower.unwrap_or(f64::NEG_INFINITY),
                upper.unwrap_or(f64::INFINITY),
            ),
        }
    }

    /// The limits of an output, infinite if there is none.
    pub fn of_output(&self, output: usize) -> (f64, f64) {
        let of =
            |limits: &Option<Vec<f64>>| (limits.as_ref()).map(|limits| of_output(limits, output));
        (
            of(&self.lower).unwrap_or(f64::NEG_INFINITY),
            of(&self.upper).unwrap_or(f64::INFINITY),
        )
    }

    /// The limits of all outputs, if these are equal.
    pub fn of_all_outputs(&self) -> Option<(f64, f64)> {
        (self.log_scales.len() == 1).then(|| self.of_output(0))
    }

    /// The smallest range that holds the targets of all outputs, in single precision, too.
    pub fn range(&self) -> (f64, f64) {
        let outputs = (0..self.log_scales.len()).map(|output| self.of_output(output));
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let (lower, upper) =
            outputs.fold(none, |range, own| (range.0.min(own.0), range.1.max(own.1)));
        let rounding = Self::tolerance(DType::F32);
        // An infinite limit has no rounding.
        let beyond = |limit: f64, side: f64| match limit.is_finite() {
            true => limit + side * rounding * limit.abs(),
            false => limit,
        };
        (beyond(lower, -1.0), beyond(upper, 1.0))
    }
}
