//! Grids over two inputs: nodes, colored cells and contour lines.

use std::ops::RangeInclusive;

use plotters::prelude::*;

use super::axis::Axis;
use super::chart::Chart;
use super::rows::usable;
use super::{PlotError, Quantity};

/// The maximum number of cells on a side; finer grids only make the file larger.
const MOST_CELLS: usize = 120;

/// The domain of a decision map with the nodes where probabilities are evaluated.
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

    /// The axes of the domain.
    pub(super) fn axes(&self, inputs: [Quantity<'_>; 2]) -> (Axis, Axis) {
        (
            Axis::new(self.first.0, self.first.1, inputs[0], 6),
            Axis::new(self.second.0, self.second.1, inputs[1], 6),
        )
    }

    /// Draws one rectangle around every run of nodes of equal color, half a grid step to each side;
    /// nodes without a color stay white.
    pub(super) fn draw_cells(
        &self,
        chart: &mut Chart<'_>,
        color: impl Fn(usize) -> Option<RGBColor>,
    ) -> Result<(), PlotError> {
        let edge = |place: f64, axis: usize, last: usize| {
            self.place(place.clamp(0.0, (last - 1) as f64), axis)
        };
        for row in 0..self.rows {
            let nodes: Vec<Option<RGBColor>> = (0..self.columns)
                .map(|column| color(row * self.columns + column))
                .collect();
            // Rows overlap by a fifth of a step, so that no background shows between them.
            let low = edge(row as f64 - 0.5, 1, self.rows);
            let high = edge(row as f64 + 0.7, 1, self.rows);
            let mut column = 0;
            for run in nodes.chunk_by(|left, right| left == right) {
                let left = edge(column as f64 - 0.5, 0, self.columns);
                column += run.len();
                let right = edge(column as f64 - 0.5 + 0.2, 0, self.columns);
                let Some(color) = run[0] else {
                    continue;
                };
                let cell = Rectangle::new([(left, low), (right, high)], color.filled());
                chart.draw([cell])?;
            }
        }
        Ok(())
    }

    /// Segments of the contour line in the cells between four valid nodes.
    pub(super) fn contour(&self, probability: &[f64], level: f64) -> Vec<[(f64, f64); 2]> {
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
                        probability[row * self.columns + column] - level,
                    )
                });
                if corners.iter().any(|corner| !corner.2.is_finite()) {
                    continue;
                }
                let crossings: Vec<(f64, f64)> = (0..4)
                    .filter_map(|side| crossing(corners[side], corners[(side + 1) % 4]))
                    .map(|(column, row)| (self.place(column, 0), self.place(row, 1)))
                    .collect();
                // A saddle has four crossings; pairing neighboring sides cuts off two corners.
                segments.extend(crossings.chunks_exact(2).map(|pair| [pair[0], pair[1]]));
            }
        }
        segments
    }
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
