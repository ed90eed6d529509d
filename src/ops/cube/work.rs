//! Counters of the work given to this library's kernels.

use std::sync::atomic::{AtomicU64, Ordering};

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::prelude::TensorArg;

use super::CubeTensor;

static OPERATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// The floating-point operations and bytes of all kernels that this process has launched so far.
pub fn work_so_far() -> (u64, u64) {
    (
        OPERATIONS.load(Ordering::Relaxed),
        BYTES.load(Ordering::Relaxed),
    )
}

/// Counts the operations of the next launch; a multiply-add counts as two.
pub fn count_operations(operations: usize) {
    OPERATIONS.fetch_add(operations as u64, Ordering::Relaxed);
}

/// A tensor as a kernel argument.
pub trait Argument {
    /// Converts to an argument and counts its bytes as moved once.
    fn argument(self) -> TensorArg;
}

impl Argument for CubeTensor {
    fn argument(self) -> TensorArg {
        let bytes = self.shape().num_elements() * self.dtype.size();
        BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
        self.into_tensor_arg()
    }
}
