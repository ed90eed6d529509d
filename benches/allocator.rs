//! The allocator of the benchmarks, set up as that of the program.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Keeps freed memory for reuse, as the program does. Otherwise the allocator returns it to the system after
/// a while, and threads wait for each other when they get new pages. `MIMALLOC_PURGE_DELAY` overrides this.
pub fn keep_freed_pages() {
    /// `mi_option_purge_delay`, in milliseconds; negative for never.
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: writes one integer in the option table of the allocator, before other threads exist;
    // a number that is not in the table is ignored.
    unsafe { libmimalloc_sys::mi_option_set_default(PURGE_DELAY, -1) };
}
