//! The number of threads that compute.

use std::num::NonZeroUsize;

/// The environment variable that sets the number, here and in the processes of runs.
pub const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Computes with this many threads. It must come before the first computation, which starts the
/// threads; after that, it changes nothing.
pub fn limit(count: NonZeroUsize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count.get());
    // The only error is that the threads have been started.
    let _ = pool.build_global();
}

/// The number of threads that compute.
pub fn count() -> usize {
    rayon::current_num_threads()
}
