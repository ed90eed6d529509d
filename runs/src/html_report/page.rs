//! The whole page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::sections;
use super::table::table;
use super::trained_run::TrainedRun;
use crate::scores::{SCORES, Score, Scores, Shown};

const STYLE: &str = include_str!("style.css");

/// The content security policy: inline styles and embedded images, but no scripts and no network.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// A self-contained page about one or several runs.
pub fn page(runs: &[TrainedRun]) -> String {
    let title = match runs {
        [run] => format!("{} on {}", run.description.model, run.description.data),
        runs => format!("{} models", runs.len()),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main {
                h1 { (title) }
                h2 { "Scores on the test rows" }
                (scores(runs))
                @for run in runs { (sections::section(run)) }
                footer { "burn-gp " (env!("CARGO_PKG_VERSION")) }
            } }
        }
    };
    page.into_string()
}

/// The scores of all runs in one table, with the columns that at least one run has.
fn scores(runs: &[TrainedRun]) -> Markup {
    let scored = || {
        runs.iter()
            .filter_map(|run| run.description.scores.as_ref())
    };
    let shown = |scores: &Scores, score: &Score| {
        let mut shown = scores.shown(Shown::OnPages);
        Some(shown.find(|own| own.score.key == score.key)?.text())
    };
    let columns: Vec<&Score> = (SCORES.iter())
        .filter(|score| scored().any(|scores| shown(scores, score).is_some()))
        .collect();
    let mut titles = vec!["run", "data", "model", "training rows", "test rows"];
    titles.extend(columns.iter().map(|score| score.title));
    titles.push("training");
    let row = |run: &TrainedRun| {
        let description = &run.description;
        let training = description.training.as_ref();
        let mut cells = vec![
            run.name.clone(),
            description.data.clone(),
            description.model.clone(),
            description.n_train.to_string(),
            training.map_or_else(|| "–".into(), |training| training.n_test.to_string()),
        ];
        cells.extend(columns.iter().map(|score| {
            let text = (description.scores.as_ref()).and_then(|scores| shown(scores, score));
            text.unwrap_or_else(|| "–".into())
        }));
        cells.push(training.map_or_else(
            || "–".into(),
            |training| format!("{:.1} s", training.train_seconds),
        ));
        cells
    };
    let rows: Vec<Vec<String>> = runs.iter().map(row).collect();
    table(&titles, &rows)
}
