//! The table of a sweep.

use clap::ValueEnum;
use serde_json::{Map, Value};

use super::file::{
    Axis, AxisValue, Column, DataSets, Note, OneOrMany, Patch, Plot, Seeds, Spread, Study, Table,
};
use super::finished::FinishedCell;
use super::sweep::Swept;
use super::template::Template;
use crate::arguments::ModelName;
use crate::report::Metrics;

/// The study of a grid on data sets, with the options of all runs. Folders of a comparison are
/// named after its models.
pub fn study(
    grid: &[Swept],
    data: Vec<String>,
    run: Map<String, Value>,
    is_comparison: bool,
) -> Study {
    let template = |text: &str| match Template::new(text) {
        Ok(template) => template,
        Err(error) => unreachable!("names of options have no braces: {error}"),
    };
    let names: Vec<&str> = grid.iter().map(|swept| swept.field.as_str()).collect();
    let title: Vec<String> = names.iter().map(|name| format!("{{{name}}}")).collect();
    let title = template(&title.join(", "));
    let segments = names.iter().map(|name| match is_comparison {
        true => format!("{{{name}}}"),
        false => format!("{name}-{{{name}}}"),
    });
    let data_segment = (!is_comparison).then(|| "{data}".to_owned());
    let folder: Vec<String> = data_segment.into_iter().chain(segments).collect();
    let text = |key: &str, name: &str| Column {
        key: key.into(),
        title: name.replace('_', " "),
        text: Some(template(&format!("{{{name}}}"))),
        ..Column::default()
    };
    let columns = names.iter().map(|name| text("", name));
    let columns = columns.chain(scores()).chain([text("seeds", "seeds")]);
    Study {
        name: "sweep".into(),
        about: String::new(),
        help: String::new(),
        protocol: None,
        figures: false,
        single_precision: false,
        data: DataSets {
            option: String::new(),
            names: data,
            of_paper: None,
            quick: Vec::new(),
            paper: Vec::new(),
            fixed: true,
        },
        seeds: Seeds::default(),
        axes: grid.iter().map(Swept::axis).collect(),
        run: Patch {
            always: run,
            ..Patch::default()
        },
        conditional: Vec::new(),
        in_paper: Patch::default(),
        options: Vec::new(),
        folder: template(&folder.join("/")),
        table: Table {
            title: title.clone(),
            name: title,
            distinguish: Vec::new(),
            heading: Some(template("{sizes}")),
            bare: false,
            looks: Vec::new(),
            spread: Spread::Error,
            digits: 4,
            columns: columns.collect(),
        },
        published: Vec::new(),
        sizes: String::new(),
        plots: vec![Plot::Comparison {
            scores: ["error", "rmse", "nlpd", "train_seconds"]
                .map(str::to_owned)
                .to_vec(),
        }],
        notes: vec![Note {
            text: "mean (standard error) over the seeds, each with a split of its own, in standardized \
                   units; steps: the\nseconds of the optimizer's steps alone, without the choice of \
                   inducing points, validation and evaluation"
                .into(),
            option: None,
            departure: None,
        }],
    }
}

impl Swept {
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

/// The score columns for regression and classification.
fn scores() -> impl Iterator<Item = Column> {
    let score = |key: &str, title: &str, digits: usize, unit: f64| Column {
        key: key.into(),
        title: title.into(),
        value: Some(OneOrMany::One(key.into())),
        unit: Some(unit),
        digits: Some(digits),
        optional: true,
        ..Column::default()
    };
    let of_regression = |column: Column| Column {
        instead: Some("error".into()),
        ..column
    };
    [
        score("error", "error (%)", 2, 100.0),
        of_regression(score("rmse", "RMSE", 4, 1.0)),
        of_regression(score("mae", "MAE", 4, 1.0)),
        score("nlpd", "NLPD", 4, 1.0),
        of_regression(score("coverage95", "coverage (%)", 1, 100.0)),
        score("ece", "ECE", 4, 1.0),
        score("train_seconds", "steps (s)", 1, 1.0),
        score("peak_memory", "memory (MB)", 0, 1e-6),
    ]
    .into_iter()
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
            "the models did not see the same numbers of rows with seed {}: not comparable",
            uneven.join(", ")
        ));
    }
    lines
}

/// A note about validation rows that some models do not use.
fn rows_of_validation(cells: &[FinishedCell]) -> Option<String> {
    let held_out = cells.iter().map(|cell| cell.runs[0].n_validation).max()?;
    let is_without_use = |cell: &&FinishedCell| {
        let model = ModelName::from_str(&cell.runs[0].model, false);
        !model.is_ok_and(ModelName::is_mini_batch)
    };
    let mut without_use: Vec<String> = cells
        .iter()
        .filter(is_without_use)
        .map(|cell| cell.runs[0].model.clone())
        .collect();
    without_use.dedup();
    (held_out > 0 && !without_use.is_empty()).then(|| {
        format!(
            "no model trains on the {held_out} validation rows; {} have no other use for them",
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
