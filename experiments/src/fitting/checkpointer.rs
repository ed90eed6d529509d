//! Checkpoints of burn's learner.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burn::lr_scheduler::LrSchedulerRecord;
use burn::optim::OptimizerRecord;
use burn::store::ModuleRecord;
use burn::train::checkpoint::{
    Checkpoint, Checkpointer, CheckpointerError, CheckpointingAction, CheckpointingStrategy,
};
use burn::train::metric::store::EventStoreClient;
use burn_gp_models::training::LearnerRecord;

use super::{Checkpoints, Pace, SharedRunState, Snapshot};
use crate::failure::Failure;

/// Puts checkpoints together: burn hands over the records of model, optimizer and scheduler one by
/// one, each in a thread of its own, and only together, with the state of the run at that step, are
/// they a checkpoint. The last to come writes it, while training goes on.
#[derive(Clone)]
pub struct LearnerCheckpointer {
    checkpoints: Checkpoints,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    /// The parts that are there, by round.
    parts: BTreeMap<usize, Parts>,
    /// Why a checkpoint could not be written.
    failure: Option<Failure>,
}

#[derive(Default)]
struct Parts {
    snapshot: Option<Snapshot>,
    model: Option<ModuleRecord>,
    optimizer: Option<OptimizerRecord>,
    scheduler: Option<LrSchedulerRecord>,
}

impl Parts {
    fn are_complete(&self) -> bool {
        let records = self.model.is_some() && self.optimizer.is_some() && self.scheduler.is_some();
        self.snapshot.is_some() && records
    }

    /// The checkpoint, if they are complete.
    fn whole(self) -> Option<(Snapshot, LearnerRecord)> {
        let record = LearnerRecord {
            model: self.model?,
            optimizer: self.optimizer?,
            scheduler: self.scheduler?,
        };
        Some((self.snapshot?, record))
    }
}

impl LearnerCheckpointer {
    /// Writes among `checkpoints`.
    pub fn new(checkpoints: Checkpoints) -> Self {
        Self {
            checkpoints,
            shared: Arc::default(),
        }
    }

    /// Takes the failure to write a checkpoint, if there was one.
    pub fn take_failure(&self) -> Option<Failure> {
        self.shared().failure.take()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a part to the checkpoint after `round`; gives the whole if that was the last.
    fn add(
        &self,
        round: usize,
        part: impl FnOnce(&mut Parts),
    ) -> Option<(Snapshot, LearnerRecord)> {
        let mut shared = self.shared();
        let parts = shared.parts.entry(round).or_default();
        part(parts);
        if !parts.are_complete() {
            return None;
        }
        shared.parts.remove(&round)?.whole()
    }

    fn add_record(
        &self,
        round: usize,
        part: impl FnOnce(&mut Parts),
    ) -> Result<(), CheckpointerError> {
        let Some((snapshot, record)) = self.add(round, part) else {
            return Ok(());
        };
        let written = (self.checkpoints).save(snapshot, |folder| record.save(folder));
        written.map_err(|failure| {
            let reason = CheckpointerError::Unknown(failure.to_string());
            self.shared().failure.get_or_insert(failure);
            reason
        })
    }
}

/// A record as a part of a checkpoint.
trait Part: Checkpoint {
    fn place(self, parts: &mut Parts);
}

impl Part for ModuleRecord {
    fn place(self, parts: &mut Parts) {
        parts.model = Some(self);
    }
}

impl Part for OptimizerRecord {
    fn place(self, parts: &mut Parts) {
        parts.optimizer = Some(self);
    }
}

impl Part for LrSchedulerRecord {
    fn place(self, parts: &mut Parts) {
        parts.scheduler = Some(self);
    }
}

impl<R: Part> Checkpointer<R> for LearnerCheckpointer {
    fn save(&self, round: usize, record: R) -> Result<(), CheckpointerError> {
        self.add_record(round, |parts| record.place(parts))
    }

    /// Earlier checkpoints go when a later one is complete.
    fn delete(&self, _round: usize) -> Result<(), CheckpointerError> {
        Ok(())
    }

    /// A run is restored before it is given to burn, whose learner panics on a damaged checkpoint.
    fn restore(&self, _round: usize) -> Result<R, CheckpointerError> {
        let reason = "a run is restored before its learner is made";
        Err(CheckpointerError::Unknown(reason.into()))
    }
}

/// Writes a checkpoint after a round when one is due, the user wants to stop, or training is over:
/// what follows can take long or fail, and must not cost a step.
pub struct CheckpointWhenDue {
    pub checkpointer: LearnerCheckpointer,
    pub pace: Arc<Pace>,
    pub state: SharedRunState,
}

impl CheckpointingStrategy for CheckpointWhenDue {
    fn checkpointing(
        &mut self,
        round: usize,
        _store: &EventStoreClient,
    ) -> Vec<CheckpointingAction> {
        let step = self.state.lock().step();
        let is_due = self.pace.is_checkpoint_due(step) || self.pace.is_over(step);
        if !self.pace.ask_to_stop() && !is_due {
            return Vec::new();
        }
        self.pace.checkpoint_written(step);
        let snapshot = self.state.lock().snapshot();
        // The records of the round are still to come.
        self.checkpointer
            .add(round, |parts| parts.snapshot = Some(snapshot));
        vec![CheckpointingAction::Save]
    }
}
