//! Names of the user's columns in the paths of a sweep.

use std::fs;
use std::path::Path;

use crate::support::{columns, succeed};

/// Names of targets that a path would take apart, or that would share a folder if letters were replaced.
const TARGETS: [&str; 8] = [
    "x/../../../../escaped",
    "eur/m2",
    "eur-m2",
    "eur%2Fm2",
    "..",
    ".hidden",
    "50 %",
    "y",
];

/// The folders below `path`, at any depth, that have a file called `name`.
fn folders_with(path: &Path, name: &str) -> usize {
    let entries = fs::read_dir(path).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let within = paths
        .filter(|path| path.is_dir())
        .map(|path| folders_with(&path, name));
    usize::from(path.join(name).is_file()) + within.sum::<usize>()
}

#[test]
fn a_sweep_over_names_stays_in_its_folder_and_has_all_of_them() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path().join("one/two/three/four");
    fs::create_dir_all(&path).expect("a folder");
    let rows = (0..40).map(|row| {
        let x = f64::from(row) / 8.0;
        let targets: Vec<String> = (0..TARGETS.len())
            .map(|place| (x.sin() + place as f64 * x).to_string())
            .collect();
        format!("{x},{}\n", targets.join(","))
    });
    let header = format!("x,{}\n", TARGETS.join(","));
    fs::write(path.join("data.csv"), header + &rows.collect::<String>()).expect("the data");
    let grid = format!("target={}", TARGETS.join(","));
    let sweep = [
        "sweep",
        "--grid",
        &grid,
        "--data",
        "data.csv",
        "--model",
        "sgpr",
        "--inducing",
        "5",
        "--steps",
        "3",
        "--inputs",
        "x",
        "--quiet",
        "--out",
        "swept",
    ];
    let table = succeed(&path, &sweep);

    let shown = columns(&path.join("swept/results.csv"), &["target", "n_train"]);
    let shown: Vec<&str> = shown.iter().map(|row| row[0].trim_matches('"')).collect();
    let mut expected = TARGETS.to_vec();
    let mut found = shown.clone();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected, "{table}");
    // Every target has a folder of its own below the one that was named, and there is nothing else.
    let runs = path.join("swept/runs");
    assert_eq!(folders_with(&runs, "metrics.json"), TARGETS.len());
    assert_eq!(folders_with(folder.path(), "metrics.json"), TARGETS.len());
    let mut names: Vec<String> = (fs::read_dir(&path).expect("a folder"))
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    assert_eq!(names, ["data.csv", "swept"]);
    // Nothing is made twice.
    let before = fs::metadata(runs.join("data/target-eur%2Fm2/seed-0/metrics.json"));
    let before = before.expect("a run").modified().expect("a time");
    succeed(&path, &sweep);
    let after = fs::metadata(runs.join("data/target-eur%2Fm2/seed-0/metrics.json"));
    assert_eq!(after.expect("a run").modified().expect("a time"), before);
}
