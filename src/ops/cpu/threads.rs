//! Work split into one part per thread.
//!
//! Only work that takes long enough is split: moving work from the calling thread to the pool costs
//! two context switches.

use std::{
    hint::spin_loop,
    mem::MaybeUninit,
    ops::{AddAssign, Range},
    panic::Location,
    sync::{
        Mutex, PoisonError, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
};

use rayon::{ThreadPool, ThreadPoolBuilder, Yield};

/// Pauses of a thread that is kept awake before it checks for work again.
const SPINS: usize = 32;

/// The number of threads to split work across.
pub fn count() -> usize {
    simulated_count().unwrap_or_else(rayon::current_num_threads)
}

/// The number of threads that a benchmark simulates on this one.
fn simulated_count() -> Option<usize> {
    #[cfg(any(test, feature = "section-times"))]
    return super::simulated::count();
    #[cfg(not(any(test, feature = "section-times")))]
    None
}

/// The number of threads for work of this size: one if it is below `least`.
pub fn count_for(size: usize, least: usize) -> usize {
    if size < least { 1 } else { count() }
}

/// Runs `work` inside the pool, which enters the pool only once.
pub fn within_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if simulated_count().is_some() {
        return work();
    }
    rayon::scope(|_| work())
}

/// Runs `work` in its own pool, whose threads stay awake between the parallel parts of `work`.
///
/// Waking a thread takes as long as some parallel parts of a training step, and a step has dozens of them.
/// Like those of other numerical libraries, the threads wait actively; anything else that the processor has
/// to run comes first. `work` simply runs on the current thread if that is in a pool already, if there is
/// only one thread, or while another thread uses the pool.
/// one thread, and while another thread's work has the pool.
pub fn with_threads_awake<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    // A separate pool has no other jobs. A thread that waits for a part of `work` could otherwise start one
    // that needs a lock that `work` holds.
    static POOL: Mutex<Option<ThreadPool>> = Mutex::new(None);
    let threads = count();
    let here = rayon::current_thread_index().is_some() || simulated_count().is_some();
    if threads == 1 || here {
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

/// Runs `work` on this thread of a pool, while the other threads actively wait for parts of it.
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
/// index of its first unit. The parts differ by at most one unit.
#[track_caller]
pub fn in_parts<T: Send>(
    values: &mut [T],
    unit: usize,
    parts: usize,
    work: &(impl Fn(&mut [T], usize) + Sync),
) {
    let unit = unit.max(1);
    let units = values.len() / unit;
    let parts = parts.min(units);
    if parts <= 1 {
        return work(values, 0);
    }
    let pieces = pieces(values, unit, units, parts);
    run_parts(Location::caller(), parts, &|part| {
        let mut piece = pieces[part].lock().unwrap_or_else(PoisonError::into_inner);
        let (values, first) = &mut *piece;
        work(values, *first);
    });
}

/// Parts of whole units of almost equal size, with the index of the first unit of each; the last one has the
/// remainder. Each is for one thread, and the locks prove that to the compiler.
fn pieces<T>(
    values: &mut [T],
    unit: usize,
    units: usize,
    parts: usize,
) -> Vec<Mutex<(&mut [T], usize)>> {
    let place = |part| units * part / parts;
    let mut rest = values;
    let mut pieces = Vec::with_capacity(parts);
    for part in 0..parts - 1 {
        let first = place(part);
        let (piece, others) = rest.split_at_mut((place(part + 1) - first) * unit);
        pieces.push(Mutex::new((piece, first)));
        rest = others;
    }
    pieces.push(Mutex::new((rest, place(parts - 1))));
    pieces
}

/// Runs `work` for each part, on all threads.
///
/// It is not generic: otherwise the compiler would copy rayon's jobs for every section, which takes long.
/// `place` is for benchmarks, which measure each section by itself.
#[cfg_attr(not(any(test, feature = "section-times")), expect(unused_variables))]
fn run_parts(place: &'static Location<'static>, parts: usize, work: &(dyn Fn(usize) + Sync)) {
    #[cfg(any(test, feature = "section-times"))]
    if simulated_count().is_some() {
        return super::simulated::in_turn(place, parts, work);
    } else if super::measured::is_on() {
        return super::measured::section(place, |times| {
            divide(0..parts, &|part| times.time(|| work(part)));
        });
    }
    divide(0..parts, work);
}

/// Runs `work` for some parts: half of them on this thread and, if another thread is free, half on that.
fn divide(parts: Range<usize>, work: &(dyn Fn(usize) + Sync)) {
    if parts.len() == 1 {
        return work(parts.start);
    }
    let middle = parts.start + parts.len() / 2;
    rayon::join(
        || divide(parts.start..middle, work),
        || divide(middle..parts.end, work),
    );
}

/// Total length of several threads' arrays from which they are added in parts.
const ADD_FROM: usize = 1 << 17;

/// The elementwise sum of several arrays of equal length; `None` if there are no arrays.
#[track_caller]
pub fn add_up<T: Copy + AddAssign + Send + Sync>(arrays: Vec<Vec<T>>) -> Option<Vec<T>> {
    let mut arrays = arrays.into_iter();
    let mut sums = arrays.next()?;
    let others: Vec<Vec<T>> = arrays.collect();
    let numbers = (size_of::<T>() / size_of::<f64>()).max(1);
    let parts = count_for(sums.len() * others.len() * numbers, ADD_FROM);
    in_parts(&mut sums, 1, parts, &|sums, first| {
        for other in &others {
            for (sum, &value) in sums.iter_mut().zip(&other[first..]) {
                *sum += value;
            }
        }
    });
    Some(sums)
}

/// Distributes items of different sizes: each, in order, to the share that is smallest so far. Items in
/// decreasing order give shares of almost equal size.
pub fn share_out<T>(items: impl Iterator<Item = (T, usize)>, shares: usize) -> Vec<Vec<T>> {
    let mut all: Vec<(usize, Vec<T>)> = (0..shares).map(|_| (0, Vec::new())).collect();
    for (item, size) in items {
        if let Some((total, share)) = all.iter_mut().min_by_key(|(total, _)| *total) {
            *total += size;
            share.push(item);
        }
    }
    all.into_iter().map(|(_, share)| share).collect()
}

/// Array length from which memory is filled in parts.
const FILL_FROM: usize = 1 << 17;

/// `count` zeros.
#[track_caller]
pub fn zeros<T: Copy + Default + Send>(count: usize) -> Vec<T> {
    if count < FILL_FROM {
        return vec![T::default(); count];
    }
    // SAFETY: every element is written.
    unsafe {
        fill_parts(count, 1, self::count(), &|places, _| {
            for place in places {
                place.write(T::default());
            }
        })
    }
}

/// A copy of an array.
#[track_caller]
pub fn copied<T: Copy + Send + Sync>(values: &[T]) -> Vec<T> {
    if values.len() < FILL_FROM {
        return values.to_vec();
    }
    // SAFETY: there are as many values as elements.
    unsafe {
        fill_parts(values.len(), 1, count(), &|places, first| {
            for (place, &value) in places.iter_mut().zip(&values[first..]) {
                place.write(value);
            }
        })
    }
}

/// An array that `fill` writes in parts of whole units, as [`in_parts`] divides them. The memory is not zeroed
/// first.
///
/// # Safety
///
/// `fill` must write every element of its part.
#[track_caller]
pub unsafe fn fill_parts<T: Send>(
    count: usize,
    unit: usize,
    parts: usize,
    fill: &(impl Fn(&mut [MaybeUninit<T>], usize) + Sync),
) -> Vec<T> {
    let mut values = Vec::with_capacity(count);
    let places = &mut values.spare_capacity_mut()[..count];
    in_parts(places, unit, parts, fill);
    // SAFETY: the parts have written all elements.
    unsafe { values.set_len(count) };
    values
}

/// Values per chunk of [`collect`].
pub const CHUNK: usize = 16;

/// Concatenates `count` chunks `chunk(0)`, `chunk(1)`, …, computed in `parts` parts. The memory is
/// not zeroed first.
#[track_caller]
pub fn collect<T: Send>(
    count: usize,
    parts: usize,
    chunk: impl Fn(usize) -> [T; CHUNK] + Sync,
) -> Vec<T> {
    // SAFETY: every element is written.
    let chunks = unsafe {
        fill_parts(count, 1, parts, &|places, first| {
            for (i, place) in places.iter_mut().enumerate() {
                place.write(chunk(first + i));
            }
        })
    };
    chunks.into_flattened()
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::{AtomicUsize, Ordering},
    };

    use super::{
        ADD_FROM, CHUNK, FILL_FROM, add_up, collect, copied, in_parts, pieces, share_out,
        while_others_wait, with_threads_awake, zeros,
    };

    /// The sum of the numbers below `end`, in parallel down to single numbers.
    fn sum(first: usize, end: usize, total: &AtomicUsize) {
        if end - first <= 1 {
            total.fetch_add(first, Ordering::Relaxed);
            return;
        }
        let middle = first.midpoint(end);
        rayon::join(|| sum(first, middle, total), || sum(middle, end, total));
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
    fn memory_is_filled_whatever_its_size() {
        for count in [0, 5, FILL_FROM - 1, FILL_FROM, FILL_FROM + 3] {
            let numbers: Vec<usize> = (0..count).collect();
            assert_eq!(copied(&numbers), numbers);
            assert_eq!(zeros::<f32>(count), vec![0.0; count]);
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

    #[test]
    fn arrays_are_added_element_by_element() {
        assert_eq!(add_up(Vec::<Vec<f64>>::new()), None);
        for (count, length) in [(1, 5), (3, 0), (4, 7), (3, ADD_FROM)] {
            let arrays = (0..count).map(|i| (0..length).map(|j| i * j).collect());
            let factor = count * (count - 1) / 2;
            let expected = (0..length).map(|j| factor * j).collect();
            assert_eq!(
                add_up(arrays.collect()),
                Some(expected),
                "{count} of {length}"
            );
        }
    }

    #[test]
    fn shares_have_every_item_once_and_are_almost_equal() {
        for (items, shares) in [(0, 2), (3, 8), (40, 2), (79, 16), (157, 16)] {
            let sizes = (1..=items).rev();
            let all = share_out(sizes.map(|size| (size, size)), shares);
            assert_eq!(all.len(), shares);
            let largest = all.iter().map(|share| share.iter().sum::<usize>()).max();
            let total = items * (items + 1) / 2;
            let bound = total / shares + items;
            assert!(
                largest.is_some_and(|largest| largest <= bound),
                "{largest:?}, {bound}"
            );
            let mut found = all.concat();
            found.sort_unstable();
            assert_eq!(found, (1..=items).collect::<Vec<_>>());
        }
    }

    #[test]
    fn parts_differ_by_at_most_one_unit() {
        const UNIT: usize = 3;
        for (units, parts) in [(1, 1), (16, 16), (17, 16), (100, 7), (20_000, 48)] {
            // A remainder of less than a unit belongs to the last part.
            let mut values: Vec<usize> = (0..units * UNIT + 2).collect();
            let mut sizes = Vec::new();
            for piece in pieces(&mut values, UNIT, units, parts) {
                let (values, first) = piece.into_inner().unwrap();
                assert_eq!(values[0], first * UNIT);
                sizes.push(values.len() / UNIT);
            }
            assert_eq!(sizes.len(), parts);
            assert_eq!(sizes.iter().sum::<usize>(), units);
            let mean = units / parts;
            assert!(
                sizes.iter().all(|&size| size == mean || size == mean + 1),
                "{sizes:?}"
            );
        }
    }
}
