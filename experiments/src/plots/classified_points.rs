//! Points of known classes over two inputs, and the selection of points on a map.

use super::axis::Axis;
use super::canvas::{Frame, plain_text};
use super::legend::{Entry, Sample};
use super::palette;
use super::rows::{MOST_POINTS, remark, same_length, thin};
use super::{Caption, PlotError};

/// The longest class name that fits beside a map, in characters.
const LONGEST_NAME: usize = 18;

/// Points of known classes.
#[derive(Debug, Clone, Copy)]
pub struct ClassifiedPoints<'a> {
    /// Inputs `[N]`.
    pub x: &'a [[f64; 2]],
    /// The class of each point, counted from zero, `[N]`.
    pub class: &'a [usize],
    /// The names of all classes.
    pub names: &'a [String],
}

impl ClassifiedPoints<'_> {
    /// Checks that every point has a class.
    pub(super) fn check(&self, plot: &'static str) -> Result<(), PlotError> {
        same_length(plot, "the labels", self.x.len(), self.class.len())
    }

    /// The names of the classes with their own color, cut to fit. Numeric names get the word class.
    pub(super) fn shown_names(&self) -> Vec<String> {
        let own = self.names.iter().take(palette::CLASSES.len());
        own.map(|name| match name.parse::<f64>() {
            Ok(_) => format!("class {}", plain_text(name, LONGEST_NAME)),
            Err(_) => plain_text(name, LONGEST_NAME),
        })
        .collect()
    }

    /// The number of points of each of these classes.
    pub(super) fn counts<'b>(&self, names: &'b [String]) -> Vec<(&'b str, String)> {
        let count = |class: usize| self.class.iter().filter(|&&own| own == class).count();
        (names.iter().enumerate())
            .map(|(class, name)| (name.as_str(), count(class).to_string()))
            .collect()
    }
}

/// The points drawn on top of a map.
pub(super) struct Scene {
    /// The position and class of each point.
    pub(super) points: Vec<([f64; 2], usize)>,
    pub(super) inducing: Vec<[f64; 2]>,
    /// The number of points on the map before thinning.
    on_the_map: usize,
    /// The number of points and inducing points outside the map.
    hidden: usize,
}

impl Scene {
    pub(super) fn new(
        points: &ClassifiedPoints<'_>,
        inducing: &[[f64; 2]],
        axes: &(Axis, Axis),
    ) -> Self {
        let inside = |place: &[f64; 2]| axes.0.holds(place[0]) && axes.1.holds(place[1]);
        let labeled = points.x.iter().copied().zip(points.class.iter().copied());
        let visible: Vec<([f64; 2], usize)> = labeled.filter(|(place, _)| inside(place)).collect();
        let centers: Vec<[f64; 2]> = inducing.iter().copied().filter(inside).collect();
        Self {
            points: thin(&visible, MOST_POINTS),
            on_the_map: visible.len(),
            hidden: points.x.len() - visible.len() + inducing.len() - centers.len(),
            inducing: centers,
        }
    }

    /// The parts around a map with this legend, which gets an entry for inducing points if there are
    /// any. A remark counts the nodes that are `unusable`.
    pub(super) fn frame<'a>(
        &self,
        plot: &'static str,
        caption: Caption<'a>,
        mut legend: Vec<Entry<'a>>,
        (more, unusable): (Option<String>, usize),
    ) -> Frame<'a> {
        if !self.inducing.is_empty() {
            legend.push(Entry::new(Sample::Cross, palette::INK, "inducing points"));
        }
        let (shown, all) = (self.points.len(), self.on_the_map);
        let thinned = (shown < all).then(|| format!("{shown} of {all} points shown"));
        let remarks = thinned
            .into_iter()
            .chain(remark(self.hidden, "points outside the range shown"))
            .chain(more)
            .chain(remark(
                unusable,
                "grid values are no probability, left white",
            ));
        Frame {
            remarks: remarks.collect(),
            ..Frame::new(plot, caption, legend)
        }
    }
}
