//! The scores of several models side by side: on the terminal, as JSON and as CSV.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::ComparisonPlan;
use super::outcome::{Outcomes, RunOutcome, Score};
use crate::arguments::{ModelName, name_of};
use crate::failure::Failure;
use crate::plots::ComparedScore;
use crate::report::{self, Metrics};
use crate::summary::Summary;
use crate::text_table::aligned;

/// A finished run in a line.
pub(super) fn progress(outcome: &RunOutcome) -> String {
    let scores = match &outcome.metrics {
        Some(metrics) => format!(
            "{}, {:.1} s",
            report::score_line(&metrics.scores),
            metrics.train_seconds
        ),
        None => "broke off, see above".into(),
    };
    format!("{}: {scores}", outcome.name())
}

/// The table on the terminal.
pub(super) fn text(plan: &ComparisonPlan, outcomes: &Outcomes, folder: &Path) -> String {
    let scores = outcomes.scores();
    let mut rows = vec![header(scores)];
    for &model in &plan.models {
        let cells = scores.iter().map(|score| cell(outcomes, model, score));
        rows.push([name_of(model)].into_iter().chain(cells).collect());
    }
    let mut lines: Vec<String> = outcomes.metrics().take(1).map(report::sizes).collect();
    lines.push(String::new());
    lines.extend(aligned(&rows));
    lines.push(String::new());
    for metrics in outcomes.metrics() {
        let named = |text| format!("warning: {}, seed {}: {text}", metrics.model, metrics.seed);
        lines.extend(metrics.warnings.iter().map(named));
    }
    if plan.seeds.len() > 1 {
        let count = plan.seeds.len();
        lines.push(format!(
            "mean ± standard error over {count} seeds, each with a split of its own"
        ));
    }
    lines.extend(rows_of_validation(plan, outcomes));
    lines.push(
        "scores in standardized units; steps: the seconds of the optimizer's steps alone, without the \
         choice of inducing\npoints, validation and evaluation"
            .into(),
    );
    lines.push(format!("all of it in {}", folder.display()));
    lines.join("\n")
}

/// A sentence about the validation rows, and one if models did not see the same rows.
fn rows_of_validation(plan: &ComparisonPlan, outcomes: &Outcomes) -> Vec<String> {
    let mut lines = Vec::new();
    let without_use: Vec<String> = (plan.models.iter())
        .filter(|model| !model.is_mini_batch())
        .map(|&model| name_of(model))
        .collect();
    let held_out = outcomes
        .metrics()
        .next()
        .map_or(0, |metrics| metrics.n_validation);
    if held_out > 0 && !without_use.is_empty() {
        lines.push(format!(
            "no model trains on the {held_out} validation rows; {} have no other use for them",
            without_use.join(", ")
        ));
    }
    let seeds: Vec<String> = outcomes.uneven_seeds().iter().map(u64::to_string).collect();
    if !seeds.is_empty() {
        lines.push(format!(
            "the models did not see the same numbers of rows with seed {}: not comparable",
            seeds.join(", ")
        ));
    }
    lines
}

fn header(scores: &[Score]) -> Vec<String> {
    let title = |score: &Score| match score.unit {
        Some(unit) => format!("{} ({unit})", score.title),
        None => score.title.to_owned(),
    };
    ["model".to_owned()]
        .into_iter()
        .chain(scores.iter().map(title))
        .collect()
}

fn cell(outcomes: &Outcomes, model: ModelName, score: &Score) -> String {
    let digits = score.digits;
    match Summary::of(&scaled(outcomes, model, score)) {
        Some(Summary {
            mean,
            standard_error: Some(error),
            ..
        }) => format!("{mean:.digits$} ± {error:.digits$}"),
        Some(Summary { mean, .. }) => format!("{mean:.digits$}"),
        None => "-".into(),
    }
}

/// A model's values of a score, in the unit for people.
fn scaled(outcomes: &Outcomes, model: ModelName, score: &Score) -> Vec<f64> {
    let values = outcomes.values(model, score).into_iter();
    values.map(|value| score.scale * value).collect()
}

/// One line a run.
pub(super) fn csv(outcomes: &Outcomes) -> String {
    let scores = outcomes.scores();
    let keys: Vec<&str> = scores.iter().map(|score| score.key).collect();
    let mut text = format!("model,seed,{}\n", keys.join(","));
    for metrics in outcomes.metrics() {
        let values = scores.iter().map(|score| match (score.value)(metrics) {
            Some(value) => value.to_string(),
            None => String::new(),
        });
        let values: Vec<String> = values.collect();
        text += &format!("{},{},{}\n", metrics.model, metrics.seed, values.join(","));
    }
    text
}

/// Everything, for programs.
#[derive(Serialize)]
struct Record<'a> {
    data: Option<&'a str>,
    seeds: &'a [u64],
    models: Vec<ModelRecord>,
    runs: Vec<&'a Metrics>,
    broken: Vec<String>,
}

/// A model's scores.
#[derive(Serialize)]
struct ModelRecord {
    model: ModelName,
    scores: BTreeMap<&'static str, Summary>,
}

/// The comparison as JSON.
///
/// # Errors
///
/// When it cannot be written as such.
pub(super) fn json(
    plan: &ComparisonPlan,
    outcomes: &Outcomes,
    folder: &Path,
) -> Result<String, Failure> {
    let models = plan.models.iter().map(|&model| ModelRecord {
        model,
        scores: (outcomes.scores().iter())
            .filter_map(|score| {
                let summary = Summary::of(&outcomes.values(model, score))?;
                Some((score.key, summary))
            })
            .collect(),
    });
    let record = Record {
        data: outcomes.data(),
        seeds: &plan.seeds,
        models: models.collect(),
        runs: outcomes.metrics().collect(),
        broken: outcomes.broken().iter().map(RunOutcome::name).collect(),
    };
    let text = serde_json::to_string_pretty(&record).map_err(std::io::Error::other);
    Ok(text.map_err(Failure::writing(folder))? + "\n")
}

/// What the plot shows; nothing when no run has scores.
pub(super) fn panels(plan: &ComparisonPlan, outcomes: &Outcomes) -> Vec<ComparedScore> {
    if outcomes.metrics().next().is_none() {
        return Vec::new();
    }
    let shown = ["rmse", "error", "nlpd", "train_seconds"];
    let scores = outcomes.scores().iter();
    let shown = scores.filter(|score| shown.contains(&score.key));
    shown
        .map(|score| ComparedScore {
            name: score.title,
            unit: score.unit,
            values: (plan.models.iter())
                .map(|&model| scaled(outcomes, model, score))
                .collect(),
        })
        .collect()
}
