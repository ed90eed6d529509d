//! Calls to faer that leave the vector registers clean.
//!
//! The kernels of faer's matrix products are assembly that ends without `vzeroupper`. After them, the
//! upper halves of the vector registers count as in use on their thread. Every SSE instruction there,
//! as in `exp` of the C library, then waits for the one before it: a softmax step took ten times as
//! long.

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul};

use super::scalar::Scalar;

/// `out ← alpha·A·B`, or added to `out` with `Accum::Add`, on this thread.
pub fn matmul<T: Scalar>(
    out: MatMut<'_, T>,
    beta: Accum,
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    alpha: T,
) {
    matmul::matmul(out, beta, left, right, alpha, Par::Seq);
    clean_registers();
}

#[cfg(target_arch = "x86_64")]
fn clean_registers() {
    #[target_feature(enable = "avx")]
    fn zero_upper() {
        std::arch::x86_64::_mm256_zeroupper();
    }
    if is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX.
        unsafe { zero_upper() }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn clean_registers() {}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use faer::Mat;

    use super::*;

    /// The bits of XINUSE for the upper halves of the 16 registers that SSE has.
    const UPPER_HALVES: u64 = 1 << 2 | 1 << 6;

    /// Which states of the processor are in use on this thread, if the processor reports it.
    fn states_in_use() -> Option<u64> {
        #[target_feature(enable = "xsave")]
        fn read() -> u64 {
            // SAFETY: register 1 can be read, see below.
            unsafe { std::arch::x86_64::_xgetbv(1) }
        }
        let extended = std::arch::x86_64::__cpuid_count(0xd, 1);
        let can_read_register_1 = extended.eax & (1 << 2) != 0;
        // SAFETY: the processor has XGETBV with register 1.
        (is_x86_feature_detected!("xsave") && can_read_register_1).then(|| unsafe { read() })
    }

    #[test]
    fn products_leave_clean_registers() {
        let size = 96;
        let matrix = Mat::from_fn(size, size, |i, j| if i == j { 100.0 } else { 1.0 });
        let mut out = Mat::<f64>::zeros(size, size);
        matmul::matmul(
            out.as_mut(),
            Accum::Replace,
            matrix.as_ref(),
            matrix.as_ref(),
            1.0,
            Par::Seq,
        );
        let Some(after_faer) = states_in_use() else {
            println!("skipped: this processor does not report which registers are in use");
            return;
        };
        clean_registers();
        println!(
            "in use after faer's product: {:#x}",
            after_faer & UPPER_HALVES
        );
        let (left, right) = (matrix.as_ref(), matrix.as_ref());
        super::matmul(out.as_mut(), Accum::Replace, left, right, 1.0);
        assert_eq!(states_in_use().map(|states| states & UPPER_HALVES), Some(0));
    }
}
