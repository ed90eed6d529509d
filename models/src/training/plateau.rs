//! Learning rates that fall when the loss reaches a plateau.

use std::sync::{Arc, Mutex, PoisonError};

use burn::{
    lr_scheduler::{LrScheduler, LrSchedulerRecord},
    optim::LearningRate,
};
use serde::{Deserialize, Serialize};

use super::ScheduledRate;

/// A learning rate that is multiplied by `factor` after every `patience` consecutive steps without
/// a new lowest mini-batch loss. The product of the factors is never below `lowest`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plateau {
    /// The factor of the learning rate.
    pub factor: f64,
    /// The number of steps without a lower loss.
    pub patience: usize,
    /// The smallest product of the factors.
    pub lowest: f64,
}

impl Plateau {
    /// `0.95` after every `patience` steps, down to a thousandth.
    pub fn new(patience: usize) -> Self {
        Self {
            factor: 0.95,
            patience,
            lowest: 1e-3,
        }
    }
}

/// The progress of a plateau.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PlateauProgress {
    /// The product of the factors so far.
    fraction: f64,
    /// The lowest loss so far.
    best: Option<f64>,
    /// The number of steps since the lowest loss, or since the last factor.
    waited: usize,
}

impl PlateauProgress {
    const START: Self = Self {
        fraction: 1.0,
        best: None,
        waited: 0,
    };

    fn observe(&mut self, loss: f64, plateau: Plateau) {
        if self.best.is_none_or(|best| loss < best) {
            (self.best, self.waited) = (Some(loss), 0);
            return;
        }
        self.waited += 1;
        if self.waited >= plateau.patience.max(1) {
            self.waited = 0;
            self.fraction = (self.fraction * plateau.factor).max(plateau.lowest);
        }
    }
}

/// A learning rate that depends on the reported losses. Clones share the losses, so that the rate
/// also falls in burn's learner, which owns its schedulers.
#[derive(Clone, Debug)]
pub(super) struct PlateauRate {
    /// The learning rate without the plateau factors.
    scheduled: ScheduledRate,
    plateau: Option<Plateau>,
    progress: Arc<Mutex<PlateauProgress>>,
}

const FRACTION: &str = "fraction";
const BEST: &str = "best";
const WAITED: &str = "waited";

impl PlateauRate {
    /// A rate without reported losses.
    pub fn new(scheduled: ScheduledRate, plateau: Option<Plateau>) -> Self {
        Self {
            scheduled,
            plateau,
            progress: Arc::new(Mutex::new(PlateauProgress::START)),
        }
    }

    /// Reports a step's loss.
    pub fn observe(&self, loss: f64) {
        if let Some(plateau) = self.plateau {
            self.update(|progress| progress.observe(loss, plateau));
        }
    }

    /// The same rate with the same losses, from step `step` on.
    pub fn starting_at(&self, step: usize) -> Self {
        let scheduled = ScheduledRate {
            step,
            ..self.scheduled
        };
        Self {
            scheduled,
            ..self.clone()
        }
    }

    pub fn progress(&self) -> PlateauProgress {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn restore(&self, progress: PlateauProgress) {
        self.update(|own| *own = progress);
    }

    fn update(&self, change: impl FnOnce(&mut PlateauProgress)) {
        change(&mut self.progress.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl LrScheduler for PlateauRate {
    fn step(&mut self) -> LearningRate {
        LrScheduler::step(&mut self.scheduled) * self.progress().fraction
    }

    fn to_record(&self) -> LrSchedulerRecord {
        let progress = self.progress();
        let record = (self.scheduled.to_record())
            .with_scalar(FRACTION, progress.fraction)
            .with_scalar(WAITED, progress.waited);
        match progress.best {
            Some(best) => record.with_scalar(BEST, best),
            None => record,
        }
    }

    fn load_record(&mut self, record: LrSchedulerRecord) {
        let start = PlateauProgress::START;
        self.restore(PlateauProgress {
            fraction: record.scalar(FRACTION).unwrap_or(start.fraction),
            best: record.scalar(BEST),
            waited: record.scalar(WAITED).unwrap_or(start.waited),
        });
        self.scheduled.load_record(record);
    }
}

#[cfg(test)]
mod tests {
    use super::{Plateau, PlateauProgress};

    #[test]
    fn a_plateau_counts_steps_without_a_lower_loss() {
        let plateau = Plateau {
            factor: 0.5,
            patience: 2,
            lowest: 0.2,
        };
        let mut progress = PlateauProgress::START;
        // The loss, and the fraction after it.
        for (loss, fraction) in [
            (3.0, 1.0),
            (4.0, 1.0),
            (2.0, 1.0),
            (2.0, 1.0),
            (5.0, 0.5),
            (6.0, 0.5),
            (1.0, 0.5),
            (1.5, 0.5),
            (1.5, 0.25),
            (1.5, 0.25),
            (1.5, 0.2),
            (f64::INFINITY, 0.2),
            (1.5, 0.2),
        ] {
            progress.observe(loss, plateau);
            assert_eq!(progress.fraction, fraction, "after {loss}");
        }
    }
}
