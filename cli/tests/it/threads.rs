//! The option `--threads`.

use temp_dir::TempDir;

use crate::support::{columns, run, succeed, write_regression};

#[test]
fn the_program_computes_with_as_many_threads_as_asked() {
    let folder = TempDir::new().expect("a folder");
    for (count, text) in [("1", "CPU, 1 thread"), ("3", "CPU, 3 threads")] {
        let list = succeed(folder.path(), &["devices", "--threads", count]);
        let flex = list.lines().find(|line| line.starts_with("flex"));
        assert!(flex.is_some_and(|line| line.contains(text)), "{list}");
    }
}

#[test]
fn no_threads_are_refused() {
    let folder = TempDir::new().expect("a folder");
    let output = run(folder.path(), &["train", "--threads", "0"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("--threads"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

/// Sums in other parts differ by rounding, and processes of runs take the number of their parent.
#[test]
fn runs_of_other_numbers_of_threads_agree() {
    let folder = TempDir::new().expect("a folder");
    write_regression(&folder.path().join("data.csv"), 200);
    let scores = ["1", "3"].map(|count| {
        let words = "compare --data data.csv --target y --models svgp --steps 20 --out";
        let mut words: Vec<&str> = words.split(' ').collect();
        words.extend([count, "--threads", count]);
        succeed(folder.path(), &words);
        let table = columns(&folder.path().join(count).join("results.csv"), &["rmse"]);
        let score: f64 = table[0][0].parse().expect("a number");
        score
    });
    assert!((scores[0] - scores[1]).abs() < 1e-6, "{scores:?}");
}
