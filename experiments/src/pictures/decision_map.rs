//! Decision map of a binary classifier over two inputs.

use std::ops::RangeInclusive;
use std::path::Path;

use plotters::prelude::*;

use super::axis::Axis;
use super::canvas::{Area, Chart, Frame, drawing, font, pixels, square};
use super::legend::{Entry, Sample};
use super::rows::{MOST_POINTS, remark, same_length, thin, usable};
use super::{Caption, PictureError, Quantity, palette};

const PICTURE: &str = "Decision map";

/// Most cells a side: finer grids only make the file larger.
const MOST_CELLS: usize = 120;

/// Colours of the heat map; equal neighbours of a row become one rectangle.
const COLOURS: f64 = 40.0;

/// The domain of a decision map and the places its probabilities are evaluated at.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbabilityGrid {
    first: (f64, f64),
    second: (f64, f64),
    columns: usize,
    rows: usize,
}

impl ProbabilityGrid {
    /// A grid of `columns` by `rows` nodes over the two inputs' ranges, ends included.
    ///
    /// # Errors
    ///
    /// [`PictureError::Grid`] when a side has fewer than 2 or more than 120 nodes, or a range is
    /// empty or not finite.
    pub fn new(
        first: RangeInclusive<f64>,
        second: RangeInclusive<f64>,
        columns: usize,
        rows: usize,
    ) -> Result<Self, PictureError> {
        let sound = |range: &RangeInclusive<f64>| {
            usable(*range.start()) && usable(*range.end()) && range.start() < range.end()
        };
        let sides = 2..=MOST_CELLS;
        if !(sound(&first) && sound(&second) && sides.contains(&columns) && sides.contains(&rows)) {
            return Err(PictureError::Grid { columns, rows });
        }
        Ok(Self {
            first: first.into_inner(),
            second: second.into_inner(),
            columns,
            rows,
        })
    }

    /// A grid that reaches 8 % past the finite points.
    ///
    /// # Errors
    ///
    /// [`PictureError::Grid`] as for [`ProbabilityGrid::new`]; also when no point is finite or all
    /// share one coordinate.
    pub fn around(points: &[[f64; 2]], columns: usize, rows: usize) -> Result<Self, PictureError> {
        let range = |axis: usize| {
            let finite = points
                .iter()
                .map(|point| point[axis])
                .filter(|&value| usable(value));
            let (low, high) = super::axis::extent(finite)
                .map(|ends| super::axis::padded(ends, 0.08))
                .ok_or(PictureError::Grid { columns, rows })?;
            Ok(low..=high)
        };
        Self::new(range(0)?, range(1)?, columns, rows)
    }

    /// The nodes, row by row from the lowest second input, first input fastest:
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
}

/// Points of two known classes.
#[derive(Debug, Clone, Copy)]
pub struct ClassifiedPoints<'a> {
    /// Inputs `[N]`.
    pub x: &'a [[f64; 2]],
    /// Whether the point is of the positive class, `[N]`.
    pub positive: &'a [bool],
}

/// Draws the probability of the positive class as a heat map with its 0.5 contour, and points.
///
/// `probability` holds one value per node of `grid`, in the order of [`ProbabilityGrid::nodes`];
/// `inducing` may be empty.
///
/// # Errors
///
/// [`PictureError::LengthMismatch`] when a slice does not fit, [`PictureError::NothingToShow`] when
/// no probability lies in 0 to 1, [`PictureError::Write`] when the file cannot be written.
pub fn decision_map(
    path: &Path,
    grid: &ProbabilityGrid,
    probability: &[f64],
    points: ClassifiedPoints<'_>,
    inducing: &[[f64; 2]],
    inputs: [Quantity<'_>; 2],
    caption: Caption<'_>,
) -> Result<(), PictureError> {
    let nodes = grid.columns * grid.rows;
    same_length(PICTURE, "the probability", nodes, probability.len())?;
    same_length(PICTURE, "the labels", points.x.len(), points.positive.len())?;
    let valid = |value: &&f64| (0.0..=1.0).contains(*value);
    let unusable = nodes - probability.iter().filter(valid).count();
    if unusable == nodes {
        return Err(PictureError::NothingToShow {
            picture: PICTURE,
            given: nodes,
        });
    }
    let axes = (
        Axis::new(grid.first.0, grid.first.1, inputs[0], 6),
        Axis::new(grid.second.0, grid.second.1, inputs[1], 6),
    );
    let scene = Scene::new(points, inducing, &axes);
    let frame = Frame {
        picture: PICTURE,
        caption,
        remarks: scene
            .remarks()
            .into_iter()
            .chain(remark(
                unusable,
                "grid values are no probability, left white",
            ))
            .collect(),
        legend: legend_entries(!scene.inducing.is_empty()),
    };
    let count = |class: bool| {
        points
            .positive
            .iter()
            .filter(|&&label| label == class)
            .count()
    };
    let facts = [
        ("positive", count(true).to_string()),
        ("negative", count(false).to_string()),
    ];
    let draw = |chart: &mut Chart<'_>| {
        draw_heat(chart, grid, probability)?;
        draw_contour(chart, grid, probability)?;
        scene.draw(chart)
    };
    square(path, &frame, axes, &facts, draw, |panel, y| {
        colour_bar(panel, y + 24)
    })
}

/// What is drawn on top of the heat map.
struct Scene {
    /// Place and class.
    points: Vec<([f64; 2], bool)>,
    inducing: Vec<[f64; 2]>,
    /// Points on the map before thinning.
    on_the_map: usize,
    /// Points and inducing points off the map.
    hidden: usize,
}

impl Scene {
    fn new(points: ClassifiedPoints<'_>, inducing: &[[f64; 2]], axes: &(Axis, Axis)) -> Self {
        let inside = |place: &[f64; 2]| axes.0.holds(place[0]) && axes.1.holds(place[1]);
        let labelled = points
            .x
            .iter()
            .copied()
            .zip(points.positive.iter().copied());
        let visible: Vec<([f64; 2], bool)> = labelled.filter(|(place, _)| inside(place)).collect();
        let centres: Vec<[f64; 2]> = inducing.iter().copied().filter(inside).collect();
        Self {
            points: thin(&visible, MOST_POINTS),
            on_the_map: visible.len(),
            hidden: points.x.len() - visible.len() + inducing.len() - centres.len(),
            inducing: centres,
        }
    }

    fn remarks(&self) -> Vec<String> {
        let (shown, all) = (self.points.len(), self.on_the_map);
        (shown < all)
            .then(|| format!("{shown} of {all} points shown"))
            .into_iter()
            .chain(remark(self.hidden, "points outside the range shown"))
            .collect()
    }

    fn draw(&self, chart: &mut Chart<'_>) -> Result<(), PictureError> {
        draw_points(chart, &self.points)?;
        let cross = palette::INK.stroke_width(pixels(2) as u32);
        let crosses = self
            .inducing
            .iter()
            .map(|place| Cross::new((place[0], place[1]), pixels(4), cross));
        chart.draw_series(crosses).map_err(drawing(PICTURE))?;
        Ok(())
    }
}

fn legend_entries(with_inducing: bool) -> Vec<Entry> {
    let mut entries = vec![
        Entry::new(Sample::Dot, palette::BLUE, "positive class"),
        Entry::new(Sample::Triangle, palette::VERMILION, "negative class"),
        Entry::new(Sample::Line, palette::INK, "probability 0.5"),
    ];
    if with_inducing {
        entries.push(Entry::new(Sample::Cross, palette::INK, "inducing points"));
    }
    entries
}

/// One rectangle around every run of nodes of equal colour, half a grid step to each side.
fn draw_heat(
    chart: &mut Chart<'_>,
    grid: &ProbabilityGrid,
    probability: &[f64],
) -> Result<(), PictureError> {
    let shade = |value: f64| {
        (0.0..=1.0)
            .contains(&value)
            .then(|| (value * COLOURS).round() as u8)
    };
    let edge = |place: f64, axis: usize, last: usize| {
        grid.place(place.clamp(0.0, (last - 1) as f64), axis)
    };
    for (row, values) in probability.chunks(grid.columns).enumerate() {
        // Rows overlap by a fifth of a step, so that no background shows between them.
        let low = edge(row as f64 - 0.5, 1, grid.rows);
        let high = edge(row as f64 + 0.7, 1, grid.rows);
        let mut column = 0;
        for run in values.chunk_by(|&left, &right| shade(left) == shade(right)) {
            let left = edge(column as f64 - 0.5, 0, grid.columns);
            column += run.len();
            let right = edge(column as f64 - 0.5 + 0.2, 0, grid.columns);
            let Some(level) = shade(run[0]) else {
                continue;
            };
            let colour = palette::probability(f64::from(level) / COLOURS);
            chart
                .draw_series([Rectangle::new(
                    [(left, low), (right, high)],
                    colour.filled(),
                )])
                .map_err(drawing(PICTURE))?;
        }
    }
    Ok(())
}

/// The line where the interpolated probability is one half, by marching squares.
fn draw_contour(
    chart: &mut Chart<'_>,
    grid: &ProbabilityGrid,
    probability: &[f64],
) -> Result<(), PictureError> {
    let style = palette::INK.stroke_width(pixels(2) as u32);
    let segments = contour(grid, probability, 0.5);
    chart
        .draw_series(
            segments
                .into_iter()
                .map(|ends| PathElement::new(ends, style)),
        )
        .map_err(drawing(PICTURE))?;
    Ok(())
}

/// Segments of the level line in the cells between four valid nodes.
fn contour(grid: &ProbabilityGrid, probability: &[f64], level: f64) -> Vec<[(f64, f64); 2]> {
    // Corners in order around the cell: (column, row) offsets.
    const CORNERS: [(usize, usize); 4] = [(0, 0), (1, 0), (1, 1), (0, 1)];
    let mut segments = Vec::new();
    for row in 0..grid.rows - 1 {
        for column in 0..grid.columns - 1 {
            let corners = CORNERS.map(|(right, up)| {
                let (column, row) = (column + right, row + up);
                (
                    column as f64,
                    row as f64,
                    probability[row * grid.columns + column] - level,
                )
            });
            if corners.iter().any(|corner| !corner.2.is_finite()) {
                continue;
            }
            let crossings: Vec<(f64, f64)> = (0..4)
                .filter_map(|side| crossing(corners[side], corners[(side + 1) % 4]))
                .map(|(column, row)| (grid.place(column, 0), grid.place(row, 1)))
                .collect();
            // A saddle has four crossings; pairing neighbours on the sides cuts off two corners.
            segments.extend(crossings.chunks_exact(2).map(|pair| [pair[0], pair[1]]));
        }
    }
    segments
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

fn draw_points(chart: &mut Chart<'_>, shown: &[([f64; 2], bool)]) -> Result<(), PictureError> {
    let radius = if shown.len() > 300 { 3 } else { 4 };
    let halo = palette::PAPER.filled();
    let of_class = |class: bool| {
        shown
            .iter()
            .filter(move |point| point.1 == class)
            .map(|point| (point.0[0], point.0[1]))
    };
    // A white rim separates a point from a background of its own colour.
    let rims = of_class(true).map(|place| Circle::new(place, pixels(radius + 1), halo));
    chart.draw_series(rims).map_err(drawing(PICTURE))?;
    let circles =
        of_class(true).map(|place| Circle::new(place, pixels(radius), palette::BLUE.filled()));
    chart.draw_series(circles).map_err(drawing(PICTURE))?;
    let rims = of_class(false).map(|place| TriangleMarker::new(place, pixels(radius + 3), halo));
    chart.draw_series(rims).map_err(drawing(PICTURE))?;
    let triangles = of_class(false)
        .map(|place| TriangleMarker::new(place, pixels(radius + 1), palette::VERMILION.filled()));
    chart.draw_series(triangles).map_err(drawing(PICTURE))?;
    Ok(())
}

/// The colours of the heat map with their probabilities, below the legend.
fn colour_bar(panel: &Area<'_>, top: i32) -> Result<(), PictureError> {
    const LEFT: i32 = 8;
    const STRIP: i32 = 5;
    const HEIGHT: i32 = 14;
    let grey = font(12.5).color(&palette::GREY);
    let words = |text: &str, x: i32, y: i32| {
        panel
            .draw_text(text, &grey, (pixels(x), pixels(y)))
            .map_err(drawing(PICTURE))
    };
    words("probability of the positive class", LEFT, top)?;
    let strips = COLOURS as i32;
    for strip in 0..=strips {
        let left = LEFT + strip * STRIP;
        let colour = palette::probability(f64::from(strip) / COLOURS);
        let corners = [
            (pixels(left), pixels(top + 22)),
            (pixels(left + STRIP) + 1, pixels(top + 22 + HEIGHT)),
        ];
        panel
            .draw(&Rectangle::new(corners, colour.filled()))
            .map_err(drawing(PICTURE))?;
    }
    let below = top + 22 + HEIGHT + 4;
    words("0", LEFT, below)?;
    words("0.5", LEFT + strips * STRIP / 2 - 8, below)?;
    words("1", LEFT + strips * STRIP - 4, below)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::testing::{CAPTION, Picture};
    use super::*;

    const INPUTS: [Quantity<'static>; 2] = [
        Quantity {
            name: "x₁",
            unit: None,
        },
        Quantity {
            name: "x₂",
            unit: None,
        },
    ];

    fn grid() -> ProbabilityGrid {
        ProbabilityGrid::new(-2.0..=2.0, -2.0..=2.0, 41, 41).expect("grid")
    }

    fn disc(grid: &ProbabilityGrid) -> Vec<f64> {
        let nodes = grid.nodes();
        nodes
            .iter()
            .map(|[a, b]| 1.0 / (1.0 + (4.0 * (a * a + b * b - 1.0)).exp()))
            .collect()
    }

    #[test]
    fn the_contour_of_a_disc_is_its_rim() {
        let grid = grid();
        let segments = contour(&grid, &disc(&grid), 0.5);
        let length: f64 = segments
            .iter()
            .map(|[from, to]| (to.0 - from.0).hypot(to.1 - from.1))
            .sum();
        // Chords of 0.1-wide cells are shorter than the arc by well under 1 %.
        assert!(
            (length / std::f64::consts::TAU - 1.0).abs() < 0.01,
            "{length}"
        );
        for (x, y) in segments.into_iter().flatten() {
            // Linear interpolation of the sigmoid between nodes 0.1 apart errs by less than 0.01.
            assert!((x.hypot(y) - 1.0).abs() < 0.01);
        }
    }

    #[test]
    fn every_point_is_drawn_once_with_its_rim() {
        let grid = grid();
        let points = ClassifiedPoints {
            x: &[[0.0, 0.0], [0.5, 0.1], [1.5, 1.5], [9.0, 0.0]],
            positive: &[true, true, false, true],
        };
        let probability = disc(&grid);
        let picture = Picture::of(|path| {
            decision_map(
                path,
                &grid,
                &probability,
                points,
                &[[0.1, 0.2]],
                INPUTS,
                CAPTION,
            )
        });
        assert_eq!(picture.count("circle"), 2 * 2 + 1);
        assert_eq!(picture.count("polygon"), 2 + 1);
        assert!(picture.has_text("1 points outside the range shown"));
        assert!(picture.has_text("inducing points"));
    }

    #[test]
    fn bad_grids_and_values_are_typed_errors() {
        assert!(ProbabilityGrid::new(0.0..=0.0, 0.0..=1.0, 10, 10).is_err());
        assert!(ProbabilityGrid::new(0.0..=1.0, f64::NAN..=1.0, 10, 10).is_err());
        assert!(ProbabilityGrid::new(0.0..=1.0, 0.0..=1.0, 1, 10).is_err());
        assert!(ProbabilityGrid::around(&[], 10, 10).is_err());
        let grid = ProbabilityGrid::new(0.0..=1.0, 0.0..=1.0, 2, 2).expect("grid");
        let none = ClassifiedPoints {
            x: &[],
            positive: &[],
        };
        let draw = |values: &[f64]| {
            Picture::refused(|path| decision_map(path, &grid, values, none, &[], INPUTS, CAPTION))
        };
        assert!(matches!(
            draw(&[0.5; 3]),
            PictureError::LengthMismatch { .. }
        ));
        assert!(matches!(
            draw(&[f64::NAN; 4]),
            PictureError::NothingToShow { .. }
        ));
    }
}
