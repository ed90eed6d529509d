//! Mini-batch training in burn's learner.

use std::sync::Arc;

use burn::train::metric::store::EventStoreClient;
use burn::train::{EarlyStoppingStrategy, SupervisedTraining};
use burn_gp_models::AnyModel;
use burn_gp_models::training::{Examination, MiniBatchLearner, StepRenderer};

use super::checkpointer::{CheckpointWhenDue, LearnerCheckpointer};
use super::metrics::{StepMetric, ValidationMetric};
use super::session::Broken;
use super::{Checkpoints, Pace, SharedRunState};
use crate::progress::Progress;

/// Makes the steps that are left, in rounds: a round ends where the model is looked at or saved.
///
/// # Errors
///
/// When a step cannot be made or a checkpoint cannot be written.
pub fn learn(
    learner: &mut MiniBatchLearner<AnyModel>,
    state: &SharedRunState,
    pace: &Arc<Pace>,
    checkpoints: &Checkpoints,
    mut progress: Progress,
) -> Result<(), Broken> {
    let batches = learner.batches({
        let pace = Arc::clone(pace);
        move |step| pace.round_ends(step)
    });
    let examinations = learner.examinations({
        let (pace, state) = (Arc::clone(pace), state.clone());
        move |step| {
            pace.is_validation_due(step)
                .then(|| validation(&state, step))
        }
    });
    let planned = learner.steps_planned();
    let checkpointer = LearnerCheckpointer::new(checkpoints.clone());
    let training = SupervisedTraining::new(checkpoints.folder(), batches, examinations)
        // A round has a step at least; the strategy below knows when it is the last.
        .num_epochs(planned - learner.steps_made())
        .with_application_logger(None)
        .metric_train(StepMetric(state.clone()))
        .metric_valid(ValidationMetric(state.clone()))
        .renderer(Box::new(StepRenderer::new({
            let state = state.clone();
            move || show_last(&state, &mut progress)
        })))
        .with_custom_checkpointers(
            checkpointer.clone(),
            checkpointer.clone(),
            checkpointer.clone(),
        )
        .with_checkpointing_strategy(CheckpointWhenDue {
            checkpointer: checkpointer.clone(),
            pace: Arc::clone(pace),
            state: state.clone(),
        })
        .early_stopping(StopWhenOver {
            planned,
            pace: Arc::clone(pace),
            state: state.clone(),
        });
    state.lock().clock.start();
    let outcome = learner.fit(training);
    state.lock().clock.stop();
    match checkpointer.take_failure() {
        Some(failure) => Err(Broken::Checkpoint(failure)),
        None => outcome.map_err(Broken::Step),
    }
}

/// Shows the last entry of the log, which has what the metrics say.
fn show_last(state: &SharedRunState, progress: &mut Progress) {
    let last = state.lock().log.entries.last().copied();
    if let Some(entry) = last {
        progress.update(&entry);
    }
}

/// The validation after `step`, which is no part of the time of the steps.
fn validation(state: &SharedRunState, step: usize) -> Examination<AnyModel> {
    let state = state.clone();
    Box::new(move |model| {
        let mut state = state.lock();
        state.clock.stop();
        let score = match &mut state.validation {
            Some(validation) => validation.look_at(step, model),
            None => Ok(f64::NAN),
        };
        state.clock.start();
        score
    })
}

/// Stops after the last step, after validations without improvement, and at the user's wish.
#[derive(Clone)]
struct StopWhenOver {
    planned: usize,
    pace: Arc<Pace>,
    state: SharedRunState,
}

impl EarlyStoppingStrategy for StopWhenOver {
    fn should_stop(&mut self, _round: usize, _store: &EventStoreClient) -> bool {
        let state = self.state.lock();
        self.pace.stops() || state.is_exhausted() || state.step() >= self.planned
    }
}
