//! Messages count in singular and plural, and the table of a run has only units that exist.

use std::fs;
use std::path::Path;

use crate::support::run;

/// The words of what the program writes to both streams.
fn said(folder: &Path, arguments: &str) -> String {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let output = run(folder, &arguments);
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).expect("the output is UTF-8")
}

/// The plurals after a count of 1, such as `1 rows` or `1 inducing points`.
fn wrong_plurals(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_noun = |word: &str| {
        let nouns = [
            "rows", "inputs", "steps", "points", "columns", "values", "targets", "outputs",
        ];
        nouns.contains(&word.trim_end_matches([',', ';', ':', '.', ')']))
    };
    let wrong = |at: usize| {
        let after = &words[at + 1..words.len().min(at + 4)];
        let end = after.iter().position(|word| is_noun(word))?;
        // The numbers of the table of a run are no counts.
        let is_phrase = after[..end].iter().all(|word| {
            let letters = |letter: char| letter.is_ascii_lowercase() || letter == '-';
            word.chars().all(letters) && !["of", "in", "the"].contains(word)
        });
        is_phrase.then(|| words[at..=at + 1 + end].join(" "))
    };
    let ones = (0..words.len()).filter(|&at| words[at].trim_start_matches('(') == "1");
    ones.filter_map(wrong).collect()
}

#[test]
fn one_of_a_thing_is_singular() {
    assert_eq!(
        wrong_plurals("1 rows, (1 steps 1 test rows 1 of 2 rows 1 row 11 rows"),
        ["1 rows,", "(1 steps", "1 test rows"]
    );
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let row = |row: usize| format!("{row},{}\n", (row * row) % 7);
    let table: String = (0..12).map(row).collect();
    fs::write(path.join("table.csv"), format!("x,y\n{table}")).unwrap();
    fs::write(path.join("three.csv"), "x,y\n1,2\n2,3\n3,5\n").unwrap();
    fs::write(path.join("one.csv"), "x,y\n1,2\n").unwrap();
    fs::write(path.join("gap.csv"), "x,y\n,1\n2,3\n").unwrap();
    fs::write(path.join("two.csv"), "x,z,y\n1,2,4\n2,2,5\n3,4,5\n4,5,6\n").unwrap();
    let train = "train --model svgp --inducing 1 --steps 1 --overwrite --data";
    let commands = [
        format!("{train} table.csv --test one.csv --out run"),
        format!("{train} table.csv --test gap.csv --out gap"),
        format!("{train} three.csv --test-fraction 0.34 --out three"),
        format!("{train} three.csv --test-fraction 0.9 --out refused"),
        format!("{train} table.csv --inducing 50 --out refused"),
        format!("{train} table.csv --kernel rbf[2] --out refused"),
        "train --data two.csv --targets z,y --steps 1 --out outputs".into(),
        "show outputs".into(),
        "show run".into(),
        "predict --model-dir run --data one.csv --out predictions.csv".into(),
        "predict --model-dir run --data two.csv --out predictions.csv".into(),
        "train --model exact --steps 1 --data table.csv --out exact".into(),
        "update --model-dir exact --data one.csv --out updated".into(),
        "forecast --data table.csv --time x --horizon 1 --out forecast".into(),
    ];
    for command in commands {
        let text = said(path, &command);
        let none: [&str; 0] = [];
        assert_eq!(wrong_plurals(&text), none, "{command}: {text}");
    }
    let text = said(path, &format!("{train} table.csv --out again"));
    assert!(text.contains(", 1 inducing point\n"), "{text}");
    assert!(text.contains("training    1 step in "), "{text}");
    assert!(
        text.contains("11 rows to train on, 1 to test on, 1 input\n"),
        "{text}"
    );
}

#[test]
fn a_parameter_without_units_is_not_standardized() {
    let folder = temp_dir::TempDir::new().unwrap();
    let row = |row: usize| format!("{row},{}\n", (row * row) % 7);
    let table: String = (0..30).map(row).collect();
    fs::write(folder.path().join("table.csv"), format!("x,y\n{table}")).unwrap();
    let train = "train --model exact --steps 1 --data table.csv --overwrite --out run --kernel";
    let line_of = |kernel: &str, name: &str| {
        let text = said(folder.path(), &format!("{train} {kernel}"));
        let line = text.lines().find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("{name} is not in {text}"))
            .to_owned()
    };
    let smoothness = line_of("matern(smoothness=1.3)", "kernel.smoothness");
    assert!(!smoothness.contains("standardized"), "{smoothness}");
    let shape = line_of("rational-quadratic", "kernel.shape");
    assert!(!shape.contains("standardized"), "{shape}");
    // The variance of a linear kernel has units, which the table does not convert.
    let variance = line_of("linear", "kernel.variance");
    assert!(variance.ends_with(" (standardized)"), "{variance}");
}

#[test]
fn a_run_without_steps_draws_no_loss() {
    let folder = temp_dir::TempDir::new().unwrap();
    let row = |row: usize| format!("{row},{}\n", (row * row) % 7);
    let table: String = (0..30).map(row).collect();
    fs::write(folder.path().join("table.csv"), format!("x,y\n{table}")).unwrap();
    let text = said(
        folder.path(),
        "train --model exact --data table.csv --fix kernel --fix likelihood --out run",
    );
    assert!(text.contains("training    0 steps in "), "{text}");
    assert!(!text.contains("nothing to show"), "{text}");
    assert!(!folder.path().join("run/loss.svg").exists());
    let report = said(folder.path(), "report run");
    assert!(!report.contains("error"), "{report}");
}
