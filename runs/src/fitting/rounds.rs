//! Rounds of training with the noise that errors of the inputs make.

use std::ops::ControlFlow;

use burn_gp_models::{
    AnyModel, InputErrors, ModelConfig,
    training::{Callback, StepReport, Trainer, Training, TrainingError, on_device},
};

use super::{Checkpoints, Interrupt, LogEntry, RunState, Session, session::failure};
use crate::failure::Failure;

/// The callback of a round, which logs the steps and ends when the user interrupts the run.
struct RoundCallback<'a> {
    state: &'a mut RunState,
    interrupt: &'a Interrupt,
    /// The number of steps before this round.
    steps_before: usize,
}

impl Callback<AnyModel, TrainingError> for RoundCallback<'_> {
    fn before_step(&mut self, _trainer: &dyn Trainer<Model = AnyModel>) {
        self.state.clock.start();
    }

    fn after_step(
        &mut self,
        _trainer: &dyn Trainer<Model = AnyModel>,
        report: StepReport,
    ) -> Result<ControlFlow<()>, TrainingError> {
        self.state.clock.stop();
        self.state.log.entries.push(LogEntry {
            report: StepReport {
                step: self.steps_before + report.step,
                ..report
            },
            seconds: self.state.clock.seconds(),
            validation: None,
        });
        Ok(match self.interrupt.is_requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }
}

impl Session {
    /// Trains on with the noise that errors of the inputs make. Rounds write no checkpoints: an interrupted run goes on
    /// from the end of the training without this noise.
    ///
    /// # Errors
    ///
    /// If a step fails, a covariance matrix cannot be factored, or the user interrupts the run.
    pub fn with_input_errors(
        self,
        errors: &InputErrors,
        plan: (&ModelConfig, &Training),
        checkpoints: &Checkpoints,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let Self { trainer, mut state } = self;
        let (trainer, noise) = errors.train(trainer, plan, |trainer| {
            let steps_before = state.step();
            let mut callback = RoundCallback {
                state: &mut state,
                interrupt,
                steps_before,
            };
            let ended = on_device(|| trainer.run(&mut [&mut callback]));
            let step = steps_before + trainer.steps_made();
            ended
                .unwrap_or_else(|source| Err(TrainingError::Device { step, source }))
                .map_err(|error| failure(error, checkpoints))?;
            match interrupt.is_requested() {
                true => Err(Failure::Interrupted {
                    step,
                    planned: steps_before + trainer.steps_planned(),
                    folder: checkpoints.run().to_owned(),
                }),
                false => Ok(ControlFlow::Continue(())),
            }
        })?;
        state.earlier_steps = state.step().saturating_sub(trainer.steps_made());
        state.input_noise = Some(noise);
        Ok(Self { trainer, state })
    }
}
