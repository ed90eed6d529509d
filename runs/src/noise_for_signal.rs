//! Models that mistake noise for signal.

use burn::tensor::{Int, Tensor};
use burn_gp_core::{
    inducing::distinct_rows, inference::LeaveOneOut, ops::numbers, parameter::Hyperparameter,
};
use burn_gp_models::{
    AnyModel,
    training::{Model, TrainingData},
};

use crate::coverage::HALF_WIDTH;
use crate::diagnostics::is_too_low;

/// A model follows the training targets if its noise variance is less than this share of the mean squared
/// leave-one-out error.
const FOLLOWED: f64 = 0.01;
/// Other rows hardly predict a target if the leave-one-out error is more than this share of the targets'
/// variance.
const UNPREDICTED: f64 = 0.5;

/// The fewest rows that are judged. Whether fewer are in their intervals is chance.
const FEWEST_ROWS: usize = 10;

/// How a model mistakes noise for signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoiseForSignal {
    /// It follows the training targets although other rows hardly predict them.
    Followed {
        /// The standard deviation of the noise, relative to that of the targets.
        noise: f64,
        /// The root mean squared leave-one-out error, relative to the standard deviation of the targets.
        error: f64,
    },
    /// Too few targets are in their leave-one-out intervals.
    Narrow {
        /// The share of the targets in their intervals of 95 %.
        covered: f64,
    },
}

impl NoiseForSignal {
    /// Judges leave-one-out predictions of `targets`, `[N, P]` row by row, by a model with this noise variance.
    pub fn of(predictions: &LeaveOneOut, targets: &[f64], noise: f64) -> Option<Self> {
        let [_, outputs] = predictions.mean.dims();
        let means = numbers(predictions.mean.clone());
        let deviations = numbers(predictions.variance.clone().sqrt());
        let residuals: Vec<f64> = (targets.iter().zip(&means))
            .map(|(target, mean)| target - mean)
            .collect();
        let is_covered = |&(place, residual): &(usize, &f64)| {
            residual.abs() <= HALF_WIDTH * deviations[place / outputs]
        };
        let count = residuals.len();
        if count < FEWEST_ROWS * outputs {
            return None;
        }
        let covered = residuals.iter().enumerate().filter(is_covered).count() as f64 / count as f64;
        let mean_square = |values: &[f64], center: f64| {
            let squares = values.iter().map(|value| (value - center).powi(2));
            squares.sum::<f64>() / count as f64
        };
        let error = mean_square(&residuals, 0.0);
        let mean = targets.iter().sum::<f64>() / count as f64;
        let variance = mean_square(targets, mean);
        if noise < FOLLOWED * error && error > UNPREDICTED * variance {
            return Some(Self::Followed {
                noise: (noise / variance).sqrt(),
                error: (error / variance).sqrt(),
            });
        }
        is_too_low(covered, count).then_some(Self::Narrow { covered })
    }

    /// The sentence for the user about `rows` training rows.
    fn sentence(self, rows: usize) -> String {
        match self {
            Self::Followed { noise, error } => format!(
                "the noise standard deviation is only {noise:.1e} times the target's, but the leave-one-out error \
                 of the {rows} training rows is {error:.2} times the target's: the model mistakes noise for signal"
            ),
            Self::Narrow { covered } => format!(
                "only {:.1} % of the {rows} training rows are in their leave-one-out 95 % intervals: the model \
                 mistakes noise for signal",
                100.0 * covered
            ),
        }
    }
}

/// A warning if the model mistakes noise for signal: it follows the training targets although other rows hardly
/// predict them, or its leave-one-out intervals are too narrow. `None` for models without closed-form
/// leave-one-out predictions. `others` are the predictions of all rows.
///
/// Of rows with equal inputs, only the first counts, because they predict each other: in a table that has every
/// row twice, a model without noise predicts every row.
pub fn takes_noise_for_signal(
    model: &AnyModel,
    data: &TrainingData,
    others: &LeaveOneOut,
) -> Option<String> {
    let noise = noise_variance(&model.hyperparameters())?;
    let distinct = of_distinct_inputs(data);
    let predictions = match distinct.len() == data.len() {
        true => others.clone(),
        false => model.leave_one_out(&distinct)?.ok()?,
    };
    let targets = numbers(distinct.targets.clone());
    let found = NoiseForSignal::of(&predictions, &targets, noise)?;
    let [rows, _] = distinct.inputs.dims();
    Some(found.sentence(rows))
}

/// The first of the rows with each input.
fn of_distinct_inputs(data: &TrainingData) -> TrainingData {
    let [rows, dimensions] = data.inputs.dims();
    let first = distinct_rows(&numbers(data.inputs.clone()), dimensions);
    if first.len() == rows {
        return data.clone();
    }
    let first: Vec<i64> = first.into_iter().map(|row| row as i64).collect();
    data.reordered(&Tensor::<1, Int>::from_data(
        first.as_slice(),
        &data.inputs.device(),
    ))
}

/// The variance of normal noise, if there is one.
pub fn noise_variance(hyperparameters: &[Hyperparameter]) -> Option<f64> {
    let noise = (hyperparameters.iter()).find(|found| found.path == "likelihood.noise");
    noise.and_then(|noise| noise.values.first().copied())
}
