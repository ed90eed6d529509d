//! The search for nearest rows before a row.

use std::ops::Range;

use rayon::prelude::*;

use super::{
    Coordinates, NeighborSets, Scale,
    box_tree::{BoxTree, NO_ROW, Node},
    search::{Eligible, Search},
};

/// Rows whose neighbors one thread finds at a time.
const PART: usize = 256;

/// Finds the nearest rows, and the nearest of the rows before a row: a k-d tree whose nodes know their lowest row.
///
/// Neighbors are exact. Of rows at the same distance, those with a lower number are nearer. Results do not depend on
/// the number of threads. In few dimensions a row takes O(log N) steps; from about ten dimensions on, most rows are
/// compared.
///
/// Rows are numbered in the order of the table that the tree is made from. Select them in an
/// [ordering](super::Ordering) first.
#[derive(Clone, Debug)]
pub struct NeighborTree {
    tree: BoxTree,
    /// The points by row.
    coordinates: Coordinates,
    /// The lowest row of each node. A search for rows before another skips the nodes that have none.
    lowest: Vec<u32>,
}

impl NeighborTree {
    /// Builds the tree of some points, in O(N log N) steps.
    pub fn new(coordinates: &Coordinates) -> Self {
        let tree = BoxTree::new(coordinates);
        let mut lowest = vec![NO_ROW; tree.nodes()];
        if let Some(root) = tree.root() {
            find_lowest(&mut lowest, &tree, root);
        }
        Self {
            tree,
            coordinates: coordinates.clone(),
            lowest,
        }
    }

    /// The number of rows, N.
    pub fn rows(&self) -> usize {
        self.coordinates.rows()
    }

    /// The neighbors of each row of a range among all rows before it.
    ///
    /// With several scales, the neighbors of the first scale come first, then those of the second that are not among
    /// them, and so on. If a scale has too few rows, the nearest others take the place of the missing ones. A row has
    /// as many neighbors as all scales together, or all rows before it if there are fewer. Those of one scale are
    /// sorted by their distance, then by their number.
    ///
    /// # Shapes
    ///
    /// - result: `[rows, m]`, where m is the number of neighbors of all scales, or of the last row if that is smaller
    ///
    /// # Panics
    ///
    /// If the tree has no such rows.
    pub fn previous(&self, rows: Range<usize>, scales: &[Scale]) -> NeighborSets {
        assert!(
            rows.start <= rows.end && rows.end <= self.rows(),
            "rows {rows:?} of a tree of {} rows",
            self.rows()
        );
        let width = total(scales).min(rows.end.saturating_sub(1));
        let is_asked = |row: &u32| rows.contains(&(*row as usize));
        let asked: Vec<u32> = self.tree.rows().iter().copied().filter(is_asked).collect();
        let found = self.find(&self.coordinates, &asked, width, |row| row, scales);
        let indices = by_row(&found, &asked, rows.start, width);
        let counts = rows.map(|row| row.min(width) as u32).collect();
        NeighborSets::new(indices, counts, width)
    }

    /// The neighbors of targets among all rows, scale by scale as in [`previous`](Self::previous).
    ///
    /// # Shapes
    ///
    /// - `targets`: `[targets, D]`
    /// - result: `[targets, m]`, where m is the number of neighbors of all scales, or N if that is smaller
    ///
    /// # Panics
    ///
    /// If the targets have another number of dimensions.
    pub fn nearest(&self, targets: &Coordinates, scales: &[Scale]) -> NeighborSets {
        self.assert_dimensions(targets);
        let width = total(scales).min(self.rows());
        let tree = BoxTree::new(targets);
        let asked: Vec<u32> = tree
            .rows()
            .iter()
            .copied()
            .filter(|&row| row != NO_ROW)
            .collect();
        let found = self.find(targets, &asked, width, |_| NO_ROW, scales);
        let indices = by_row(&found, &asked, 0, width);
        NeighborSets::new(indices, vec![width as u32; targets.rows()], width)
    }

    /// The squared distances of points from the nearest row, infinite without rows.
    pub(super) fn squared_distances(&self, points: &Coordinates) -> Vec<f64> {
        let all = Eligible {
            below: NO_ROW,
            except: &[],
        };
        (0..points.rows())
            .into_par_iter()
            .map_init(
                || Search::new(&self.tree, &self.lowest),
                |search, row| {
                    let nearest = search.nearest(points.row(row), 1, all).first();
                    nearest.map_or(f64::INFINITY, |nearest| nearest.squared_distance())
                },
            )
            .collect()
    }

    pub(super) fn assert_dimensions(&self, targets: &Coordinates) {
        assert_eq!(
            self.tree.dimensions(),
            targets.dimensions(),
            "a tree of [{}, {}] coordinates has no neighbors of [{}, {}] targets",
            self.rows(),
            self.tree.dimensions(),
            targets.rows(),
            targets.dimensions()
        );
    }

    /// The neighbors of the points of some rows, each among the rows below a number: a table of this width.
    ///
    /// Rows that follow each other in the list should be close together. Their neighbors are then in the cache.
    fn find(
        &self,
        points: &Coordinates,
        asked: &[u32],
        width: usize,
        below: impl Fn(u32) -> u32 + Sync,
        scales: &[Scale],
    ) -> Vec<u32> {
        let mut found = vec![0; asked.len() * width];
        if width > 0 {
            (found
                .par_chunks_mut(PART * width)
                .zip(asked.par_chunks(PART)))
            .for_each(|(found, asked)| {
                let mut search = Search::new(&self.tree, &self.lowest);
                for (neighbors, &row) in found.chunks_exact_mut(width).zip(asked) {
                    fill(
                        &mut search,
                        neighbors,
                        points.row(row as usize),
                        below(row),
                        scales,
                    );
                }
            });
        }
        found
    }
}

/// Writes the neighbors of a point among the rows below a number, scale by scale, then the nearest others if there is
/// room left.
fn fill(search: &mut Search, neighbors: &mut [u32], x: &[f64], below: u32, scales: &[Scale]) {
    let mut filled = 0;
    let rest = Scale::nearest(usize::MAX);
    for scale in scales.iter().chain([&rest]) {
        let (before, free) = neighbors.split_at_mut(filled);
        let count = scale.count.min(free.len());
        let among = u32::try_from(scale.among).unwrap_or(u32::MAX);
        let eligible = Eligible {
            below: below.min(among),
            except: before,
        };
        let found = search.nearest(x, count, eligible);
        for (neighbor, found) in free.iter_mut().zip(found) {
            *neighbor = found.row();
        }
        filled += found.len();
    }
}

/// A table for the rows from `first` on, from one in another order of these rows.
fn by_row(found: &[u32], asked: &[u32], first: usize, width: usize) -> Vec<u32> {
    let mut places = vec![0u32; asked.len()];
    for (place, &row) in asked.iter().enumerate() {
        places[row as usize - first] = place as u32;
    }
    let mut table = vec![0; found.len()];
    if width > 0 {
        (table
            .par_chunks_mut(PART * width)
            .zip(places.par_chunks(PART)))
        .for_each(|(table, places)| {
            for (neighbors, &place) in table.chunks_exact_mut(width).zip(places) {
                neighbors.copy_from_slice(&found[place as usize * width..][..width]);
            }
        });
    }
    table
}

/// The number of neighbors of all scales.
fn total(scales: &[Scale]) -> usize {
    scales
        .iter()
        .fold(0, |total, scale| total.saturating_add(scale.count))
}

/// Finds the lowest row of a node, and of all nodes below it.
fn find_lowest(lowest: &mut [u32], tree: &BoxTree, node: Node) -> u32 {
    let own = match node.children() {
        Some([left, right]) => {
            find_lowest(lowest, tree, left).min(find_lowest(lowest, tree, right))
        }
        None => tree
            .rows_of(node.first_leaf)
            .iter()
            .copied()
            .fold(NO_ROW, u32::min),
    };
    lowest[node.index] = own;
    own
}
