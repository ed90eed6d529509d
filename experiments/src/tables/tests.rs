//! Tests that apply to all tables of papers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use burn_gp_datasets::DataSource;
use burn_gp_runs::{
    arguments::RunOptions,
    plan::check,
    study::{
        Cell, OptionSource, Request, Study, all, departures_of, identity, joined, named, place_of,
    },
};
use clap::Command;

/// The differences between the options `here` and `paper`, for any data.
fn departures_between(here: RunOptions, paper: RunOptions) -> String {
    let data = "synthetic:sines?n=40&noise=0.1&seed=1";
    let of_data = |options| RunOptions {
        data: Some(data.into()),
        ..options
    };
    let source = DataSource::resolve(data, None).unwrap();
    let here = check(&of_data(here), &source).unwrap();
    joined(&departures_of(Some(&here), of_data(paper)))
}

/// The request of a command line.
fn request(study: &'static Study, line: &str) -> Request {
    let command = study.command().no_binary_name(true);
    let matches = command.try_get_matches_from(line.split_whitespace());
    let request = matches.and_then(|matches| study.request(&matches));
    let mut request = request.unwrap_or_else(|error| panic!("{}: {error}", study.name));
    for name in study
        .data
        .names
        .iter()
        .filter(|_| study.data.option.is_none())
    {
        // Any file will do, because no rows are read.
        request.choice.files.insert(name.clone(), name.clone());
    }
    request
}

/// The cells of a study on one of its data sets, with the departures of their runs from the
/// paper's.
fn departures(name: &str, line: &str, data: &str) -> BTreeMap<String, String> {
    let study = named(name);
    let request = request(study, line);
    let told = |cell: &Cell, whose| study.options(cell, &request, whose, 4).unwrap();
    let cells = request.cells(study, data).into_iter();
    cells
        .map(|cell| {
            let (here, paper) = (
                told(&cell, OptionSource::Ours),
                told(&cell, OptionSource::Papers),
            );
            (cell.values.join(" "), departures_between(here, paper))
        })
        .collect()
}

#[test]
fn command_lines_are_consistent() {
    for study in all() {
        Command::debug_assert(study.command());
        let name = &study.name;
        assert!(study.about.contains("arXiv:"), "{name}");
    }
}

#[test]
fn every_cell_can_be_run_at_both_scales() {
    for study in all() {
        for scale in ["quick", "paper"] {
            let request = request(study, &format!("--scale {scale}"));
            for data in &study.data.names {
                let mut places: Vec<PathBuf> = Vec::new();
                for cell in request.cells(study, data) {
                    let options = study
                        .options(&cell, &request, OptionSource::Ours, 4)
                        .unwrap();
                    assert!(options.model.is_some(), "{cell:?}");
                    let (name, place) = place_of(study, &cell, &options);
                    assert!(
                        !name.is_empty() && !places.contains(&place),
                        "{cell:?} in {place:?}"
                    );
                    places.push(place);
                }
            }
        }
    }
}

/// Every row of a published table belongs to a cell, and every number in it has a column.
#[test]
fn published_numbers_have_a_place() {
    for study in all() {
        let keys: Vec<&str> = (study.table.columns.iter())
            .map(|column| column.key)
            .collect();
        for row in &study.published {
            for key in row.scores.keys() {
                assert!(keys.contains(&key.as_str()), "{}: {key}", study.name);
            }
            for (axis, word) in &row.place {
                let known = match study.axes.iter().find(|own| own.name == *axis) {
                    Some(axis) => axis.values.iter().any(|value| value.name == *word),
                    None => study.data.names.contains(word),
                };
                assert!(known, "{}: {axis} {word}", study.name);
            }
        }
    }
}

#[test]
fn runs_of_the_papers_scale_depart_in_nothing_and_quick_ones_do() {
    let is_compared = |study: &&Study| study.figures || !study.published.is_empty();
    for study in all().iter().filter(is_compared) {
        let asked = match study.name {
            "cagp-uci" => "--action-rows given",
            _ => "",
        };
        let data = &study.data.names[0];
        for (cell, found) in departures(study.name, &format!("--scale paper {asked}"), data) {
            assert_eq!(found, "", "{}: {cell}", study.name);
        }
        for (cell, found) in departures(study.name, asked, data) {
            assert_ne!(found, "", "{}: {cell}", study.name);
        }
    }
}

#[test]
fn options_that_differ_from_the_papers_are_departures() {
    let cases = [
        (
            "cagp-uci",
            "--methods cagp-opt-adam",
            "bike",
            "action-rows near instead of given",
        ),
        (
            "cagp-uci",
            "--methods svgp --epochs 1",
            "bike",
            "epochs 1 instead of 1000",
        ),
        (
            "cagp-uci",
            "--methods svgp --inducing 64",
            "bike",
            "inducing 64 instead of 1024",
        ),
        (
            "cagp-uci",
            "--methods svgp --learning-rate 0.5",
            "bike",
            "learning-rate 0.5 instead of 0.01",
        ),
        (
            "cagp-uci",
            "--methods exact --line-searches 7",
            "bike",
            "epochs 7 instead of 2000",
        ),
        (
            "cagp-uci",
            "--methods cggp --cached-variances 8",
            "bike",
            "cached-variances 8 instead of none",
        ),
        (
            "dbk-uci",
            "--methods svdbk --epochs 1",
            "pol",
            "epochs 1 instead of 2000",
        ),
        (
            "dbk-uci",
            "--methods dbk --iterations 20",
            "pol",
            "steps 20 instead of 10000",
        ),
        (
            "dbk-uci",
            "--methods gp --line-searches 3",
            "pol",
            "steps 3 instead of 200",
        ),
        (
            "solve-regression",
            "--columns svgp-1024 --epochs 1",
            "bike",
            "epochs 1 instead of 100",
        ),
        (
            "conv-cifar10",
            "--models svgp-m --learning-rate 0.01",
            "cifar-10",
            "learning-rate 0.01 instead of 0.003",
        ),
        (
            "conv-cifar10",
            "--models svgp-2m --inducing 500",
            "cifar-10",
            "inducing 1000 instead of 2000",
        ),
        (
            "deep-kin40k",
            "--depths 3 --posteriors whitened --batch-size 10",
            "kin40k",
            "batch-size 10 instead of 1000",
        ),
        (
            "inverse-free-uci",
            "--models r --inducing 300",
            "kin40k",
            "inducing 300 instead of 1000",
        ),
        (
            "inverse-free-uci",
            "--models w --inducing 2000 --steps 40",
            "kin40k",
            "steps 40 instead of 20000",
        ),
        (
            "inverse-free-mnist",
            "--models r --learning-rate 0.1",
            "mnist",
            "learning-rate 0.1 instead of 0.001",
        ),
    ];
    for (name, line, data, expected) in cases {
        let found = departures(name, &format!("--scale paper {line}"), data);
        let found: Vec<&String> = found.values().collect();
        assert_eq!(found, [expected], "{name} {line}");
    }
}

/// More probes than inducing points have no advantage over exact traces.
#[test]
fn probes_are_at_most_as_many_as_inducing_points() {
    let study = named("inverse-free-uci");
    let request = request(study, "--models w,r --inducing 8,255,256,1000");
    let cells = request.cells(study, "kin40k").into_iter();
    let probes = cells.map(|cell| {
        let options = study
            .options(&cell, &request, OptionSource::Ours, 4)
            .unwrap();
        options.probes
    });
    let probes: Vec<Option<usize>> = probes.collect();
    let expected = [None, None, None, None, None, Some(256), None, Some(256)];
    assert_eq!(probes, expected);
}

/// The command of a study with several protocols takes the options of each.
#[test]
fn a_protocol_is_chosen_by_its_name() {
    let main = named("inverse-free-uci");
    let chosen = |line: &str| {
        let command = main.command().no_binary_name(true);
        let matches = command
            .try_get_matches_from(line.split_whitespace())
            .unwrap();
        let study = main.chosen(&matches);
        let request = study.request(&matches).unwrap();
        (study.name, request.cells(study, "kin40k").len())
    };
    assert_eq!(chosen("--models w"), ("inverse-free-uci", 2));
    let line = "--protocol table-1 --inducing 8,16 --models r --steps 3 --seeds 2";
    assert_eq!(chosen(line), ("inverse-free-uci-table-1", 2));
}

#[test]
fn another_likelihood_has_other_parameters() {
    let found = departures(
        "deep-conv-cifar10",
        "--scale paper --layers 2 --models svgp-m --likelihood softmax --hidden-inducing 12",
        "cifar-10",
    );
    let mut parts: Vec<&str> = found["2 svgp-m"].split("; ").collect();
    parts.sort_unstable();
    let expected = [
        "fix none instead of [\"likelihood.epsilon\"]",
        "hidden-inducing 12 instead of 384",
        "likelihood softmax instead of robust-max",
    ];
    assert_eq!(parts, expected);
}

#[test]
fn the_scale_is_part_of_what_runs_have_in_common_unless_folders_tell_it() {
    for (name, expected) in [
        ("cagp-uci", false),
        ("solve-regression", true),
        ("dbk-rank", true),
    ] {
        let study = named(name);
        let identity = identity(study, &request(study, "")).unwrap();
        assert_eq!(!identity["scale"].is_null(), expected, "{name}: {identity}");
    }
}
