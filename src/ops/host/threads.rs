//! Work cut into one part a thread.
//!
//! Only work that takes long enough is cut: what is cut moves from the calling thread into the
//! pool, at the price of two context switches.

/// Threads worth cutting work for.
pub fn count() -> usize {
    rayon::current_num_threads()
}

/// Threads worth cutting work of this size for: one below `least`.
pub fn count_for(size: usize, least: usize) -> usize {
    if size < least { 1 } else { count() }
}

/// Runs both, at the same time if a thread is free.
pub fn join(first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    rayon::join(first, second);
}

/// Runs `work` within the pool, so that the cuts it makes one after the other do not each pay for
/// entering it.
pub fn within_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}

/// Cuts `values` into at most `parts` parts of whole units and calls `work` on each, together with
/// the index of its first unit.
pub fn in_parts<T: Send>(
    values: &mut [T],
    unit: usize,
    parts: usize,
    work: &(impl Fn(&mut [T], usize) + Sync),
) {
    split(values, unit.max(1), 0, parts, work);
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
    use super::in_parts;

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
