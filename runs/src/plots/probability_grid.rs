//! Grids over two inputs: nodes, images and contour lines.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::axis::{Axes, Axis};
use super::bitmap::Bitmap;
use super::palette::Color;
use super::rows::usable;
use super::{PlotError, Quantity};

/// The maximum number of nodes on a side; finer grids only take longer.
const MOST_CELLS: usize = 120;

/// The number of pixels on a side of an image of classes, whose boundaries are sharp, and of one of smooth values, which
/// viewers interpolate.
const SHARP: usize = 480;
const SMOOTH: usize = 240;

/// The domain of a map with the nodes where its values are computed.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbabilityGrid {
    first: (f64, f64),
    second: (f64, f64),
    columns: usize,
    rows: usize,
}

impl ProbabilityGrid {
    /// A grid of `columns` by `rows` nodes over the ranges of the two inputs, ends included.
    ///
    /// # Errors
    ///
    /// [`PlotError::Grid`] if a side has fewer than 2 or more than 120 nodes, or if a range is
    /// empty or not finite.
    pub fn new(
        first: RangeInclusive<f64>,
        second: RangeInclusive<f64>,
        columns: usize,
        rows: usize,
    ) -> Result<Self, PlotError> {
        let sound = |range: &RangeInclusive<f64>| {
            usable(*range.start()) && usable(*range.end()) && range.start() < range.end()
        };
        let sides = 2..=MOST_CELLS;
        if !(sound(&first) && sound(&second) && sides.contains(&columns) && sides.contains(&rows)) {
            return Err(PlotError::Grid { columns, rows });
        }
        Ok(Self {
            first: first.into_inner(),
            second: second.into_inner(),
            columns,
            rows,
        })
    }

    /// A grid that extends 8 % past the finite points.
    ///
    /// # Errors
    ///
    /// [`PlotError::Grid`] as for [`ProbabilityGrid::new`], and if no point is finite or all share
    /// a coordinate.
    pub fn around(points: &[[f64; 2]], columns: usize, rows: usize) -> Result<Self, PlotError> {
        let range = |axis: usize| {
            let finite = points
                .iter()
                .map(|point| point[axis])
                .filter(|&value| usable(value));
            let (low, high) = super::axis::extent(finite)
                .map(|ends| super::axis::padded(ends, 0.08))
                .ok_or(PlotError::Grid { columns, rows })?;
            Ok(low..=high)
        };
        Self::new(range(0)?, range(1)?, columns, rows)
    }

    /// The nodes, row by row from the lowest second input; the first input varies fastest:
    /// `[rows · columns]`.
    pub fn nodes(&self) -> Vec<[f64; 2]> {
        (0..self.rows)
            .flat_map(|row| (0..self.columns).map(move |column| (row, column)))
            .map(|(row, column)| [self.place(column as f64, 0), self.place(row as f64, 1)])
            .collect()
    }

    /// The coordinate `steps` grid steps from the low end of an input.
    fn place(&self, steps: f64, axis: usize) -> f64 {
        let ((low, high), count) = if axis == 0 {
            (self.first, self.columns)
        } else {
            (self.second, self.rows)
        };
        low + (high - low) * steps / (count - 1) as f64
    }

    /// The number of nodes.
    pub(super) fn count(&self) -> usize {
        self.columns * self.rows
    }

    /// The ranges of both inputs.
    pub(super) fn ranges(&self) -> [(f64, f64); 2] {
        [self.first, self.second]
    }

    /// The axes of the domain.
    pub(super) fn axes(&self, inputs: [Quantity<'_>; 2]) -> Axes {
        Axes::new(
            Axis::new(self.first.0, self.first.1, inputs[0], 6),
            Axis::new(self.second.0, self.second.1, inputs[1], 6),
        )
    }

    /// An image of the domain. `color` gets the `each` values at a position, interpolated linearly
    /// between its four nodes. A value is not finite if it is not finite at one of them.
    pub(super) fn image(
        &self,
        values: &[f64],
        each: usize,
        color: impl Fn(&[f64]) -> Color,
    ) -> Bitmap {
        let side = if each > 1 { SHARP } else { SMOOTH };
        let at = |step: usize, last: usize| {
            let place = (step as f64 + 0.5) / side as f64 * last as f64;
            let below = (place as usize).min(last - 1);
            (below, place - below as f64)
        };
        let mut mixed = vec![0.0; each];
        let mut pixels = Vec::with_capacity(side * side);
        for y in (0..side).rev() {
            let (row, up) = at(y, self.rows - 1);
            for x in 0..side {
                let (column, right) = at(x, self.columns - 1);
                let node = |rows: usize, columns: usize| {
                    let first = each * ((row + rows) * self.columns + column + columns);
                    &values[first..first + each]
                };
                let corners = [node(0, 0), node(0, 1), node(1, 0), node(1, 1)];
                for (number, mixed) in mixed.iter_mut().enumerate() {
                    let [low, low_right, high, high_right] = corners.map(|corner| corner[number]);
                    let lower = low + right * (low_right - low);
                    let upper = high + right * (high_right - high);
                    *mixed = lower + up * (upper - lower);
                }
                pixels.push(color(&mixed));
            }
        }
        Bitmap::smooth(side, pixels.into_iter())
    }

    /// The contour lines at `level`, through the cells between four finite nodes.
    pub(super) fn contour(&self, values: &[f64], level: f64) -> Vec<Vec<(f64, f64)>> {
        // Corners in order around the cell: (column, row) offsets.
        const CORNERS: [(usize, usize); 4] = [(0, 0), (1, 0), (1, 1), (0, 1)];
        let mut segments = Vec::new();
        for row in 0..self.rows - 1 {
            for column in 0..self.columns - 1 {
                let corners = CORNERS.map(|(right, up)| {
                    let (column, row) = (column + right, row + up);
                    (
                        column as f64,
                        row as f64,
                        values[row * self.columns + column] - level,
                    )
                });
                if corners.iter().any(|corner| !corner.2.is_finite()) {
                    continue;
                }
                let crossings: Vec<(f64, f64)> = (0..4)
                    .filter_map(|side| crossing(corners[side], corners[(side + 1) % 4]))
                    .collect();
                // A saddle has four crossings; pairing neighboring sides cuts off two corners.
                segments.extend(crossings.chunks_exact(2).map(|pair| [pair[0], pair[1]]));
            }
        }
        let place = |(column, row)| (self.place(column, 0), self.place(row, 1));
        let lines = joined(&segments).into_iter();
        lines
            .map(|line| line.into_iter().map(place).collect())
            .collect()
    }
}

/// Joins segments with equal ends into lines.
fn joined(segments: &[[(f64, f64); 2]]) -> Vec<Vec<(f64, f64)>> {
    // Two cells interpolate the crossing of their common side with different rounding errors.
    let key = |(x, y): (f64, f64)| ((x * 1e6).round() as i64, (y * 1e6).round() as i64);
    // A contour through a node may touch the cells around it at that point only.
    let segments = segments.iter().filter(|[from, to]| key(*from) != key(*to));
    let segments: Vec<[(f64, f64); 2]> = segments.copied().collect();
    let mut ends: HashMap<(i64, i64), Vec<usize>> = HashMap::new();
    for (number, segment) in segments.iter().enumerate() {
        for &end in segment {
            ends.entry(key(end)).or_default().push(number);
        }
    }
    let mut is_free = vec![true; segments.len()];
    let extend = |line: &mut Vec<(f64, f64)>, is_free: &mut Vec<bool>| {
        while let Some(&end) = line.last() {
            let at_end = ends.get(&key(end)).map_or(&[][..], Vec::as_slice);
            let Some(&next) = at_end.iter().find(|&&next| is_free[next]) else {
                break;
            };
            is_free[next] = false;
            let [from, to] = segments[next];
            line.push(if key(from) == key(end) { to } else { from });
        }
    };
    let mut lines = Vec::new();
    for number in 0..segments.len() {
        if is_free[number] {
            is_free[number] = false;
            let mut line = segments[number].to_vec();
            extend(&mut line, &mut is_free);
            line.reverse();
            extend(&mut line, &mut is_free);
            lines.push(line);
        }
    }
    lines
}

/// Where the values of two corners (column, row, value) change sign, linearly interpolated.
fn crossing(from: (f64, f64, f64), to: (f64, f64, f64)) -> Option<(f64, f64)> {
    if (from.2 >= 0.0) == (to.2 >= 0.0) {
        return None;
    }
    let share = from.2 / (from.2 - to.2);
    Some((
        from.0 + share * (to.0 - from.0),
        from.1 + share * (to.1 - from.1),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pixels of an image of two columns and two rows.
    fn pixels(values: &[f64]) -> Vec<[u8; 3]> {
        let grid = ProbabilityGrid::new(0.0..=1.0, 0.0..=1.0, 2, 2).expect("grid");
        let color = |values: &[f64]| match values[0].is_finite() {
            true => Color([(255.0 * values[0]) as u8, 0, 0]),
            false => Color([0, 0, 9]),
        };
        grid.image(values, 1, color).into_pixels()
    }

    #[test]
    fn an_image_is_linear_between_nodes_and_has_its_low_end_below() {
        let pixels = pixels(&[0.0, 0.5, 0.5, 1.0]);
        assert_eq!(pixels.len(), SMOOTH * SMOOTH);
        for (number, pixel) in pixels.iter().enumerate() {
            let (x, y) = (number % SMOOTH, SMOOTH - 1 - number / SMOOTH);
            // Half a pixel from the edges, with rounding down.
            let expected = 127.5 * (x as f64 + y as f64 + 1.0) / SMOOTH as f64;
            assert!((f64::from(pixel[0]) - expected).abs() <= 1.0, "{x}, {y}");
        }
    }

    #[test]
    fn a_missing_node_leaves_a_hole() {
        let pixels = pixels(&[0.0, f64::NAN, 0.5, 1.0]);
        assert!(pixels.iter().all(|pixel| *pixel == [0, 0, 9]));
    }

    #[test]
    fn segments_join_to_one_line_in_any_order_and_direction() {
        let at = |x: i32| (f64::from(x), 0.5);
        let line = joined(&[
            [at(3), at(2)],
            [at(0), at(1)],
            [at(2), at(1)],
            [at(7), at(8)],
        ]);
        assert_eq!(line.len(), 2);
        let mut longest = line[0].clone();
        longest.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(longest, [at(0), at(1), at(2), at(3)]);
        assert_eq!(line[1], [at(8), at(7)]);
    }
}
