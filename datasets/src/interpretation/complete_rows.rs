//! The rows that a model can be trained on.

use crate::columns::{Layout, Role};
use crate::raw_column::{Cell, RawColumn};
use crate::raw_table::RawTable;

/// The rows without gaps in the target and in inputs that do not allow gaps. A target that is an interval has a gap if
/// both limits have.
pub(crate) fn complete_rows(raw: &RawTable, layout: &Layout) -> Vec<usize> {
    let needed = layout
        .roles
        .iter()
        .zip(&raw.cells)
        .filter(|(role, _)| match role {
            Role::Target | Role::Companion(_) => !layout.has_intervals(),
            Role::Input(input) => {
                let encoding = &layout.encoded[*input].encoding;
                // A gap in a known term stops the run.
                !encoding.takes_gaps() && !encoding.is_known_term()
            }
            Role::Ignored => false,
        });
    let needed: Vec<&RawColumn> = needed.map(|(_, column)| column).collect();
    let limits: Vec<&RawColumn> = (layout.roles.iter().zip(&raw.cells))
        .filter(|(role, _)| matches!(role, Role::Target | Role::Companion(_)))
        .map(|(_, column)| column)
        .collect();
    let is_known = |column: &&RawColumn, row: usize| column.cell(row) != Cell::Missing;
    let is_complete = |row: &usize| {
        let has_target = !layout.has_intervals() || limits.iter().any(|own| is_known(own, *row));
        has_target && needed.iter().all(|own| is_known(own, *row))
    };
    (0..raw.rows()).filter(is_complete).collect()
}
