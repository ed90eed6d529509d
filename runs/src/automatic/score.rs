//! Scores of leave-one-out predictions.

use std::cmp::Ordering;

use burn_gp_core::{inference::LeaveOneOut, ops::numbers, parameter::Hyperparameter};
use burn_gp_models::training::TrainingData;

use crate::noise_for_signal::{NoiseForSignal, noise_variance};

/// The penalty for each additional hyperparameter value, in nats. Fitting a hyperparameter to all rows improves
/// leave-one-out predictions by about one nat too much, as in Akaike's criterion.
const COST: f64 = 1.0;

/// The number of standard errors by which the predictions of a preferred kernel must be better on up to
/// [`FEW_ROWS`] rows. On few rows, the best of several kernels is often just the luckiest, and predicts badly.
const STANDARD_ERRORS: f64 = 3.0;
/// With more rows, the required standard errors fall as 1/N², because the data then determine every kernel
/// well.
const FEW_ROWS: f64 = 100.0;

/// The fewest rows that choose a kernel. The differences of fewer have no standard error: those of two rows are equal, by
/// symmetry.
const FEWEST_ROWS: usize = 10;

/// The log densities of the training targets, each given all others.
#[derive(Clone, Debug)]
pub struct Score {
    densities: Vec<f64>,
    /// The means and the variances, noise included.
    moments: (Vec<f64>, Vec<f64>),
    /// The number of hyperparameters.
    parameters: usize,
    /// Whether the model mistakes noise for signal.
    is_unsound: bool,
}

impl Score {
    /// Scores predictions of `data` with these hyperparameters; `None` if a density is not finite.
    pub fn new(
        predictions: &LeaveOneOut,
        data: &TrainingData,
        hyperparameters: &[Hyperparameter],
    ) -> Option<Self> {
        let densities = numbers(predictions.log_density(data.targets.clone()));
        let parameters = hyperparameters.iter().map(|found| found.values.len());
        let is_finite = densities.iter().all(|density| density.is_finite());
        let targets = numbers(data.targets.clone());
        let mistake = noise_variance(hyperparameters)
            .and_then(|noise| NoiseForSignal::of(predictions, &targets, noise));
        let moments = (
            numbers(predictions.mean.clone()),
            numbers(predictions.variance.clone()),
        );
        is_finite.then(|| Self {
            densities,
            moments,
            parameters: parameters.sum(),
            is_unsound: mistake.is_some(),
        })
    }

    /// The log densities, `[N]`.
    pub fn densities(&self) -> &[f64] {
        &self.densities
    }

    /// The means and the variances of the predictions, noise included, `[N]` each.
    pub fn moments(&self) -> (&[f64], &[f64]) {
        (&self.moments.0, &self.moments.1)
    }

    /// The gain of these predictions beyond chance: `Σ_n d_n − k − c·√N·s` with the differences d of the log
    /// densities, their standard deviation s, k additional hyperparameters, and c = 3·min(1, 100/N)².
    ///
    /// # Panics
    ///
    /// If the scores have different numbers of rows.
    pub fn gain_over(&self, other: &Self) -> f64 {
        let (rows, others) = (self.densities.len(), other.densities.len());
        assert_eq!(rows, others, "scores of {rows} and of {others} rows");
        let differences = self.densities.iter().zip(&other.densities);
        let differences: Vec<f64> = differences.map(|(own, other)| own - other).collect();
        let count = rows as f64;
        let mean = differences.iter().sum::<f64>() / count;
        let squares = differences
            .iter()
            .map(|difference| (difference - mean).powi(2));
        let error = squares.sum::<f64>().sqrt(); // √N·s
        let more = self.parameters.saturating_sub(other.parameters) as f64;
        let errors = STANDARD_ERRORS * (FEW_ROWS / count).min(1.0).powi(2);
        count * mean - COST * more - errors * error
    }

    /// Compares models with the same hyperparameters: one that mistakes noise for signal is worse than one that does
    /// not; otherwise, the sum of the log densities decides.
    pub fn order(&self, other: &Self) -> Ordering {
        (other.is_unsound.cmp(&self.is_unsound)).then(self.total().total_cmp(&other.total()))
    }

    /// The sum of the log densities.
    fn total(&self) -> f64 {
        self.densities.iter().sum()
    }
}

/// The index of the score with the largest gain over the score at `base`, or `base` if none is better or there are very
/// few rows.
///
/// If that model mistakes noise for signal, the best one that does not, and whose predictions are as good, takes
/// its place.
pub fn best(scores: &[&Score], base: usize) -> usize {
    if (scores.get(base)).is_some_and(|score| score.densities.len() < FEWEST_ROWS) {
        return base;
    }
    let gain = |place: usize| match place == base {
        true => 0.0,
        false => scores[place].gain_over(scores[base]),
    };
    let places = 0..scores.len();
    let best = (places.clone())
        .max_by(|&a, &b| gain(a).total_cmp(&gain(b)))
        .unwrap_or(base);
    if !scores.get(best).is_some_and(|best| best.is_unsound) {
        return best;
    }
    let total = |place: usize| scores[place].total();
    places
        .filter(|&place| !scores[place].is_unsound && total(place) >= total(best))
        .max_by(|&a, &b| total(a).total_cmp(&total(b)))
        .unwrap_or(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(densities: &[f64], parameters: usize) -> Score {
        Score {
            densities: densities.to_vec(),
            moments: Default::default(),
            parameters,
            is_unsound: false,
        }
    }

    #[test]
    fn a_model_that_repeats_noise_gives_way_to_one_that_predicts_as_well() {
        let repeats_noise = |densities: &[f64]| Score {
            is_unsound: true,
            ..score(densities, 3)
        };
        let (base, worse) = (repeats_noise(&[0.0; 40]), score(&[-0.1; 40], 4));
        let mut as_good = vec![0.5; 40];
        as_good[7] = -19.0;
        let as_good = score(&as_good, 4);
        assert!(as_good.gain_over(&base) < 0.0);
        assert_eq!(best(&[&base, &worse, &as_good], 0), 2);
        assert_eq!(best(&[&base, &worse], 0), 0, "others predict less");
    }

    #[test]
    fn few_rows_choose_no_kernel() {
        for rows in [2, 3, 9, 10] {
            let (base, better) = (score(&vec![0.0; rows], 3), score(&vec![0.5; rows], 3));
            let expected = usize::from(rows == 10);
            assert_eq!(best(&[&base, &better], 0), expected, "{rows}");
        }
    }

    #[test]
    fn starts_are_ordered_by_soundness_then_by_predictions() {
        let (low, high) = (score(&[0.0; 40], 3), score(&[0.5; 40], 3));
        let repeats_noise = Score {
            is_unsound: true,
            ..score(&[2.0; 40], 3)
        };
        assert_eq!(low.order(&high), Ordering::Less);
        assert_eq!(repeats_noise.order(&low), Ordering::Less);
        assert_eq!(high.order(&repeats_noise), Ordering::Greater);
    }

    #[test]
    fn a_gain_is_what_chance_and_parameters_do_not_explain() {
        let base = score(&[0.0; 100], 3);
        // Each row is better by 0.1 without any scatter: 10 nats, less one for each of 4 parameters.
        let even = score(&[0.1; 100], 7);
        assert!((even.gain_over(&base) - 6.0).abs() < 1e-9);
        // The same in the mean, but with a standard deviation of 1: three standard errors are 30 nats.
        let scattered: Vec<f64> = (0..100)
            .map(|row| if row % 2 == 0 { 1.1 } else { -0.9 })
            .collect();
        let scattered = score(&scattered, 3);
        assert!((scattered.gain_over(&base) + 20.0).abs() < 1e-9);
        assert_eq!(best(&[&base, &scattered, &even], 0), 2);
        assert_eq!(best(&[&base, &scattered], 0), 0);
        // Fewer parameters cost nothing.
        assert!((base.gain_over(&even) + 10.0).abs() < 1e-9);
    }
}
