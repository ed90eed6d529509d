//! Steps that are long enough to keep all threads awake.

use std::time::{Duration, Instant};

use burn_gp_core::ops::with_threads_awake;

/// Steps that take at least this long run on threads that stay awake. For shorter steps, entering
/// their pool costs more than it saves.
const LONG: Duration = Duration::from_millis(2);

/// The time of the last step on the CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongSteps {
    last: Duration,
}

impl LongSteps {
    /// Takes a step, on threads that stay awake if the last step was long. The threads do not
    /// change results.
    pub fn run<R: Send>(&mut self, step: impl FnOnce() -> R + Send) -> R {
        let start = Instant::now();
        let result = if self.last < LONG {
            step()
        } else {
            with_threads_awake(step)
        };
        self.last = start.elapsed();
        result
    }
}
