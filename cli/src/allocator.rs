//! The allocator of the program, and of the benchmarks, which include this file.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Keeps freed memory for reuse instead of returning it to the system once a second. Each training step frees
/// matrices and allocates the same sizes again. If the system takes their pages back, it must clear them again,
/// which slows training for a second or two while threads wait for each other. `MIMALLOC_PURGE_DELAY` overrides
/// this.
pub fn keep_freed_pages() {
    /// `mi_option_purge_delay`, in milliseconds; negative for never.
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: this writes one integer in the allocator's option table before other threads exist. An index that
    // is not in the table is ignored.
    unsafe { libmimalloc_sys::mi_option_set_default(PURGE_DELAY, -1) };
}
