//! Warnings about trained models that should not be trusted, one sentence each.

use std::f64::consts::PI;

use burn_gp_core::{
    likelihoods::TargetKind,
    parameter::{AtFloor, Hyperparameter},
};
use burn_gp_datasets::{agreeing, counted};

use crate::preparation::{Part, PreparedData};
use crate::scores::{COVERAGE, NLPD, RMSE, Scores};

/// The largest difference that does not count as a gain, in nats per row or as a share of an error.
const NO_GAIN: f64 = 0.01;

/// The largest deviation from the nominal coverage that counts as chance, in standard deviations.
const DEVIATIONS: f64 = 3.0;
/// The deviation from the nominal coverage that is always tolerated, as a share of the rows.
const POINTS: f64 = 0.02;

/// The nominal coverage.
const NOMINAL: f64 = 0.95;
/// The tolerated loss from a network, in nats per row.
const COST_OF_NETWORK: f64 = 0.02;

/// The fewest test rows that are judged: what fewer say about a model is chance.
pub const FEWEST_TEST_ROWS: usize = 10;

/// Warnings about a model with these test scores: it is no better than a constant, its intervals are wrong, or
/// it is better without its network.
pub fn diagnostics(
    scores: &Scores,
    data: &PreparedData,
    targets: TargetKind,
    nlpd_without_network: Option<f64>,
) -> Vec<String> {
    if data.test.len() < FEWEST_TEST_ROWS {
        return Vec::new();
    }
    let known = data.test.exact_rows();
    let known = known.map_or(data.test.len(), |rows| rows.len());
    let found = [
        beside_constant(scores, data, targets),
        (known >= FEWEST_TEST_ROWS)
            .then(|| coverage(scores, targets, known))
            .flatten(),
        nlpd_without_network.and_then(|nlpd| beside_no_network(scores, nlpd, data.test.len())),
    ];
    found.into_iter().flatten().collect()
}

/// Sentences about hyperparameters that ended at their lower bounds.
pub fn floors_reached(reached: &[AtFloor], hyperparameters: &[Hyperparameter]) -> Vec<String> {
    let sentence = |AtFloor { path, floor, .. }: &AtFloor| {
        // Paths within the trained model are longer than those shown to the user.
        let named = hyperparameters.iter().find(|own| path.ends_with(&own.path));
        let path = named.map_or(path, |own| &own.path);
        (!is_of_summand(path)).then(|| {
            format!(
                "{path} ended at its lower bound {floor:.0e}: the data favor a smaller value, so \
                 predictions may be too uncertain"
            )
        })
    };
    reached.iter().filter_map(sentence).collect()
}

/// Whether this is the path of the variance of one component of a kernel. A variance near zero only means that
/// the component is not needed.
fn is_of_summand(path: &str) -> bool {
    path.starts_with("kernel.") && path.ends_with(".variance") && path != "kernel.variance"
}

/// A warning if a GPU has skipped training steps.
pub fn skipped_steps(count: usize) -> Option<String> {
    let (steps, verb) = (counted(count, "step"), agreeing(count, ["was", "were"]));
    (count > 0).then(|| {
        format!(
            "{steps} {verb} skipped, because the loss was not finite in single precision: raise --jitter, \
             lower --learning-rate, or train on the CPU with --dtype f64"
        )
    })
}

/// A warning if a constant prediction is as good: the mean and variance of the training targets, or the
/// frequencies of their classes.
fn beside_constant(scores: &Scores, data: &PreparedData, targets: TargetKind) -> Option<String> {
    let (train, test) = (&data.train, &data.test);
    let (key, constant, gain, what) = match targets {
        TargetKind::TwoClasses | TargetKind::Classes | TargetKind::OrderedClasses => {
            let constant = nlpd_of_frequencies(train, test, data.classes());
            (
                NLPD,
                constant,
                constant - scores.number(NLPD),
                "class frequencies",
            )
        }
        TargetKind::Numbers | TargetKind::Measurements => {
            let constant = nlpd_of_moments(&deviations(data, train), &deviations(data, test));
            (
                NLPD,
                constant,
                constant - scores.number(NLPD),
                "mean and variance",
            )
        }
        TargetKind::Intervals => return None,
        // The density of a constant prediction depends on the likelihood.
        TargetKind::Counts
        | TargetKind::Successes
        | TargetKind::PositiveNumbers
        | TargetKind::Fractions => {
            let constant = error_of_mean(&deviations(data, train), &deviations(data, test));
            (RMSE, constant, 1.0 - scores.number(RMSE) / constant, "mean")
        }
    };
    // A NaN score is not a gain.
    let is_better = gain > NO_GAIN;
    (!is_better).then(|| {
        format!(
            "the model predicts the {} no better than the {what} of the training targets \
             alone: {} {:.4} versus {constant:.4}",
            counted(test.len(), "test row"),
            key.to_uppercase(),
            scores.number(key)
        )
    })
}

/// A warning if the mean and the variance of the training targets predict as well: if their NLPD, `constant`, is not
/// above that of the model by more than chance.
pub fn no_better_than_moments(nlpd: f64, constant: f64, rows: usize) -> Option<String> {
    let is_better = constant - nlpd > NO_GAIN;
    (!is_better).then(|| {
        format!(
            "the model predicts the {} no better than the mean and variance of the training targets \
             alone: NLPD {nlpd:.4} versus {constant:.4}",
            counted(rows, "test target")
        )
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn mean_squared_error(values: &[f64], prediction: f64) -> f64 {
    let squares: Vec<f64> = values.iter().map(|y| (y - prediction).powi(2)).collect();
    mean(&squares)
}

/// `½·Σ_n (y_n − μ)²/(N·v) + ½·log(2πv)`.
fn nlpd_of_moments(train: &[f64], test: &[f64]) -> f64 {
    let mean = mean(train);
    let variance = mean_squared_error(train, mean);
    0.5 * (mean_squared_error(test, mean) / variance + (2.0 * PI * variance).ln())
}

fn error_of_mean(train: &[f64], test: &[f64]) -> f64 {
    mean_squared_error(test, mean(train)).sqrt()
}

/// The targets in the units of scores, before any transformation.
fn deviations(data: &PreparedData, part: &Part) -> Vec<f64> {
    data.standardizer.in_deviations(&part.observed)
}

/// The NLPD of class frequencies. Every class counts one extra row, so none has probability zero.
fn nlpd_of_frequencies(train: &Part, test: &Part, classes: usize) -> f64 {
    let mut counts = vec![1.0; classes];
    for &label in &train.targets {
        counts[label as usize] += 1.0;
    }
    let total: f64 = counts.iter().sum();
    let densities: Vec<f64> = (test.targets.iter())
        .map(|&label| -(counts[label as usize] / total).ln())
        .collect();
    mean(&densities)
}

/// Whether the share of rows in their 95 % intervals is too low for chance.
pub fn is_too_low(share: f64, rows: usize) -> bool {
    NOMINAL - share > tolerance(rows)
}

/// The tolerated deviation of the share of rows in their 95 % intervals from 95 %.
fn tolerance(rows: usize) -> f64 {
    let deviation = (NOMINAL * (1.0 - NOMINAL) / rows as f64).sqrt();
    (DEVIATIONS * deviation).max(POINTS)
}

/// A warning if significantly fewer or more rows than expected are in their intervals. Intervals for discrete
/// targets contain more than their nominal share even if the model is perfect.
fn coverage(scores: &Scores, targets: TargetKind, rows: usize) -> Option<String> {
    let share = scores.get(COVERAGE)?;
    let are_counts = matches!(targets, TargetKind::Counts | TargetKind::Successes);
    let is_discrete = are_counts || targets.has_classes();
    match is_discrete && share > NOMINAL {
        true => None,
        false => wrong_coverage(share, rows),
    }
}

/// A warning if significantly fewer or more of some test rows than expected are in their intervals.
pub fn wrong_coverage(share: f64, rows: usize) -> Option<String> {
    let excess = share - NOMINAL;
    if excess.abs() <= tolerance(rows) {
        return None;
    }
    let verdict = match excess > 0.0 {
        true => "too wide: the model is under-confident",
        false => "too narrow: the model is over-confident",
    };
    Some(format!(
        "{:.1} % of the {rows} test rows are in their 95 % intervals, which are {verdict}",
        100.0 * share
    ))
}

/// A warning if predictions of the test rows are better without the network.
fn beside_no_network(scores: &Scores, without: f64, rows: usize) -> Option<String> {
    let nlpd = scores.number(NLPD);
    if nlpd <= without + COST_OF_NETWORK {
        return None;
    }
    Some(format!(
        "sparse regression without a network predicts the {} better: NLPD {without:.4} \
         versus {nlpd:.4}; try --model svgp, sgpr or exact",
        counted(rows, "test row")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_kernel_that_is_not_needed_is_no_shortcoming() {
        let reached = |path: &str| AtFloor {
            path: path.into(),
            value: 1e-6,
            floor: 1e-6,
        };
        let paths = [
            "kernel.first.variance",
            "kernel.variance",
            "likelihood.noise",
        ];
        let texts = floors_reached(&paths.map(reached), &[]);
        assert_eq!(texts.len(), 2);
        assert!(
            texts[0].starts_with("kernel.variance ended"),
            "{}",
            texts[0]
        );
    }

    fn scores(coverage95: Option<f64>) -> Scores {
        let scores = serde_json::json!({ "rmse": 0.5, "nlpd": 0.7, "coverage95": coverage95 });
        serde_json::from_value(scores).expect("scores")
    }

    /// A calibrated model has 51 of 60 rows in its intervals with a probability of about 0.001.
    #[test]
    fn intervals_are_called_wrong_beyond_chance() {
        let found = |share, rows| coverage(&scores(share), TargetKind::Numbers, rows).is_some();
        assert!(!found(Some(0.9), 60));
        assert!(found(Some(0.85), 60));
        assert!(!found(Some(1.0), 100), "all of 100 rows is chance");
        assert!(found(Some(1.0), 1000));
        assert!(!found(Some(0.94), 1_000_000), "one point is no harm");
        assert!(!found(None, 1000));
        let text = coverage(&scores(Some(0.5)), TargetKind::Numbers, 40).unwrap();
        assert!(text.contains("over-confident"), "{text}");
        let text = coverage(&scores(Some(1.0)), TargetKind::Numbers, 400).unwrap();
        assert!(text.contains("under-confident"), "{text}");
        let of_counts = |share| coverage(&scores(Some(share)), TargetKind::Counts, 400);
        assert_eq!(of_counts(1.0), None, "intervals of counts are wide");
        assert!(of_counts(0.5).is_some());
    }

    #[test]
    fn a_network_that_does_harm_is_called_so() {
        let beside = |without| beside_no_network(&scores(None), without, 30);
        assert_eq!(beside(0.8), None);
        assert_eq!(beside(0.69), None, "that is chance");
        let text = beside(0.2).unwrap();
        assert!(
            text.contains("30 test rows") && text.contains("0.2000"),
            "{text}"
        );
    }
}
