//! Ctrl-C and other signals that ask a program to end.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// The exit code after Ctrl-C.
const ENDED: i32 = 130;

/// Whether the terminal has been closed.
static HUNG_UP: AtomicBool = AtomicBool::new(false);

/// Whether the user or the system asked the program to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    requested: Arc<AtomicBool>,
}

impl Interrupt {
    /// Catches Ctrl-C and other signals that ask a program to end. The second signal ends it at once.
    ///
    /// If SIGHUP, the end of the terminal, is ignored as under `nohup`, it stays ignored. Otherwise it counts
    /// once, because the shell and the system both send it to the programs of a terminal.
    ///
    /// # Errors
    ///
    /// If the handler cannot be installed.
    pub fn install() -> Result<Self, ctrlc::Error> {
        let interrupt = Self::default();
        let requested = Arc::clone(&interrupt.requested);
        with_own_hang_up(|| {
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
        self.requested.load(Ordering::SeqCst) || HUNG_UP.load(Ordering::SeqCst)
    }

    /// Lets the next signal end the program, because nothing is left to wait for.
    pub fn end_at_once(&self) {
        self.requested.store(true, Ordering::SeqCst);
    }
}

/// Calls `install` and then replaces the handler of `ctrlc` for SIGHUP, because `ctrlc` handles all signals or
/// none and does not report which one arrived. SIGHUP stays ignored if it was ignored before.
#[cfg(unix)]
fn with_own_hang_up<T>(install: impl FnOnce() -> T) -> T {
    extern "C" fn note(_signal: libc::c_int) {
        HUNG_UP.store(true, Ordering::SeqCst);
    }
    let note: extern "C" fn(libc::c_int) = note;
    // SAFETY: zero is a valid value of every field of `sigaction`. With a null pointer for the new action, the
    // first call writes the current action to `action`, which outlives the call; the second call reads it. A
    // handler may store a flag.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let is_known = libc::sigaction(libc::SIGHUP, std::ptr::null(), &mut action) == 0;
        let installed = install();
        if !(is_known && action.sa_sigaction == libc::SIG_IGN) {
            action.sa_sigaction = note as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
        }
        libc::sigaction(libc::SIGHUP, &action, std::ptr::null_mut());
        installed
    }
}

#[cfg(not(unix))]
fn with_own_hang_up<T>(install: impl FnOnce() -> T) -> T {
    install()
}
