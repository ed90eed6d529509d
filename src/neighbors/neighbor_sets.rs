//! Tables of neighbors.

/// The neighbors of each row of a table, by their numbers: `[N, m]`.
///
/// The first rows of a table have fewer than m neighbors, because there are fewer rows before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighborSets {
    /// `[N, m]`
    indices: Vec<u32>,
    counts: Vec<u32>,
    width: usize,
}

impl NeighborSets {
    /// Neighbors with their number in each row.
    pub(super) fn new(indices: Vec<u32>, counts: Vec<u32>, width: usize) -> Self {
        debug_assert_eq!(indices.len(), counts.len() * width);
        Self {
            indices,
            counts,
            width,
        }
    }

    /// The number of rows, N.
    pub fn rows(&self) -> usize {
        self.counts.len()
    }

    /// The number of neighbors for which each row has room, m. At least one row has as many, if there are rows.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The neighbors of a row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.indices[row * self.width..][..self.counts[row] as usize]
    }

    /// The neighbors of each row in turn.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.rows()).map(|row| self.row(row))
    }

    /// The whole table, row-major: `[N, m]`. Where a row has fewer than m neighbors, the rest is 0.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The number of neighbors of each row: N.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }
}
