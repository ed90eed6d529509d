//! Runs a generic loop compiled for the widest vector instructions of this processor.
//!
//! A published binary is compiled for the oldest processor of its architecture. The loops that
//! matter are therefore compiled three times (for AVX-512, for AVX2 with fused multiply-add, and
//! for the baseline), and one version is chosen at run time.

/// A loop body that [`run`] compiles for each instruction set.
///
/// `call` and everything it calls must be `#[inline(always)]`, or the callee keeps the baseline
/// instructions.
pub trait Kernel {
    /// The result of the loop.
    type Output;

    /// The loop body. `FUSED` is true if fused multiply-add is an instruction.
    fn call<const FUSED: bool>(self) -> Self::Output;
}

/// Runs `kernel` with the widest instruction set available.
#[cfg(target_arch = "x86_64")]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
    fn avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.call::<true>()
    }
    #[target_feature(enable = "avx2,fma")]
    fn avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.call::<true>()
    }
    if has_avx512() {
        // SAFETY: every feature the function enables was detected just above.
        unsafe { avx512(kernel) }
    } else if has_avx2() {
        // SAFETY: as above, the features were detected.
        unsafe { avx2(kernel) }
    } else {
        kernel.call::<false>()
    }
}

/// Whether [`run`] uses AVX-512, which has 32 registers.
#[cfg(target_arch = "x86_64")]
pub fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
}

/// Whether the processor has AVX2 with fused multiply-add.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// Runs `kernel`. On other architectures the vector instructions are part of the baseline.
#[cfg(not(target_arch = "x86_64"))]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    kernel.call::<{ cfg!(target_arch = "aarch64") }>()
}

/// Whether [`run`] uses AVX-512.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_avx512() -> bool {
    false
}
