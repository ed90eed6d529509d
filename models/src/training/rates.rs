//! The learning rates of a mini-batch loop.

use burn::lr_scheduler::module_lr_scheduler::{ModuleLearningRate, ModuleLrScheduler};

use super::{InducingTraining, MiniBatchTraining, ScheduledRate, plateau::PlateauRate};

/// One rate for all parameters, and one for the inducing points where theirs is another. Clones
/// share the losses that the latter has seen.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    all: ScheduledRate,
    inducing: Option<PlateauRate>,
}

impl Rates {
    /// The rates before the first step.
    pub fn new(training: &MiniBatchTraining) -> Self {
        let all = ScheduledRate {
            first: training.learning_rate,
            schedule: training.schedule,
            steps: training.steps,
            step: 0,
        };
        let inducing = training.inducing.map(|inducing| {
            let first = inducing.learning_rate.unwrap_or(all.first);
            PlateauRate::new(ScheduledRate { first, ..all }, inducing.plateau)
        });
        Self { all, inducing }
    }

    /// The rate of the inducing points, where it is one of their own.
    pub fn inducing(&self) -> Option<&PlateauRate> {
        self.inducing.as_ref()
    }

    /// burn's scheduler from step `step` on, counted from zero.
    pub fn scheduler(&self, step: usize) -> ModuleLrScheduler {
        let all = ModuleLrScheduler::new(ScheduledRate { step, ..self.all });
        match &self.inducing {
            Some(rate) => all.with_group(InducingTraining::group(), rate.starting_at(step)),
            None => all,
        }
    }

    /// The rates of one step, counted from zero.
    pub fn at(&self, step: usize) -> ModuleLearningRate {
        self.scheduler(step).step()
    }
}
