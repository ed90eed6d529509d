//! Interprets the columns of a table as inputs of a model: the kinds of their values, and their use.

mod complete_rows;
mod places;

use std::collections::HashMap;

use crate::columns::{ColumnRoles, Labels, Layout, Request, Role, SourceColumn};
use crate::encoding::{
    ColumnEncoding, ColumnKind, ColumnReport, DateFormat, DecimalMark, Decision, Encoding,
    Evidence, InputColumns, NumberNotation, Problem, Purpose, decide, distinct, infer, missing,
    summary,
};
use crate::error::{ColumnError, DataError};
use crate::names::nearest;
use crate::raw_column::{Cell, RawColumn};
use crate::raw_table::RawTable;
use crate::task::Task;
use crate::words::{first_spelling, is_class, is_marker, is_missing, is_one_word, is_word};

pub(crate) use complete_rows::complete_rows;

/// Decides on every column of a table for training. Updates the roles of columns that are not inputs and the
/// list of columns that become inputs, and turns markers of missing values into gaps.
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
    let mut gaps = Vec::with_capacity(raw.cells.len());
    for (position, role) in layout.roles.iter().enumerate() {
        let texts = match (*role == Role::Target, has_labels) {
            (true, true) => Texts::Classes(layout.labels.as_ref()),
            (true, false) => Texts::Numbers,
            (false, _) => Texts::Levels,
        };
        let chosen = options.kind_of(&raw.columns.name(position));
        let column = &mut raw.cells[position];
        gaps.push(clear_gaps(column, options, chosen, texts));
        column.respell(|texts, text| first_spelling(texts, text).cloned());
    }
    let mut interpreter = Interpreter::new(raw, options);
    interpreter.decimal = decimal_mark(interpreter.raw, layout, options);
    for (position, role) in layout.roles.iter().enumerate() {
        interpreter.add(position, *role, has_labels);
    }
    interpreter.keep_a_row_number();
    interpreter.pair_places();
    for (report, gaps) in interpreter.reports.iter_mut().zip(gaps) {
        (report.markers, report.unusual_labels) = gaps;
    }
    layout.target_notation = interpreter.target_notation.take();
    interpreter.finish(layout)
}

/// The meaning of the texts of a column.
#[derive(Clone, Copy)]
enum Texts<'a> {
    /// Classes, perhaps with an order.
    Classes(Option<&'a Labels>),
    /// Levels of an input.
    Levels,
    /// Numbers.
    Numbers,
}

/// Turns the markers of missing values into gaps. Returns their texts, and the labels that look like
/// markers but are kept.
fn clear_gaps(
    column: &mut RawColumn,
    options: &InputColumns,
    chosen: Option<ColumnKind>,
    texts: Texts<'_>,
) -> (Vec<String>, Vec<String>) {
    let own = options.missing_values.as_deref();
    let labels = column.texts().to_vec();
    let would_leave_one = matches!(texts, Texts::Classes(_))
        && column.numbers().next().is_none()
        && is_one_word(&labels);
    let is_likely = |text: &str| {
        own.is_none() && is_missing(text) && (would_leave_one || is_class(text, &labels))
    };
    let is_kept = |text: &str| match texts {
        _ if own.is_some() => false,
        Texts::Classes(Some(Labels::InOrder(order))) => {
            order.labels().iter().any(|label| label == text)
        }
        Texts::Classes(_) => chosen == Some(ColumnKind::Category) || is_likely(text),
        // A gap in an input is its own level, so words may be gaps.
        Texts::Levels => is_likely(text) && !is_word(text),
        Texts::Numbers => false,
    };
    let markers = column.clear(|cell| {
        let is_kept = matches!(cell, Cell::Text(text) if is_kept(text));
        !is_kept && is_marker(cell, own)
    });
    let is_told = matches!(texts, Texts::Classes(Some(Labels::InOrder(_)))) || chosen.is_some();
    let kept = column.texts().iter();
    let kept =
        kept.filter(|text| !is_told && is_likely(text) && !text.eq_ignore_ascii_case("none"));
    (markers, kept.cloned().collect())
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
            let labels = roles.labels.as_ref();
            let mark = decimal_mark(raw, &layout, &roles.inputs);
            let mark = column_mark(raw, target, mark).unwrap_or_default();
            task(&raw.cells[target], chosen, labels, mark, &roles.inputs)
        }
        None => Task::Regression,
    })
}

/// The maximum number of distinct labels, including numbers, for which a text among numbers is a label.
const FEW_LABELS: usize = 10;

/// Whether two distinct numbers are labels: 0 and 1, or whole numbers that are both repeated. Two
/// measurements such as 10.5 and 11.7 are numbers.
fn are_labels(target: &RawColumn) -> bool {
    let mut numbers: Vec<f64> = target.numbers().collect();
    numbers.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (numbers.first(), numbers.last()) else {
        // Whole numbers that are not exact in floating point: identifiers.
        return true;
    };
    let count = |value: f64| numbers.iter().filter(|number| **number == value).count();
    let are_whole = low.fract() == 0.0 && high.fract() == 0.0;
    (low, high) == (0.0, 1.0) || are_whole && count(low) > 1 && count(high) > 1
}

/// The task for a target with these cells and the kind that the user gave, if any. Texts are labels, and so
/// are two distinct numbers that are used as labels.
fn task(
    target: &RawColumn,
    chosen: Option<ColumnKind>,
    labels: Option<&Labels>,
    mark: Option<DecimalMark>,
    options: &InputColumns,
) -> Task {
    let mut target = target.clone();
    let is_ordered = matches!(labels, Some(Labels::InOrder(_)));
    clear_gaps(&mut target, options, chosen, Texts::Classes(labels));
    target.respell(|texts, text| first_spelling(texts, text).cloned());
    if target.has_long_wholes() {
        // Labels repeat, quantities do not.
        if 2 * distinct(&target, usize::MAX) > target.len() {
            return Task::Regression;
        }
    } else if let Some(notation) = notation_of(&target, mark) {
        target = target.with_numbers(|text| notation.parse(text));
    }
    let texts = target.cells().filter(|cell| matches!(cell, Cell::Text(_)));
    // A text or two among many numbers are mistakes; among few, they are labels, as in -, 0, +.
    let is_text = target.texts().len() > target.numbers().count().min(2)
        || 10 * texts.count() > target.len() && distinct(&target, FEW_LABELS + 1) <= FEW_LABELS;
    match (distinct(&target, 3), chosen) {
        (_, Some(kind)) if kind.has_numbers() || kind == ColumnKind::Date => Task::Regression,
        (2, None) if !is_text && !are_labels(&target) => Task::Regression,
        (2, _) => Task::BinaryClassification,
        (3.., Some(_)) => Task::Classification,
        (3.., None) if is_text || is_ordered => Task::Classification,
        _ => Task::Regression,
    }
}

/// The decimal mark of a table: the user's choice, or the mark that all columns with evidence agree on.
fn decimal_mark(raw: &RawTable, layout: &Layout, options: &InputColumns) -> Option<DecimalMark> {
    if options.decimal.is_some() || !options.inferred {
        return options.decimal;
    }
    let mut marks = Vec::new();
    for (position, (column, role)) in raw.cells.iter().zip(&layout.roles).enumerate() {
        let name = raw.columns.name(position);
        let kind = options.kind_of(&name);
        let is_number = kind.is_none_or(ColumnKind::has_numbers);
        let is_label = *role == Role::Target && layout.labels.is_some();
        if *role == Role::Ignored || is_label || !is_number || options.leaves_out(&name) {
            continue;
        }
        if let Evidence::For(mark) = NumberNotation::evidence(column.texts(), column.numbers()) {
            marks.push(mark);
        }
    }
    let first = marks.first().copied();
    first.filter(|first| marks.iter().all(|mark| mark == first))
}

/// The decimal mark of a column in a table with the mark `of_table`, if either is known.
///
/// # Errors
/// The first text that could be two different numbers.
fn column_mark(
    raw: &RawTable,
    position: usize,
    of_table: Option<DecimalMark>,
) -> Result<Option<DecimalMark>, String> {
    let column = &raw.cells[position];
    match (
        of_table,
        NumberNotation::evidence(column.texts(), column.numbers()),
    ) {
        (_, Evidence::For(own)) => Ok(Some(own)),
        (Some(mark), _) => Ok(Some(mark)),
        (None, Evidence::None) => Ok(None),
        (
            None,
            Evidence::Either {
                has_unit_with_point,
                ..
            },
        ) if has_unit_with_point || raw.is_comma_separated => Ok(Some(DecimalMark::Point)),
        (None, Evidence::Either { text, .. }) => Err(text),
    }
}

/// The notation of all numbers of a column, with the decimal mark `mark` if it is known.
fn notation_of(column: &RawColumn, mark: Option<DecimalMark>) -> Option<NumberNotation> {
    NumberNotation::of(column.texts(), column.numbers(), mark)
}

/// Checks that the columns named by options exist; columns of a source without names are `x1`, `x2`, ….
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
    /// The decimal mark of the whole table, if it is known.
    decimal: Option<DecimalMark>,
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
            decimal: options.decimal,
        }
    }

    /// Decides on the column at `position`.
    fn add(&mut self, position: usize, role: Role, has_labels: bool) {
        let name = self.raw.columns.name(position);
        let chosen = self.options.kind_of(&name);
        let is_label = role == Role::Target && has_labels;
        let is_used = !is_label && role != Role::Ignored && !self.options.leaves_out(&name);
        let notation = self
            .notation(position, chosen, is_used)
            .filter(|_| !is_label);
        let is_number = |kind: ColumnKind| kind.has_numbers() && !kind.is_known_term();
        if chosen.is_some_and(is_number) && matches!(role, Role::Input(_)) {
            let is_number = |text: &str| notation.as_ref().is_some_and(|own| own.takes(text));
            let is_text = |cell: Cell<'_>| matches!(cell, Cell::Text(text) if !is_number(text));
            self.raw.cells[position].clear(is_text);
        }
        if chosen == Some(ColumnKind::Date) && matches!(role, Role::Input(_)) {
            let column = &mut self.raw.cells[position];
            if let Some((format, _)) = DateFormat::best(column.texts(), self.options.date_order) {
                column.clear(|cell| format.days_in(cell).is_none());
            }
        }
        let column = match &notation {
            Some(notation) => &self.raw.cells[position].with_numbers(|text| notation.parse(text)),
            None => &self.raw.cells[position],
        };
        let kind = self.kind(column, (&name, position), chosen, notation.is_some());
        let (values, missing) = (summary(column, kind, self.options), missing(column).len());
        let (kind, purpose) = match role {
            Role::Target if has_labels => (ColumnKind::Category, Purpose::Target),
            Role::Target => {
                self.target_notation = notation.clone();
                (ColumnKind::Number, Purpose::Target)
            }
            Role::Companion(kind) => (ColumnKind::Number, kind.into()),
            Role::Ignored => (kind, Purpose::Kept),
            _ if self.options.leaves_out(&name) => (kind, Purpose::Dropped),
            _ => {
                let mut decision = decide(column, &name, kind, chosen.is_some(), self.options);
                if let Decision::Encoded(encoding) = &mut decision {
                    let is_number =
                        encoding.encoding == Encoding::Number || encoding.is_known_term();
                    let has_comma = is_number && self.decimal == Some(DecimalMark::Comma);
                    let usual = has_comma.then(NumberNotation::with_comma);
                    encoding.notation = notation.clone().or(usual);
                }
                (kind, self.purpose(decision, position))
            }
        };
        self.reports.push(ColumnReport {
            values,
            missing,
            markers: Vec::new(),
            unusual_labels: Vec::new(),
            name,
            kind,
            purpose,
        });
    }

    /// The kind of a column: the one that the user chose, or the inferred one. Those with a notation are numbers.
    fn kind(
        &self,
        column: &RawColumn,
        (name, position): (&str, usize),
        chosen: Option<ColumnKind>,
        has_notation: bool,
    ) -> ColumnKind {
        let kind = match chosen {
            Some(kind) => kind,
            None if self.options.inferred => infer(column, name, position == 0),
            None => ColumnKind::Number,
        };
        match has_notation && kind != ColumnKind::Constant && !kind.is_known_term() {
            true => ColumnKind::Number,
            false => kind,
        }
    }

    /// The notation of the numbers in the column at `position`, if they are not plain: the notation of most
    /// of its texts where the user calls the column a number, otherwise the notation of all its texts. A
    /// column that is used and whose numbers are ambiguous is a problem.
    fn notation(
        &mut self,
        position: usize,
        chosen: Option<ColumnKind>,
        is_used: bool,
    ) -> Option<NumberNotation> {
        let column = &self.raw.cells[position];
        let is_open = chosen.is_none() && self.options.inferred && !column.has_long_wholes();
        if !is_open && !chosen.is_some_and(ColumnKind::has_numbers) {
            return None;
        }
        let mark = column_mark(self.raw, position, self.decimal);
        let mark = mark.unwrap_or_else(|text| {
            if is_used {
                let is_first = |cell: Cell<'_>| cell == Cell::Text(&text);
                let problem = Problem {
                    reason: format!(
                        "holds numbers such as {text:?}, whose comma may be a decimal mark or a thousands separator"
                    ),
                    row: column.cells().position(is_first),
                    option: "--decimal , (or --decimal .)".into(),
                };
                self.problems.push((position, problem));
            }
            None
        });
        let column = &self.raw.cells[position];
        match is_open {
            true => notation_of(column, mark),
            false => NumberNotation::best(column.texts(), mark),
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

    /// Whether there are inputs besides known terms of the function.
    fn has_inputs(&self) -> bool {
        let mut encoded = self.encoded.iter();
        encoded.any(|own| !own.encoding.is_known_term())
    }

    /// Uses a row number as an input if there is no other, as in a series without times.
    fn keep_a_row_number(&mut self) {
        let is_row_number = |report: &ColumnReport| {
            report.kind == ColumnKind::RowNumber && report.purpose != Purpose::Dropped
        };
        if self.has_inputs() || !self.problems.is_empty() {
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
        if !self.has_inputs() {
            let inputs = self.reports.iter().filter(|report| {
                matches!(
                    report.purpose,
                    Purpose::LeftOut(_) | Purpose::Dropped | Purpose::Kept
                )
            });
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
