//! The allocator of the program, and of the benchmarks, which include this file.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Keeps freed memory for reuse instead of returning it to the system once a second. A training
/// step frees matrices and allocates the same ones again. It is slower for a second or two whenever
/// the system has to clear their pages again, and its threads wait for each other.
/// `MIMALLOC_PURGE_DELAY` overrides this.
pub fn keep_freed_pages() {
    /// `mi_option_purge_delay`, in milliseconds; negative for never.
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: writes one integer in the option table of the allocator, before other threads exist;
    // a number that is not in the table is ignored.
    unsafe { libmimalloc_sys::mi_option_set_default(PURGE_DELAY, -1) };
}
