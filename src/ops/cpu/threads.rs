//! Work split into one part per thread.
//!
//! Only work that takes long enough is split: moving work from the calling thread to the pool costs
//! two context switches.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

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
    use super::{CHUNK, collect, in_parts};

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
