//! Kinds of targets.

/// The kind of the targets that a likelihood is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Any numbers.
    Numbers,
    /// Any numbers, each with a known noise variance.
    Measurements,
    /// Any numbers, of which each row tells an interval: a lower and an upper limit, one of which may be infinite.
    Intervals,
    /// Labels of two classes.
    TwoClasses,
    /// Labels of any number of classes.
    Classes,
    /// Labels of three or more classes that have an order.
    OrderedClasses,
    /// 0, 1, 2, …
    Counts,
    /// Numbers of successes, each with a known number of trials.
    Successes,
    /// Non-negative numbers.
    PositiveNumbers,
    /// Numbers between 0 and 1.
    Fractions,
}

impl TargetKind {
    /// Whether the targets are class labels.
    pub fn has_classes(self) -> bool {
        matches!(
            self,
            Self::TwoClasses | Self::Classes | Self::OrderedClasses
        )
    }

    /// Whether any real number is a possible target. Models standardize such targets.
    pub fn is_any_number(self) -> bool {
        matches!(self, Self::Numbers | Self::Measurements | Self::Intervals)
    }

    /// The constant function for which targets have the mean of `targets`, row-major `[N, T]` for one output.
    pub fn first_constant(self, targets: &[f64]) -> f64 {
        let mean = match self {
            Self::Successes => {
                let of_column = |column| targets.iter().skip(column).step_by(2).sum::<f64>();
                of_column(0) / of_column(1)
            }
            _ => targets.iter().sum::<f64>() / targets.len() as f64,
        };
        match self {
            Self::Counts | Self::PositiveNumbers if mean > 0.0 => mean.ln(),
            Self::Fractions | Self::Successes if mean > 0.0 && mean < 1.0 => {
                (mean / (1.0 - mean)).ln()
            }
            // Functions have zero mean, or the likelihood reports impossible targets later.
            _ => 0.0,
        }
    }
}
