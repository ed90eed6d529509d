//! The roles of columns that say something about the rows.

use crate::companion::Companion;

/// What a column says about the rows, besides their inputs and targets.
///
/// Its values are in [`RowAttributes`](crate::RowAttributes); `table/row_values.rs` reads and checks them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowRole {
    /// More about each target: the standard deviation of its noise, its number of trials, or its upper limit.
    Companion(Companion),
    /// The weights of the rows in training, not negative.
    Weights,
    /// The times for a split by time, in days if they are dates. The column stays an input.
    Time,
    /// The names of the rows; their texts are kept.
    Id,
    /// The groups of the rows: a split keeps rows with equal texts on one side.
    Group,
}

impl RowRole {
    /// The word for it in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Companion(kind) => kind.name(),
            Self::Weights => "weights",
            Self::Time => "time",
            Self::Id => "id",
            Self::Group => "group",
        }
    }

    /// Whether its values are texts.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Id | Self::Group)
    }
}

impl From<Companion> for RowRole {
    fn from(kind: Companion) -> Self {
        Self::Companion(kind)
    }
}
