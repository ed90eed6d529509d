//! Runs that differ in their devices alone.

use std::path::Path;

use super::{numbers, succeed};

/// The words of a training on `data.csv`.
pub fn training<'a>(steps: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = "train --data data.csv --target y --model svgp --inducing 20 --batch-size 64 \
                 --natural-gradient 0.1 --checkpoint-every 20 --seed 3 --steps";
    let words = words.split(' ').filter(|word| !word.is_empty());
    words.chain([steps]).chain(more.iter().copied()).collect()
}

/// The losses of every step of a run.
pub fn losses(folder: &Path, run: &str) -> Vec<f64> {
    numbers(&folder.join(run).join("training_log.csv"), "loss")
}

/// Trains with `words` on devices that have the name of a run, an option and its value each. The losses of
/// every run must be those of the first, but for a relative difference.
pub fn compare_losses(
    folder: &Path,
    words: &[&str],
    first: [&str; 3],
    others: &[[&str; 3]],
    tolerance: f64,
) {
    let train = |[out, option, value]: [&str; 3]| {
        succeed(folder, &[words, &["--out", out, option, value]].concat());
        losses(folder, out)
    };
    let expected = train(first);
    assert!(expected.len() > 1, "{expected:?}");
    for device in others {
        let (found, [out, ..]) = (train(*device), device);
        assert_eq!(found.len(), expected.len(), "{out}");
        let differences = (found.iter().zip(&expected)).map(|(a, b)| (a - b).abs() / b.abs());
        let worst = differences.max_by(f64::total_cmp).expect("some losses");
        let count = found.len();
        println!("{out}: {count} losses differ by at most {worst:.1e} of their values");
        assert!(worst < tolerance, "{out}: {worst:e}");
    }
}
