//! The rates of this machine's vector instructions, a limit for passes over covariances.

use core::{hint::black_box, marker::PhantomData};
use std::time::{Duration, Instant};

use burn::tensor::DType;

use super::{Block, Profile, Stationary, with_profile};
use crate::ops::cpu::{Kernel, Lanes, Scalar, WIDTH, in_parts, threads, vectorized};

/// Rates on all threads together, in numbers a second, from registers and the innermost cache.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct VectorRates {
    /// Multiply-adds.
    pub multiply_adds: f64,
    /// Values of the covariance profile φ(r²), most of whose time is an exponential.
    pub profiles: f64,
}

/// Measures the rates; the type is f32 or f64.
#[doc(hidden)]
pub fn vector_rates(kind: Stationary, dtype: DType) -> VectorRates {
    if dtype == DType::F32 {
        rates_of::<f32, 8>(kind)
    } else {
        rates_of::<f64, 4>(kind)
    }
}

fn rates_of<T: Scalar, const CHAINS: usize>(kind: Stationary) -> VectorRates {
    VectorRates {
        multiply_adds: rate(CHAINS * WIDTH, &|repetitions| {
            black_box(vectorized::run(MultiplyAdds::<T, CHAINS> {
                repetitions,
                number: PhantomData,
            }));
        }),
        profiles: rate(size_of::<Block<T>>() / size_of::<T>(), &|repetitions| {
            with_profile!(kind, P => {
                black_box(vectorized::run(Profiles::<T, P> {
                    repetitions,
                    profile: PhantomData,
                }));
            });
        }),
    }
}

/// Repetitions of a kernel on each thread: about a millisecond.
const REPETITIONS: usize = 20_000;

/// Numbers a second, on all threads together; the best of several tries.
fn rate(numbers: usize, work: &(impl Fn(usize) + Sync)) -> f64 {
    let threads = threads::count();
    let tries = (0..20).map(|_| {
        let start = Instant::now();
        in_parts(&mut vec![(); threads], 1, threads, &|parts, _| {
            parts.iter().for_each(|()| work(REPETITIONS));
        });
        start.elapsed()
    });
    let best = tries.min().unwrap_or(Duration::MAX);
    (numbers * REPETITIONS * threads) as f64 / best.as_secs_f64()
}

/// Independent chains of multiply-adds, enough to hide their latency.
struct MultiplyAdds<T, const CHAINS: usize> {
    repetitions: usize,
    number: PhantomData<T>,
}

impl<T: Scalar, const CHAINS: usize> Kernel for MultiplyAdds<T, CHAINS> {
    type Output = T;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> T {
        let [factor, addend] = [0.5, 1.0].map(|number| Lanes::splat(T::from_f64(number)));
        let mut sums = [addend; CHAINS];
        for _ in 0..self.repetitions {
            for sum in &mut sums {
                *sum = sum.multiply_add::<FUSED>(factor, addend);
            }
        }
        let mut total = T::default();
        for sum in sums {
            total += sum.total();
        }
        total
    }
}

/// Profiles of a block of squared distances, which depend on those of the last repetition.
struct Profiles<T, P> {
    repetitions: usize,
    profile: PhantomData<(T, P)>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Profiles<T, P> {
    type Output = T;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> T {
        let mut values = Block::zeros();
        for _ in 0..self.repetitions {
            for value in &mut values.0 {
                *value = P::value::<FUSED>(*value);
            }
        }
        values.0[0]
    }
}
