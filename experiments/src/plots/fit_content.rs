//! The contents of a plot of a fit.

use super::PlotError;
use super::axis::extent;
use super::rows::{MOST_POINTS, same_length, thin, usable};
use crate::evenly_spaced::evenly_spaced;

/// The first words of the plot's title and of error messages.
pub(super) const PICTURE: &str = "Fit";

/// Data points over one input.
#[derive(Debug, Clone, Copy, Default)]
pub struct Points<'a> {
    /// Inputs `[N]`.
    pub x: &'a [f64],
    /// Targets `[N]`.
    pub y: &'a [f64],
}

/// The quantity that a band contains with a probability of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BandOf {
    /// Targets, noise included.
    Targets,
    /// The function alone.
    Function,
}

/// A band of central intervals.
#[derive(Debug, Clone, Copy)]
pub struct Band<'a> {
    /// The quantity that the band contains.
    pub of: BandOf,
    /// The lower ends, `[G]`.
    pub lower: &'a [f64],
    /// The upper ends, `[G]`.
    pub upper: &'a [f64],
}

/// A model of one input, evaluated on a grid.
#[derive(Debug, Clone, Copy)]
pub struct Fit<'a> {
    /// The inputs of the grid in increasing order, `[G]`; see [`evaluation_grid`].
    pub x: &'a [f64],
    /// The predicted means, `[G]`.
    pub mean: &'a [f64],
    /// The bands, widest first.
    pub bands: &'a [Band<'a>],
    /// The training rows.
    pub train: Points<'a>,
    /// Held-out rows.
    pub test: Points<'a>,
    /// The inducing points, `[M]`; empty for a model without any.
    pub inducing: &'a [f64],
}

/// `count` evenly spaced inputs that extend 5 % past the finite values given, for [`Fit::x`].
///
/// # Errors
///
/// [`PlotError::NothingToShow`] if no value is finite or `count` is below 2.
pub fn evaluation_grid(
    inputs: impl IntoIterator<Item = f64>,
    count: usize,
) -> Result<Vec<f64>, PlotError> {
    let range = extent(inputs.into_iter().filter(|&value| usable(value)));
    let (Some((low, high)), true) = (range, count >= 2) else {
        return Err(PlotError::nothing(PICTURE, 0));
    };
    let margin = if high > low { 0.05 * (high - low) } else { 1.0 };
    Ok(evenly_spaced((low - margin, high + margin), count))
}

/// The finite grid points.
pub(super) struct Curve {
    /// Inputs and means.
    pub(super) means: Vec<(f64, f64)>,
    /// Inputs with lower and upper edges.
    pub(super) bands: Vec<(BandOf, Vec<[f64; 3]>)>,
    pub(super) unusable: usize,
}

impl Curve {
    pub(super) fn new(content: &Fit<'_>) -> Result<Self, PlotError> {
        let count = content.x.len();
        same_length(PICTURE, "the mean", count, content.mean.len())?;
        let mut sound: Vec<bool> = (0..count)
            .map(|index| usable(content.x[index]) && usable(content.mean[index]))
            .collect();
        for band in content.bands {
            same_length(PICTURE, "the lower edge", count, band.lower.len())?;
            same_length(PICTURE, "the upper edge", count, band.upper.len())?;
            let ends = band.lower.iter().zip(band.upper);
            for (sound, (&lower, &upper)) in sound.iter_mut().zip(ends) {
                *sound &= usable(lower) && usable(upper) && lower <= upper;
            }
        }
        let indices: Vec<usize> = (0..count).filter(|&index| sound[index]).collect();
        if indices.len() < 2 {
            return Err(PlotError::nothing(PICTURE, count));
        }
        let edges = |band: &Band<'_>| {
            let edge = |&index: &usize| [content.x[index], band.lower[index], band.upper[index]];
            (band.of, indices.iter().map(edge).collect())
        };
        let mean = |&index: &usize| (content.x[index], content.mean[index]);
        Ok(Self {
            means: indices.iter().map(mean).collect(),
            bands: content.bands.iter().map(edges).collect(),
            unusable: count - indices.len(),
        })
    }
}

/// The finite points of one kind, and the drawn ones among them.
pub(super) struct Visible {
    pub(super) all: Vec<(f64, f64)>,
    pub(super) shown: Vec<(f64, f64)>,
    pub(super) unusable: usize,
}

impl Visible {
    pub(super) fn new(what: &'static str, points: Points<'_>) -> Result<Self, PlotError> {
        same_length(PICTURE, what, points.x.len(), points.y.len())?;
        let pairs = points.x.iter().copied().zip(points.y.iter().copied());
        let all: Vec<(f64, f64)> = pairs.filter(|&(x, y)| usable(x) && usable(y)).collect();
        Ok(Self {
            shown: thin(&all, MOST_POINTS),
            unusable: points.x.len() - all.len(),
            all,
        })
    }
}
