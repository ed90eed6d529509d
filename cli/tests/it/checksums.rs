//! Files of a run that have changed since they were written are refused.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use burn_gp_runs::{arguments::read_configuration, show::Description};
use serde_json::{Value, json};

use crate::support::{run, seal, succeed, write_regression};

/// Asserts that the program refused something in one sentence, which names the file.
fn assert_refused(what: &str, output: &Output, file: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{what}: {errors}");
    assert_eq!(errors.lines().count(), 1, "{what}: {errors}");
    assert!(errors.contains(file), "{what}: {errors}");
}

/// Flips one bit of every `stride`-th byte of a file in turn.
fn flip(path: &Path, stride: usize, mut check: impl FnMut(&str)) {
    let whole = fs::read(path).expect("a file");
    for place in (0..whole.len()).step_by(stride.max(1)) {
        let mut damaged = whole.clone();
        damaged[place] ^= 1 << (place % 8);
        fs::write(path, damaged).expect("it is writable");
        check(&format!("{} with byte {place} flipped", path.display()));
    }
    fs::write(path, whole).expect("it is writable");
}

fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let text = fs::read_to_string(path).expect("a file");
    let mut content: Value = serde_json::from_str(&text).expect("JSON");
    change(&mut content);
    fs::write(path, content.to_string()).expect("it is writable");
}

/// A small trained model in the folder `run`.
fn train(folder: &Path) {
    write_regression(&folder.join("data.csv"), 40);
    let words = "train --data data.csv --model exact --steps 5 --out run --quiet";
    succeed(folder, &words.split(' ').collect::<Vec<_>>());
}

#[test]
fn a_flipped_bit_in_a_finished_run_is_refused() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    train(path);
    let out = path.join("run");
    for name in [
        "model.json",
        "weights.bpk",
        "metrics.json",
        "checksums.sha256",
    ] {
        flip(&out.join(name), 3, |what| {
            let Err(error) = Description::read(&out) else {
                panic!("{what}: accepted");
            };
            let text = error.to_string();
            assert!(
                text.contains(name) && text.contains("it is damaged"),
                "{what}: {text}"
            );
        });
    }
    for name in ["config.toml", "checksums.sha256"] {
        flip(&out.join(name), 3, |what| {
            let Err(error) = read_configuration(&out.join("config.toml")) else {
                panic!("{what}: accepted");
            };
            assert!(error.to_string().contains(name), "{what}: {error}");
        });
    }
    // The same at the command line.
    for (name, words) in [
        ("model.json", "predict --model-dir run --data data.csv"),
        ("weights.bpk", "predict --model-dir run --data data.csv"),
        (
            "checksums.sha256",
            "predict --model-dir run --data data.csv",
        ),
        ("metrics.json", "show run"),
        ("config.toml", "train --config run/config.toml --out again"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let size = fs::metadata(out.join(name)).expect("a file").len() as usize;
        flip(&out.join(name), size / 3, |what| {
            assert_refused(what, &run(path, &words), name);
        });
        assert!(!path.join("again").exists());
        succeed(path, &words);
    }
}

#[test]
fn a_report_has_no_damaged_file() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    train(path);
    for name in ["loss.svg", "config.toml"] {
        let file = path.join("run").join(name);
        let kept = fs::read(&file).expect("a file");
        let size = kept.len();
        flip(&file, size / 3, |what| {
            let output = run(path, &["report", "run", "--overwrite"]);
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let warning = format!("warning: run/{name} is left out: it is damaged");
            assert!(
                output.status.success() && text.contains(&warning),
                "{what}: {text}"
            );
        });
        assert_eq!(fs::read(&file).expect("a file"), kept);
    }
}

#[test]
fn checksums_are_those_of_sha256sum() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    train(folder.path());
    let out = folder.path().join("run");
    let listed = fs::read_to_string(out.join("checksums.sha256")).expect("checksums");
    let mut names: Vec<&str> = listed
        .lines()
        .filter_map(|line| Some(line.split_once("  ")?.1))
        .collect();
    names.push("checksums.sha256");
    names.sort_unstable();
    assert_eq!(names, burn_gp_runs::output::names_in(&out));
    let mut command = Command::new("sha256sum");
    command
        .current_dir(&out)
        .args(["--check", "--strict", "checksums.sha256"]);
    if let Ok(output) = command.output() {
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn impossible_scales_are_refused_although_their_checksum_is_right() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    train(path);
    let file = path.join("run/model.json");
    let whole = fs::read(&file).expect("a file");
    for (field, value) in [
        ("target_scale", json!(-0.6)),
        ("target_scale", json!(0.0)),
        ("target_scale", json!(null)),
        ("target_scale", json!("NaN")),
        ("target_mean", json!(null)),
        ("input_scale", json!([1.0, -0.6])),
        ("input_scale", json!([0.0, 1.0])),
        ("input_scale", json!([1.0])),
        ("input_mean", json!([0.0, 0.0, 0.0])),
    ] {
        edit(&file, |content| {
            let scales = &mut content["context"]["standardizer"];
            assert!(!scales[field].is_null(), "{field}");
            scales[field] = value.clone();
        });
        seal(&path.join("run"));
        for words in ["predict --model-dir run --data data.csv", "show run"] {
            let words: Vec<&str> = words.split(' ').collect();
            let what = format!("{field} {value}, {words:?}");
            assert_refused(&what, &run(path, &words), "run/model.json cannot be read");
        }
        fs::write(&file, &whole).expect("it is writable");
    }
    // Infinity, which has no spelling in JSON.
    let text = String::from_utf8(whole).expect("a text");
    let at = text.find("\"target_scale\": ").expect("a scale") + "\"target_scale\": ".len();
    let end = at + text[at..].find('\n').expect("an end");
    fs::write(&file, text[..at].to_owned() + "1e999" + &text[end..]).expect("it is writable");
    seal(&path.join("run"));
    let words = ["predict", "--model-dir", "run", "--data", "data.csv"];
    assert_refused(
        "infinite",
        &run(path, &words),
        "run/model.json cannot be read",
    );
}

#[cfg(unix)]
mod checkpoints {
    use std::path::PathBuf;

    use burn_gp_runs::fitting::Checkpoints;

    use super::*;
    use crate::resume::{start, wait_for};

    /// An unfinished run in the folder `run`, and its checkpoint.
    fn unfinished(folder: &Path) -> PathBuf {
        let words = "train --data data.csv --model svgp --inducing 5 --steps 10000000 \
                     --checkpoint-every 20 --validation-fraction 0.2 --score-every 10 --out run --quiet";
        let mut child = start(folder, &words.split_whitespace().collect::<Vec<_>>());
        let out = folder.join("run");
        assert!(wait_for(&mut child, &out, 60));
        child.kill().expect("it runs");
        child.wait().expect("it ran");
        Checkpoints::within(&out).latest().expect("a checkpoint")
    }

    const RESUME: [&str; 4] = ["train", "--resume", "run", "--quiet"];

    #[test]
    fn a_flipped_bit_in_a_checkpoint_is_refused() {
        let folder = temp_dir::TempDir::new().expect("a folder");
        let path = folder.path();
        write_regression(&path.join("data.csv"), 60);
        let checkpoint = unfinished(path);
        let names = burn_gp_runs::output::names_in(&checkpoint);
        assert_eq!(
            names,
            [
                "best.bpk",
                "checksums.sha256",
                "learning_curve.csv",
                "model.bpk",
                "optimizer.bpk",
                "progress.json",
                "run.json",
                "training_log.csv",
            ]
        );
        for name in names {
            let size = fs::metadata(checkpoint.join(&name)).expect("a file").len() as usize;
            flip(&checkpoint.join(&name), size / 6 + 1, |what| {
                assert_refused(what, &run(path, &RESUME), &name);
            });
        }
        // A checkpoint that lost its checksums is not taken for one that had none.
        fs::remove_file(checkpoint.join("checksums.sha256")).expect("it is there");
        assert_refused("none", &run(path, &RESUME), "checksums.sha256");
    }

    #[test]
    fn a_checkpoint_in_another_format_is_not_lost() {
        let folder = temp_dir::TempDir::new().expect("a folder");
        let path = folder.path();
        write_regression(&path.join("data.csv"), 60);
        let checkpoint = unfinished(path);
        for (version, is_sealed) in [(7, true), (7, false), (2, false)] {
            edit(&checkpoint.join("run.json"), |content| {
                content["format_version"] = version.into();
                content["written_by"] = "burn-gp 9.8.7".into();
                content["something"] = "new".into();
            });
            match is_sealed {
                true => seal(&checkpoint),
                false => {
                    let _ = fs::remove_file(checkpoint.join("checksums.sha256"));
                }
            }
            let output = run(path, &RESUME);
            let expected = format!(
                "run.json has format version {version} and was written by burn-gp 9.8.7, but this \
                 program reads version 6; continue with the program that wrote it\n"
            );
            assert_refused("another format", &output, &expected);
            assert!(!String::from_utf8_lossy(&output.stderr).contains("--overwrite"));
        }
    }

    /// Values and their order are as before.
    #[test]
    fn a_run_whose_columns_have_other_names_is_not_resumed() {
        let folder = temp_dir::TempDir::new().expect("a folder");
        let path = folder.path();
        let data = path.join("data.csv");
        write_regression(&data, 60);
        let numbers = fs::read_to_string(&data).expect("the data");
        let colors: String = (numbers.lines().skip(1).enumerate())
            .map(|(row, line)| format!("{},{line}\n", ["blue", "green", "red"][row % 3]))
            .collect();
        let text = format!("color,a,b,y\n{colors}");
        for (before, after) in [
            (numbers.clone(), numbers.replacen("a,b,y", "b,a,y", 1)),
            (numbers.clone(), numbers.replacen("a,b,y", "a,b,z", 1)),
            (numbers.clone(), numbers.replacen("a,b,y", "a,c,y", 1)),
            (text.clone(), text.replace("blue", "beige")),
        ] {
            let _ = fs::remove_dir_all(path.join("run"));
            fs::write(&data, &before).expect("it is writable");
            unfinished(path);
            fs::write(&data, &after).expect("it is writable");
            let first = after.lines().next().expect("a line").to_owned();
            assert_refused(
                &first,
                &run(path, &RESUME),
                "have changed since the run in run began",
            );
        }
    }
}
