//! The median of repeated time measurements.

use std::time::Duration;

/// The median. For an even number of times it is the larger of the middle two. Panics if there are no times.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
