//! The number of threads.

use std::num::NonZeroUsize;

/// The environment variable with the number of threads, for this process and the processes of runs.
pub const VARIABLE: &str = "RAYON_NUM_THREADS";

/// The maximum number of threads. If the system refuses to start more, the program ends.
const MOST: usize = 1024;

/// Reads a number of threads.
///
/// # Errors
///
/// A description of the valid numbers.
pub fn parse(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse().ok();
    let count = count.filter(|count: &NonZeroUsize| count.get() <= MOST);
    count.ok_or_else(|| format!("must be a whole number from 1 to {MOST}"))
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

/// Sets the number of threads. It has no effect after the first computation, which starts the threads.
pub fn limit(count: NonZeroUsize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count.get());
    // The only error is that the threads are already running.
    let _ = pool.build_global();
}

/// The number of threads.
pub fn count() -> usize {
    rayon::current_num_threads()
}
