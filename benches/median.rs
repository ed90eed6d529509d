//! The middle of repeated times.

use std::time::Duration;

/// The median, the later one of an even number; of no times it panics.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
