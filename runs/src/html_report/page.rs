//! The whole page.

use super::html::{escaped, table};
use super::sections;
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
    let title = escaped(&title);
    let sections: String = runs.iter().map(sections::run).collect();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n{}{sections}<footer>burn-gp {version}</footer>\n</main>\n</body>\n</html>\n",
        scores(runs)
    )
}

/// The scores of all runs in one table, with the columns that at least one run has.
fn scores(runs: &[TrainedRun]) -> String {
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
    format!(
        "<h2>Scores on the test rows</h2>\n{}",
        table(&titles, &rows)
    )
}
