//! Orders of rows.

use rand::{SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};
use serde::{Deserialize, Serialize};

use super::{Coordinates, maximin, sorted_rows::sorted_rows};

/// The order in which rows are conditioned on the rows before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ordering {
    /// Each row is as far as possible from all rows before it; see [`maximin`].
    #[default]
    Maximin,
    /// A random order from a seed.
    Random,
    /// The order of the table.
    Given,
}

impl Ordering {
    /// The rows in their order. Only [`Random`](Self::Random) uses the seed.
    ///
    /// The same points in a table of another order get the same order, except with [`Given`](Self::Given). Equal
    /// rows keep the order of the table.
    ///
    /// # Shapes
    ///
    /// - `coordinates`: `[N, D]`
    /// - result: N
    pub fn rows(self, coordinates: &Coordinates, seed: u64) -> Vec<usize> {
        match self {
            Self::Maximin => maximin(coordinates),
            Self::Random => {
                let mut rows = sorted_rows(coordinates);
                rows.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
                rows
            }
            Self::Given => (0..coordinates.rows()).collect(),
        }
    }
}
