//! The table of a study, on the terminal and in files, with published values beside ours.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::definition::Study;
use super::departures::{self, are_comparable, joined};
use super::finished::{FinishedCell, first_text};
use super::folder::ExperimentFolder;
use super::line::{self, ResultRow};
use super::published::{Reported, with_spread};
use super::table_definition::{Column, Content, Spread};
use crate::failure::Failure;
use crate::summary::Summary;
use crate::text_table::aligned;

/// The table of a study.
pub struct StudyTable<'a> {
    /// The study.
    pub study: &'static Study,
    /// The cells, grouped by data set.
    pub cells: &'a [FinishedCell],
}

/// A value of a column in each output format.
struct Forms {
    /// For `results.json`.
    record: Value,
    /// For `results.csv`: the value, and its uncertainty if it has one.
    kept: Vec<line::Entry>,
    /// For the terminal.
    text: String,
}

impl Forms {
    /// A value, which may be absent, with its uncertainty if it has one.
    fn new<K: Into<line::Entry>>(
        record: impl Serialize,
        kept: impl IntoIterator<Item = K>,
        text: Option<String>,
    ) -> Self {
        Self {
            record: json!(record),
            kept: kept.into_iter().map(Into::into).collect(),
            text: text.unwrap_or_else(|| "-".into()),
        }
    }
}

impl StudyTable<'_> {
    /// Our value in a column and the paper's.
    fn forms(&self, cell: &FinishedCell, column: &Column) -> [Forms; 2] {
        let nothing = || Forms::new(Value::Null, None::<f64>, None);
        let text =
            |text: Option<String>| [Forms::new(&text, [text.clone()], text.clone()), nothing()];
        match &column.content {
            Content::Axis(axis) => text(Some(cell.details().value(axis).to_owned())),
            Content::Text(of) => text(of(&cell.details())),
            Content::Within(spreads, keys) => {
                let reached = self.reached(cell, keys, *spreads);
                let joined = reached.as_ref().map(|titles| titles.join(" "));
                let shown = |text: String| if text.is_empty() { "none".into() } else { text };
                let forms = Forms::new(reached, [joined.clone()], joined.map(shown));
                [forms, nothing()]
            }
            Content::Ratio(metric, over) => self.ratios(cell, column, metric, *over),
            Content::Metric(_) | Content::Score(_) => self.scores(cell, column),
        }
    }

    /// Decimal digits of our value in a column and of the paper's.
    fn digits(&self, column: &Column) -> [usize; 2] {
        let digits = column.digits.unwrap_or(self.study.table.digits);
        [digits, column.paper_digits.unwrap_or(digits)]
    }

    /// The mean of a score with its uncertainty, here and in the paper.
    fn scores(&self, cell: &FinishedCell, column: &Column) -> [Forms; 2] {
        let [digits, paper_digits] = self.digits(column);
        let (ours, paper) = (cell.summary(column), published(cell, column.key));
        let spread = ours.and_then(|ours| self.spread_of(ours));
        let shown = |ours: Summary| {
            let spread = spread.filter(|_| !column.mean_only);
            let spread = spread.map(|spread| column.unit * spread);
            match column.scientific {
                true => format!("{:.digits$e}", ours.mean),
                false => with_spread(column.unit * ours.mean, spread, digits),
            }
        };
        let papers = |paper: Reported| with_spread(paper.mean, paper.spread, paper_digits);
        let mean = paper.map(|paper| paper.mean);
        let error = paper.and_then(|paper| paper.spread);
        [
            Forms::new(ours, [ours.map(|ours| ours.mean), spread], ours.map(shown)),
            Forms::new(paper, [mean, error], paper.map(papers)),
        ]
    }

    /// The mean of a metric, divided by that of another cell, here and in the paper.
    fn ratios(
        &self,
        cell: &FinishedCell,
        column: &Column,
        metric: &str,
        over: (&str, &str),
    ) -> [Forms; 2] {
        let mut cells = self.cells.iter();
        let other = cells.find(|other| self.is_reference(cell, other, over));
        let mean = |cell: &FinishedCell| cell.summary(column).map(|summary| summary.mean);
        let paper = |cell: &FinishedCell| published(cell, metric).map(|reported| reported.mean);
        let ratio = |of: &dyn Fn(&FinishedCell) -> Option<f64>, digits: usize| {
            let ratio = other.and_then(|other| Some(of(cell)? / of(other)?));
            let text = ratio.map(|ratio| format!("{ratio:.digits$}"));
            Forms::new(ratio, [ratio], text)
        };
        let [digits, paper_digits] = self.digits(column);
        [ratio(&mean, digits), ratio(&paper, paper_digits)]
    }

    /// Whether `other` has this value of this axis, and in all else the values of `cell`.
    fn is_reference(
        &self,
        cell: &FinishedCell,
        other: &FinishedCell,
        (axis, value): (&str, &str),
    ) -> bool {
        let mut wanted = cell.cell.clone();
        value.clone_into(&mut wanted.values[self.study.axis(axis)]);
        wanted == other.cell
    }

    /// The titles of the scores that exceed the published value by at most `spreads` times the
    /// paper's uncertainty; `None` for runs that depart from the paper's protocol.
    fn reached(&self, cell: &FinishedCell, keys: &[&str], spreads: f64) -> Option<Vec<String>> {
        let row = cell.row.as_ref().filter(|_| cell.is_as_in_paper())?;
        let columns = self.study.table.columns.iter();
        let is_reached = |score: &&Column| {
            let paper = row.scores.get(score.key);
            cell.summary(score).zip(paper).is_some_and(|(ours, paper)| {
                ours.mean <= paper.mean + spreads * paper.spread.unwrap_or(0.0)
            })
        };
        let reached = columns.filter(|score| keys.contains(&score.key) && is_reached(score));
        Some(reached.map(|score| score.title.clone()).collect())
    }

    /// Writes the files.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write(&self, folder: &ExperimentFolder) -> Result<(), Failure> {
        let lines: Vec<ResultRow> = match self.study.table.snapshots.is_empty() {
            true => self.cells.iter().map(|cell| self.line(cell)).collect(),
            false => {
                let snapshots = self.cells.iter().flat_map(FinishedCell::snapshots);
                snapshots.map(|snapshot| self.line(&snapshot)).collect()
            }
        };
        let records: Vec<Value> = self.cells.iter().map(|cell| self.record(cell)).collect();
        let record = json!({
            "comparable_with_the_paper": are_comparable(self.cells.iter().map(|cell| &cell.departures)),
            "cells": records,
        });
        folder.write_results(&record, &lines)
    }

    fn spread(&self) -> &'static str {
        match self.study.table.spread {
            Spread::Error => "error",
            Spread::Deviation => "deviation",
        }
    }

    fn spread_of(&self, summary: Summary) -> Option<f64> {
        match self.study.table.spread {
            Spread::Error => summary.standard_error,
            Spread::Deviation => summary.deviation(),
        }
    }

    /// The first columns of the CSV file.
    fn place(&self, cell: &FinishedCell) -> ResultRow {
        let first = &cell.runs[0];
        let line = ResultRow::default()
            .with("data", &cell.cell.data)
            .with("n_train", first.n_train)
            .with("d", first.d);
        let axes = self.study.axes.iter().zip(&cell.cell.values);
        axes.fold(line, |line, (axis, value)| {
            line.with(axis.name.clone(), value)
        })
    }

    /// The columns in files.
    fn kept(&self) -> impl Iterator<Item = &'static Column> {
        let columns = self.study.table.columns.iter();
        columns.filter(|column| !column.key.is_empty())
    }

    /// A line of the CSV file: the data set and axis values of the cell, and every column with a key.
    /// A line for a point of a learning curve has no standard error, published value or departures.
    fn line(&self, cell: &FinishedCell) -> ResultRow {
        let mut line = match self.study.table.bare {
            true => ResultRow::default(),
            false => self.place(cell),
        };
        let is_snapshot = !self.study.table.snapshots.is_empty();
        let spread = format!("_{}", self.spread());
        for column in self.kept() {
            let sides = ["", "paper_"].into_iter().zip(self.forms(cell, column));
            for (side, forms) in sides.take(1 + usize::from(column.paper && !is_snapshot)) {
                let names = ["", spread.as_str()]
                    .into_iter()
                    .take(2 - usize::from(is_snapshot));
                for (name, value) in names.zip(forms.kept) {
                    line = line.with(format!("{side}{}{name}", column.key), value);
                }
            }
        }
        match is_snapshot {
            true => line,
            false => line.with("departures", cell.departures.as_deref().map(joined)),
        }
    }

    /// A cell as JSON.
    fn record(&self, cell: &FinishedCell) -> Value {
        let mut record = Map::new();
        record.insert("data".into(), cell.cell.data.clone().into());
        for (axis, value) in self.study.axes.iter().zip(&cell.cell.values) {
            record.insert(axis.name.clone(), value.clone().into());
        }
        for column in self.kept() {
            let [ours, paper] = self.forms(cell, column);
            record.insert(column.key.to_owned(), ours.record);
            if column.paper {
                record.insert(format!("paper_{}", column.key), paper.record);
            }
        }
        record.insert("departures".into(), json!(cell.departures));
        record.insert("runs".into(), json!(cell.numbers));
        record.into()
    }

    /// The tables for the terminal, one for each data set.
    pub fn lines(&self) -> Vec<String> {
        let heading = &self.study.table.heading;
        let mut lines = Vec::new();
        let of_data =
            |a: &FinishedCell, b: &FinishedCell| heading.is_none() || a.cell.data == b.cell.data;
        for cells in self.cells.chunk_by(of_data) {
            if let Some(heading) = heading {
                lines.push(first_text(*heading, cells));
            }
            let snapshots = &self.study.table.snapshots;
            lines.extend(aligned(&match snapshots.is_empty() {
                true => self.rows(cells),
                false => self.rows(&at_snapshots(cells, snapshots)),
            }));
            lines.extend(heading.map(|_| String::new()));
        }
        lines
    }

    /// The titles and the rows of a table. Columns for published values appear only if there is a
    /// value.
    fn rows(&self, cells: &[FinishedCell]) -> Vec<Vec<String>> {
        let has_paper = cells.iter().any(|cell| cell.row.is_some());
        let is_shown = |column: &&Column| {
            let has_number = |cell: &FinishedCell| cell.values(column).is_some();
            let has_other = |cell: &FinishedCell| {
                let other = column.instead.as_ref();
                other.is_some_and(|name| cell.numbers[0].0.contains_key(*name))
            };
            !column.title.is_empty()
                && (!column.optional || cells.iter().any(has_number))
                && !cells.iter().any(has_other)
        };
        let columns = self.study.table.columns.iter().filter(is_shown);
        let mut rows = vec![Vec::new(); cells.len() + 1];
        for column in columns {
            let beside = column.paper && has_paper;
            rows[0].push(column.title.clone());
            rows[0].extend(beside.then(|| "paper".to_owned()));
            for (row, cell) in rows[1..].iter_mut().zip(cells) {
                let [ours, paper] = self.forms(cell, column);
                row.push(ours.text);
                row.extend(beside.then_some(paper.text));
            }
        }
        rows
    }

    /// The lines under the table about departures from the paper.
    pub fn departures(&self) -> Vec<String> {
        let name = |cell: &FinishedCell| cell.details().name();
        let named: Vec<_> = (self.cells.iter())
            .map(|cell| (name(cell), &cell.departures))
            .collect();
        departures::lines(&named)
    }

    /// The notes under the table: unconditional ones first, then those about departures, then those
    /// about some cells.
    pub fn notes(&self) -> Vec<String> {
        let (mut lines, mut others) = (Vec::new(), Vec::new());
        for note in &self.study.notes {
            match note.about {
                None => lines.push(note.text.to_owned()),
                Some(about) if self.cells.iter().any(about) => others.push(note.text.to_owned()),
                Some(_) => {}
            }
        }
        lines.extend(self.departures());
        lines.extend(others);
        lines
    }
}

/// A published value of a cell.
fn published(cell: &FinishedCell, key: &str) -> Option<Reported> {
    cell.row.as_ref()?.scores.get(key).copied()
}

/// A row for each requested point of the learning curves.
fn at_snapshots(cells: &[FinishedCell], snapshots: &[f64]) -> Vec<FinishedCell> {
    let of_cell = |cell: &FinishedCell| {
        let count = cell.curve("step").len();
        let snapshot = |share: &f64| ((share * count as f64) as usize).min(count.saturating_sub(1));
        let snapshots = snapshots.iter().filter(move |_| count > 0).map(snapshot);
        snapshots
            .map(|snapshot| cell.at(snapshot))
            .collect::<Vec<_>>()
    };
    cells.iter().flat_map(of_cell).collect()
}
