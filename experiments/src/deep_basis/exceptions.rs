//! Exceptions in Table 1 to the claims in the paper's text, and whether our results agree with
//! them.
//!
//! Section 4.2 claims that DBK is better than Gaussian processes and deep kernel learning, that
//! SVDBK is better than exact DBK on protein and song, that corrections help, and that more basis
//! functions are better than one. The table has exceptions to each claim. This module finds them
//! in the table.

use burn_gp_runs::study::{self, Cell, FinishedCell, ResultRow, table};

/// The study of Table 1.
const TABLE_1: &str = "dbk-uci";

/// The mean negative log density of standardized targets under a standard normal distribution:
/// `½(1 + log 2π)`.
const CONSTANT: f64 = 1.418_938_533_204_672_7;

/// The keys of the scores; lower is better.
const SCORES: [&str; 3] = ["mae", "rmse", NLPD];
const NLPD: &str = "nlpd";

/// A score in the paper's table.
fn of_paper(data: &str, method: &str, score: &str) -> Option<f64> {
    let cell = Cell {
        data: data.to_owned(),
        values: vec![method.to_owned()],
    };
    let row = study::named(TABLE_1).row(&cell)?;
    row.scores.get(score).map(|reported| reported.mean)
}

/// Our mean of a score over the seeds.
fn of_ours(cell: &FinishedCell, score: &str) -> Option<f64> {
    let columns = &study::named(TABLE_1).table.columns;
    let column = columns.iter().find(|column| column.key == score)?;
    cell.summary(column).map(|summary| summary.mean)
}

/// The paper's name of a model.
fn title(method: &str) -> &'static str {
    let mut values = study::named(TABLE_1).axes[0].values.iter();
    let own = values.find(|value| value.name == method);
    own.map_or("", |value| &value.title)
}

/// The text claims that the first model is better than the second.
type Claim = (&'static str, &'static str);

/// Deep basis kernels against other models of their class.
const AHEAD: [Claim; 6] = [
    ("dbk", "gp"),
    ("dbk", "sgp"),
    ("dbk", "dkl"),
    ("dbk", "sdkl"),
    ("svdbk", "svgp"),
    ("svdbk", "svdkl"),
];

/// With correction against without, 128 functions against one, and both differences together.
const ABLATED: [Claim; 10] = [
    ("dbk", "dbk-c"),
    ("dbk-r", "dbk-cr"),
    ("svdbk", "svdbk-c"),
    ("svdbk-r", "svdbk-cr"),
    ("dbk", "dbk-r"),
    ("dbk-c", "dbk-cr"),
    ("svdbk", "svdbk-r"),
    ("svdbk-c", "svdbk-cr"),
    ("dbk", "dbk-cr"),
    ("svdbk", "svdbk-cr"),
];

/// Mini-batches against full batch; claimed for protein and song.
const IN_BATCHES: Claim = ("svdbk", "dbk");

/// The claims of the text about a data set.
fn claims(data: &str) -> impl Iterator<Item = Claim> {
    let of_batches = (data != "pol").then_some(IN_BATCHES);
    AHEAD.into_iter().chain(ABLATED).chain(of_batches)
}

/// A pair of models on a data set that the table ranks differently than the text does.
#[derive(Clone, Debug, PartialEq)]
struct Exception {
    data: &'static str,
    ahead: &'static str,
    behind: &'static str,
    scores: Vec<&'static str>,
}

/// All claims that a number in the table contradicts.
fn exceptions() -> Vec<Exception> {
    let of_claim = |data: &'static str, (better, worse): Claim| {
        let contradicts = |score: &&str| {
            let numbers = of_paper(data, worse, score).zip(of_paper(data, better, score));
            numbers.is_some_and(|(worse, better)| worse < better)
        };
        let scores: Vec<&str> = SCORES.into_iter().filter(contradicts).collect();
        (!scores.is_empty()).then_some(Exception {
            data,
            ahead: worse,
            behind: better,
            scores,
        })
    };
    let data_sets = study::named(TABLE_1).data.names.iter();
    data_sets
        .flat_map(|data| claims(data).filter_map(move |claim| of_claim(data, claim)))
        .collect()
}

/// The exceptions as lines for the terminal, for data and models with runs that follow the paper's
/// protocol; empty if there are none.
pub(crate) fn lines(cells: &[FinishedCell]) -> Vec<String> {
    let mut lines = Vec::new();
    let rows: Vec<ResultRow> = (exceptions().iter())
        .flat_map(|exception| rows(exception, cells))
        .collect();
    if !rows.is_empty() {
        lines.push(
            "Where the paper's table contradicts its text (DBK beats other kernels, batches beat all rows, \
             correction beats none,\n128 functions beat one), and our numbers:"
                .to_owned(),
        );
        lines.extend(table(&rows));
        lines.push(String::new());
    }
    let as_in_paper = cells.iter().filter(|cell| cell.is_as_in_paper());
    let overfitted: Vec<String> = as_in_paper.filter_map(overfitted).collect();
    if !overfitted.is_empty() {
        lines.push(format!(
            "Worse in NLPD than a constant ({CONSTANT:.3}), which is overfitting: {}.\n",
            overfitted.join("; ")
        ));
    }
    lines
}

/// One row for each score, if both models are among the cells.
fn rows(exception: &Exception, cells: &[FinishedCell]) -> Vec<ResultRow> {
    let &Exception {
        data,
        ahead,
        behind,
        ref scores,
    } = exception;
    let ours = |method: &str| {
        let mut own = cells.iter().filter(|cell| cell.is_as_in_paper());
        own.find(|own| own.cell.data == data && own.cell.values[0] == method)
    };
    let Some((first, second)) = ours(ahead).zip(ours(behind)) else {
        return Vec::new();
    };
    let row = |score: &&str| {
        let ours = of_ours(first, score).zip(of_ours(second, score))?;
        let paper = of_paper(data, ahead, score).zip(of_paper(data, behind, score))?;
        let both = |(first, second): (f64, f64)| format!("{first:.4} {second:.4}");
        let line = ResultRow::default()
            .shown("data", data)
            .shown("ahead", title(ahead))
            .shown("behind", title(behind))
            .shown("score", score.to_uppercase())
            .shown("paper", both(paper))
            .shown("ours", both(ours))
            .shown("here too", if ours.0 < ours.1 { "yes" } else { "no" });
        Some(line)
    };
    scores.iter().filter_map(row).collect()
}

/// A model that predicts worse than a constant, with the published value.
fn overfitted(cell: &FinishedCell) -> Option<String> {
    let (data, method) = (&cell.cell.data, cell.cell.values[0].as_str());
    let ours = of_ours(cell, NLPD).filter(|&nlpd| nlpd > CONSTANT)?;
    let paper = of_paper(data, method, NLPD);
    let paper = paper.map_or_else(String::new, |paper| format!(" (paper {paper:.3})"));
    Some(format!("{} on {data} {ours:.3}{paper}", title(method)))
}

#[cfg(test)]
mod tests {
    use burn_gp_runs::study::{Departure, RunNumbers};
    use serde_json::{Map, json};

    use super::*;

    fn cell(data: &str, method: &str, [mae, rmse, nlpd]: [f64; 3]) -> FinishedCell {
        let cell = Cell {
            data: data.into(),
            values: vec![method.into()],
        };
        let scores = json!({ "mae": mae, "rmse": rmse, "nlpd": nlpd });
        let scores: Map<String, serde_json::Value> = serde_json::from_value(scores).unwrap();
        let study = study::named(TABLE_1);
        FinishedCell {
            study,
            row: study.row(&cell),
            cell,
            folders: Vec::new(),
            runs: Vec::new(),
            numbers: vec![RunNumbers(scores)],
            options: Map::new(),
            departures: Some(Vec::new()),
        }
    }

    /// The expected exceptions were found by hand in the printed table.
    #[test]
    fn exceptions_are_those_of_the_printed_table() {
        let found = exceptions();
        let scores = |data: &str, ahead: &str, behind: &str| -> &[&str] {
            let mut exceptions = found.iter();
            let of_pair =
                |own: &&Exception| (own.data, own.ahead, own.behind) == (data, ahead, behind);
            exceptions.find(of_pair).map_or(&[], |own| &own.scores)
        };
        let all = &SCORES[..];
        let by_hand = [
            ("pol", "svdkl", "svdbk", &["mae", NLPD][..]),
            ("pol", "dbk-cr", "dbk-r", &["mae", "rmse"]),
            ("pol", "dbk-cr", "dbk-c", all),
            ("pol", "svdbk-c", "svdbk", &[NLPD]),
            ("pol", "svdbk-cr", "svdbk-r", &[NLPD]),
            ("pol", "svdbk-r", "svdbk", all),
            ("pol", "svdbk-cr", "svdbk-c", all),
            ("pol", "svdbk-cr", "svdbk", all),
            ("protein", "sgp", "dbk", &[NLPD]),
            ("protein", "sdkl", "dbk", &["mae", "rmse"]),
            ("protein", "dbk-r", "dbk", all),
            ("protein", "dbk-cr", "dbk-c", all),
            ("protein", "dbk-cr", "dbk", all),
            ("song", "sgp", "dbk", &[NLPD]),
            ("song", "dbk-cr", "dbk-r", all),
            ("song", "dbk-cr", "dbk-c", all),
            ("song", "dbk-cr", "dbk", all),
        ];
        for (data, ahead, behind, expected) in by_hand {
            let pair = (data, ahead, behind);
            assert_eq!(scores(data, ahead, behind), expected, "{pair:?}");
        }
        let listed: usize = by_hand.iter().map(|(.., scores)| scores.len()).sum();
        let others: Vec<&Exception> = (found.iter())
            .filter(|own| {
                let pair = (own.data, own.ahead, own.behind);
                by_hand
                    .iter()
                    .all(|&(data, ahead, behind, _)| (data, ahead, behind) != pair)
            })
            .collect();
        assert!(others.is_empty(), "{listed} listed, and {others:?}");
    }

    /// There is a claim for every pair of variants in a class.
    #[test]
    fn every_pair_of_neighboring_variants_is_claimed_of() {
        let variants = [
            ["dbk", "dbk-c", "dbk-r", "dbk-cr"],
            ["svdbk", "svdbk-c", "svdbk-r", "svdbk-cr"],
        ];
        for [full, uncorrected, single, neither] in variants {
            for claim in [
                (full, uncorrected),
                (single, neither),
                (full, single),
                (uncorrected, neither),
                (full, neither),
            ] {
                assert!(claims("pol").any(|other| other == claim), "{claim:?}");
            }
        }
    }

    #[test]
    fn ours_are_beside_them() {
        let cells = [
            cell("protein", "sdkl", [0.40, 0.62, 1.6]),
            cell("protein", "dbk", [0.41, 0.61, 1.2]),
        ];
        let lines = lines(&cells).join(" ");
        let lines: Vec<&str> = lines.split_whitespace().collect();
        let lines = lines.join(" ");
        for part in [
            "0.4055 0.4592 0.4000 0.4100 yes",
            "0.6036 0.6525 0.6200 0.6100 no",
        ] {
            assert!(lines.contains(part), "{part} is not in\n{lines}");
        }
        assert!(
            lines.contains("overfitting: sDKL on protein 1.600 (paper 2.304)."),
            "{lines}"
        );
    }

    #[test]
    fn nothing_is_said_of_what_is_not_there() {
        assert!(lines(&[cell("pol", "dbk", [0.1, 0.1, -1.0])]).is_empty());
        let shorter = FinishedCell {
            departures: Some(Departure::of("epochs", 1, 2000).into_iter().collect()),
            ..cell("protein", "sdkl", [0.40, 0.62, 1.6])
        };
        let dbk = cell("protein", "dbk", [0.41, 0.61, 1.2]);
        assert!(lines(&[shorter, dbk]).is_empty());
    }

    #[test]
    fn the_constant_is_that_of_a_standard_normal() {
        let value = 0.5 * (1.0 + (2.0 * std::f64::consts::PI).ln());
        assert!((CONSTANT - value).abs() < 1e-15);
    }
}
