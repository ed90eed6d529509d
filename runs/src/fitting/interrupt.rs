//! Ctrl-C, and other signals that ask a program to end.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// The exit code of a program that Ctrl-C has ended.
const ENDED: i32 = 130;

/// Whether the user, or the system, asked the program to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    requested: Arc<AtomicBool>,
}

impl Interrupt {
    /// Catches Ctrl-C and the signals that ask a program to end. The second one ends it at once. The
    /// end of the terminal (SIGHUP) stays ignored where it is, as under `nohup`.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn install() -> Result<Self, ctrlc::Error> {
        let interrupt = Self::default();
        let requested = Arc::clone(&interrupt.requested);
        keep_hang_up_ignored(|| {
            ctrlc::set_handler(move || {
                if requested.swap(true, Ordering::SeqCst) {
                    std::process::exit(ENDED);
                }
            })
        })?;
        Ok(interrupt)
    }

    /// Whether to stop.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }

    /// Lets the next signal end the program: there is nothing left to wait for.
    pub fn end_at_once(&self) {
        self.requested.store(true, Ordering::SeqCst);
    }
}

/// Does what `install` does, and ignores SIGHUP again afterwards if it was ignored before: `ctrlc`
/// takes all signals or none.
#[cfg(unix)]
fn keep_hang_up_ignored<T>(install: impl FnOnce() -> T) -> T {
    // SAFETY: zero is a value of every field of `sigaction`. With a null pointer for the new action
    // the first call writes the present one to `before`, which outlives it; the second call reads
    // what the first has written.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let is_known = libc::sigaction(libc::SIGHUP, std::ptr::null(), &mut before) == 0;
        let installed = install();
        if is_known && before.sa_sigaction == libc::SIG_IGN {
            libc::sigaction(libc::SIGHUP, &before, std::ptr::null_mut());
        }
        installed
    }
}

#[cfg(not(unix))]
fn keep_hang_up_ignored<T>(install: impl FnOnce() -> T) -> T {
    install()
}
