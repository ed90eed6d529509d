//! A k-d tree in which every node knows the bounding box of its points.
//!
//! The points are split at the median of the widest dimension of their box, ties by the row. Every leaf has
//! [`LEAF`] points, except the last. So the tree needs no pointers, and equal coordinates cannot unbalance it.

use super::Coordinates;

/// Points in a leaf. Their distances are computed at once.
pub const LEAF: usize = 16;

/// In place of a row where a leaf is not full.
pub const NO_ROW: u32 = u32::MAX;

/// Nodes with more leaves are built on two threads.
const JOIN_FROM: usize = 64;

/// The tree, with the points stored leaf by leaf.
#[derive(Clone, Debug)]
pub struct BoxTree {
    dimensions: usize,
    /// The row of each point: `[leaves, LEAF]`.
    rows: Vec<u32>,
    /// `[leaves, D, LEAF]`; infinite where there is no point.
    points: Vec<f64>,
    /// The least and the largest coordinates of each node: `[nodes, 2, D]`.
    boxes: Vec<f64>,
}

/// A node: its place among the nodes, in the order of a walk that visits parents first, and its leaves.
#[derive(Clone, Copy)]
pub struct Node {
    pub index: usize,
    pub first_leaf: usize,
    pub leaves: usize,
}

impl Node {
    /// The two children, unless the node is a leaf.
    #[inline(always)]
    pub fn children(self) -> Option<[Self; 2]> {
        if self.leaves < 2 {
            return None;
        }
        let left = self.leaves.div_ceil(2);
        Some([
            Self {
                index: self.index + 1,
                first_leaf: self.first_leaf,
                leaves: left,
            },
            // A tree of L leaves has 2L − 1 nodes.
            Self {
                index: self.index + 2 * left,
                first_leaf: self.first_leaf + left,
                leaves: self.leaves - left,
            },
        ])
    }

    /// Whether a leaf is below this node, or is this node.
    #[inline(always)]
    pub fn contains(self, leaf: usize) -> bool {
        leaf.wrapping_sub(self.first_leaf) < self.leaves
    }
}

impl BoxTree {
    pub fn new(coordinates: &Coordinates) -> Self {
        let dimensions = coordinates.dimensions();
        let leaves = coordinates.rows().div_ceil(LEAF);
        let mut rows: Vec<u32> = (0..coordinates.rows() as u32).collect();
        let mut boxes = vec![0.0; (2 * leaves).saturating_sub(1) * 2 * dimensions];
        let mut points = vec![f64::INFINITY; leaves * LEAF * dimensions];
        if leaves > 0 {
            let part = Part {
                rows: &mut rows,
                points: &mut points,
                boxes: &mut boxes,
            };
            part.build(coordinates);
        }
        rows.resize(leaves * LEAF, NO_ROW);
        Self {
            dimensions,
            rows,
            points,
            boxes,
        }
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The root, unless there are no points.
    pub fn root(&self) -> Option<Node> {
        let leaves = self.rows.len() / LEAF;
        (leaves > 0).then_some(Node {
            index: 0,
            first_leaf: 0,
            leaves,
        })
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.boxes.len() / (2 * self.dimensions)
    }

    /// The row of each point, `[leaves, LEAF]`, or [`NO_ROW`]. Points that are close together in this list are
    /// close together.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The rows of a leaf.
    #[inline(always)]
    pub fn rows_of(&self, leaf: usize) -> &[u32; LEAF] {
        &self.rows.as_chunks().0[leaf]
    }

    /// `Σ_d (a_d − x_d)²` with each point a of a leaf, term by term.
    #[inline(always)]
    pub fn squared_distances(&self, leaf: usize, x: &[f64]) -> [f64; LEAF] {
        let size = LEAF * self.dimensions;
        let points = self.points[leaf * size..][..size].as_chunks::<LEAF>().0;
        let mut sums = [0.0; LEAF];
        for (coordinates, &x) in points.iter().zip(x) {
            for (sum, coordinate) in sums.iter_mut().zip(coordinates) {
                *sum += (coordinate - x) * (coordinate - x);
            }
        }
        sums
    }

    /// The squared distance of a point from the box of a node.
    ///
    /// It is not above that of any point of the node, rounding included: both are sums of the same number of
    /// terms in the same order, none of them is above that of the point, and rounding is monotone.
    #[inline(always)]
    pub fn squared_distance(&self, node: Node, x: &[f64]) -> f64 {
        let size = 2 * self.dimensions;
        let (least, largest) = self.boxes[node.index * size..][..size].split_at(self.dimensions);
        let mut sum = 0.0;
        for ((&x, &least), &largest) in x.iter().zip(least).zip(largest) {
            // Unlike `max`, comparisons need no code for NaN.
            let (below, above) = (least - x, x - largest);
            let outside = if below > above { below } else { above };
            let outside = if outside > 0.0 { outside } else { 0.0 };
            sum += outside * outside;
        }
        sum
    }
}

/// The part of a tree below a node, while it is built.
struct Part<'a> {
    /// The rows below, in any order.
    rows: &'a mut [u32],
    /// `[leaves, D, LEAF]`
    points: &'a mut [f64],
    /// `[nodes, 2, D]`
    boxes: &'a mut [f64],
}

impl Part<'_> {
    fn build(self, coordinates: &Coordinates) {
        let dimensions = coordinates.dimensions();
        let leaves = self.rows.len().div_ceil(LEAF);
        let (own, boxes) = self.boxes.split_at_mut(2 * dimensions);
        let widest = bound(own, self.rows, coordinates);
        if leaves == 1 {
            return store(self.points, self.rows, coordinates);
        }
        let left = leaves.div_ceil(2);
        let at = |row: u32| coordinates.row(row as usize)[widest];
        (self.rows).select_nth_unstable_by(left * LEAF, |&a, &b| {
            at(a).total_cmp(&at(b)).then(a.cmp(&b))
        });
        let (left_rows, right_rows) = self.rows.split_at_mut(left * LEAF);
        let (left_points, right_points) = self.points.split_at_mut(left * LEAF * dimensions);
        let (left_boxes, right_boxes) = boxes.split_at_mut((2 * left - 1) * 2 * dimensions);
        let left = Part {
            rows: left_rows,
            points: left_points,
            boxes: left_boxes,
        };
        let right = Part {
            rows: right_rows,
            points: right_points,
            boxes: right_boxes,
        };
        if leaves > JOIN_FROM {
            rayon::join(|| left.build(coordinates), || right.build(coordinates));
        } else {
            left.build(coordinates);
            right.build(coordinates);
        }
    }
}

/// Writes the bounding box of some rows, `[2, D]`, and returns its widest dimension.
fn bound(own: &mut [f64], rows: &[u32], coordinates: &Coordinates) -> usize {
    let (least, largest) = own.split_at_mut(coordinates.dimensions());
    least.fill(f64::INFINITY);
    largest.fill(f64::NEG_INFINITY);
    for &row in rows {
        let values = coordinates.row(row as usize);
        for ((least, largest), &value) in least.iter_mut().zip(&mut *largest).zip(values) {
            *least = least.min(value);
            *largest = largest.max(value);
        }
    }
    let width = |dimension: usize| largest[dimension] - least[dimension];
    // The first of several of the same width.
    (1..least.len()).fold(0, |widest, dimension| {
        if width(dimension) > width(widest) {
            dimension
        } else {
            widest
        }
    })
}

/// Stores the points of a leaf, `[D, LEAF]`.
fn store(points: &mut [f64], rows: &[u32], coordinates: &Coordinates) {
    for (place, &row) in rows.iter().enumerate() {
        for (dimension, &value) in coordinates.row(row as usize).iter().enumerate() {
            points[dimension * LEAF + place] = value;
        }
    }
}
