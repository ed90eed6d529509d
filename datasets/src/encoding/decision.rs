//! Decides how a column becomes inputs, or why it does not.

use super::column_encoding::{ColumnEncoding, Encoding, Gaps, label};
use super::cycle::Cycle;
use super::dates::{AmbiguousDates, DateFormat};
use super::kind::{self, ColumnKind};
use super::options::{InputColumns, MissingValues, Time};
use crate::counted::counted;
use crate::double_precision::is_infinite;
use crate::raw_column::{Cell, DeclaredType, RawColumn};
use crate::words;

/// The use of an input column.
pub(crate) enum Decision {
    /// It becomes inputs.
    Encoded(ColumnEncoding),
    /// It is left out for this reason.
    LeftOut(String),
    /// It stops the run with an error.
    Problem(Problem),
}

/// The reason why a column stops a run, with the option that would prevent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub reason: String,
    /// The first row with the problem, from 0.
    pub row: Option<usize>,
    pub option: String,
}

/// The largest number of levels of a column that the user calls a category.
const MOST_LEVELS: usize = 1000;
/// With more levels than this, levels with a single row are treated as unknown.
const MANY_LEVELS: usize = 10;

/// Decides on the column called `name` of the given kind. `is_chosen` means that the user chose the kind.
pub(crate) fn decide(
    column: &RawColumn,
    name: &str,
    kind: ColumnKind,
    is_chosen: bool,
    options: &InputColumns,
) -> Decision {
    let encoding = match kind {
        ColumnKind::Offset => Ok(Encoding::Offset),
        ColumnKind::Exposure => Ok(Encoding::Exposure),
        kind if kind.has_numbers() => number(column, name),
        ColumnKind::Boolean => boolean(column, name),
        ColumnKind::Category => category(column, name, is_chosen),
        ColumnKind::Date => date(column, name, options),
        kind => return other(column, name, kind),
    };
    let encoding = match encoding {
        Ok(encoding) => encoding,
        Err(problem) => return Decision::Problem(problem),
    };
    let missing = missing(column);
    let gaps = match (missing.first(), options.missing, &encoding) {
        (None, _, _) | (_, _, Encoding::Category { missing: true, .. }) => Gaps::Refused,
        // Nothing may stand for a known term.
        (_, _, Encoding::Offset | Encoding::Exposure) => Gaps::Refused,
        (Some(_), MissingValues::Drop, _) => Gaps::Refused,
        (Some(&row), MissingValues::Refuse, _) => {
            return Decision::Problem(Problem {
                reason: format!("has no value in {}", counted(missing.len(), "row")),
                row: Some(row),
                option: "--missing indicator".into(),
            });
        }
        (_, MissingValues::Indicator, _) => Gaps::Marked,
        (_, MissingValues::Mean | MissingValues::Median, _) => Gaps::Filled,
    };
    Decision::Encoded(ColumnEncoding {
        name: name.to_owned(),
        encoding,
        gaps,
        notation: None,
    })
}

/// The rows without a value.
pub(crate) fn missing(column: &RawColumn) -> Vec<usize> {
    let cells = column.cells().enumerate();
    let gaps = cells.filter(|(_, cell)| *cell == Cell::Missing);
    gaps.map(|(row, _)| row).collect()
}

fn number(column: &RawColumn, name: &str) -> Result<Encoding, Problem> {
    let texts = column.cells().enumerate();
    let mut texts = texts.filter(|(_, cell)| is_no_number(*cell));
    match texts.next() {
        None => Ok(Encoding::Number),
        Some((row, cell)) => Err(mixed(column, name, row, &label(cell))),
    }
}

fn is_no_number(cell: Cell<'_>) -> bool {
    matches!(cell, Cell::Text(_)) && cell.number().is_none()
}

/// The problem of a few texts among numbers.
fn mixed(column: &RawColumn, name: &str, row: usize, text: &str) -> Problem {
    let count = column.cells().filter(|cell| is_no_number(*cell)).count();
    let rows = counted(count, "row");
    Problem {
        reason: match is_infinite(text) {
            true => format!("holds numbers that are not finite in {rows}, the first {text:?}"),
            false => format!("holds numbers except in {rows}, the first {text:?}"),
        },
        row: Some(row),
        option: format!("--kind {}=number", quoted(name)),
    }
}

fn boolean(column: &RawColumn, name: &str) -> Result<Encoding, Problem> {
    if let Some([no, yes]) = words::truth_values(column.texts()) {
        return Ok(Encoding::Boolean { no, yes });
    }
    let mut levels: Vec<String> = kind::levels(column).into_iter().map(|(l, _)| l).collect();
    levels.sort();
    match <[String; 2]>::try_from(levels) {
        Ok([no, yes]) => Ok(Encoding::Boolean { no, yes }),
        Err(levels) => Err(Problem {
            reason: format!("has {}, not two", counted(levels.len(), "different value")),
            row: None,
            option: format!("--kind {}=category", quoted(name)),
        }),
    }
}

fn category(column: &RawColumn, name: &str, is_chosen: bool) -> Result<Encoding, Problem> {
    let counted = kind::levels(column);
    if counted.len() > MOST_LEVELS {
        return Err(Problem {
            reason: format!(
                "has {} different values, but a category can have at most {MOST_LEVELS}",
                counted.len()
            ),
            row: None,
            option: format!("--drop {}", quoted(name)),
        });
    }
    let has_gaps = !missing(column).is_empty();
    let is_long = counted.len() > MANY_LEVELS && !is_chosen;
    let common = counted
        .into_iter()
        .filter(|(_, rows)| !is_long || *rows > 1);
    let classes = crate::classes::Classes::new(common.map(|(level, _)| level));
    let mut levels = classes.names().to_vec();
    if has_gaps {
        levels.push("(missing)".into());
    }
    Ok(Encoding::Category {
        levels,
        missing: has_gaps,
    })
}

fn date(column: &RawColumn, name: &str, options: &InputColumns) -> Result<Encoding, Problem> {
    let texts = column.texts().iter().map(String::as_str);
    let format = match &column.declared {
        Some(DeclaredType::Date) => Some(DateFormat::days()),
        _ if column.texts().is_empty() => DateFormat::of_numbers(column.numbers()),
        _ => {
            DateFormat::of(texts, options.date_order).map_err(|dates| ambiguous(column, &dates))?
        }
    };
    let format = format.ok_or_else(|| not_all_dates(column, name, options))?;
    let format = match options.local_times {
        true => format.local(),
        false => format,
    };
    let cycles = match options.time == Time::Cyclic {
        true => cycles(column, &format),
        false => Vec::new(),
    };
    Ok(Encoding::Date { format, cycles })
}

/// The problem of dates whose day and month cannot be told apart.
pub(crate) fn ambiguous(column: &RawColumn, dates: &AmbiguousDates) -> Problem {
    let is_first = |cell: Cell<'_>| cell == Cell::Text(&dates.text);
    Problem {
        reason: format!(
            "holds dates such as {:?}, whose day and month cannot be told apart",
            dates.text
        ),
        row: column.cells().position(is_first),
        option: "--date-order day-first (or month-first)".into(),
    }
}

/// The problem of a few mistakes among dates.
fn not_all_dates(column: &RawColumn, name: &str, options: &InputColumns) -> Problem {
    let best = match column.texts() {
        [] => DateFormat::of_most_numbers(column.numbers()).map(|(format, _)| format),
        texts => DateFormat::best(texts, options.date_order).map(|(format, _)| format),
    };
    let Some(format) = best else {
        return Problem {
            reason: "does not hold dates or times in a single format".into(),
            row: None,
            option: format!("--drop {}", quoted(name)),
        };
    };
    let is_none = |cell: &Cell<'_>| *cell != Cell::Missing && format.days_in(*cell).is_none();
    let rows = column.cells().filter(is_none).count();
    let row = column.cells().position(|cell| is_none(&cell));
    let first = row.map_or_else(String::new, |row| column.cell(row).to_string());
    let other = format.with_other_offset();
    let differ_in_offset = (column.texts().iter())
        .all(|text| format.days_of(text).is_some() || other.days_of(text).is_some());
    Problem {
        reason: match differ_in_offset && !column.texts().is_empty() {
            true => {
                let is_without = if format.has_offset() {
                    "no offset"
                } else {
                    "an offset"
                };
                format!(
                    "holds times of which some have an offset from UTC and others have none: {first:?} has {is_without}"
                )
            }
            false => format!(
                "holds dates except in {}, the first {first:?}",
                counted(rows, "row")
            ),
        },
        row,
        option: format!("--kind {}=date", quoted(name)),
    }
}

/// The days of the cells that are not gaps.
fn days<'a>(column: &'a RawColumn, format: &'a DateFormat) -> impl Iterator<Item = f64> + 'a {
    column.cells().filter_map(|cell| format.days_in(cell))
}

/// The cycles that the dates of a column cover.
fn cycles(column: &RawColumn, format: &DateFormat) -> Vec<Cycle> {
    let (low, high) = days(column, format).fold((f64::MAX, f64::MIN), |(low, high), day| {
        (low.min(day), high.max(day))
    });
    let phases = |length: f64| {
        let mut seen = std::collections::HashSet::new();
        days(column, format).for_each(|day| {
            seen.insert((day / length).fract().to_bits());
        });
        seen.len() > 1
    };
    let mut cycles = Vec::new();
    if format.has_date() && high - low > 366.0 {
        cycles.push(Cycle::Year);
    }
    let is_daily = days(column, format).any(|day| day.floor() % 7.0 != low.floor() % 7.0);
    if format.has_days() && high - low > 7.0 && is_daily {
        cycles.push(Cycle::Week);
    }
    if format.has_time() && phases(1.0) {
        cycles.push(Cycle::Day);
    }
    cycles
}

/// The decision for kinds that do not become inputs.
fn other(column: &RawColumn, name: &str, kind: ColumnKind) -> Decision {
    let reason = match kind {
        ColumnKind::Id => "different in every row".into(),
        ColumnKind::RowNumber => "counts the rows".into(),
        ColumnKind::Constant => "the same in every row".into(),
        ColumnKind::Empty => "no values".into(),
        ColumnKind::Unreadable => "values of this type cannot be read".into(),
        ColumnKind::Mixed => return mixed_column(column, name),
        _ => format!("text; --kind {}=category uses it", quoted(name)),
    };
    Decision::LeftOut(reason)
}

fn mixed_column(column: &RawColumn, name: &str) -> Decision {
    match number(column, name) {
        Err(problem) => Decision::Problem(problem),
        Ok(encoding) => Decision::Encoded(ColumnEncoding {
            name: name.to_owned(),
            encoding,
            gaps: Gaps::Refused,
            notation: None,
        }),
    }
}

/// A name, quoted for a shell if necessary.
pub fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

/// The values of a column in a few words.
pub(crate) fn summary(column: &RawColumn, kind: ColumnKind, options: &InputColumns) -> String {
    const SHOWN: usize = 3;
    if let Some(DeclaredType::Unreadable(kind)) = &column.declared {
        return kind.clone();
    }
    match kind {
        ColumnKind::Empty => String::new(),
        ColumnKind::Number
        | ColumnKind::Longitude
        | ColumnKind::Latitude
        | ColumnKind::Offset
        | ColumnKind::Exposure
        | ColumnKind::RowNumber
        | ColumnKind::Mixed => {
            let (low, high) = column
                .numbers()
                .fold((f64::MAX, f64::MIN), |(low, high), value| {
                    (low.min(value), high.max(value))
                });
            match low <= high {
                true => format!("{} to {}", short(low), short(high)),
                false => String::new(),
            }
        }
        ColumnKind::Date => date_range(column, options),
        _ => {
            let levels = kind::levels(column);
            let names = levels.iter().map(|(level, _)| shortened(level));
            match levels.len() {
                count if count > SHOWN => format!("{count} different"),
                _ => names.collect::<Vec<_>>().join(", "),
            }
        }
    }
}

fn date_range(column: &RawColumn, options: &InputColumns) -> String {
    let Ok(Encoding::Date { format, .. }) = date(column, "", options) else {
        return String::new();
    };
    let (low, high) = days(column, &format).fold((f64::MAX, f64::MIN), |(low, high), day| {
        (low.min(day), high.max(day))
    });
    match format.has_date() {
        true => format!("{} to {}", DateFormat::day(low), DateFormat::day(high)),
        false => "times of day".into(),
    }
}

/// A number with at most five significant digits.
fn short(value: f64) -> String {
    let magnitude = value.abs();
    if value == value.trunc() && magnitude < 1e9 || magnitude == 0.0 {
        return value.to_string();
    }
    if !(1e-4..1e9).contains(&magnitude) {
        return format!("{value:.4e}");
    }
    let digits = (4.0 - magnitude.log10().floor()).max(0.0) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 16;
    match text.chars().count() > LONGEST {
        true => text.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}
