//! Maximin orders: each row is as far as possible from all rows before it.

use super::{
    Coordinates, NeighborTree,
    box_tree::{BoxTree, LEAF, NO_ROW, Node},
    sorted_rows::sorted_rows,
};

/// In place of the squared distance of a row that has its place in the order.
const ORDERED: f64 = -1.0;

/// The maximin order: first the row nearest to the centroid, then always the row that is farthest from all rows
/// before it.
///
/// It is exact, and in few dimensions it takes O(N log N) steps. Of several rows that could be next, the one with the
/// lowest first coordinate is, then the one with the lowest second coordinate, and so on; equal rows keep their order.
/// The order of the points therefore does not depend on the order of the table.
///
/// *Compression, Inversion, and Approximate PCA of Dense Kernel Matrices at Near-Linear Computational Complexity*
/// (Schäfer, Sullivan, Owhadi, arXiv:1706.02205) has another exact algorithm for it.
///
/// # Shapes
///
/// - `coordinates`: `[N, D]`
/// - result: the rows in their order, N
pub fn maximin(coordinates: &Coordinates) -> Vec<usize> {
    let rows = sorted_rows(coordinates);
    let sorted = coordinates.select(&rows);
    let distances = vec![f64::INFINITY; rows.len()];
    let order = in_order(&sorted, &distances, nearest_to_centroid(&sorted));
    order.into_iter().map(|row| rows[row]).collect()
}

/// The maximin order of targets given observed rows: always the target that is farthest from all observed rows and
/// all targets before it. The first is at the center of the widest gap between observed rows.
///
/// Ties are broken as in [`maximin`]. Without observed rows, it is that order.
///
/// # Shapes
///
/// - `targets`: `[N, D]`
/// - result: the targets in their order, N
///
/// # Panics
///
/// If the observed rows have another number of dimensions.
pub fn maximin_of_targets(targets: &Coordinates, observed: &NeighborTree) -> Vec<usize> {
    if observed.rows() == 0 {
        observed.assert_dimensions(targets);
        return maximin(targets);
    }
    let rows = sorted_rows(targets);
    let sorted = targets.select(&rows);
    let order = in_order(&sorted, &observed.squared_distances(&sorted), None);
    order.into_iter().map(|row| rows[row]).collect()
}

/// The row nearest to the mean of all rows, the first of several.
fn nearest_to_centroid(sorted: &Coordinates) -> Option<usize> {
    let mut centroid = vec![0.0; sorted.dimensions()];
    for row in 0..sorted.rows() {
        for (sum, value) in centroid.iter_mut().zip(sorted.row(row)) {
            *sum += value;
        }
    }
    for sum in &mut centroid {
        *sum /= sorted.rows() as f64;
    }
    let squared_distance = |row: usize| -> f64 {
        let differences = sorted.row(row).iter().zip(&centroid);
        differences
            .map(|(value, mean)| (value - mean) * (value - mean))
            .sum()
    };
    let distances = (0..sorted.rows()).map(|row| (squared_distance(row), row));
    distances
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, row)| row)
}

/// The maximin order of rows whose squared distances from all that comes before them are given. It starts with
/// `first`, or with the farthest row. Of several rows that could be next, the lowest is.
fn in_order(rows: &Coordinates, distances: &[f64], first: Option<usize>) -> Vec<usize> {
    let tree = BoxTree::new(rows);
    let Some(root) = tree.root() else {
        return Vec::new();
    };
    let mut places = vec![0; rows.rows()];
    for (place, &row) in tree.rows().iter().enumerate() {
        if row != NO_ROW {
            places[row as usize] = place;
        }
    }
    let mut remaining = Remaining::new(&tree, distances, root);
    let mut order = Vec::with_capacity(rows.rows());
    while order.len() < rows.rows() {
        let farthest = remaining.farthest[root.index].row as usize;
        let next = if order.is_empty() {
            first.unwrap_or(farthest)
        } else {
            farthest
        };
        remaining.remove(places[next], rows.row(next), root);
        order.push(next);
    }
    order
}

/// The row that is farthest from all rows in the order.
#[derive(Clone, Copy)]
struct Farthest {
    squared_distance: f64,
    row: u32,
}

impl Farthest {
    const NONE: Self = Self {
        squared_distance: ORDERED,
        row: NO_ROW,
    };

    /// The farther of two; the lower if they are equally far.
    fn or(self, other: Self) -> Self {
        let is_farther = other.squared_distance > self.squared_distance;
        let is_lower = other.squared_distance == self.squared_distance && other.row < self.row;
        if is_farther || is_lower { other } else { self }
    }
}

/// The rows that have no place in the order yet: a tournament for the largest distance, whose matches are the nodes of
/// a tree.
struct Remaining<'a> {
    tree: &'a BoxTree,
    /// The squared distance of each point from all rows in the order, `[leaves, LEAF]`, or [`ORDERED`].
    distances: Vec<f64>,
    /// For each node.
    farthest: Vec<Farthest>,
}

impl<'a> Remaining<'a> {
    fn new(tree: &'a BoxTree, distances: &[f64], root: Node) -> Self {
        let squared_distance = |&row: &u32| match row {
            NO_ROW => ORDERED,
            row => distances[row as usize],
        };
        let mut remaining = Self {
            tree,
            distances: tree.rows().iter().map(squared_distance).collect(),
            farthest: vec![Farthest::NONE; tree.nodes()],
        };
        remaining.find_farthest(root);
        remaining
    }

    /// Finds the farthest row of a node, and of all nodes below it.
    fn find_farthest(&mut self, node: Node) {
        if let Some(children) = node.children() {
            for child in children {
                self.find_farthest(child);
            }
        }
        self.update(node);
    }

    /// Finds the farthest row of a node from its points, or from those of its children.
    fn update(&mut self, node: Node) {
        self.farthest[node.index] = match node.children() {
            Some([left, right]) => self.farthest[left.index].or(self.farthest[right.index]),
            None => {
                let distances = &self.distances[node.first_leaf * LEAF..][..LEAF];
                let rows = self.tree.rows_of(node.first_leaf);
                let mut farthest = Farthest::NONE;
                for (&squared_distance, &row) in distances.iter().zip(rows) {
                    farthest = farthest.or(Farthest {
                        squared_distance,
                        row,
                    });
                }
                farthest
            }
        };
    }

    /// Takes the point at a place out, and lowers the distances of the others to those from it.
    ///
    /// If the box of a node is as far away as its farthest row is from the rows in the order, there is nothing to lower.
    fn remove(&mut self, place: usize, point: &[f64], node: Node) {
        if let Some(children) = node.children() {
            for child in children {
                let farthest = self.farthest[child.index].squared_distance;
                if child.contains(place / LEAF)
                    || self.tree.squared_distance(child, point) < farthest
                {
                    self.remove(place, point, child);
                }
            }
        } else {
            let leaf = node.first_leaf;
            let from_point = self.tree.squared_distances(leaf, point);
            let distances = &mut self.distances[leaf * LEAF..][..LEAF];
            for (distance, from_point) in distances.iter_mut().zip(from_point) {
                *distance = distance.min(from_point);
            }
            if place / LEAF == leaf {
                distances[place % LEAF] = ORDERED;
            }
        }
        self.update(node);
    }
}
