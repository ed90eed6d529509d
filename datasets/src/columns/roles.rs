//! The role of every column of a source.

use std::collections::HashMap;

use super::{ColumnRoles, Columns, Companion, Role, Schema};
use crate::error::{ColumnError, DataError};
use crate::names::nearest;
use crate::row_role::RowRole;

pub(super) fn reject_duplicates(source: &str, names: &[String]) -> Result<(), DataError> {
    let mut earlier = HashMap::new();
    for (second, name) in names.iter().enumerate() {
        if let Some(first) = earlier.insert(name, second) {
            return Err(DataError::Column(ColumnError::DuplicateColumn {
                source_name: source.to_owned(),
                name: name.clone(),
                first: first + 1,
                second: second + 1,
            }));
        }
    }
    Ok(())
}

pub(super) fn training_roles(
    wanted: &ColumnRoles,
    source: &str,
    columns: &Columns,
) -> Result<Vec<Role>, DataError> {
    let target = wanted.target.position("target", source, columns)?;
    let companion = match wanted.companion() {
        Some((kind, column)) => Some((column.position(kind.name(), source, columns)?, kind)),
        None => None,
    };
    if let Some((_, kind)) = companion.filter(|(position, _)| *position == target) {
        return Err(DataError::Column(ColumnError::CompanionIsTarget {
            source_name: source.to_owned(),
            column: columns.label(target),
            kind: kind.name(),
        }));
    }
    let taken = |purpose: &'static str, position: usize| {
        DataError::Column(ColumnError::TargetIsTaken {
            source_name: source.to_owned(),
            column: columns.label(position),
            purpose,
        })
    };
    // The column of the times stays an input; one that is missing is reported with the inputs.
    let time = wanted.rows.get(&RowRole::Time);
    let time = time.and_then(|time| time.position("time", source, columns).ok());
    if time == Some(target) {
        return Err(taken("time", target));
    }
    let mut roles = positional_roles(columns.count, Some(target), companion);
    let about_rows = (wanted.rows.iter())
        .filter(|(role, _)| !matches!(role, RowRole::Companion(_) | RowRole::Time));
    for (role, column) in about_rows {
        let purpose = role.name();
        let position = column.position(purpose, source, columns)?;
        if roles[position] == Role::Target {
            return Err(taken(purpose, position));
        }
        leave_out(&mut roles, position);
    }
    for (purpose, _, name) in wanted.inputs.known_terms() {
        let position = (0..columns.count).find(|&position| columns.name(position) == name);
        if let Some(position) = position.filter(|&own| !matches!(roles[own], Role::Input(_))) {
            return Err(DataError::Column(ColumnError::TermIsTaken {
                source_name: source.to_owned(),
                column: columns.label(position),
                purpose,
            }));
        }
    }
    match roles.iter().any(|role| matches!(role, Role::Input(_))) {
        true => Ok(roles),
        false => Err(DataError::Column(ColumnError::NoInputs(source.to_owned()))),
    }
}

/// Removes the column at `position` from the inputs.
fn leave_out(roles: &mut [Role], position: usize) {
    let Role::Input(input) = roles[position] else {
        return;
    };
    roles[position] = Role::Ignored;
    for role in roles {
        if let Role::Input(other) = role
            && *other > input
        {
            *other -= 1;
        }
    }
}

/// Roles by position: the target at `target`, what says more about it at `companion`, and all other
/// columns as inputs.
fn positional_roles(
    count: usize,
    target: Option<usize>,
    companion: Option<(usize, Companion)>,
) -> Vec<Role> {
    let mut next = 0;
    (0..count)
        .map(|column| {
            if Some(column) == target {
                return Role::Target;
            }
            if let Some((position, kind)) = companion
                && position == column
            {
                return Role::Companion(kind);
            }
            next += 1;
            Role::Input(next - 1)
        })
        .collect()
}

pub(super) fn prediction_roles(
    schema: &Schema,
    source: &str,
    columns: &Columns,
) -> Result<Vec<Role>, DataError> {
    let wanted = schema.source_names();
    let Some(names) = columns.names.as_ref().filter(|_| schema.named) else {
        return roles_by_position(schema, source, columns);
    };
    let positions: HashMap<&str, usize> = (names.iter().enumerate())
        .map(|(position, name)| (name.as_str(), position))
        .collect();
    let mut roles = vec![Role::Ignored; columns.count];
    let mut missing = Vec::new();
    for (input, name) in wanted.iter().enumerate() {
        match positions.get(name) {
            Some(&position) => roles[position] = Role::Input(input),
            None => missing.push((*name).to_owned()),
        }
    }
    if let [name, ..] = &missing[..] {
        return Err(DataError::Column(ColumnError::InputMissing {
            source_name: source.to_owned(),
            nearest: nearest(name, names.iter().map(String::as_str)),
            names: missing,
        }));
    }
    if let Some(position) = names.iter().position(|name| *name == schema.target_name) {
        roles[position] = Role::Target;
    }
    if let Some(companion) = &schema.companion
        && let Some(position) = names.iter().position(|name| *name == companion.name)
    {
        roles[position] = Role::Companion(companion.kind);
    }
    Ok(roles)
}

/// Roles without names: either all columns of the training data in their original places, or only the inputs
/// in their order.
fn roles_by_position(
    schema: &Schema,
    source: &str,
    columns: &Columns,
) -> Result<Vec<Role>, DataError> {
    let inputs = schema.source_names().len();
    let besides = 1 + usize::from(schema.companion.is_some());
    let whole = match schema.columns.is_empty() {
        true => inputs + besides,
        false => schema.source_columns,
    };
    if columns.count == inputs {
        return Ok(positional_roles(inputs, None, None));
    }
    if columns.count != whole {
        return Err(DataError::Column(ColumnError::InputCount {
            source_name: source.to_owned(),
            found: columns.count,
            inputs,
            whole,
        }));
    }
    let companion = schema.companion.as_ref();
    let companion = companion.map(|companion| (companion.position, companion.kind));
    if schema.columns.is_empty() {
        return Ok(positional_roles(
            whole,
            Some(schema.target_position),
            companion,
        ));
    }
    let mut roles = vec![Role::Ignored; whole];
    roles[schema.target_position] = Role::Target;
    if let Some((position, kind)) = companion {
        roles[position] = Role::Companion(kind);
    }
    for (input, column) in schema.columns.iter().enumerate() {
        roles[column.position] = Role::Input(input);
    }
    Ok(roles)
}
