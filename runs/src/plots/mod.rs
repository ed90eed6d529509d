//! SVG plots: training loss, predictions, calibration, maps of predictions and decisions, comparisons of models, panels
//! of one-dimensional fits, curves and heat maps, confusion matrices, inducing patches, feature maps
//! and magnitudes over two inputs.
//!
//! Every function takes slices and a path and writes one file of 800 by 560 pixels, or a taller one
//! if there are many rows or a long legend; [`effect()`] returns a small chart as text. Values that
//! are not finite are left out and counted in the lines below the title; if none are left, the
//! function returns a [`PlotError`] and writes nothing. Names that do not fit are shortened with an
//! ellipsis.

mod axis;
mod bitmap;
mod calibration;
mod canvas;
mod chart;
mod comparison;
mod confusion;
mod curves;
mod decision_map;
mod drawing;
mod effect;
mod error;
mod feature_maps;
mod fits;
mod forecast;
mod inducing_patches;
mod legend;
mod loss;
mod map_inputs;
mod notation;
mod number_maps;
mod palette;
mod panels;
mod point_maps;
mod predicted_curve;
mod predicted_observed;
mod prediction_map;
mod probability_grid;
mod reliability;
mod rows;
#[cfg(test)]
mod tests;
mod text_extent;

pub use calibration::calibration;
pub use comparison::{ComparedScore, comparison};
pub use confusion::{Confusion, confusion};
pub use curves::{CurveName, CurvePanel, Span, Stroke, curves};
pub use decision_map::{ClassifiedPoints, decision_map};
pub use effect::{EffectCurve, EffectPlaces, effect};
pub use error::{PlotError, warn_undrawn};
pub use feature_maps::{ImageRows, feature_maps};
pub use fits::{Bands, FitPanel, Points, evaluation_grid, fits};
pub use forecast::forecast;
pub use inducing_patches::{PatchSet, inducing_patches};
pub use loss::{LossPoint, Progress, loss};
pub use map_inputs::{MapInputs, MapScale};
pub use number_maps::{MapPanel, number_maps};
pub use palette::{COLORS, class_color};
pub use point_maps::{PointMaps, point_maps};
pub use predicted_curve::PredictedCurve;
pub use predicted_observed::{Predictions, predicted_observed};
pub use prediction_map::{PredictionMap, prediction_map};
pub use probability_grid::ProbabilityGrid;
pub use reliability::{CALIBRATION_BINS, ProbabilityOf, Reliability, reliability};

/// The subject of a plot: the first line of its header.
#[derive(Debug, Clone, Copy)]
pub struct Caption<'a> {
    /// The name of the data set.
    pub data: &'a str,
    /// The name of the model with its distinguishing settings, such as `svgp, M = 100`.
    pub model: &'a str,
}

impl<'a> Caption<'a> {
    /// A model on a data set.
    pub const fn new(data: &'a str, model: &'a str) -> Self {
        Self { data, model }
    }
}

/// A quantity, as its axis names it.
#[derive(Debug, Clone, Copy)]
pub struct Quantity<'a> {
    /// The name of the quantity.
    pub name: &'a str,
    /// The unit, if any.
    pub unit: Option<&'a str>,
}

impl<'a> Quantity<'a> {
    /// A quantity without a unit.
    pub const fn of(name: &'a str) -> Self {
        Self { name, unit: None }
    }
}
