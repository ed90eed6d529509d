//! Steps that are long enough to keep all threads awake.

use std::time::Duration;

/// Steps that take at least this long run on threads that stay awake. For shorter steps, entering
/// their pool costs more than it saves.
const LONG: Duration = Duration::from_millis(2);

/// The time of the last step on the CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongSteps {
    last: Duration,
}

impl LongSteps {
    /// Whether the next step should run on threads that [stay awake](burn_gp_core::ops::with_threads_awake), which
    /// do not change results: whether the last step was long.
    pub fn are_expected(self) -> bool {
        self.last >= LONG
    }

    /// Sets the time of the last step.
    pub fn took(&mut self, time: Duration) {
        self.last = time;
    }
}
