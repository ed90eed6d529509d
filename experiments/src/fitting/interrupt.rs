//! Ctrl-C.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Whether the user, or the system, asked the program to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    requested: Arc<AtomicBool>,
}

impl Interrupt {
    /// Catches Ctrl-C and the signals that ask a program to end. The second one ends it at once.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn install() -> Result<Self, ctrlc::Error> {
        let interrupt = Self::default();
        let requested = Arc::clone(&interrupt.requested);
        ctrlc::set_handler(move || {
            if requested.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        })?;
        Ok(interrupt)
    }

    /// Whether to stop.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }
}
