//! Two axes and what is drawn between them.

use super::axis::Axes;
use super::bitmap::Bitmap;
use super::drawing::{Area, Font, Mark, Place};
use super::palette::{self, Paint};

/// The length of a tick, and the distance of its label from the axis, in pixels.
const TICK: f64 = 4.0;
const LABEL: f64 = 8.0;

/// What is between the axes, behind the data.
#[derive(Debug, Clone, Copy)]
pub(super) enum Backdrop<'a> {
    /// Grid lines.
    Grid,
    /// The lines of the horizontal axis, without a vertical axis.
    Rows,
    /// An image.
    Image(&'a Bitmap),
    /// The image of a color scale, without a vertical axis.
    Scale(&'a Bitmap),
}

/// A point (horizontal, vertical) in data units.
type Point = (f64, f64);

/// The space around a plot area, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings {
    /// The margins at the top, on the right, below and on the left.
    pub(super) margins: [f64; 4],
    /// The room for tick labels and axis text.
    pub(super) left_labels: f64,
    pub(super) bottom_labels: f64,
}

impl Surroundings {
    /// The plot area inside an area.
    fn inside<'a>(&self, area: Area<'a>) -> Area<'a> {
        let [top, right, bottom, left] = self.margins;
        area.inside([
            top,
            right,
            bottom + self.bottom_labels,
            left + self.left_labels,
        ])
    }

    /// The same with more space on the right or below, so that the plot area inside this area has this
    /// ratio of its width to its height.
    pub(super) fn with_aspect(self, area: Area<'_>, aspect: f64) -> Self {
        let Area { width, height, .. } = self.inside(area);
        let narrow = width.min(height * aspect);
        let [top, right, bottom, left] = self.margins;
        let (right, bottom) = (right + width - narrow, bottom + height - narrow / aspect);
        Self {
            margins: [top, right, bottom, left],
            ..self
        }
    }
}

/// Two axes and what is drawn between them.
pub(super) struct Chart<'a> {
    area: Area<'a>,
    axes: Axes,
}

impl<'a> Chart<'a> {
    /// Draws the backdrop and the axes with their texts; tick labels have the given size in pixels.
    pub(super) fn new(
        area: Area<'a>,
        around: Surroundings,
        Axes { x, y }: Axes,
        label_size: f64,
        backdrop: Backdrop<'_>,
    ) -> Self {
        let inside = around.inside(area);
        let [_, right, _, left] = around.margins;
        let ends = (left + around.left_labels, right);
        let x = x.thinned(inside.width, ends, label_size);
        let chart = Self {
            area: inside,
            axes: Axes::new(x, y),
        };
        match backdrop {
            Backdrop::Grid | Backdrop::Rows => chart.draw_grid(matches!(backdrop, Backdrop::Grid)),
            Backdrop::Image(bitmap) | Backdrop::Scale(bitmap) => {
                inside.image(bitmap, (0.0, 0.0), (inside.width, inside.height));
            }
        }
        chart.draw_horizontal_axis(around.bottom_labels, label_size);
        if matches!(backdrop, Backdrop::Grid | Backdrop::Image(_)) {
            chart.draw_vertical_axis(around.left_labels, label_size);
        }
        chart
    }

    fn draw_grid(&self, has_both: bool) {
        let (Area { width, height, .. }, paint) = (self.area, palette::GRID.line(1.0));
        for (share, _) in self.axes.x.ticks() {
            let x = share * width;
            self.area.line(&[(x, 0.0), (x, height)], paint);
        }
        for (share, _) in self.axes.y.ticks().filter(|_| has_both) {
            let y = (1.0 - share) * height;
            self.area.line(&[(0.0, y), (width, y)], paint);
        }
    }

    fn draw_horizontal_axis(&self, room: f64, label_size: f64) {
        let Area { width, height, .. } = self.area;
        let (font, paint) = (Font::new(label_size), palette::GRAY.line(1.0));
        self.area.line(&[(0.0, height), (width, height)], paint);
        for (share, label) in self.axes.x.ticks() {
            let x = share * width;
            self.area.line(&[(x, height), (x, height + TICK)], paint);
            self.area.write(label, font.below(), (x, height + LABEL));
        }
        let text = self.axes.x.text(label_size + 1.0, width);
        let font = Font::new(label_size + 1.0).above();
        self.area.write(&text, font, (width / 2.0, height + room));
    }

    fn draw_vertical_axis(&self, room: f64, label_size: f64) {
        let height = self.area.height;
        let (font, paint) = (Font::new(label_size), palette::GRAY.line(1.0));
        self.area.line(&[(0.0, 0.0), (0.0, height)], paint);
        for (share, label) in self.axes.y.ticks() {
            let y = (1.0 - share) * height;
            self.area.line(&[(-TICK, y), (0.0, y)], paint);
            self.area.write(label, font.before(), (-LABEL, y));
        }
        let text = self.axes.y.text(label_size + 1.0, height);
        let font = Font::new(label_size + 1.0).below().upward();
        self.area.write(&text, font, (-room, height / 2.0));
    }

    fn place(&self, (x, y): Point) -> Place {
        let (across, up) = (self.axes.x.share(x), self.axes.y.share(y));
        (across * self.area.width, (1.0 - up) * self.area.height)
    }

    fn places(&self, points: &[Point]) -> Vec<Place> {
        points.iter().map(|&point| self.place(point)).collect()
    }

    /// Draws marks that reach this many pixels from their points.
    pub(super) fn marks(
        &self,
        mark: Mark,
        points: impl IntoIterator<Item = Point>,
        reach: f64,
        paint: Paint,
    ) {
        for point in points {
            self.area.mark(mark, self.place(point), reach, paint);
        }
    }

    /// Draws dots or rings with a radius in pixels.
    pub(super) fn dots(&self, points: impl IntoIterator<Item = Point>, radius: f64, paint: Paint) {
        self.marks(Mark::Circle, points, radius, paint);
    }

    /// Draws straight lines.
    pub(super) fn lines(&self, lines: impl IntoIterator<Item = [Point; 2]>, paint: Paint) {
        for ends in lines {
            self.area.line(&self.places(&ends), paint);
        }
    }

    /// Draws a curve, cut at the ends of the vertical axis.
    pub(super) fn curve(&self, points: &[Point], paint: Paint) {
        for piece in clipped(points, self.axes.y.limits()) {
            self.area.line(&self.places(&piece), paint);
        }
    }

    /// Fills the area between two curves, cut at the ends of the vertical axis, from inputs with their
    /// lower and upper edges, `[G][x, low, high]`.
    pub(super) fn band(&self, edges: &[[f64; 3]], paint: Paint) {
        let upper = edges
            .iter()
            .map(|&[x, _, high]| (x, self.axes.y.clip(high)));
        let lower = edges.iter().map(|&[x, low, _]| (x, self.axes.y.clip(low)));
        let outline: Vec<Point> = upper.chain(lower.rev()).collect();
        self.area.polygon(&self.places(&outline), paint);
    }
}

/// The pieces of a polyline between two heights, cut where it crosses them.
fn clipped(line: &[(f64, f64)], (low, high): (f64, f64)) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut open = false;
    for pair in line.windows(2) {
        let Some((from, to)) = clipped_segment(pair[0], pair[1], (low, high)) else {
            open = false;
            continue;
        };
        match pieces.last_mut() {
            Some(piece) if open => piece.push(to),
            _ => pieces.push(vec![from, to]),
        }
        open = to == pair[1];
    }
    pieces
}

fn clipped_segment(from: Point, to: Point, (low, high): (f64, f64)) -> Option<(Point, Point)> {
    if from.1.max(to.1) < low || from.1.min(to.1) > high {
        return None;
    }
    let at = |height: f64| {
        let share = (height - from.1) / (to.1 - from.1);
        (from.0 + share * (to.0 - from.0), height)
    };
    let cut = |point: Point| {
        if point.1 < low {
            at(low)
        } else if point.1 > high {
            at(high)
        } else {
            point
        }
    };
    Some((cut(from), cut(to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_it_leaves_the_range() {
        let line = [(0.0, 3.0), (1.0, 1.0), (2.0, 1.0), (3.0, 3.0), (4.0, 0.5)];
        assert_eq!(
            clipped(&line, (0.0, 2.0)),
            vec![
                vec![(0.5, 2.0), (1.0, 1.0), (2.0, 1.0), (2.5, 2.0)],
                vec![(3.4, 2.0), (4.0, 0.5)],
            ]
        );
    }
}
