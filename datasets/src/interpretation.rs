//! The columns of a table as inputs of a model: what they hold, and what becomes of them.

use std::collections::HashMap;

use crate::columns::{ColumnRoles, Layout, Request, Role, SourceColumn};
use crate::encoding::{
    ColumnEncoding, ColumnKind, ColumnReport, Decision, InputColumns, NumberNotation, Problem,
    Purpose, decide, distinct, infer, is_missing, is_missing_target, missing, summary,
};
use crate::error::{ColumnError, DataError};
use crate::names::nearest;
use crate::raw_column::{Cell, RawColumn};
use crate::raw_table::RawTable;
use crate::task::Task;

/// Decides on every column of a table for training. Changes the roles of those that are no inputs
/// and the columns that become inputs, and turns markers of missing values into gaps.
///
/// # Errors
/// [`ColumnError::NoSuchColumn`], [`ColumnError::Columns`] and [`ColumnError::NothingLeft`].
pub(crate) fn interpret(
    raw: &mut RawTable,
    layout: &mut Layout,
    options: &InputColumns,
) -> Result<Vec<ColumnReport>, DataError> {
    check_names(raw, options.named())?;
    let has_labels = layout.labels.is_some();
    for (column, role) in raw.cells.iter_mut().zip(&layout.roles) {
        match role {
            Role::Target if has_labels => column.clear(is_missing_target),
            _ => column.clear(is_missing),
        }
    }
    let mut interpreter = Interpreter::new(raw, options);
    for (position, role) in layout.roles.iter().enumerate() {
        interpreter.add(position, *role, has_labels);
    }
    interpreter.keep_a_row_number();
    layout.target_notation = interpreter.target_notation.take();
    interpreter.finish(layout)
}

/// The task for the target that `roles` choose from a table.
///
/// # Errors
/// When there is no such column.
pub(crate) fn task_of(raw: &RawTable, roles: &ColumnRoles) -> Result<Task, DataError> {
    let layout = Request::Training(roles).layout(raw.origin.source(), raw.columns.clone())?;
    Ok(match layout.target() {
        Some(target) => {
            let chosen = roles.inputs.kind_of(&raw.columns.name(target));
            task(&raw.cells[target], chosen)
        }
        None => Task::Regression,
    })
}

/// The task for a target with these cells and the kind that the user gave it, if any: labels if they
/// are texts, or two different numbers.
fn task(target: &RawColumn, chosen: Option<ColumnKind>) -> Task {
    let mut target = target.clone();
    target.clear(is_missing_target);
    if let Some(notation) = NumberNotation::of(target.texts(), target.numbers()) {
        target = target.with_numbers(|text| notation.parse(text));
    }
    let is_text = target.texts().len() > target.numbers().count().min(2);
    match (distinct(&target, 3), chosen) {
        (_, Some(ColumnKind::Number | ColumnKind::Date)) => Task::Regression,
        (2, _) => Task::BinaryClassification,
        (3.., Some(_)) => Task::Classification,
        (3.., None) if is_text => Task::Classification,
        _ => Task::Regression,
    }
}

/// Checks the names that options give columns; those of a source without names are `x1`, `x2`, ….
pub(crate) fn check_names<'a>(
    raw: &RawTable,
    mut named: impl Iterator<Item = (&'static str, &'a str)>,
) -> Result<(), DataError> {
    let names: Vec<String> = (0..raw.columns.count)
        .map(|position| raw.columns.name(position))
        .collect();
    match named.find(|(_, name)| !names.iter().any(|column| column == name)) {
        None => Ok(()),
        Some((option, name)) => Err(DataError::Column(ColumnError::NoSuchColumn {
            source_name: raw.origin.source().to_owned(),
            option,
            name: name.to_owned(),
            nearest: nearest(name, names.iter().map(String::as_str)),
            columns: names.into(),
        })),
    }
}

/// Collects the decisions on columns.
struct Interpreter<'a> {
    raw: &'a mut RawTable,
    options: &'a InputColumns,
    encoded: Vec<SourceColumn>,
    problems: Vec<(usize, Problem)>,
    reports: Vec<ColumnReport>,
    target_notation: Option<NumberNotation>,
}

impl<'a> Interpreter<'a> {
    fn new(raw: &'a mut RawTable, options: &'a InputColumns) -> Self {
        Self {
            raw,
            options,
            encoded: Vec::new(),
            problems: Vec::new(),
            reports: Vec::new(),
            target_notation: None,
        }
    }

    /// Decides on the column at `position`.
    fn add(&mut self, position: usize, role: Role, has_labels: bool) {
        let name = self.raw.columns.name(position);
        let chosen = self.options.kind_of(&name);
        let is_label = role == Role::Target && has_labels;
        let notation = self.notation(position, chosen).filter(|_| !is_label);
        if chosen == Some(ColumnKind::Number) && matches!(role, Role::Input(_)) {
            let is_number = |text: &str| notation.as_ref().is_some_and(|own| own.takes(text));
            self.raw.cells[position].clear(|text| !is_number(text));
        }
        let column = match &notation {
            Some(notation) => &self.raw.cells[position].with_numbers(|text| notation.parse(text)),
            None => &self.raw.cells[position],
        };
        let kind = match chosen {
            Some(kind) => kind,
            None if self.options.inferred => infer(column, &name, position == 0),
            None => ColumnKind::Number,
        };
        let kind = match &notation {
            Some(_) if kind != ColumnKind::Constant => ColumnKind::Number,
            _ => kind,
        };
        let (values, missing) = (summary(column, kind), missing(column).len());
        let (kind, purpose) = match role {
            Role::Target if has_labels => (ColumnKind::Category, Purpose::Target),
            Role::Target => {
                self.target_notation = notation.clone();
                (ColumnKind::Number, Purpose::Target)
            }
            Role::Noise => (ColumnKind::Number, Purpose::Noise),
            Role::Ignored => (kind, Purpose::Kept),
            _ if self.options.leaves_out(&name) => (kind, Purpose::Dropped),
            _ => {
                let mut decision = decide(column, &name, kind, chosen.is_some(), self.options);
                if let Decision::Encoded(encoding) = &mut decision {
                    encoding.notation = notation.clone();
                }
                (kind, self.purpose(decision, position))
            }
        };
        self.reports.push(ColumnReport {
            values,
            missing,
            name,
            kind,
            purpose,
        });
    }

    /// The notation of the numbers in the column at `position`, if they are not plain: where the user
    /// says that they are numbers, that of most of its texts, else that of all.
    fn notation(&self, position: usize, chosen: Option<ColumnKind>) -> Option<NumberNotation> {
        let column = &self.raw.cells[position];
        match chosen {
            Some(ColumnKind::Number) => NumberNotation::best(column.texts()),
            Some(_) => None,
            None if self.options.inferred => NumberNotation::of(column.texts(), column.numbers()),
            None => None,
        }
    }

    fn purpose(&mut self, decision: Decision, position: usize) -> Purpose {
        match decision {
            Decision::Encoded(encoding) => {
                let inputs = encoding.inputs();
                self.encoded.push(SourceColumn { position, encoding });
                Purpose::Inputs(inputs)
            }
            Decision::LeftOut(reason) => Purpose::LeftOut(reason),
            Decision::Problem(problem) => {
                self.problems.push((position, problem));
                Purpose::LeftOut("it cannot be used as it is".into())
            }
        }
    }

    /// A row number is an input after all if there is no other, as in a series without times.
    fn keep_a_row_number(&mut self) {
        let is_row_number = |report: &ColumnReport| {
            report.kind == ColumnKind::RowNumber && report.purpose != Purpose::Dropped
        };
        if !self.encoded.is_empty() || !self.problems.is_empty() {
            return;
        }
        if let Some(position) = self.reports.iter().position(is_row_number) {
            let report = &mut self.reports[position];
            (report.kind, report.purpose) = (ColumnKind::Number, Purpose::Inputs(1));
            let encoding = ColumnEncoding::number(report.name.clone());
            self.encoded.push(SourceColumn { position, encoding });
        }
    }

    fn finish(self, layout: &mut Layout) -> Result<Vec<ColumnReport>, DataError> {
        let source_name = self.raw.origin.source().to_owned();
        if !self.problems.is_empty() {
            let describe = |(position, problem): &(usize, Problem)| {
                let label = layout.label(*position);
                let place = problem.row.map_or_else(String::new, |row| {
                    format!(" (in {})", self.raw.origin.location(row).in_source())
                });
                format!("{label} {}{place}", problem.reason)
            };
            let mut options: Vec<String> = Vec::new();
            for (_, problem) in &self.problems {
                if !options.contains(&problem.option) {
                    options.push(problem.option.clone());
                }
            }
            return Err(DataError::Column(ColumnError::Columns {
                source_name,
                problems: self.problems.iter().map(describe).collect(),
                options,
            }));
        }
        if self.encoded.is_empty() {
            let inputs = self
                .reports
                .iter()
                .filter(|report| !matches!(report.purpose, Purpose::Target | Purpose::Noise));
            let left_out = inputs.map(|report| format!("{:?} is {}", report.name, report.purpose));
            return Err(DataError::Column(ColumnError::NothingLeft {
                source_name,
                left_out: left_out.collect(),
            }));
        }
        let inputs: HashMap<usize, usize> = (self.encoded.iter().enumerate())
            .map(|(input, own)| (own.position, input))
            .collect();
        for (position, role) in layout.roles.iter_mut().enumerate() {
            if matches!(role, Role::Input(_)) {
                let input = inputs.get(&position);
                *role = input.map_or(Role::Ignored, |&input| Role::Input(input));
            }
        }
        layout.inputs = self.encoded.iter().map(|own| own.encoding.inputs()).sum();
        layout.encoded = self.encoded;
        Ok(self.reports)
    }
}

/// The rows without gaps in the target, and without gaps in inputs that take none.
pub(crate) fn complete_rows(raw: &RawTable, layout: &Layout) -> Vec<usize> {
    let needed = layout
        .roles
        .iter()
        .zip(&raw.cells)
        .filter(|(role, _)| match role {
            Role::Target | Role::Noise => true,
            Role::Input(input) => !layout.encoded[*input].encoding.takes_gaps(),
            Role::Ignored => false,
        });
    let needed: Vec<&RawColumn> = needed.map(|(_, column)| column).collect();
    let is_complete =
        |row: &usize| (needed.iter()).all(|column| column.cell(*row) != Cell::Missing);
    (0..raw.rows()).filter(is_complete).collect()
}
