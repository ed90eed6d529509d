//! Early stopping.

use crate::arguments::{ModelFields, RunOptions};

/// The default share of held-out training rows for models with networks.
const SHARE: f64 = 0.2;

/// The smallest useful number of held-out rows. Small data sets hold out a larger share to reach it.
const ENOUGH_ROWS: f64 = 40.0;

/// The largest share of rows to hold out by default.
const LARGEST_SHARE: f64 = 0.5;

/// Whether and how held-out rows determine the number of training steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EarlyStopping {
    /// No early stopping.
    Off,
    /// Early stopping on held-out rows; the share depends on the number of rows.
    BySize,
    /// Early stopping on this share of the training rows.
    Share(f64),
}

impl EarlyStopping {
    /// Early stopping as `options` request it. Models with a network stop early by default, because they
    /// overfit if trained for too long.
    pub fn of(options: &RunOptions) -> Self {
        let model = options.model_fields();
        if !model.is_mini_batch() {
            return Self::Off;
        }
        let is_long = options.steps.is_some() || options.epochs.is_some();
        let is_open = !is_long && options.validation_rows().is_none();
        match options.early_stopping {
            Some(0.0) => Self::Off,
            Some(share) => Self::Share(share),
            None if model.network().is_some() && is_open => Self::BySize,
            None => Self::Off,
        }
    }

    /// The share of `rows` training rows to hold out, if any.
    pub fn share(self, rows: usize) -> Option<f64> {
        match self {
            Self::Off => None,
            Self::BySize => Some((ENOUGH_ROWS / rows as f64).clamp(SHARE, LARGEST_SHARE)),
            Self::Share(share) => Some(share),
        }
    }

    /// The value of the option; `None` for the default of the model.
    pub(super) fn option(self, model: &ModelFields) -> Option<f64> {
        match self {
            Self::Off => model.network().map(|_| 0.0),
            Self::BySize => None,
            Self::Share(share) => Some(share),
        }
    }

    /// Whether rows are held out.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::ModelChoice;

    #[test]
    fn networks_hold_rows_out_unless_their_length_is_given() {
        let (network, svgp, exact) = ("dkl", "svgp", "exact");
        let by_default = RunOptions::default();
        let long = RunOptions {
            steps: Some(100),
            ..RunOptions::default()
        };
        let validated = RunOptions {
            validation_fraction: Some(0.1),
            ..RunOptions::default()
        };
        let of = |options: &RunOptions, model| {
            EarlyStopping::of(&RunOptions {
                model: ModelChoice::find(model),
                ..options.clone()
            })
        };
        assert_eq!(of(&by_default, network), EarlyStopping::BySize);
        assert_eq!(of(&by_default, svgp), EarlyStopping::Off);
        assert_eq!(of(&by_default, exact), EarlyStopping::Off);
        assert_eq!(of(&long, network), EarlyStopping::Off);
        assert_eq!(of(&validated, network), EarlyStopping::Off);
        let asked = RunOptions {
            early_stopping: Some(0.3),
            ..long
        };
        assert_eq!(of(&asked, network), EarlyStopping::Share(0.3));
        assert_eq!(of(&asked, svgp), EarlyStopping::Share(0.3));
    }

    #[test]
    fn few_rows_hold_out_a_larger_share() {
        let share = |rows| EarlyStopping::BySize.share(rows).unwrap();
        assert_eq!(share(10_000), 0.2);
        assert_eq!(share(200), 0.2);
        assert_eq!(share(100), 0.4);
        assert_eq!(share(20), 0.5);
    }
}
