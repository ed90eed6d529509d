//! The two inputs of a map.

use super::Quantity;
use super::axis::{Axes, Axis};
use super::probability_grid::ProbabilityGrid;

/// About this many ticks are on an axis.
const TICKS: usize = 6;

/// The two inputs of a map: the names of its axes and their scales.
#[derive(Debug, Clone, Copy)]
pub struct MapInputs<'a> {
    /// The names of the horizontal and the vertical axis.
    pub names: [Quantity<'a>; 2],
    /// The scales.
    pub scale: MapScale,
}

/// The lengths of units on the axes of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapScale {
    /// Each axis is as long as the map is wide or high.
    Separate,
    /// Both inputs have the same unit, which is equally long on both axes.
    Equal,
    /// Longitude and latitude in degrees. A kilometer is equally long in both directions at the middle latitude φ: a
    /// degree of longitude is cos φ as long as a degree of latitude.
    Degrees,
}

impl<'a> MapInputs<'a> {
    /// Inputs with these names.
    pub const fn new(names: [Quantity<'a>; 2], scale: MapScale) -> Self {
        Self { names, scale }
    }

    /// The axes of a grid.
    pub(super) fn axes(&self, grid: &ProbabilityGrid) -> Axes {
        let [first, second] = grid.ranges();
        match self.scale {
            MapScale::Separate | MapScale::Equal => grid.axes(self.names),
            MapScale::Degrees => Axes::new(
                Axis::degrees(first, self.names[0], TICKS),
                Axis::degrees(second, self.names[1], TICKS),
            ),
        }
    }

    /// The ratio of the width of a map to its height; `None` if any will do.
    pub(super) fn aspect(&self, grid: &ProbabilityGrid) -> Option<f64> {
        let [width, height] = grid.ranges().map(|(low, high)| high - low);
        match self.scale {
            MapScale::Separate => None,
            MapScale::Equal => Some(width / height),
            MapScale::Degrees => Some(middle_latitude(grid).to_radians().cos() * width / height),
        }
    }

    /// A sentence about the scales for the lines below the title.
    pub(super) fn remark(&self, grid: &ProbabilityGrid) -> Option<String> {
        match self.scale {
            MapScale::Separate => None,
            MapScale::Equal => Some("one scale for both axes".to_owned()),
            MapScale::Degrees => {
                let latitude = format!("{:.0}", middle_latitude(grid)).replace('-', "−");
                Some(format!("shapes are true at latitude {latitude}°"))
            }
        }
    }
}

fn middle_latitude(grid: &ProbabilityGrid) -> f64 {
    let [_, (south, north)] = grid.ranges();
    0.5 * (south + north)
}
