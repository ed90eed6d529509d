//! Runs of consecutive points.

use core::ops::Range;

/// N points split into I runs of consecutive points whose lengths differ by at most one:
/// `B_j = ⌊jN/I⌋ … ⌊(j+1)N/I⌋ − 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    points: usize,
    count: usize,
}

#[cfg(feature = "remote")]
crate::ops::remote::sent_as_numbers!(Blocks { points, count });

impl Blocks {
    /// Splits `points` points into `count` runs.
    ///
    /// # Panics
    ///
    /// If there are no runs or more runs than points.
    #[track_caller]
    pub fn new(points: usize, count: usize) -> Self {
        assert!(
            (1..=points).contains(&count),
            "{count} blocks of {points} points; expected from 1 to {points}"
        );
        Self { points, count }
    }

    /// The number of points, N.
    pub fn points(&self) -> usize {
        self.points
    }

    /// The number of runs, I.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The points of run `index`.
    pub fn range(&self, index: usize) -> Range<usize> {
        // N·I exceeds 2⁶⁴ only for more points than fit into memory.
        index * self.points / self.count..(index + 1) * self.points / self.count
    }

    /// The points of each run, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.count).map(|index| self.range(index))
    }
}

/// Runs of consecutive points of any length, stored as the start of each and the end of the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs(Vec<usize>);

impl Runs {
    /// Creates consecutive runs of the given lengths.
    pub fn of_lengths(lengths: impl Iterator<Item = usize>) -> Self {
        let ends = lengths.scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        Self(core::iter::once(0).chain(ends).collect())
    }

    /// The number of points.
    pub fn points(&self) -> usize {
        self.0[self.count()]
    }

    /// The number of runs.
    pub fn count(&self) -> usize {
        self.0.len() - 1
    }

    /// The points of run `index`.
    pub fn range(&self, index: usize) -> Range<usize> {
        self.0[index]..self.0[index + 1]
    }

    /// The points of each run, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.count()).map(|index| self.range(index))
    }
}

impl From<Blocks> for Runs {
    fn from(blocks: Blocks) -> Self {
        Self::of_lengths(blocks.ranges().map(|range| range.len()))
    }
}

/// The pairs of runs and points whose covariances are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPairs {
    /// The runs of points.
    pub blocks: Blocks,
    /// Whether the other points are the same.
    pub same: bool,
}

#[cfg(feature = "remote")]
crate::ops::remote::sent_as_numbers!(BlockPairs { blocks, same });

#[cfg(test)]
mod tests {
    use super::Blocks;

    #[test]
    fn runs_cover_all_points_in_order_and_differ_by_one() {
        for (points, count) in [(1, 1), (10, 3), (10, 10), (5288, 512), (41_157, 512)] {
            let blocks = Blocks::new(points, count);
            let mut next = 0;
            for range in blocks.ranges() {
                assert_eq!(range.start, next);
                assert!(range.len() == points / count || range.len() == points / count + 1);
                next = range.end;
            }
            assert_eq!(next, points);
        }
    }
}
