//! Work split into one part per thread.
//!
//! Only work that takes long enough is split: moving work from the calling thread to the pool costs
//! two context switches.

use std::{
    hint::spin_loop,
    sync::{
        Mutex, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
};

use rayon::{
    ThreadPool, ThreadPoolBuilder, Yield,
    iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator},
};

/// Pauses between two looks for work of a thread that is kept awake.
const SPINS: usize = 32;

/// The number of threads to split work across.
pub fn count() -> usize {
    rayon::current_num_threads()
}

/// The number of threads for work of this size: one if it is below `least`.
pub fn count_for(size: usize, least: usize) -> usize {
    if size < least { 1 } else { count() }
}

/// Runs both, in parallel if a thread is free.
pub fn join(first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    rayon::join(first, second);
}

/// Runs `work` inside the pool, which enters the pool only once.
pub fn within_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}

/// Runs `work` in a pool of its own, whose threads stay awake between the parallel parts of `work`.
///
/// To wake a thread takes as long as some parallel parts of a training step, and a step has dozens of
/// them. The threads wait actively meanwhile, as those of other numerical libraries do; whatever else
/// the processor has to run comes first. `work` runs as it is on a thread of a pool, if there is only
/// one thread, and while another thread's work has the pool.
pub fn with_threads_awake<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    // A pool of its own has no other jobs. A thread that waits for a part of `work` could otherwise
    // start one that needs a lock which `work` has.
    static POOL: Mutex<Option<ThreadPool>> = Mutex::new(None);
    let threads = count();
    if threads == 1 || rayon::current_thread_index().is_some() {
        return work();
    }
    let mut pool = match POOL.try_lock() {
        Ok(pool) => pool,
        Err(TryLockError::Poisoned(error)) => error.into_inner(),
        Err(TryLockError::WouldBlock) => return work(),
    };
    if (pool.as_ref()).is_none_or(|pool| pool.current_num_threads() != threads) {
        *pool = ThreadPoolBuilder::new().num_threads(threads).build().ok();
    }
    match &*pool {
        Some(pool) => pool.install(|| while_others_wait(work)),
        None => work(),
    }
}

/// Runs `work` on this thread of a pool, while the others actively wait for parts of it.
fn while_others_wait<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    /// Tells the other threads, also after a panic.
    struct Finish<'a>(&'a AtomicBool);
    impl Drop for Finish<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }
    let finished = AtomicBool::new(false);
    let worker = rayon::current_thread_index();
    rayon::scope(|scope| {
        scope.spawn_broadcast(|_, thread| {
            while Some(thread.index()) != worker && !finished.load(Ordering::Acquire) {
                if rayon::yield_now() != Some(Yield::Executed) {
                    (0..SPINS).for_each(|_| spin_loop());
                    std::thread::yield_now();
                }
            }
        });
        let _finish = Finish(&finished);
        work()
    })
}

/// Splits `values` into at most `parts` parts of whole units and calls `work` on each with the
/// index of its first unit.
pub fn in_parts<T: Send>(
    values: &mut [T],
    unit: usize,
    parts: usize,
    work: &(impl Fn(&mut [T], usize) + Sync),
) {
    split(values, unit.max(1), 0, parts, work);
}

/// Numbers per chunk of [`collect`].
pub const CHUNK: usize = 16;

/// Concatenates `count` chunks `chunk(0)`, `chunk(1)`, …, computed in `parts` parts. The memory is
/// not zeroed first.
pub fn collect<T: Send>(
    count: usize,
    parts: usize,
    chunk: impl Fn(usize) -> [T; CHUNK] + Sync + Send,
) -> Vec<T> {
    let chunks: Vec<[T; CHUNK]> = if parts <= 1 {
        (0..count).map(chunk).collect()
    } else {
        let share = count.div_ceil(parts);
        let cut = (0..count).into_par_iter().with_min_len(share);
        cut.map(chunk).collect()
    };
    chunks.into_flattened()
}

fn split<T: Send>(
    values: &mut [T],
    unit: usize,
    first: usize,
    parts: usize,
    work: &(impl Fn(&mut [T], usize) + Sync),
) {
    let units = values.len() / unit;
    if parts <= 1 || units <= 1 {
        return work(values, first);
    }
    let middle = (units * (parts / 2) / parts).max(1);
    let (left, right) = values.split_at_mut(middle * unit);
    join(
        || split(left, unit, first, parts / 2, work),
        || split(right, unit, first + middle, parts - parts / 2, work),
    );
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::{AtomicUsize, Ordering},
    };

    use super::{CHUNK, collect, in_parts, join, while_others_wait, with_threads_awake};

    /// The sum of the numbers below `end`, in parallel down to single numbers.
    fn sum(first: usize, end: usize, total: &AtomicUsize) {
        if end - first <= 1 {
            total.fetch_add(first, Ordering::Relaxed);
            return;
        }
        let middle = first.midpoint(end);
        join(|| sum(first, middle, total), || sum(middle, end, total));
    }

    /// Several threads want the pool at the same time, and one of them panics.
    #[test]
    fn work_on_awake_threads_is_done_once() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let total = AtomicUsize::new(0);
                        let result = with_threads_awake(|| {
                            sum(0, 1000, &total);
                            with_threads_awake(|| 7)
                        });
                        assert_eq!((result, total.into_inner()), (7, 499_500));
                    }
                });
            }
            scope.spawn(|| {
                let panic = || with_threads_awake(|| panic!("expected by the test"));
                assert!(catch_unwind(AssertUnwindSafe(panic)).is_err());
            });
        });
    }

    #[test]
    fn threads_wait_in_pools_of_any_size() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let total = AtomicUsize::new(0);
            (pool.unwrap()).install(|| while_others_wait(|| sum(0, 1000, &total)));
            assert_eq!(total.into_inner(), 499_500, "{threads} threads");
        }
    }

    #[test]
    fn chunks_are_in_order() {
        for (count, parts) in [(0, 2), (1, 2), (7, 1), (7, 3), (64, 2)] {
            let numbers = collect(count, parts, |i| std::array::from_fn(|j| i * CHUNK + j));
            let expected: Vec<usize> = (0..count * CHUNK).collect();
            assert_eq!(numbers, expected, "{count} chunks in {parts} parts");
        }
    }

    #[test]
    fn parts_cover_everything_once() {
        for (units, unit, parts) in [(1, 3, 4), (7, 2, 3), (100, 1, 2), (5, 4, 16), (0, 3, 2)] {
            let mut values = vec![0; units * unit];
            in_parts(&mut values, unit, parts, &|part, first| {
                for (i, value) in part.iter_mut().enumerate() {
                    *value += first * unit + i + 1;
                }
            });
            let expected: Vec<usize> = (1..=units * unit).collect();
            assert_eq!(values, expected, "{units} units of {unit} in {parts} parts");
        }
    }
}
