//! Invalid command lines, configurations and prediction requests.

use crate::bad_input::playground::{check, contents, playground};
use crate::support::{program, run};

#[test]
fn command_lines_that_cannot_be_understood() {
    check(
        "train",
        &[
            (
                "--epochs 2 --steps 3",
                "the argument '--epochs <E>' cannot be used with '--steps <S>'; see --help",
            ),
            (
                "--leaning-rate 3",
                "unexpected argument '--leaning-rate' found (did you mean --learning-rate?); see --help",
            ),
            (
                "--model gp",
                "invalid value 'gp' for '--model <MODEL>' [possible values: auto, computation-aware, cagp-opt, cagp-cg, itergp, conjugate-gradients, cggp, dbk, deep-gp, conv-gp, deep-conv-gp, dkl, exact, last-layer, bll, markov, markov-variational, sdkl, sgpr, solve-collapsed, svdbk, svdkl, svgp, svgp-unwhitened, solve, solve-unwhitened, odvgp, l-svgp, inverse-free, vecchia, vecchia-laplace, vif, vnngp] (did you mean sgpr?); see --help",
            ),
            (
                "--steps many",
                "invalid value 'many' for '--steps <S>': invalid digit found in string; see --help",
            ),
            (
                "--config both.json",
                "--epochs and --steps cannot be used together; give only one",
            ),
            (
                "--data good.csv --out run",
                "the folder run is not empty; choose another with --out, or replace it with --overwrite",
            ),
            (
                "--data good.csv --out foreign --overwrite",
                "the folder foreign cannot be replaced, because this program did not write \"notes.txt\" in it; choose another with --out",
            ),
            (
                "--data good.csv --out good.csv",
                "good.csv is a file, not a folder; choose another with --out",
            ),
            (
                "--data good.csv --out ..",
                "\"..\" is not a name for a new folder; choose another with --out",
            ),
            (
                "--resume run",
                "run holds a finished run; there is nothing to resume",
            ),
            (
                "--resume nope",
                "nope holds no unfinished run to resume; check the path or start the run again",
            ),
            (
                "--resume run --seed 3",
                "--seed cannot be changed when a run is resumed; remove it or start a new run",
            ),
        ],
    );
    check(
        "prdict",
        &[(
            "",
            "unrecognized subcommand 'prdict' (did you mean predict?); see --help",
        )],
    );
}

/// Counts without a limit of their own end in a failed allocation, an overflow or endless output.
#[test]
fn counts_that_no_machine_can_have() {
    const MOST: &str = "18446744073709551615";
    let options = [
        ("svgp", "inducing", 100_000),
        ("solve", "orthogonal", 100_000),
        ("svgp", "batch-size", 1_000_000_000),
        ("svgp", "steps", 1_000_000_000),
        ("svgp", "epochs", 1_000_000_000),
        ("svgp", "patience", 1_000_000_000),
        ("svgp", "checkpoint-every", 1_000_000_000),
        ("svgp", "folds", 10_000),
        ("odvgp", "columns", 100_000),
        ("cagp-opt", "actions", 100_000),
        ("cggp", "trace-probes", 100_000),
        ("cggp", "iterations", 100_000),
        ("inverse-free", "probes", 100_000),
        ("inverse-free", "inversion-steps", 100_000),
        ("deep-gp", "layers", 10_000),
        ("deep-gp", "width", 100_000),
        ("deep-gp", "hidden-inducing", 100_000),
        ("deep-gp", "samples", 10_000),
        ("deep-gp", "prediction-samples", 10_000),
        ("dbk", "blocks", 10_000),
        ("dbk", "units", 100_000),
        ("dbk", "rank", 100_000),
        ("svdkl", "features", 100_000),
    ];
    let lines = options.map(|(model, option, most)| {
        let line = format!("--model {model} --{option} {MOST}");
        (
            line,
            format!("--{option} is {MOST} but must be at most {most}"),
        )
    });
    let lines: Vec<(&str, &str)> = lines
        .iter()
        .map(|(line, text)| (&**line, &**text))
        .collect();
    check("train --data good.csv --out new", &lines);
    check(
        "train --data good.csv --out new",
        &[
            (
                "--threads 10000",
                "invalid value '10000' for '--threads <COUNT>': must be a whole number from 1 to 1024; see --help",
            ),
            (
                "--model dbk --units 100000 --blocks 10000",
                "--units is 100000 but the network has 10000 blocks of this width; give at most 327",
            ),
        ],
    );
}

#[test]
fn a_configuration_with_an_unknown_field() {
    let folder = playground();
    let before = contents(folder.path());
    let output = run(
        folder.path(),
        &["train", "--config", "unknown.json", "--out", "new"],
    );
    let message = String::from_utf8(output.stderr).unwrap();
    let start = "error: the configuration unknown.json is invalid (unknown field `modell` (did you mean `model`?), expected one of `model`, ";
    assert!(message.starts_with(start), "{message}");
    let end = "at line 1 column 9); give a file like the config.toml of an earlier run\n";
    assert!(message.ends_with(end), "{message}");
    assert_eq!(output.status.code(), Some(2));
    assert!(contents(folder.path()) == before);
}

#[test]
fn a_section_with_an_unknown_option() {
    let folder = playground();
    let text = "[data]\ndata = \"diabetes\"\n\n[training]\nstep = 3\n";
    std::fs::write(folder.path().join("run.toml"), text).unwrap();
    let words = ["train", "--config", "run.toml", "--out", "new"];
    let output = run(folder.path(), &words);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        message,
        "error: the configuration run.toml is invalid (the section training has no step (did you mean \
         steps?) at line 5 column 1); give a file like the config.toml of an earlier run\n"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn predictions_that_cannot_be_made() {
    check(
        "predict --out run/new.csv",
        &[
            (
                "--model-dir nope --data good.csv",
                "there is no trained model in nope; check the path, or train one with --out",
            ),
            (
                "--model-dir run --data nope.csv",
                "there is no file nope.csv; check the path",
            ),
            (
                "--model-dir run --data repeated.csv",
                "repeated.csv: the input column \"b\" that the model was trained on is missing; add it or use the data the model was made for",
            ),
            (
                "--model-dir run --data text.csv --strict",
                "text.csv:3: column 2 (\"b\") holds \"five\", which is not a number; correct it, or remove the row or the column",
            ),
            (
                "--model-dir run --data good.csv --level 95",
                "--level is 95 but must lie strictly between 0 and 1; 0.95 is common",
            ),
            (
                "--data good.csv",
                "the following required arguments were not provided: --model-dir <DIR>; see --help",
            ),
        ],
    );
}

#[test]
fn without_a_command_the_help_is_shown() {
    let output = program().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("Usage: burn-gp [OPTIONS] <COMMAND>"),
        "{text}"
    );
}
