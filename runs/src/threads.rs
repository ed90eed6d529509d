//! The number of threads that compute.

use std::num::NonZeroUsize;

/// The environment variable that sets the number, here and in the processes of runs.
pub const VARIABLE: &str = "RAYON_NUM_THREADS";

/// The most threads. The system refuses many more, which ends the program.
const MOST: usize = 1024;

/// Reads a number of threads.
///
/// # Errors
///
/// A description of the numbers that there can be.
pub fn parse(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse().ok();
    let count = count.filter(|count: &NonZeroUsize| count.get() <= MOST);
    count.ok_or_else(|| format!("it must be a whole number from 1 to {MOST}"))
}

/// Checks the number of threads that the environment sets; zero means one for each core.
///
/// # Errors
///
/// One sentence for the user.
pub fn of_environment() -> Result<(), String> {
    let text = std::env::var(VARIABLE).unwrap_or_default();
    match text.parse::<usize>() {
        Ok(count) if count > MOST => {
            Err(format!("{VARIABLE} is {text} but must be at most {MOST}"))
        }
        _ => Ok(()),
    }
}

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
