//! Searches for the nearest rows in a tree.

use super::box_tree::{BoxTree, LEAF, Node};

/// A squared distance, then a row: a pair with a smaller distance is smaller, and of equal distances that with the
/// lower row. The bits of numbers that are not negative have the order of the numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate(u128);

impl Candidate {
    /// Larger than all others.
    const FARTHEST: Self = Self(u128::MAX);

    fn new(squared_distance: f64, row: u32) -> Self {
        Self((u128::from(squared_distance.to_bits()) << 32) | u128::from(row))
    }

    pub fn row(self) -> u32 {
        self.0 as u32
    }

    pub fn squared_distance(self) -> f64 {
        f64::from_bits((self.0 >> 32) as u64)
    }
}

/// The rows that a search may find.
#[derive(Clone, Copy)]
pub struct Eligible<'a> {
    /// Rows below this number,
    pub below: u32,
    /// except these.
    pub except: &'a [u32],
}

/// A search in a tree, with its memory.
pub struct Search<'a> {
    tree: &'a BoxTree,
    /// The lowest row of each node.
    lowest: &'a [u32],
    /// The nearest candidates so far; sorted if there are as many as asked for.
    best: Vec<Candidate>,
    count: usize,
    /// The last of `best` if there are as many as asked for. Others must be better.
    worst: Candidate,
    /// Nodes that are still to be visited, with the least candidate that each could have.
    stack: Vec<(Candidate, Node)>,
}

impl<'a> Search<'a> {
    pub fn new(tree: &'a BoxTree, lowest: &'a [u32]) -> Self {
        Self {
            tree,
            lowest,
            best: Vec::new(),
            count: 0,
            worst: Candidate::FARTHEST,
            stack: Vec::new(),
        }
    }

    /// The `count` eligible rows that are nearest to `x`, or all if there are fewer, by distance, then by row.
    pub fn nearest(&mut self, x: &[f64], count: usize, eligible: Eligible) -> &[Candidate] {
        self.best.clear();
        self.count = count;
        self.worst = Candidate::FARTHEST;
        if let Some(root) = self.tree.root().filter(|_| count > 0) {
            self.stack.push((self.bound(root, x), root));
        }
        while let Some((bound, node)) = self.stack.pop() {
            if bound.row() >= eligible.below || bound >= self.worst {
                continue;
            }
            match node.children() {
                Some([left, right]) => {
                    let left = (self.bound(left, x), left);
                    let right = (self.bound(right, x), right);
                    let (near, far) = if right.0 < left.0 {
                        (right, left)
                    } else {
                        (left, right)
                    };
                    self.stack.extend([far, near]);
                }
                None => self.visit(node.first_leaf, x, eligible),
            }
        }
        if self.best.len() < count {
            self.best.sort_unstable();
        }
        &self.best
    }

    /// The least candidate that a node could have.
    fn bound(&self, node: Node, x: &[f64]) -> Candidate {
        Candidate::new(self.tree.squared_distance(node, x), self.lowest[node.index])
    }

    fn visit(&mut self, leaf: usize, x: &[f64], eligible: Eligible) {
        let distances = self.tree.squared_distances(leaf, x);
        let rows = self.tree.rows_of(leaf);
        let reach = self.worst.squared_distance();
        // A bit for each point that may be better, found without branches. Nothing is beyond `FARTHEST`, which is NaN.
        let mut places = 0u32;
        for place in 0..LEAF {
            let is_beyond = distances[place] > reach;
            places |= u32::from(!is_beyond & (rows[place] < eligible.below)) << place;
        }
        while places != 0 {
            let place = places.trailing_zeros() as usize;
            places &= places - 1;
            let candidate = Candidate::new(distances[place], rows[place]);
            if candidate < self.worst && !eligible.except.contains(&candidate.row()) {
                self.insert(candidate);
            }
        }
    }

    /// Adds a candidate that is better than the worst.
    fn insert(&mut self, candidate: Candidate) {
        if self.best.len() < self.count {
            self.best.push(candidate);
            if self.best.len() < self.count {
                return;
            }
            self.best.sort_unstable();
        } else {
            let mut place = self.count - 1;
            while place > 0 && self.best[place - 1] > candidate {
                self.best[place] = self.best[place - 1];
                place -= 1;
            }
            self.best[place] = candidate;
        }
        self.worst = self.best[self.count - 1];
    }
}
