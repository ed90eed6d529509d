//! When to write a checkpoint, and when to stop.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};
use std::time::{Duration, Instant};

use super::{Interrupt, SharedRunState};

/// Time between two checkpoints, unless a number of steps is given.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(30);

/// When to write a checkpoint, and when to stop.
pub struct Pace {
    interrupt: Interrupt,
    state: SharedRunState,
    planned: usize,
    every: Option<usize>,
    /// When the last checkpoint was written, and after which step.
    last: Mutex<(Instant, usize)>,
    stops: AtomicBool,
}

impl Pace {
    /// The pace of a run of `planned` steps that goes on from `state`.
    pub fn new(interrupt: Interrupt, state: SharedRunState, planned: usize) -> Self {
        let (every, step) = {
            let state = state.lock();
            (state.options.checkpoint_every, state.step())
        };
        Self {
            interrupt,
            state,
            planned,
            every,
            last: Mutex::new((Instant::now(), step)),
            stops: AtomicBool::new(false),
        }
    }

    /// Whether a round of steps ends after `step`: something is to be done with the model.
    pub fn round_ends(&self, step: usize) -> bool {
        self.interrupt.is_requested()
            || self.is_checkpoint_due(step)
            || self.is_validation_due(step)
    }

    /// Whether to validate after `step`.
    pub fn is_validation_due(&self, step: usize) -> bool {
        let is_last = step >= self.planned;
        let state = self.state.lock();
        (state.validation.as_ref()).is_some_and(|validation| validation.is_due(step, is_last))
    }

    /// Whether to write a checkpoint after `step`.
    pub fn is_checkpoint_due(&self, step: usize) -> bool {
        let (written, last) = *self.last();
        match self.every {
            Some(steps) => step - last >= steps,
            None => written.elapsed() >= CHECKPOINT_INTERVAL,
        }
    }

    /// Whether training ends with `step`, the last or one too many without improvement.
    pub fn is_over(&self, step: usize) -> bool {
        step >= self.planned || self.state.lock().is_exhausted()
    }

    /// A checkpoint of `step` was written.
    pub fn checkpoint_written(&self, step: usize) {
        *self.last() = (Instant::now(), step);
    }

    fn last(&self) -> MutexGuard<'_, (Instant, usize)> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the user wants to stop. Once true, [`stops`](Self::stops) is true as well: what is
    /// saved because of it is not saved in vain.
    pub fn ask_to_stop(&self) -> bool {
        let stops = self.interrupt.is_requested();
        self.stops.fetch_or(stops, Ordering::Relaxed) || stops
    }

    /// Whether training stops here at the user's wish.
    pub fn stops(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }
}
