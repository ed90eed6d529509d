//! Scores of the test rows in the course of training.

use burn_gp_datasets::DataSource;
use burn_gp_models::training::{MiniBatchTrainer, Trainer, Training, TrainingData};
use serde::{Deserialize, Serialize};

use crate::arguments::RunOptions;
use crate::evaluation::{LEVEL, evaluate};
use crate::failure::Failure;
use crate::plan::{check, resolve};
use crate::preparation::PreparedData;
use crate::study::{Place, Watch};

/// A look at the test rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Look {
    /// After this step.
    pub step: usize,
    /// Of the steps alone: without the choice of inducing points, what a model does before its first
    /// step, and the looks.
    pub seconds: f64,
    /// The mean loss of the steps since the look before: the negative bound per datum.
    pub loss: f64,
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean negative log predictive density.
    pub nlpd: f64,
}

/// A training that was looked at on the way.
pub(super) struct Course {
    /// The complete options of the run.
    pub options: RunOptions,
    /// The looks.
    pub looks: Vec<Look>,
}

/// Trains a model on mini-batches and looks at the test rows about `looks` times on the way, the last
/// time at the end.
///
/// # Errors
///
/// When there are no such data, no such model, or a step cannot be made.
pub(super) fn course(
    title: &str,
    options: RunOptions,
    source: &DataSource,
    place: Place,
    looks: usize,
    watch: &Watch<'_>,
) -> Result<Course, Failure> {
    let (device, dtype) = place.open()?;
    let options = check(&options, source)?;
    let data = PreparedData::load(source, &options)?;
    let (options, plan) = resolve(&options, &data)?;
    let Training::MiniBatch(training) = plan.training else {
        unreachable!("the models of these experiments train on mini-batches")
    };
    watch.announce(title);
    let (inputs, targets) = (data.train.inputs.values(), &data.train.targets);
    let training_data = TrainingData::new(inputs, targets, &device, dtype);
    let interval = (training.steps / looks).max(1);
    let (model, training_data) = plan.model.init(training_data)?;
    let seen = training_data.clone();
    let mut trainer = MiniBatchTrainer::new(model, training_data, *training);
    let mut points: Vec<Look> = Vec::new();
    let mut losses = Vec::new();
    watch.train(&mut trainer, |trainer, entry| {
        losses.push(entry.report.loss);
        let step = entry.report.step;
        if step.is_multiple_of(interval) || trainer.is_finished() {
            let predictor = trainer.model().trained(&seen)?.predictor()?;
            let (test, progress) = (&data.test, watch.rows(data.test.len()));
            let scores = evaluate(&predictor, test, &data.standardizer, LEVEL, progress)?.scores;
            points.push(Look {
                step,
                seconds: entry.seconds,
                loss: losses.iter().sum::<f64>() / losses.len() as f64,
                rmse: scores.rmse,
                nlpd: scores.nlpd,
            });
            losses.clear();
        }
        Ok(())
    })?;
    Ok(Course {
        options,
        looks: points,
    })
}
