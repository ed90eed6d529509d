//! Steps that are long enough to keep all threads awake.

use std::time::{Duration, Instant};

use burn_gp_core::ops::with_threads_awake;

/// The time from which a step runs on threads that stay awake. Below it, to enter their pool takes
/// longer than is gained.
const LONG: Duration = Duration::from_millis(2);

/// The time of the last step on the CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongSteps {
    last: Duration,
}

impl LongSteps {
    /// Makes a step, on threads that stay awake if the last one was long. The threads change no
    /// number.
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
