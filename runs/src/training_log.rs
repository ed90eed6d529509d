//! The log of the training steps.

use burn_gp_models::training::StepReport;

use crate::csv_text::csv_text;

/// The log entry of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogEntry {
    /// The report of the step by the trainer.
    pub report: StepReport,
    /// Seconds of training until the end of this step.
    pub seconds: f64,
    /// The mean negative log density of the validation rows after this step, if it was computed.
    pub validation: Option<f64>,
}

/// All steps so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingLog {
    /// The entries in the order of training.
    pub entries: Vec<LogEntry>,
}

const HEADER: [&str; 5] = [
    "step",
    "seconds",
    "loss",
    "learning_rate",
    "validation_nlpd",
];

impl TrainingLog {
    /// The log as CSV. The field of a validation that did not take place is empty.
    pub fn to_csv(&self) -> String {
        let row = |entry: &LogEntry| {
            let StepReport {
                step,
                loss,
                learning_rate,
            } = entry.report;
            let validation = entry.validation.map(|value| value.to_string());
            [
                step.to_string(),
                format!("{:.6}", entry.seconds),
                loss.to_string(),
                learning_rate.to_string(),
                validation.unwrap_or_default(),
            ]
        };
        let header = [HEADER.map(str::to_owned)].into_iter();
        csv_text(header.chain(self.entries.iter().map(row)))
    }

    /// Reads a log from CSV; `None` if the text is not a training log.
    pub fn from_csv(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER.join(",").as_str()) {
            return None;
        }
        let entries: Option<Vec<LogEntry>> = lines.map(entry).collect();
        Some(Self { entries: entries? })
    }
}

fn entry(line: &str) -> Option<LogEntry> {
    let fields: Vec<&str> = line.split(',').collect();
    let &[step, seconds, loss, learning_rate, validation] = fields.as_slice() else {
        return None;
    };
    Some(LogEntry {
        report: StepReport {
            step: step.parse().ok()?,
            loss: loss.parse().ok()?,
            learning_rate: learning_rate.parse().ok()?,
        },
        seconds: seconds.parse().ok()?,
        validation: match validation {
            "" => None,
            value => Some(value.parse().ok()?),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_back_exactly() {
        let entry = |step, validation| LogEntry {
            report: StepReport {
                step,
                loss: -0.1 / 3.0,
                learning_rate: 0.01 / 7.0,
            },
            seconds: 1.5,
            validation,
        };
        let log = TrainingLog {
            entries: vec![entry(1, None), entry(2, Some(0.1 + 0.2))],
        };
        assert_eq!(TrainingLog::from_csv(&log.to_csv()), Some(log));
        assert_eq!(TrainingLog::from_csv("step,loss\n1,2\n"), None);
    }
}
