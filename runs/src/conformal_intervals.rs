//! Intervals with a guarantee for new rows: jackknife+ for exact regression, split conformal on the test rows for
//! other models.

use std::path::Path;

use burn_gp_core::likelihoods::{Interval, TargetKind};
use burn_gp_datasets::{Standardizer, counted};
use burn_gp_models::{
    JackknifePlus, SavedModel,
    conformal::{fewest_rows, score, split_level, split_quantile},
};

use crate::checksums::{Links, read_text};
use crate::evaluation::InOriginalUnits;
use crate::failure::Failure;
use crate::output::{ModelContext, PREDICTIONS};
use crate::preparation::Part;

/// The columns of the predictions of test rows that split conformal intervals come from.
const COLUMNS: [&str; 6] = ["y", "mean", "std", "lower", "upper", "level"];

/// How intervals of a model get their guarantee.
enum Method {
    /// From its training rows.
    JackknifePlus(Box<JackknifePlus>),
    /// From the scores of its test rows.
    Split(Vec<f64>),
}

/// Intervals of a confidence level with a guarantee.
pub struct ConformalIntervals {
    method: Method,
    level: f64,
    kind: TargetKind,
}

impl ConformalIntervals {
    /// The intervals of the model in `folder`.
    ///
    /// # Errors
    ///
    /// If the targets are labels or intervals, the model was trained without test rows, there are too few rows for the level, or the
    /// predictions of the test rows cannot be read.
    pub fn of(
        saved: &SavedModel<ModelContext>,
        folder: &Path,
        level: f64,
    ) -> Result<Self, Failure> {
        let kind = saved.context.likelihood.target();
        if kind.has_classes() {
            return Err(Failure::Arguments(
                "--intervals conformal is for numbers, but the targets of this model are labels, which have \
                 probabilities; remove the option"
                    .to_owned(),
            ));
        }
        if kind == TargetKind::Intervals {
            return Err(Failure::Arguments(
                "--intervals conformal needs targets that are known exactly, but those of this model are intervals; \
                 remove the option"
                    .to_owned(),
            ));
        }
        let method = match JackknifePlus::new(&*saved.model, None) {
            Some(jackknife) => Method::JackknifePlus(Box::new(jackknife?)),
            None => Method::Split(scores_of_test_rows(folder)?),
        };
        let own = saved.context.standardizer.target_transform.as_ref();
        let is_positive = own.is_some_and(|own| !own.transform.name().takes(-1.0));
        let intervals = Self {
            method,
            level,
            kind: match is_positive {
                true => TargetKind::PositiveNumbers,
                false => kind,
            },
        };
        intervals.require_rows()?;
        Ok(intervals)
    }

    fn require_rows(&self) -> Result<(), Failure> {
        let (rows, what) = self.rows();
        let fewest = fewest_rows(self.level);
        if rows >= fewest {
            return Ok(());
        }
        let percent = percent(self.level);
        Err(Failure::Arguments(format!(
            "{percent} conformal intervals need at least {}, but the model has {rows}; lower --level",
            counted(fewest, &format!("{what} row"))
        )))
    }

    /// The number of rows that the intervals come from, and what they are.
    fn rows(&self) -> (usize, &'static str) {
        match &self.method {
            Method::JackknifePlus(jackknife) => (jackknife.rows(), "training"),
            Method::Split(scores) => (scores.len(), "test"),
        }
    }

    /// Replaces the intervals of the rows of `part`, and the smallest levels whose intervals contain the known
    /// targets.
    pub fn replace(
        &self,
        predictions: &mut InOriginalUnits,
        part: &Part,
        standardizer: &Standardizer,
    ) {
        let has_targets = !predictions.central_level.is_empty();
        match &self.method {
            Method::JackknifePlus(jackknife) => {
                let (inputs, columns) = (part.inputs.values(), part.inputs.columns());
                let interval = jackknife.intervals(inputs, columns, self.level);
                predictions.interval = Interval {
                    lower: standardizer.inverse_targets(&interval.lower),
                    upper: standardizer.inverse_targets(&interval.upper),
                };
                if has_targets {
                    predictions.central_level = jackknife.levels(inputs, columns, &part.targets);
                }
            }
            Method::Split(scores) => {
                let factor = split_quantile(scores, self.level);
                let ends = |sign: f64| -> Vec<f64> {
                    let rows = predictions.mean.iter().zip(&predictions.standard_deviation);
                    rows.map(|(mean, deviation)| {
                        self.possible(mean + sign * factor * deviation, sign)
                    })
                    .collect()
                };
                predictions.interval = Interval {
                    lower: ends(-1.0),
                    upper: ends(1.0),
                };
                if has_targets {
                    let rows = predictions.mean.iter().zip(&predictions.standard_deviation);
                    let rows = rows.zip(&predictions.observed);
                    let levels = rows.map(|((&mean, &deviation), &target)| {
                        split_level(scores, score(target, mean, deviation))
                    });
                    predictions.central_level = levels.collect();
                }
            }
        }
        // A target that is not known has no level.
        for (level, target) in (predictions.central_level.iter_mut()).zip(&predictions.observed) {
            if target.is_nan() {
                *level = f64::NAN;
            }
        }
    }

    /// The outermost possible target up to an end of an interval: no target that is possible is lost. `sign` is −1
    /// for lower ends.
    fn possible(&self, end: f64, sign: f64) -> f64 {
        match self.kind {
            TargetKind::Counts | TargetKind::Successes if sign < 0.0 => end.ceil().max(0.0),
            TargetKind::Counts | TargetKind::Successes => end.floor().max(0.0),
            TargetKind::PositiveNumbers => end.max(0.0),
            TargetKind::Fractions => end.clamp(0.0, 1.0),
            _ => end,
        }
    }

    /// What the intervals are, and their guarantee, in a sentence.
    pub fn sentence(&self) -> String {
        let (level, (rows, _)) = (percent(self.level), self.rows());
        match self.method {
            Method::JackknifePlus(_) => {
                let guaranteed = percent((2.0 * self.level - 1.0).max(0.0));
                format!(
                    "intervals: {level} jackknife+ from {}, each predicted from all others; \
                     guaranteed for {guaranteed} of new rows that are drawn like these, with the hyperparameters \
                     taken as given",
                    counted(rows, "training row")
                )
            }
            Method::Split(_) => format!(
                "intervals: {level} split conformal from {}, which the model has not seen; guaranteed \
                 for {level} of new rows that are drawn like these",
                counted(rows, "test row")
            ),
        }
    }
}

/// A probability in percent, without trailing zeros.
fn percent(probability: f64) -> String {
    // 2·0.95 − 1 is not exactly 0.9.
    let rounded = (1e8 * probability).round() / 1e6;
    format!("{rounded} %")
}

/// The scores of the test rows, whose predictions are in the folder.
fn scores_of_test_rows(folder: &Path) -> Result<Vec<f64>, Failure> {
    let path = folder.join(PREDICTIONS);
    if !path.exists() {
        return Err(Failure::Arguments(format!(
            "--intervals conformal needs test rows, which the model has not seen, but there are no predictions of \
             any in {}; train again with --test-fraction or --test",
            folder.display()
        )));
    }
    let text = read_text(&path, Links::Followed)
        .map_err(|error| Failure::Arguments(format!("{error}; copy the folder again")))?;
    scores(&text).ok_or_else(|| {
        Failure::Arguments(format!(
            "{} has no predictions of numbers with their standard deviations; train again",
            path.display()
        ))
    })
}

/// The scores of the rows of a table of predictions. Its last columns are [`COLUMNS`] and quantiles; columns before them
/// may have any names.
fn scores(text: &str) -> Option<Vec<f64>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().ok()?;
    let is_quantile = |name: &&str| name.starts_with("quantile ");
    let quantiles = header.iter().rev().take_while(is_quantile).count();
    let first = header.len().checked_sub(COLUMNS.len() + quantiles)?;
    if !(header.iter().skip(first).take(COLUMNS.len())).eq(COLUMNS) {
        return None;
    }
    let of_row = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.ok()?;
        let number = |column: usize| record.get(first + column)?.parse::<f64>().ok();
        let found = score(number(0)?, number(1)?, number(2)?);
        (!found.is_nan()).then_some(found)
    };
    reader.records().map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_come_from_the_last_columns() {
        let text = "row,y,y,mean,std,lower,upper,level\n3,\"a, b\",2,1,0.5,0,2,0.9\n4,c,-1,0,0.25,0,2,0.9\n";
        assert_eq!(scores(text), Some(vec![2.0, 4.0]));
        let text = "y,mean,std,lower,upper,level,quantile 0.9\n2,1,0.5,0,2,0.9,1.8\n";
        assert_eq!(scores(text), Some(vec![2.0]));
        assert_eq!(scores("row,y,label,probability of a\n"), None);
        assert_eq!(
            scores("row,y,mean,std,lower,upper,level\n1,2,x,1,1,1,1\n"),
            None
        );
        assert_eq!(scores(""), None);
    }

    #[test]
    fn percentages_are_short() {
        assert_eq!(percent(2.0 * 0.95 - 1.0), "90 %");
        assert_eq!(percent(0.995), "99.5 %");
    }

    #[test]
    fn ends_are_possible_targets() {
        let of = |kind| ConformalIntervals {
            method: Method::Split(Vec::new()),
            level: 0.9,
            kind,
        };
        let counts = of(TargetKind::Counts);
        assert_eq!(
            [counts.possible(-0.5, -1.0), counts.possible(1.2, -1.0)],
            [0.0, 2.0]
        );
        assert_eq!(counts.possible(3.8, 1.0), 3.0);
        assert_eq!(of(TargetKind::PositiveNumbers).possible(-2.0, -1.0), 0.0);
        assert_eq!(of(TargetKind::Fractions).possible(1.5, 1.0), 1.0);
        assert_eq!(of(TargetKind::Numbers).possible(-2.0, -1.0), -2.0);
    }
}
