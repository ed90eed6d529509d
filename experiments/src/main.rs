//! The program `burn-gp`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    keep_freed_pages();
    burn_gp_experiments::run(std::env::args_os())
}

/// Keeps freed memory for what is allocated next, instead of giving it back once a second: a step of
/// training frees matrices and allocates the same ones again, and is slower for a second or two
/// whenever their pages have to be cleared anew. `MIMALLOC_PURGE_DELAY` overrides it.
fn keep_freed_pages() {
    /// `mi_option_purge_delay`, in milliseconds; negative: never.
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: writes one integer of the allocator's table of options, before there are other
    // threads; a number that is not in the table is ignored.
    unsafe { libmimalloc_sys::mi_option_set_default(PURGE_DELAY, -1) };
}
