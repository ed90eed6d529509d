//! An ordering of points that places nearby points next to each other.

use core::ops::Range;

use burn::tensor::{Int, Tensor};

use crate::ops::{Blocks, numbers};

/// Orders points `[N, D]` so that the points of each run of `blocks` are near each other, and
/// returns their indices `[N]`. A plane across the coordinate with the largest variance puts half
/// of the runs on either side, and each half is divided in the same way. Points within a run keep
/// their order.
///
/// A combination of nearby points can average the function over a cell, and averages over cells in
/// which the function hardly changes describe it well. A combination of scattered points must first
/// learn to ignore most of them. Time N·D·log I.
///
/// # Panics
///
/// If the number of points differs from that of `blocks`.
#[track_caller]
pub fn near_order(points: &Tensor<2>, blocks: Blocks) -> Tensor<1, Int> {
    let [count, dimensions] = points.dims();
    let expected = blocks.points();
    assert!(
        count == expected,
        "{count} points for runs of {expected} points"
    );
    let coordinates = numbers(points.clone());
    let cells = Cells {
        coordinates,
        dimensions,
        blocks,
    };
    let mut order: Vec<usize> = (0..count).collect();
    cells.divide(&mut order, 0..blocks.count());
    let order: Vec<i64> = order.into_iter().map(|point| point as i64).collect();
    Tensor::from_data(&order[..], &points.device())
}

struct Cells {
    /// Row-major, [N, D]
    coordinates: Vec<f64>,
    dimensions: usize,
    blocks: Blocks,
}

impl Cells {
    /// Orders `points`, which fill the given runs.
    fn divide(&self, points: &mut [usize], runs: Range<usize>) {
        if runs.len() <= 1 {
            points.sort_unstable();
            return;
        }
        let middle = runs.start + runs.len() / 2;
        let cut = self.blocks.range(middle).start - self.blocks.range(runs.start).start;
        if let Some(widest) = self.widest(points) {
            let key = |point: usize| (self.coordinates[point * self.dimensions + widest], point);
            points.select_nth_unstable_by(cut, |&left, &right| {
                let ((left, first), (right, second)) = (key(left), key(right));
                left.total_cmp(&right).then(first.cmp(&second))
            });
        }
        let (left, right) = points.split_at_mut(cut);
        self.divide(left, runs.start..middle);
        self.divide(right, middle..runs.end);
    }

    /// The coordinate with the largest variance, or `None` if points have no coordinates.
    fn widest(&self, points: &[usize]) -> Option<usize> {
        let variance = |coordinate: usize| {
            let (mut mean, mut squares) = (0.0, 0.0);
            for (seen, &point) in points.iter().enumerate() {
                let value = self.coordinates[point * self.dimensions + coordinate];
                let change = value - mean;
                mean += change / (seen + 1) as f64;
                squares += change * (value - mean);
            }
            squares
        };
        let variances = (0..self.dimensions).map(variance).enumerate();
        let widest = variances.max_by(|(_, left), (_, right)| left.total_cmp(right));
        widest.map(|(coordinate, _)| coordinate)
    }
}
