//! Measures the rate of covariance profiles on this machine, a limit for passes over covariances.

use core::{hint::black_box, marker::PhantomData};
use std::time::{Duration, Instant};

use burn::tensor::DType;

use super::{Block, LANES, Profile, Stationary, with_profile};
use crate::ops::cpu::{Kernel, Scalar, in_parts, threads, vectorized};

/// Measures how many values of the profile φ(r²) all threads together compute per second, from values in the
/// innermost cache. Most of the time goes into an exponential. The type is f32 or f64.
#[doc(hidden)]
pub fn profile_rate(kind: Stationary, dtype: DType) -> f64 {
    if dtype == DType::F32 {
        rate_of::<f32>(kind)
    } else {
        rate_of::<f64>(kind)
    }
}

/// Blocks of squared distances: few enough for the innermost cache.
const BLOCKS: usize = 16;

/// Passes over the blocks on each thread: about a millisecond.
const PASSES: usize = 1000;

/// The best of several measurements.
fn rate_of<T: Scalar>(kind: Stationary) -> f64 {
    let squares: Vec<T> = (0..BLOCKS * LANES)
        .map(|i| T::from_f64(1e-2 * i as f64))
        .collect();
    let threads = threads::count();
    let tries = (0..20).map(|_| {
        let start = Instant::now();
        in_parts(&mut vec![(); threads], 1, threads, &|parts, _| {
            for () in parts {
                with_profile!(kind, P => {
                    let squares = black_box(&squares);
                    black_box(vectorized::run(Profiles::<T, P> { squares, profile: PhantomData }));
                });
            }
        });
        start.elapsed()
    });
    let best = tries.min().unwrap_or(Duration::MAX);
    (BLOCKS * LANES * PASSES * threads) as f64 / best.as_secs_f64()
}

/// The sums of profiles, lane by lane.
struct Profiles<'a, T, P> {
    squares: &'a [T],
    profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Profiles<'_, T, P> {
    type Output = T;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> T {
        let mut sums = Block::zeros();
        for _ in 0..PASSES {
            for block in self.squares.chunks_exact(LANES) {
                for (sum, &square) in sums.0.iter_mut().zip(block) {
                    *sum += P::value::<FUSED>(square);
                }
            }
        }
        sums.0[LANES - 1]
    }
}
