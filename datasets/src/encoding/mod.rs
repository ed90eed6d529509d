//! The kind of a column's values, and their encoding as inputs.

mod column_encoding;
mod column_report;
mod cycle;
mod dates;
mod decision;
mod kind;
mod number_notation;
mod options;
mod partial_dates;
mod place;

pub use column_encoding::{ColumnEncoding, Encoding, Gaps};
pub use column_report::{ColumnReport, Purpose};
pub use cycle::Cycle;
pub use dates::{DateFormat, DateOrder};
pub use decision::quoted;
pub use kind::{ColumnKind, UnknownKind};
pub use number_notation::{DecimalMark, NumberNotation};

pub(crate) use number_notation::Evidence;
pub use options::{InputColumns, KindOfColumn, MissingValues, Time};
pub use place::Place;

pub(crate) use column_encoding::{InputScale, PLACE_INPUTS, Unfit};
pub(crate) use decision::{Decision, Problem, ambiguous, decide, missing, summary};
pub(crate) use kind::{distinct, infer};
