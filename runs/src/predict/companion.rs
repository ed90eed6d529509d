//! The second column of the target in new rows.

use burn_gp_datasets::{Companion, CompanionColumn, Features};

use crate::failure::Failure;
use crate::output::ModelContext;

/// Fails if the model knows the noise or the trials of each training target, and the new rows lack theirs: residuals
/// that include noise say nothing about intervals that do not.
pub(super) fn require_companion(
    features: &Features,
    context: &ModelContext,
) -> Result<(), Failure> {
    match missing_companion(features, context) {
        Some(column) => Err(Failure::Arguments(format!(
            "--intervals conformal needs the {} of the new rows, but there is no column {:?}; add it",
            column.kind.name(),
            column.name
        ))),
        None => Ok(()),
    }
}

/// The column with the noise, the trials or the upper limit of each target, if the model has one and the new rows do not.
pub(crate) fn missing_companion<'a>(
    features: &Features,
    context: &'a ModelContext,
) -> Option<&'a CompanionColumn> {
    let column = context.schema.companion.as_ref();
    column.filter(|column| {
        // Limits say nothing without each other.
        let matters = column.kind != Companion::Upper || features.targets.is_some();
        matters && features.attributes.numbers(column.kind).is_none()
    })
}
