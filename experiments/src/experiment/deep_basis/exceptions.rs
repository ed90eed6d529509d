//! Where the numbers of Table 1 say other than the paper's text, and whether ours do, too.
//!
//! Section 4.2 has DBK ahead of Gaussian processes and deep kernel learning, SVDBK ahead of exact DBK
//! on protein and song, corrections that help, and more basis functions ahead of one. Its own numbers
//! have exceptions from each, which are found in the table itself.

use super::cells::{Cell, Run};
use super::method::Method;
use super::published::{DATA_SETS, Published, published};
use crate::text_table::aligned;

/// The mean negative log density of standardized targets under a standard normal distribution:
/// `½(1 + log 2π)`.
const CONSTANT: f64 = 1.418_938_533_204_672_7;

/// A score, less of which is better.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Score {
    Mae,
    Rmse,
    Nlpd,
}

use Score::{Mae, Nlpd, Rmse};

impl Score {
    const ALL: [Self; 3] = [Mae, Rmse, Nlpd];

    fn title(self) -> &'static str {
        match self {
            Mae => "MAE",
            Rmse => "RMSE",
            Nlpd => "NLPD",
        }
    }

    fn of_paper(self, cell: &Published) -> f64 {
        match self {
            Mae => cell.mae.mean,
            Rmse => cell.rmse.mean,
            Nlpd => cell.nlpd.mean,
        }
    }

    /// The mean over the seeds.
    fn of_ours(self, cell: &Cell) -> Option<f64> {
        let number = |run: &Run| match self {
            Mae => run.mae,
            Rmse => run.rmse,
            Nlpd => run.nlpd,
        };
        cell.summary(number).map(|summary| summary.mean)
    }
}

/// According to the text the first model is ahead of the second.
type Claim = (Method, Method);

/// Deep basis kernels beside the models of their class.
const AHEAD: [Claim; 6] = [
    (Method::Dbk, Method::Gp),
    (Method::Dbk, Method::Sgp),
    (Method::Dbk, Method::Dkl),
    (Method::Dbk, Method::Sdkl),
    (Method::Svdbk, Method::Svgp),
    (Method::Svdbk, Method::Svdkl),
];

/// The correction, 128 functions instead of one, and both.
const ABLATED: [Claim; 10] = [
    (Method::Dbk, Method::DbkC),
    (Method::DbkR, Method::DbkCr),
    (Method::Svdbk, Method::SvdbkC),
    (Method::SvdbkR, Method::SvdbkCr),
    (Method::Dbk, Method::DbkR),
    (Method::DbkC, Method::DbkCr),
    (Method::Svdbk, Method::SvdbkR),
    (Method::SvdbkC, Method::SvdbkCr),
    (Method::Dbk, Method::DbkCr),
    (Method::Svdbk, Method::SvdbkCr),
];

/// Mini-batches beside all rows, claimed of protein and song.
const IN_BATCHES: Claim = (Method::Svdbk, Method::Dbk);

/// What the text claims of a data set.
fn claims(data: &str) -> impl Iterator<Item = Claim> {
    let of_batches = (data != "pol").then_some(IN_BATCHES);
    AHEAD.into_iter().chain(ABLATED).chain(of_batches)
}

/// On these data the first model is ahead of the second in the paper's table, against its text.
#[derive(Clone, Debug, PartialEq)]
struct Exception {
    data: &'static str,
    ahead: Method,
    behind: Method,
    scores: Vec<Score>,
}

/// Every claim that a number of the table contradicts.
fn exceptions() -> Vec<Exception> {
    let of_claim = |data, (better, worse): Claim| {
        let (better_cell, worse_cell) = published(data, better).zip(published(data, worse))?;
        let contradicts =
            |score: &Score| score.of_paper(&worse_cell) < score.of_paper(&better_cell);
        let scores: Vec<Score> = Score::ALL.into_iter().filter(contradicts).collect();
        (!scores.is_empty()).then_some(Exception {
            data,
            ahead: worse,
            behind: better,
            scores,
        })
    };
    (DATA_SETS.into_iter())
        .flat_map(|data| claims(data).filter_map(move |claim| of_claim(data, claim)))
        .collect()
}

/// The lines of the terminal about data and models that are among the cells with runs as in the paper;
/// none without them.
pub(super) fn lines(cells: &[Cell]) -> Vec<String> {
    let mut lines = Vec::new();
    let rows: Vec<Vec<String>> = (exceptions().iter())
        .flat_map(|exception| rows(exception, cells))
        .collect();
    if !rows.is_empty() {
        lines.push(
            "Where the paper's numbers are not as its text has them (DBK ahead of other kernels, batches of \
             all rows, corrected of\nnot, 128 functions of one), and ours:"
                .to_owned(),
        );
        let titles = [
            "data", "ahead", "behind", "score", "paper", "ours", "here too",
        ];
        let titles = vec![titles.map(str::to_owned).to_vec()];
        lines.extend(aligned(&[titles, rows].concat()));
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

/// One row a score, if both models are among the cells.
fn rows(exception: &Exception, cells: &[Cell]) -> Vec<Vec<String>> {
    let &Exception {
        data,
        ahead,
        behind,
        ref scores,
    } = exception;
    let ours = |method| {
        let own = cells.iter().filter(|cell| cell.is_as_in_paper());
        let mut own = own.map(|cell| (cell, cell.first()));
        own.find(|(_, run)| run.data == data && run.method == method)
    };
    let pair =
        (ours(ahead).zip(ours(behind))).zip(published(data, ahead).zip(published(data, behind)));
    let Some((((first, _), (second, _)), (paper_first, paper_second))) = pair else {
        return Vec::new();
    };
    let row = |score: &Score| {
        let ours = score.of_ours(first).zip(score.of_ours(second))?;
        let paper = (score.of_paper(&paper_first), score.of_paper(&paper_second));
        let both = |(first, second): (f64, f64)| format!("{first:.4} {second:.4}");
        Some(vec![
            data.to_owned(),
            ahead.title().to_owned(),
            behind.title().to_owned(),
            score.title().to_owned(),
            both(paper),
            both(ours),
            if ours.0 < ours.1 { "yes" } else { "no" }.to_owned(),
        ])
    };
    scores.iter().filter_map(row).collect()
}

/// A model whose predictions are worse than a constant, with the paper's number.
fn overfitted(cell: &Cell) -> Option<String> {
    let Run { data, method, .. } = cell.first();
    let ours = Nlpd.of_ours(cell).filter(|&nlpd| nlpd > CONSTANT)?;
    let paper = published(data, *method).map_or_else(String::new, |paper| {
        format!(" (paper {:.3})", paper.nlpd.mean)
    });
    Some(format!("{} on {data} {ours:.3}{paper}", method.title()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::experiment::departures::Departure;

    fn cell(data: &str, method: Method, scores: [f64; 3]) -> Cell {
        let [mae, rmse, nlpd] = scores;
        Cell {
            departures: Some(Vec::new()),
            folder: PathBuf::from("10-steps"),
            runs: vec![Run {
                data: data.into(),
                method,
                seed: 0,
                mae,
                rmse,
                nlpd,
                rows: 100,
                inputs: 4,
                steps: 10,
                step_kept: 10,
                train_seconds: 1.0,
                peak_memory: None,
            }],
        }
    }

    /// By hand from the printed table.
    #[test]
    fn exceptions_are_those_of_the_printed_table() {
        let found = exceptions();
        let scores = |data, ahead, behind| -> &[Score] {
            let mut exceptions = found.iter();
            let of_pair =
                |own: &&Exception| (own.data, own.ahead, own.behind) == (data, ahead, behind);
            exceptions.find(of_pair).map_or(&[], |own| &own.scores)
        };
        let all = &[Mae, Rmse, Nlpd][..];
        let by_hand = [
            ("pol", Method::Svdkl, Method::Svdbk, &[Mae, Nlpd][..]),
            ("pol", Method::DbkCr, Method::DbkR, &[Mae, Rmse]),
            ("pol", Method::DbkCr, Method::DbkC, all),
            ("pol", Method::SvdbkC, Method::Svdbk, &[Nlpd]),
            ("pol", Method::SvdbkCr, Method::SvdbkR, &[Nlpd]),
            ("pol", Method::SvdbkR, Method::Svdbk, all),
            ("pol", Method::SvdbkCr, Method::SvdbkC, all),
            ("pol", Method::SvdbkCr, Method::Svdbk, all),
            ("protein", Method::Sgp, Method::Dbk, &[Nlpd]),
            ("protein", Method::Sdkl, Method::Dbk, &[Mae, Rmse]),
            ("protein", Method::DbkR, Method::Dbk, all),
            ("protein", Method::DbkCr, Method::DbkC, all),
            ("protein", Method::DbkCr, Method::Dbk, all),
            ("song", Method::Sgp, Method::Dbk, &[Nlpd]),
            ("song", Method::DbkCr, Method::DbkR, all),
            ("song", Method::DbkCr, Method::DbkC, all),
            ("song", Method::DbkCr, Method::Dbk, all),
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

    /// Whatever two cells of a class differ in is claimed of, one way or the other.
    #[test]
    fn every_pair_of_neighboring_variants_is_claimed_of() {
        let variants = [
            [Method::Dbk, Method::DbkC, Method::DbkR, Method::DbkCr],
            [
                Method::Svdbk,
                Method::SvdbkC,
                Method::SvdbkR,
                Method::SvdbkCr,
            ],
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
            cell("protein", Method::Sdkl, [0.40, 0.62, 1.6]),
            cell("protein", Method::Dbk, [0.41, 0.61, 1.2]),
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
        assert!(lines(&[cell("pol", Method::Dbk, [0.1, 0.1, -1.0])]).is_empty());
        let shorter = Cell {
            departures: Some(Departure::of("epochs", 1, 2000).into_iter().collect()),
            ..cell("protein", Method::Sdkl, [0.40, 0.62, 1.6])
        };
        let dbk = cell("protein", Method::Dbk, [0.41, 0.61, 1.2]);
        assert!(lines(&[shorter, dbk]).is_empty());
    }

    #[test]
    fn the_constant_is_that_of_a_standard_normal() {
        let value = 0.5 * (1.0 + (2.0 * std::f64::consts::PI).ln());
        assert!((CONSTANT - value).abs() < 1e-15);
    }
}
