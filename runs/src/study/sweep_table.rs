//! The table of a sweep.

use serde_json::{Map, Value};

use super::file::{Axis, AxisValue, Column, Study};
use super::finished::FinishedCell;
use super::sweep::Swept;
use super::template::Template;
use crate::arguments::{ModelChoice, ModelFields, RunOptions};
use crate::report::Metrics;

/// The study of a sweep over `grid` on data sets, with the options of all runs. The folders of a
/// comparison are named after its models.
pub fn study(
    grid: &[Swept],
    data: Vec<String>,
    run: Map<String, Value>,
    is_comparison: bool,
) -> Study {
    let template = |text: &str| match Template::new(text) {
        Ok(template) => template,
        Err(error) => unreachable!("option names contain no braces: {error}"),
    };
    let names: Vec<&str> = grid.iter().map(|swept| swept.field.as_str()).collect();
    let titles: Vec<String> = grid.iter().map(Swept::title).collect();
    let title = template(&titles.join(", "));
    let segments = names.iter().map(|name| match is_comparison {
        true => format!("{{{name}}}"),
        false => format!("{name}-{{{name}}}"),
    });
    let data_segment = (!is_comparison).then(|| "{data}".to_owned());
    let folder: Vec<String> = data_segment.into_iter().chain(segments).collect();
    let column = |name: &&str| Column {
        title: name.replace('_', " "),
        text: Some(template(&format!("{{{name}}}"))),
        ..Column::default()
    };
    let mut study: Study = match toml::from_str(include_str!("sweep.toml")) {
        Ok(study) => study,
        Err(error) => unreachable!("sweep.toml is invalid: {error}"),
    };
    study.data.names = data;
    study.axes = grid.iter().map(Swept::axis).collect();
    study.run.always = run;
    study.folder = template(&folder.join("/"));
    study.table.title = title.clone();
    study.table.name = title;
    study.table.columns.splice(0..0, names.iter().map(column));
    study
}

impl Swept {
    /// The template of a value in the name of a run. Numbers come with the option's name, because
    /// they say little alone.
    fn title(&self) -> String {
        let name = &self.field;
        let is_number =
            |value: &String| value.parse::<f64>().is_ok() || value.parse::<bool>().is_ok();
        match self.values.iter().all(is_number) {
            true => format!("{} {{{name}}}", name.replace('_', " ")),
            false => format!("{{{name}}}"),
        }
    }

    fn axis(&self) -> Axis {
        let value = |name: &String| AxisValue {
            name: name.clone(),
            ..AxisValue::default()
        };
        Axis {
            name: self.field.clone(),
            option: None,
            help: String::new(),
            field: Some(self.field.clone()),
            default: None,
            values: self.values.iter().map(value).collect(),
        }
    }
}

/// Warnings of the runs, and a warning if the models used different numbers of rows.
pub fn findings(cells: &[FinishedCell]) -> Vec<String> {
    let several = cells
        .iter()
        .any(|cell| cell.cell.data != cells[0].cell.data);
    let warnings = |cell: &FinishedCell| -> Vec<String> {
        let data = several.then(|| cell.cell.data.clone());
        let words: Vec<String> = data.into_iter().chain(cell.cell.values.clone()).collect();
        let name = words.join(", ");
        let of_run = |run: &Metrics| -> Vec<String> {
            let named = |text| format!("warning: {name}, seed {}: {text}", run.seed);
            run.warnings.iter().map(named).collect()
        };
        cell.runs.iter().flat_map(of_run).collect()
    };
    let mut lines: Vec<String> = cells.iter().flat_map(warnings).collect();
    lines.extend(rows_of_validation(cells));
    let uneven = uneven_seeds(cells);
    if !uneven.is_empty() {
        lines.push(format!(
            "not comparable: the models used different numbers of rows with seed {}",
            uneven.join(", ")
        ));
    }
    lines
}

/// A note if some models do not use the validation rows.
fn rows_of_validation(cells: &[FinishedCell]) -> Option<String> {
    let held_out = cells.iter().map(|cell| cell.runs[0].n_validation).max()?;
    let is_without_use = |cell: &&FinishedCell| {
        let model = ModelChoice::find(&cell.runs[0].model);
        !model.is_some_and(|model| ModelFields::new(model, &RunOptions::default()).is_mini_batch())
    };
    let mut without_use: Vec<String> = cells
        .iter()
        .filter(is_without_use)
        .map(|cell| cell.runs[0].model.clone())
        .collect();
    without_use.dedup();
    (held_out > 0 && !without_use.is_empty()).then(|| {
        format!(
            "no model trains on the {held_out} validation rows; models that do not use them at all: {}",
            without_use.join(", ")
        )
    })
}

/// The seeds whose runs on the same data differ in the number of training, validation or test rows.
fn uneven_seeds(cells: &[FinishedCell]) -> Vec<String> {
    let mut uneven = Vec::new();
    for cells in cells.chunk_by(|a, b| a.cell.data == b.cell.data) {
        let runs = || cells.iter().flat_map(|cell| &cell.runs);
        let mut seeds: Vec<u64> = runs().map(|run| run.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        uneven.extend(seeds.into_iter().filter(|&seed| {
            let own = runs().filter(|run| run.seed == seed);
            let mut sizes = own.map(|run| (run.n_train, run.n_validation, run.n_test));
            let first = sizes.next();
            sizes.any(|size| Some(size) != first)
        }));
    }
    uneven.iter().map(u64::to_string).collect()
}
