//! The neighbors of the last inputs.

use std::sync::{Arc, Mutex, PoisonError};

use crate::neighbors::{Coordinates, NeighborSets, NeighborTree, Scale};

/// Keeps the neighbors of the last inputs in the last metric. All copies of a model share it.
#[derive(Clone, Debug, Default)]
pub struct NeighborCache(Arc<Mutex<Option<Known>>>);

#[derive(Debug)]
struct Known {
    coordinates: Coordinates,
    count: usize,
    sets: Arc<NeighborSets>,
}

impl NeighborCache {
    /// The nearest `count` rows before each row.
    pub fn neighbors(&self, coordinates: Coordinates, count: usize) -> Arc<NeighborSets> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known
            && known.count == count
            && known.coordinates == coordinates
        {
            return known.sets.clone();
        }
        let rows = 0..coordinates.rows();
        let tree = NeighborTree::new(&coordinates);
        let sets = Arc::new(tree.previous(rows, &[Scale::nearest(count)]));
        *known = Some(Known {
            coordinates,
            count,
            sets: sets.clone(),
        });
        sets
    }
}
