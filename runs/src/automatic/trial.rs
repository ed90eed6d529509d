//! Short training from several starts.
//!
//! Class labels have no leave-one-out predictions in closed form, and those of regression on their numbers say little
//! about them: it takes differences between classes for noise, or follows them exactly. The bound of the evidence of the
//! model itself has neither fault, because likelihoods of classes have no noise variance that could vanish.

use burn::tensor::{DType, Device};
use burn_gp_core::ops::number;
use burn_gp_datasets::DataSource;
use burn_gp_models::training::{AnyTrainer, Model};

use super::start::Start;
use crate::failure::Failure;
use crate::plan::{check, resolve};
use crate::preparation::PreparedData;

/// The number of steps after which starts are compared. Rates have hardly fallen by then.
const STEPS: usize = 100;
/// The number of iterations on all rows.
const ITERATIONS: usize = 30;
/// The most training rows for which starts are compared. More rows determine every kernel well enough.
const MOST_ROWS: usize = 5000;
/// The gain in nats beyond which another kernel replaces the simplest one: a ratio of evidences of about twenty.
const MARGIN: f64 = 3.0;
/// The cost of each value of a hyperparameter in nats, as in Akaike's criterion.
const COST: f64 = 1.0;

/// The start with the best bound after some steps, unless the first, which is the simplest, is as good.
///
/// # Errors
///
/// If options do not fit the data or each other.
pub fn best_by_bound(
    starts: &[Start],
    source: &DataSource,
    data: &PreparedData,
    place: (&Device, DType),
    mut watch: impl FnMut(),
) -> Result<usize, Failure> {
    let mut scores = Vec::with_capacity(starts.len());
    for start in starts {
        watch();
        scores.push(score(start, source, data, place)?);
    }
    Ok(best(&scores))
}

/// Whether there are few enough rows to compare starts by training from each.
pub fn is_short(data: &PreparedData) -> bool {
    data.stream.is_none() && data.training_rows() <= MOST_ROWS
}

/// The bound over all rows after some steps, less the cost of the hyperparameters; `None` if a step fails.
///
/// Priors are not part of it: a narrow prior is a large density, which would reward kernels for their parameters.
fn score(
    start: &Start,
    source: &DataSource,
    data: &PreparedData,
    place: (&Device, DType),
) -> Result<Option<f64>, Failure> {
    let options = check(&start.options, source)?;
    let mut trainer = resolve(&options, data)?.1.trainer(data, place)?;
    let steps = match trainer {
        AnyTrainer::MiniBatch(_) => STEPS,
        AnyTrainer::FullBatch(_) => ITERATIONS,
    };
    let steps = steps.min(trainer.steps_planned());
    let mut trained = Ok(());
    while trained.is_ok() && trainer.steps_made() < steps && !trainer.is_finished() {
        trained = trainer.step().map(|_| ());
    }
    let loss = (trained.ok()).and_then(|()| trainer.loss(None, |_| ()).ok());
    let model = trainer.model();
    let log_prior = model.priors().log_density(model).map_or(0.0, number);
    let parameters: usize = (model.hyperparameters().iter())
        .map(|found| found.values.len())
        .sum();
    let rows = data.training_rows() as f64;
    let score = loss.map(|loss| -loss * rows - log_prior - COST * parameters as f64);
    Ok(score.filter(|score| score.is_finite()))
}

/// The place of the largest score, or the first if its score is within the margin.
fn best(scores: &[Option<f64>]) -> usize {
    let found = (scores.iter().enumerate()).filter_map(|(place, score)| Some((place, (*score)?)));
    let handicapped = found.map(|(place, score)| match place {
        0 => (place, score + MARGIN),
        _ => (place, score),
    });
    let largest = handicapped.max_by(|a, b| a.1.total_cmp(&b.1));
    largest.map_or(0, |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_replaces_the_simplest_by_more_than_three_nats() {
        assert_eq!(best(&[Some(-50.0), Some(-47.5)]), 0);
        assert_eq!(best(&[Some(-50.0), Some(-46.5), Some(-46.0)]), 2);
        assert_eq!(best(&[None, None, Some(-60.0)]), 2);
        assert_eq!(best(&[None, None]), 0);
    }
}
