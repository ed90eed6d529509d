//! The band around a curve.

use plotters::prelude::*;

use super::axis::Axis;
use super::canvas::{Chart, drawing};
use super::{PlotError, palette};

/// Draws a band, cut at the ends of the axis, from inputs with their lower and upper edges,
/// `[G][x, low, high]`.
pub(super) fn draw_band(
    chart: &mut Chart<'_>,
    plot: &'static str,
    edges: &[[f64; 3]],
    vertical: &Axis,
    shade: f64,
) -> Result<(), PlotError> {
    let upper = edges.iter().map(|&[x, _, high]| (x, vertical.clip(high)));
    let lower = edges.iter().map(|&[x, low, _]| (x, vertical.clip(low)));
    let outline: Vec<(f64, f64)> = upper.chain(lower.rev()).collect();
    chart
        .draw_series([Polygon::new(outline, palette::SKY.mix(shade).filled())])
        .map_err(drawing(plot))?;
    Ok(())
}
