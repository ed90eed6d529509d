//! Rows in the units of their source.

use std::sync::Arc;

use burn_gp_datasets::{Companion, Features, Matrix, RowAttributes, Standardizer};

use super::Intervals;
use super::part::{Part, RowSource};

/// All rows of a source.
pub struct Rows<'a> {
    pub source: Arc<RowSource>,
    /// `[N, D]`
    pub inputs: &'a Matrix,
    /// `[N]`; class numbers for labels, and lower limits for intervals.
    pub targets: &'a [f64],
    /// What columns say about the rows.
    pub attributes: &'a RowAttributes,
}

impl Rows<'_> {
    /// Some of the rows, standardized.
    pub fn part(&self, rows: &[usize], standardizer: &Standardizer) -> Part {
        let select = |values: &[f64]| -> Vec<f64> { rows.iter().map(|&row| values[row]).collect() };
        let targets = select(self.targets);
        let attributes = self.attributes.select(rows);
        let upper = attributes.numbers(Companion::Upper);
        let intervals = upper.map(|upper| Intervals::new(&targets, upper, standardizer));
        let middles = intervals.as_ref().map(Intervals::middles);
        let known = (attributes.numbers(Companion::Noise))
            .or_else(|| attributes.numbers(Companion::RowNoise));
        let variances = |noise: &[f64]| {
            let squares: Vec<f64> = noise.iter().map(|noise| noise * noise).collect();
            standardizer.transform_variances(&squares)
        };
        Part {
            source: self.source.clone(),
            rows: rows.to_vec(),
            inputs: standardizer.transform_inputs(&self.inputs.select(rows)),
            targets: standardizer.transform_targets(middles.as_ref().unwrap_or(&targets)),
            noise: known.map(variances),
            observed: intervals.as_ref().map_or(targets, Intervals::exact),
            intervals,
            attributes,
        }
    }
}

impl Part {
    /// New rows of a trained model with these targets, standardized as in training.
    pub fn of_new_rows(features: &Features, targets: &[f64], standardizer: &Standardizer) -> Self {
        let rows = Rows {
            source: RowSource::whole(features.origin.clone()),
            inputs: &features.inputs,
            targets,
            attributes: &features.attributes,
        };
        rows.part(&(0..targets.len()).collect::<Vec<_>>(), standardizer)
    }
}
