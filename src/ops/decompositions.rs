//! How often matrices were decomposed.

use std::sync::atomic::{AtomicU64, Ordering};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// How many factorizations, triangular solves and log-determinants this process has made so far,
/// those of the backward pass included. What needs none of them leaves the number as it is.
pub fn decompositions() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Counts one of them.
pub(super) fn count_decomposition() {
    COUNT.fetch_add(1, Ordering::Relaxed);
}
