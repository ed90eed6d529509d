//! The learning rates of a mini-batch loop.

use burn::{
    lr_scheduler::{
        LrSchedulerRecord,
        module_lr_scheduler::{ModuleLearningRate, ModuleLrScheduler},
    },
    module::{Module, ParamGroup},
    tensor::Bytes,
};
use burn_gp_core::parameter::Role;
use serde::{Deserialize, Serialize};

use super::{
    MiniBatchTraining, ScheduledRate, TrainingError,
    checkpoint::{CheckpointFiles, files},
    plateau::{PlateauProgress, PlateauRate},
};

/// One rate for all parameters, with separate rates for the inducing points and the network weights
/// if these differ. Clones share the reported losses.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    all: PlateauRate,
    inducing: Option<(ParamGroup, PlateauRate)>,
    networks: Option<(ParamGroup, PlateauRate)>,
}

/// The progress of the rates.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct RatesProgress {
    all: PlateauProgress,
    inducing: Option<PlateauProgress>,
    #[serde(default)]
    networks: Option<PlateauProgress>,
}

impl Rates {
    /// The rates of the parameters of `model` before the first step.
    pub fn new(training: &MiniBatchTraining, model: &impl Module) -> Self {
        let all = ScheduledRate {
            first: training.learning_rate,
            schedule: training.schedule,
            steps: training.steps,
            step: 0,
        };
        let separate = |role: Role, first, plateau| {
            let rate = PlateauRate::new(ScheduledRate { first, ..all }, plateau);
            (role.group(model), rate)
        };
        let inducing = training.inducing.map(|inducing| {
            let first = inducing.learning_rate.unwrap_or(all.first);
            separate(Role::Inducing, first, inducing.plateau.or(training.plateau))
        });
        let networks =
            (training.network_rate).map(|first| separate(Role::Network, first, training.plateau));
        Self {
            all: PlateauRate::new(all, training.plateau),
            inducing,
            networks,
        }
    }

    /// Reports the loss of a step. The rate of the inducing points takes it only if they are
    /// `trained`.
    pub fn observe(&self, loss: f64, trained: bool) {
        self.all.observe(loss);
        if let Some((_, rate)) = &self.networks {
            rate.observe(loss);
        }
        if let (Some((_, rate)), true) = (&self.inducing, trained) {
            rate.observe(loss);
        }
    }

    /// burn's scheduler from step `step` on. Steps are counted from zero.
    pub fn scheduler(&self, step: usize) -> ModuleLrScheduler {
        let mut rates = ModuleLrScheduler::new(self.all.starting_at(step));
        for (group, rate) in self.inducing.iter().chain(&self.networks) {
            rates = rates.with_group(group.clone(), rate.starting_at(step));
        }
        rates
    }

    /// The rates of one step. Steps are counted from zero.
    pub fn at(&self, step: usize) -> ModuleLearningRate {
        self.scheduler(step).step()
    }

    /// Restores the rates from a checkpoint of burn's learner. Returns the number of steps.
    pub fn restore_learner(&self, saved: &CheckpointFiles) -> Result<usize, TrainingError> {
        let (record, step) = saved.restore(files::SCHEDULER, |content| {
            let record = LrSchedulerRecord::from_bytes(Bytes::from_bytes_vec(content));
            let record = record.map_err(|reason| reason.to_string())?;
            let step = ScheduledRate::step_in(&record).ok_or("it has no step")?;
            Ok::<_, String>((record, step))
        })?;
        // All schedulers created from the rates share their progress.
        self.scheduler(step).load_record(record);
        Ok(step)
    }

    pub fn progress(&self) -> RatesProgress {
        RatesProgress {
            all: self.all.progress(),
            inducing: self.inducing.as_ref().map(|(_, rate)| rate.progress()),
            networks: self.networks.as_ref().map(|(_, rate)| rate.progress()),
        }
    }

    pub fn restore(&self, progress: RatesProgress) {
        self.all.restore(progress.all);
        if let (Some((_, rate)), Some(seen)) = (&self.inducing, progress.inducing) {
            rate.restore(seen);
        }
        if let (Some((_, rate)), Some(seen)) = (&self.networks, progress.networks) {
            rate.restore(seen);
        }
    }
}
