//! Tiles of points and of runs of points.

use core::ops::Range;

use super::blocks::Runs;
use crate::ops::{cpu::Scalar, stationary::LaneBlocks};

/// Columns of a tile, about as many as fit into the innermost cache with their coordinates.
pub const COLUMNS: usize = 768;

/// Rows of a tile when the rows are not runs.
pub const ROWS: usize = 512;

/// The columns of a tile that belong to one run of points.
pub struct Segment {
    /// The index of the run within its stretch.
    pub run: usize,
    /// The columns, relative to the chunk.
    pub columns: Range<usize>,
}

/// Consecutive points, laid out in lanes.
pub struct Chunk<T> {
    /// The first point.
    pub first: usize,
    pub lanes: LaneBlocks<T>,
    /// s, with zeros beyond the last point.
    pub values: Vec<T>,
    pub segments: Vec<Segment>,
}

impl<T> Chunk<T> {
    /// The number of lanes, including those beyond the last point.
    pub fn padded(&self) -> usize {
        self.values.len()
    }
}

/// As many whole runs as fit into a tile, but at least one.
pub struct Stretch<T> {
    pub runs: Range<usize>,
    pub points: Range<usize>,
    pub chunks: Vec<Chunk<T>>,
}

/// Minimum number of tiles per thread. Tiles are smaller if necessary.
const TILES_PER_THREAD: usize = 8;

/// Minimum number of columns of a tile.
const LEAST_COLUMNS: usize = 256;

/// The largest number of columns of a tile, for this number of points and threads.
pub fn width(points: usize, threads: usize) -> usize {
    if threads == 1 {
        return COLUMNS;
    }
    // Half of the tiles of a square lie on or above its diagonal.
    let across = (2 * TILES_PER_THREAD * threads).isqrt();
    points.div_ceil(across).clamp(LEAST_COLUMNS, COLUMNS)
}

/// Splits all points, [N, D], and their `values`, `[N]`, into stretches of at most `width` points, or
/// of one longer run.
pub fn stretches<T: Scalar>(
    runs: &Runs,
    points: &[T],
    values: &[T],
    inverse: &[T],
    width: usize,
) -> Vec<Stretch<T>> {
    let mut stretches = Vec::new();
    let mut first = 0;
    while first < runs.count() {
        let start = runs.range(first).start;
        let fits = |end: &usize| runs.range(*end).end - start <= width;
        let end = (first + 1..runs.count())
            .take_while(fits)
            .last()
            .unwrap_or(first)
            + 1;
        let range = start..runs.range(end - 1).end;
        let whole: Vec<_> = (first..end).map(|run| runs.range(run)).collect();
        let chunks = range.clone().step_by(COLUMNS).map(|chunk| {
            let chunk = chunk..(chunk + COLUMNS).min(range.end);
            self::chunk(chunk, &whole, points, values, inverse)
        });
        stretches.push(Stretch {
            runs: first..end,
            chunks: chunks.collect(),
            points: range,
        });
        first = end;
    }
    stretches
}

/// Some of the points of `runs`.
fn chunk<T: Scalar>(
    range: Range<usize>,
    runs: &[Range<usize>],
    points: &[T],
    values: &[T],
    inverse: &[T],
) -> Chunk<T> {
    let dimensions = inverse.len();
    let lanes = LaneBlocks::new(
        &points[range.start * dimensions..range.end * dimensions],
        inverse,
    );
    let mut padded = vec![T::default(); lanes.padded()];
    padded[..range.len()].copy_from_slice(&values[range.clone()]);
    let segments = runs.iter().enumerate().filter_map(|(run, points)| {
        let (start, end) = (points.start.max(range.start), points.end.min(range.end));
        (start < end).then(|| Segment {
            run,
            columns: start - range.start..end - range.start,
        })
    });
    Chunk {
        first: range.start,
        values: padded,
        segments: segments.collect(),
        lanes,
    }
}
