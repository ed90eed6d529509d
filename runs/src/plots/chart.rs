//! Two axes and what is drawn between them.

use std::rc::Rc;

use plotters::chart::ChartContext;
use plotters::element::{DashedPathElement, Drawable, PointCollection};
use plotters::prelude::*;

use super::axis::Axis;
use super::bitmap::Bitmap;
use super::canvas::{Area, Images, drawing, font, pixels};
use super::{PlotError, Quantity, palette};

/// The length of a dash and of a gap, in pixels.
const DASH: i32 = 7;
const GAP: i32 = 7;

/// The grid lines behind a chart.
#[derive(Debug, Clone, Copy)]
enum Lines {
    Grid,
    /// Only those of the horizontal axis, for charts without a vertical axis.
    Upright,
    None,
    /// None, and no vertical axis.
    NoneOfScale,
}

/// A point (horizontal, vertical) in data units.
type Point = (f64, f64);

/// The space around a plot area, in pixels: margins, and room for tick labels and axis text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings {
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) bottom: i32,
    pub(super) left: i32,
    pub(super) left_labels: i32,
    pub(super) bottom_labels: i32,
}

impl Surroundings {
    /// The width and height of the plot area inside an area of this size.
    fn inside(&self, (width, height): (i32, i32)) -> (f64, f64) {
        let across = self.left + self.left_labels + self.right;
        let down = self.top + self.bottom_labels + self.bottom;
        (f64::from(width - across), f64::from(height - down))
    }

    /// The same with more space on the right or below, so that the plot area inside an area of this size has this
    /// ratio of its width to its height.
    pub(super) fn with_aspect(self, size: (i32, i32), aspect: f64) -> Self {
        let (width, height) = self.inside(size);
        let narrow = width.min(height * aspect);
        Self {
            right: self.right + (width - narrow).round() as i32,
            bottom: self.bottom + (height - narrow / aspect).round() as i32,
            ..self
        }
    }

    fn builder<'a, 'b>(&self, area: &'b Area<'a>) -> ChartBuilder<'b, 'b, SVGBackend<'a>> {
        let mut builder = ChartBuilder::on(&area.inner);
        builder
            .margin_top(pixels(self.top))
            .margin_right(pixels(self.right))
            .margin_bottom(pixels(self.bottom))
            .margin_left(pixels(self.left))
            .set_label_area_size(LabelAreaPosition::Left, pixels(self.left_labels))
            .set_label_area_size(LabelAreaPosition::Bottom, pixels(self.bottom_labels));
        builder
    }
}

/// Two axes and what is drawn between them.
pub(super) struct Chart<'a> {
    context: ChartContext<'a, SVGBackend<'a>, Cartesian2d<Axis, Axis>>,
    vertical: Axis,
    /// The kind of plot, for error messages.
    plot: &'static str,
    images: Images,
}

impl<'a> Chart<'a> {
    /// Draws the grid and both axes with their texts; tick labels have the given size in pixels.
    pub(super) fn new(
        area: &Area<'a>,
        around: Surroundings,
        axes: (Axis, Axis),
        label_size: f64,
    ) -> Result<Self, PlotError> {
        Self::with_axes(area, around, axes, label_size, Lines::Grid)
    }

    /// Draws both axes with their texts, but no grid, for an image between them.
    pub(super) fn of_image(
        area: &Area<'a>,
        around: Surroundings,
        axes: (Axis, Axis),
        label_size: f64,
    ) -> Result<Self, PlotError> {
        Self::with_axes(area, around, axes, label_size, Lines::None)
    }

    /// Draws a horizontal axis only, below this many rows of height one.
    pub(super) fn of_rows(
        area: &Area<'a>,
        around: Surroundings,
        axis: Axis,
        rows: usize,
    ) -> Result<Self, PlotError> {
        let vertical = Axis::new(0.0, rows as f64, Quantity::of(""), 5);
        Self::with_axes(area, around, (axis, vertical), 12.0, Lines::Upright)
    }

    /// Draws the horizontal axis of a color scale, without a vertical axis and a grid.
    pub(super) fn of_scale(
        area: &Area<'a>,
        around: Surroundings,
        axis: Axis,
        label_size: f64,
    ) -> Result<Self, PlotError> {
        let vertical = Axis::new(0.0, 1.0, Quantity::of(""), 1);
        Self::with_axes(
            area,
            around,
            (axis, vertical),
            label_size,
            Lines::NoneOfScale,
        )
    }

    fn with_axes(
        area: &Area<'a>,
        around: Surroundings,
        (x, y): (Axis, Axis),
        label_size: f64,
        lines: Lines,
    ) -> Result<Self, PlotError> {
        let plot = area.plot;
        let (width, height) = around.inside(area.size());
        let ends = (around.left + around.left_labels, around.right);
        let x = x.thinned(width, (f64::from(ends.0), f64::from(ends.1)), label_size);
        let text_size = label_size + 1.0;
        let texts = [x.text(text_size, width), y.text(text_size, height)];
        let vertical = y.clone();
        let mut builder = around.builder(area);
        let mut context = builder.build_cartesian_2d(x, y).map_err(drawing(plot))?;
        let [x_text, y_text] = texts;
        let mut mesh = context.configure_mesh();
        match lines {
            Lines::Grid => {}
            Lines::Upright => {
                mesh.disable_y_mesh().disable_y_axis();
            }
            Lines::None => {
                mesh.disable_mesh();
            }
            Lines::NoneOfScale => {
                mesh.disable_mesh().disable_y_axis();
            }
        }
        mesh.bold_line_style(palette::GRID.stroke_width(pixels(1) as u32))
            .light_line_style(TRANSPARENT)
            .axis_style(palette::GRAY.stroke_width(pixels(1) as u32))
            .set_all_tick_mark_size(pixels(4))
            .label_style(font(label_size).color(&palette::INK))
            .axis_desc_style(font(text_size).color(&palette::INK))
            .x_desc(x_text)
            .y_desc(y_text)
            .draw()
            .map_err(drawing(plot))?;
        Ok(Self {
            context,
            vertical,
            plot,
            images: Rc::clone(&area.images),
        })
    }

    /// Fills the plot area with an image.
    pub(super) fn image(&self, bitmap: Bitmap) {
        let (across, down) = self.context.plotting_area().get_pixel_range();
        let corner = (across.start, down.start);
        let size = (across.end - across.start, down.end - down.start);
        self.images.borrow_mut().push((bitmap, corner, size));
    }

    /// Draws elements of any kind.
    pub(super) fn draw<E>(&mut self, elements: impl IntoIterator<Item = E>) -> Result<(), PlotError>
    where
        for<'b> &'b E: PointCollection<'b, Point>,
        E: Drawable<SVGBackend<'a>>,
    {
        let drawn = self.context.draw_series(elements);
        drawn.map(|_| ()).map_err(drawing(self.plot))
    }

    /// Draws dots or rings with a radius in pixels.
    pub(super) fn dots(
        &mut self,
        places: impl IntoIterator<Item = Point>,
        radius: i32,
        style: impl Into<ShapeStyle>,
    ) -> Result<(), PlotError> {
        let style = style.into();
        let places = places.into_iter();
        self.draw(places.map(|place| Circle::new(place, pixels(radius), style)))
    }

    /// Draws straight lines with a width in pixels.
    pub(super) fn lines(
        &mut self,
        lines: impl IntoIterator<Item = [Point; 2]>,
        color: impl Color,
        width: i32,
    ) -> Result<(), PlotError> {
        let style = color.stroke_width(pixels(width) as u32);
        let lines = lines.into_iter();
        self.draw(lines.map(|ends| PathElement::new(ends, style)))
    }

    /// Draws a curve, cut at the ends of the vertical axis.
    pub(super) fn curve(&mut self, points: &[Point], color: RGBColor) -> Result<(), PlotError> {
        let style = color.stroke_width(pixels(2) as u32);
        let pieces = clipped(points, self.vertical.limits()).into_iter();
        self.draw(pieces.map(|piece| PathElement::new(piece, style)))
    }

    /// Draws a dashed curve, cut at the ends of the vertical axis.
    pub(super) fn dashed(&mut self, points: &[Point], color: RGBColor) -> Result<(), PlotError> {
        let style = color.stroke_width(pixels(2) as u32);
        let (dash, gap) = (pixels(DASH), pixels(GAP));
        let pieces = clipped(points, self.vertical.limits()).into_iter();
        self.draw(pieces.map(|piece| DashedPathElement::new(piece, dash, gap, style)))
    }

    /// Draws a band, cut at the ends of the vertical axis, from inputs with their lower and upper
    /// edges, `[G][x, low, high]`.
    pub(super) fn band(&mut self, edges: &[[f64; 3]], shade: f64) -> Result<(), PlotError> {
        let vertical = &self.vertical;
        let upper = edges.iter().map(|&[x, _, high]| (x, vertical.clip(high)));
        let lower = edges.iter().map(|&[x, low, _]| (x, vertical.clip(low)));
        let outline: Vec<Point> = upper.chain(lower.rev()).collect();
        self.draw([Polygon::new(outline, palette::SKY.mix(shade).filled())])
    }

    /// Draws crosses with a reach in pixels.
    pub(super) fn crosses(
        &mut self,
        places: impl IntoIterator<Item = Point>,
        reach: i32,
        style: impl Into<ShapeStyle>,
    ) -> Result<(), PlotError> {
        let style = style.into();
        let places = places.into_iter();
        self.draw(places.map(|place| Cross::new(place, pixels(reach), style)))
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
