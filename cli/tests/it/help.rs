//! The help of `train`: `-h` shows the common options, `--help` all.

use temp_dir::TempDir;

use crate::support::{succeed, write_regression};

/// The long options that a help text lists.
fn options(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim_start);
    let listed = lines.filter(|line| line.starts_with('-'));
    listed
        .filter_map(|line| {
            line.split([' ', ',', '=', '['])
                .find(|word| word.starts_with("--"))
        })
        .collect()
}

#[test]
fn the_short_help_has_the_options_of_every_day() {
    let folder = TempDir::new().unwrap();
    let short = succeed(folder.path(), &["train", "-h"]);
    let found = options(&short);
    for option in [
        "--data", "--target", "--model", "--kernel", "--out", "--help",
    ] {
        assert!(found.contains(&option), "{option} in {found:?}");
    }
    assert!(found.len() <= 18, "{found:?}");
    assert!(short.contains("--help"), "{short}");
    let long = succeed(folder.path(), &["train", "--help"]);
    let all = options(&long);
    assert!(all.len() > 100, "{all:?}");
    assert!(found.iter().all(|option| all.contains(option)));
}

#[test]
fn short_names_of_options() {
    let folder = TempDir::new().unwrap();
    write_regression(&folder.path().join("data.csv"), 40);
    let line = "train -d data.csv -t 3 -m svgp --steps 2 -o run";
    succeed(folder.path(), &line.split(' ').collect::<Vec<_>>());
    assert!(folder.path().join("run/metrics.json").exists());
}
