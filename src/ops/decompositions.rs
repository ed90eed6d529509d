//! A counter of matrix decompositions.

use std::sync::atomic::{AtomicU64, Ordering};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// The number of factorizations, triangular solves and log-determinants that this process has made
/// so far, including those of the backward pass. Inverse-free operations leave it unchanged.
pub fn decompositions() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Counts one decomposition.
pub(super) fn count_decomposition() {
    COUNT.fetch_add(1, Ordering::Relaxed);
}
