//! Neighbors from several scales.

/// A number of neighbors, the nearest among the first rows of a table.
///
/// The first rows of a [maximin](super::maximin) order fill space evenly, and the fewer they are, the farther they
/// are apart. So they give each target some distant neighbors, which matter in gaps between rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The number of neighbors.
    pub count: usize,
    /// The neighbors are among this many first rows.
    pub among: usize,
}

impl Scale {
    /// The nearest of all rows.
    pub const fn nearest(count: usize) -> Self {
        Self {
            count,
            among: usize::MAX,
        }
    }

    /// Half of the neighbors from all rows, a quarter from the first N/16, and a quarter from the first N/256.
    ///
    /// `rows` is the number of observed rows, N. Quarters are rounded down.
    pub const fn three(count: usize, rows: usize) -> [Self; 3] {
        let quarter = count / 4;
        [
            Self::nearest(count - 2 * quarter),
            Self {
                count: quarter,
                among: rows / 16,
            },
            Self {
                count: quarter,
                among: rows / 256,
            },
        ]
    }
}
