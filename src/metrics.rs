//! Metrics of predictive performance.
//!
//! Scores are means over N predictions, and NaN for empty slices.
//!
//! # Panics
//!
//! Every function panics if its slices differ in length.

use core::f64::consts::PI;

#[track_caller]
fn check_lengths(first: usize, second: usize) {
    assert!(
        first == second,
        "metrics of {first} targets and {second} predictions"
    );
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The mean of a score of every target and its prediction.
#[track_caller]
fn mean_score(targets: &[f64], predictions: &[f64], score: impl Fn(f64, f64) -> f64) -> f64 {
    check_lengths(targets.len(), predictions.len());
    let pairs = targets.iter().zip(predictions);
    mean(pairs.map(|(&target, &prediction)| score(target, prediction)))
}

/// The mean of a score of every error and predictive variance.
#[track_caller]
fn mean_normal_score(
    targets: &[f64],
    means: &[f64],
    variances: &[f64],
    score: impl Fn(f64, f64) -> f64,
) -> f64 {
    check_lengths(targets.len(), means.len());
    check_lengths(targets.len(), variances.len());
    let rows = targets.iter().zip(means).zip(variances);
    mean(rows.map(|((y, mean), &variance)| score(y - mean, variance)))
}

/// The root mean squared error, `√(Σ_n (y_n − μ_n)²/N)`.
#[track_caller]
pub fn root_mean_squared_error(targets: &[f64], means: &[f64]) -> f64 {
    mean_score(targets, means, |y, mean| (y - mean).powi(2)).sqrt()
}

/// The mean absolute error, `Σ_n |y_n − μ_n|/N`.
#[track_caller]
pub fn mean_absolute_error(targets: &[f64], means: &[f64]) -> f64 {
    mean_score(targets, means, |y, mean| (y - mean).abs())
}

/// The mean negative log density under normal predictions,
/// `−Σ_n log N(y_n | μ_n, v_n)/N = Σ_n [½(y_n − μ_n)²/v_n + ½log(2πv_n)]/N`.
///
/// The variances are those of the targets, including noise.
#[track_caller]
pub fn normal_negative_log_density(targets: &[f64], means: &[f64], variances: &[f64]) -> f64 {
    mean_normal_score(targets, means, variances, |error, variance| {
        0.5 * (error.powi(2) / variance + (2.0 * PI * variance).ln())
    })
}

/// The mean negative log density, `−Σ_n ℓ_n/N`, from the log densities of the targets under any
/// likelihood.
pub fn negative_log_density(log_densities: &[f64]) -> f64 {
    -mean(log_densities.iter().copied())
}

/// The log density `log Σ_s exp(ℓ_s)/S` of an equally weighted mixture, from the log densities of
/// its S components. Negative infinity if there are none.
pub fn mixture_log_density(components: &[f64]) -> f64 {
    let largest = components.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if components.len() == 1 || !largest.is_finite() {
        return largest;
    }
    let sum: f64 = components.iter().map(|value| (value - largest).exp()).sum();
    largest + (sum / components.len() as f64).ln()
}

/// The mean of the components' log densities, `Σ_n Σ_s ℓ_ns/(N·S)`, for N mixtures of S components.
/// It never exceeds the mean log density of the mixtures.
pub fn average_log_density(components: &[Vec<f64>]) -> f64 {
    mean(components.iter().map(|each| mean(each.iter().copied())))
}

/// The fraction of targets within their intervals, including the ends. For calibrated predictions
/// it is close to the confidence level of the intervals.
#[track_caller]
pub fn coverage(targets: &[f64], lower: &[f64], upper: &[f64]) -> f64 {
    check_lengths(targets.len(), lower.len());
    check_lengths(targets.len(), upper.len());
    let ends = lower.iter().zip(upper);
    mean(
        (targets.iter().zip(ends))
            .map(|(y, (lower, upper))| f64::from(u8::from(lower <= y && y <= upper))),
    )
}

/// The mean interval score, `Σ_n [u_n − l_n + (2/α)·(l_n − y_n)₊ + (2/α)·(y_n − u_n)₊]/N` with
/// `α = 1 − level`, of central intervals from `l_n` to `u_n` of confidence level `level`: the width of the
/// intervals and a penalty for targets outside. Smaller is better
/// (T. Gneiting, A. E. Raftery, *Strictly Proper Scoring Rules, Prediction, and Estimation*, 2007).
#[track_caller]
pub fn interval_score(targets: &[f64], lower: &[f64], upper: &[f64], level: f64) -> f64 {
    check_lengths(targets.len(), lower.len());
    check_lengths(targets.len(), upper.len());
    let penalty = 2.0 / (1.0 - level);
    let ends = lower.iter().zip(upper);
    mean((targets.iter().zip(ends)).map(|(y, (lower, upper))| {
        let outside = (lower - y).max(0.0) + (y - upper).max(0.0);
        upper - lower + penalty * outside
    }))
}

/// The mean pinball loss of quantiles of probability τ, `Σ_n [τ·(y_n − q_n)₊ + (1 − τ)·(q_n − y_n)₊]/N`. The quantile of
/// the targets has the smallest mean; smaller is better
/// (R. Koenker, G. Bassett, *Regression Quantiles*, 1978).
///
/// ```
/// // A target above the 90 % quantile costs nine times as much as one as far below.
/// let loss = |target| burn_gp_core::metrics::pinball_loss(&[target], &[1.0], 0.9);
/// assert!((loss(3.0) - 9.0 * loss(-1.0)).abs() < 1e-12);
/// ```
#[track_caller]
pub fn pinball_loss(targets: &[f64], quantiles: &[f64], level: f64) -> f64 {
    check_lengths(targets.len(), quantiles.len());
    let pairs = targets.iter().zip(quantiles);
    mean(pairs.map(|(y, q)| level * (y - q).max(0.0) + (1.0 - level) * (q - y).max(0.0)))
}

/// The mean standardized log loss: the mean negative log density, minus that of a normal distribution with the
/// mean and variance of the training targets, which predicts without inputs. Below zero, the inputs help
/// (C. E. Rasmussen, C. K. I. Williams, *Gaussian Processes for Machine Learning*, 2006, section 2.5).
#[track_caller]
pub fn mean_standardized_log_loss(
    log_densities: &[f64],
    targets: &[f64],
    training_mean: f64,
    training_variance: f64,
) -> f64 {
    check_lengths(targets.len(), log_densities.len());
    let means = vec![training_mean; targets.len()];
    let variances = vec![training_variance; targets.len()];
    negative_log_density(log_densities) - normal_negative_log_density(targets, &means, &variances)
}

/// The most likely class of each row of class probabilities, `[N, C]`, and its probability. Ties go
/// to the first class.
///
/// # Panics
///
/// If the number of probabilities is not a multiple of `classes`.
#[track_caller]
pub fn likeliest_classes(probabilities: &[f64], classes: usize) -> Vec<(usize, f64)> {
    assert!(
        classes > 0 && probabilities.len().is_multiple_of(classes),
        "{} probabilities of {classes} classes; expected {classes} per row",
        probabilities.len()
    );
    let likeliest = |row: &[f64]| {
        let mut best = (0, row[0]);
        for (class, &probability) in row.iter().enumerate().skip(1) {
            if probability > best.1 {
                best = (class, probability);
            }
        }
        best
    };
    probabilities.chunks_exact(classes).map(likeliest).collect()
}

/// The accuracy: the fraction of labels, 0 … C − 1, that equal the most likely class under the
/// class probabilities, `[N, C]`. The error rate is one minus the accuracy.
///
/// # Panics
///
/// If there are not C probabilities per label.
#[track_caller]
pub fn accuracy(labels: &[f64], probabilities: &[f64], classes: usize) -> f64 {
    let likeliest = likeliest_classes(probabilities, classes);
    check_lengths(labels.len(), likeliest.len());
    mean(
        labels
            .iter()
            .zip(&likeliest)
            .map(|(&label, &(class, _))| f64::from(u8::from(label == class as f64))),
    )
}

/// The number of rows of each class predicted as each class, `[C, C]`, row-major. Rows are labels,
/// 0 … C − 1; columns are the most likely classes under the class probabilities, `[N, C]`. Labels
/// outside the classes are ignored.
///
/// # Panics
///
/// If there are not C probabilities per label.
#[track_caller]
pub fn confusion_matrix(labels: &[f64], probabilities: &[f64], classes: usize) -> Vec<usize> {
    let likeliest = likeliest_classes(probabilities, classes);
    check_lengths(labels.len(), likeliest.len());
    let mut counts = vec![0; classes * classes];
    for (&label, &(predicted, _)) in labels.iter().zip(&likeliest) {
        if let Some(count) = counts.get_mut(label as usize * classes + predicted) {
            *count += 1;
        }
    }
    counts
}

/// Statistics of the events whose predicted probability lies in one bin; the bins divide the
/// interval from 0 to 1 equally.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CalibrationBin {
    /// The number of events.
    pub count: usize,
    /// The number of events that happened.
    pub happened: usize,
    /// The sum of the predicted probabilities.
    pub probability: f64,
}

impl CalibrationBin {
    /// The mean predicted probability; NaN without events.
    pub fn mean_probability(&self) -> f64 {
        self.probability / self.count as f64
    }

    /// The fraction of events that happened; NaN without events.
    pub fn frequency(&self) -> f64 {
        self.happened as f64 / self.count as f64
    }
}

/// Sorts events into `bins` bins of equal width by predicted probability. Bin `b` of B covers
/// `b/B ≤ p < (b + 1)/B`; the last one includes 1.
///
/// # Panics
///
/// If `bins` is zero.
#[track_caller]
pub fn calibration_bins(
    events: impl IntoIterator<Item = (f64, bool)>,
    bins: usize,
) -> Vec<CalibrationBin> {
    assert!(bins > 0, "a calibration error needs at least one bin");
    let mut filled = vec![CalibrationBin::default(); bins];
    for (probability, happened) in events {
        let bin = &mut filled[((probability * bins as f64) as usize).min(bins - 1)];
        bin.count += 1;
        bin.happened += usize::from(happened);
        bin.probability += probability;
    }
    filled
}

/// The expected calibration error (ECE) of class probabilities, `[N, C]`. The predictions are
/// sorted into [`calibration_bins`] by confidence, the probability of the most likely class:
/// `Σ_b (n_b/N)·|accuracy_b − mean confidence_b|` (C. Guo et al., *On Calibration of Modern Neural
/// Networks*, arXiv:1706.04599, eq. 3).
///
/// # Panics
///
/// If `bins` is zero, there are fewer than two classes, or there are not C probabilities per label.
#[track_caller]
pub fn expected_calibration_error(
    labels: &[f64],
    probabilities: &[f64],
    classes: usize,
    bins: usize,
) -> f64 {
    let likeliest = likeliest_classes(probabilities, classes);
    check_lengths(labels.len(), likeliest.len());
    assert!(
        classes > 1,
        "a calibration error needs at least two classes, not {classes}"
    );
    let rows = labels.iter().zip(&likeliest);
    let events = rows.map(|(&label, &(class, confidence))| (confidence, label == class as f64));
    let filled = calibration_bins(events, bins);
    let excess = filled
        .iter()
        .map(|bin| bin.happened as f64 - bin.probability);
    excess.map(f64::abs).sum::<f64>() / labels.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGETS: [f64; 4] = [1.0, -2.0, 0.5, 3.0];
    const MEANS: [f64; 4] = [0.0, -2.0, 1.5, 1.0];

    /// Allows for the rounding of a few operations.
    fn assert_close(actual: f64, expected: f64) {
        assert!(
            (actual - expected).abs() < 1e-14,
            "{actual}, not {expected}"
        );
    }

    #[test]
    fn errors_by_hand() {
        assert_close(root_mean_squared_error(&TARGETS, &MEANS), 1.5f64.sqrt());
        assert_close(mean_absolute_error(&TARGETS, &MEANS), 1.0);
    }

    #[test]
    fn interval_scores_by_hand() {
        // The second target is 0.5 below its interval, the fourth 1 above.
        let (lower, upper) = ([0.0, -1.5, 0.0, 1.0], [2.0, -1.0, 1.0, 2.0]);
        let penalties = (2.0 / 0.2) * (0.5 + 1.0);
        let expected = (2.0 + 0.5 + 1.0 + 1.0 + penalties) / 4.0;
        assert_close(interval_score(&TARGETS, &lower, &upper, 0.8), expected);
    }

    #[test]
    fn the_standardized_log_loss_of_a_constant_prediction_is_zero() {
        let constant = |y: &f64| -0.5 * ((y - 0.5).powi(2) / 4.0 + (8.0 * PI).ln());
        let densities: Vec<f64> = TARGETS.iter().map(constant).collect();
        let better: Vec<f64> = densities.iter().map(|density| density + 0.3).collect();
        let loss = |densities: &[f64]| mean_standardized_log_loss(densities, &TARGETS, 0.5, 4.0);
        assert_close(loss(&densities), 0.0);
        assert_close(loss(&better), -0.3);
    }

    #[test]
    fn densities_by_hand() {
        let variances = [1.0, 4.0, 0.25, 2.0];
        let squares = 1.0 + 0.0 + 4.0 + 2.0;
        let logs = 4.0 * (2.0 * PI).ln() + (1.0f64 * 4.0 * 0.25 * 2.0).ln();
        let expected = 0.5 * (squares + logs) / 4.0;
        assert_close(
            normal_negative_log_density(&TARGETS, &MEANS, &variances),
            expected,
        );
        assert_close(negative_log_density(&[-1.0, -2.0, 0.5]), 2.5 / 3.0);
    }

    #[test]
    fn mixtures_by_hand() {
        // Densities of 0.2 and 0.6 have a mean of 0.4.
        let logs = [0.2f64.ln(), 0.6f64.ln()];
        assert_close(mixture_log_density(&logs), 0.4f64.ln());
        assert_eq!(mixture_log_density(&[-0.3]), -0.3);
        // Densities this small underflow.
        assert_close(mixture_log_density(&[-1e4, -1e4]), -1e4);
        assert_eq!(
            mixture_log_density(&[f64::NEG_INFINITY; 2]),
            f64::NEG_INFINITY
        );
        let rows = [logs.to_vec(), vec![-1.0, -2.0]];
        let expected = (0.2f64.ln() + 0.6f64.ln() - 3.0) / 4.0;
        assert_close(average_log_density(&rows), expected);
        assert!(expected < (0.4f64.ln() + mixture_log_density(&rows[1])) / 2.0);
        assert!(average_log_density(&[]).is_nan());
    }

    #[test]
    fn coverage_counts_the_ends() {
        let (lower, upper) = ([0.0, -3.0, 0.6, 3.0], [2.0, -2.5, 0.7, 3.0]);
        assert_close(coverage(&TARGETS, &lower, &upper), 0.5);
    }

    #[test]
    fn classification_by_hand() {
        let labels = [1.0, 0.0, 1.0, 0.0];
        let probabilities = [0.1, 0.9, 0.8, 0.2, 0.6, 0.4, 0.4, 0.6];
        assert_close(accuracy(&labels, &probabilities, 2), 0.5);
        // Of the four bins, the third has confidences 0.6 and 0.6 (both wrong), and the last 0.9
        // and 0.8 (both right).
        let error = |bins| expected_calibration_error(&labels, &probabilities, 2, bins);
        assert_close(error(4), (1.2 + 0.3) / 4.0);
        // One bin: two of four right, with a mean confidence of 0.725. Two bins give the same
        // result, since no confidence is below one half.
        assert_close(error(1), 0.225);
        assert_close(error(2), 0.225);
        // A prediction with confidence 1 falls into the last bin.
        let certain = expected_calibration_error(&[1.0], &[0.0, 1.0], 2, 10);
        assert_close(certain, 0.0);
    }

    #[test]
    fn several_classes_by_hand() {
        let probabilities = [0.5, 0.3, 0.2, 0.2, 0.4, 0.4, 0.0, 0.1, 0.9];
        let likeliest = likeliest_classes(&probabilities, 3);
        // A tie between two classes goes to the first.
        assert_eq!(likeliest, [(0, 0.5), (1, 0.4), (2, 0.9)]);
        let labels = [0.0, 2.0, 2.0];
        assert_close(accuracy(&labels, &probabilities, 3), 2.0 / 3.0);
        let counts = confusion_matrix(&labels, &probabilities, 3);
        assert_eq!(counts, [1, 0, 0, 0, 0, 0, 0, 1, 1]);
        // Bins up to 1/2 (wrong at 0.4) and up to 1 (right at 0.5 and 0.9).
        let error = expected_calibration_error(&labels, &probabilities, 3, 2);
        assert_close(error, (0.4 + 0.6) / 3.0);
    }

    #[test]
    fn bins_are_over_all_probabilities() {
        let events = [(0.0, true), (0.24, false), (0.25, true), (1.0, true)];
        let bins = calibration_bins(events, 4);
        let counts: Vec<usize> = bins.iter().map(|bin| bin.count).collect();
        assert_eq!(counts, [2, 1, 0, 1]);
        assert_close(bins[0].mean_probability(), 0.12);
        assert_close(bins[0].frequency(), 0.5);
        assert!(bins[2].frequency().is_nan());
    }

    #[test]
    fn nothing_has_no_mean() {
        assert!(root_mean_squared_error(&[], &[]).is_nan());
        assert!(expected_calibration_error(&[], &[], 2, 3).is_nan());
    }
}
