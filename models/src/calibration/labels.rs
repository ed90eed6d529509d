//! Predictions of labels at a temperature.

use rand::{Rng, RngExt};

use super::temperature::{Temperature, logarithm};

/// The means and variances of labels from probabilities `[N, C]`, row-major: of the indicators of all classes if there
/// are as many means as probabilities, else of the number of the class.
pub(super) fn moments(probabilities: &[f64], classes: usize, means: usize) -> (Vec<f64>, Vec<f64>) {
    if means == probabilities.len() {
        let variances = probabilities.iter().map(|p| p * (1.0 - p));
        return (probabilities.to_vec(), variances.collect());
    }
    let of_row = |row: &[f64]| {
        let labeled = || row.iter().enumerate();
        let mean: f64 = labeled().map(|(label, p)| label as f64 * p).sum();
        let squares = labeled().map(|(label, p)| (label as f64 - mean).powi(2) * p);
        (mean, squares.sum::<f64>())
    };
    probabilities.chunks_exact(classes).map(of_row).unzip()
}

/// `log p_label(T) − log p_label` of every row.
#[track_caller]
pub(super) fn log_ratios(own: &Temperature, probabilities: &[f64], labels: &[f64]) -> Vec<f64> {
    let classes = own.classes;
    assert!(
        probabilities.len() == labels.len() * classes,
        "{} probabilities of {classes} classes for {} labels",
        probabilities.len(),
        labels.len()
    );
    let after = own.apply(probabilities);
    let rows = labels.iter().enumerate();
    rows.map(|(row, &label)| {
        let place = row * classes + label as usize;
        logarithm(after[place]) - logarithm(probabilities[place])
    })
    .collect()
}

/// Draws `[S, N]` of labels at the temperature: a label becomes the one whose cumulative probability at the temperature
/// is a number at random between the cumulative probabilities of the label before it and of its own.
pub(super) fn draws<R: Rng>(
    own: &Temperature,
    probabilities: &[f64],
    draws: &[f64],
    random: &mut R,
) -> Vec<f64> {
    let (classes, after) = (own.classes, own.apply(probabilities));
    let rows = probabilities.len() / classes;
    let moved = |(place, &label): (usize, &f64)| {
        let first = (place % rows) * classes;
        let before = &probabilities[first..][..classes];
        let below: f64 = before[..label as usize].iter().sum();
        let place = below + random.random::<f64>() * before[label as usize];
        let mut cumulative = 0.0;
        let is_below = |p: &&f64| {
            cumulative += **p;
            cumulative < place
        };
        // The last class has the rest, whatever the rounding of the sum.
        let labels = after[first..][..classes - 1].iter();
        labels.take_while(is_below).count() as f64
    };
    draws.iter().enumerate().map(moved).collect()
}
