//! Rows in the units of their source.

use std::sync::Arc;

use burn_gp_datasets::{Features, Matrix, Standardizer};

use super::part::{Part, RowSource};

/// All rows of a source.
pub struct Rows<'a> {
    pub source: Arc<RowSource>,
    /// `[N, D]`
    pub inputs: &'a Matrix,
    /// `[N]`; class numbers for labels.
    pub targets: &'a [f64],
    /// The standard deviations of the noise, `[N]`.
    pub noise: Option<&'a [f64]>,
    /// The training weights, `[N]`.
    pub weights: Option<&'a [f64]>,
}

impl Rows<'_> {
    /// Some of the rows, standardized.
    pub fn part(&self, rows: &[usize], standardizer: &Standardizer) -> Part {
        let select = |values: &[f64]| -> Vec<f64> { rows.iter().map(|&row| values[row]).collect() };
        let observed = select(self.targets);
        let variances = |noise: &[f64]| {
            let squares: Vec<f64> = select(noise).iter().map(|noise| noise * noise).collect();
            standardizer.transform_variances(&squares)
        };
        Part {
            source: self.source.clone(),
            rows: rows.to_vec(),
            inputs: standardizer.transform_inputs(&self.inputs.select(rows)),
            targets: standardizer.transform_targets(&observed),
            noise: self.noise.map(variances),
            weights: self.weights.map(select),
            observed,
        }
    }
}

impl Part {
    /// New rows of a trained model with these targets, standardized as in training.
    pub fn of_new_rows(features: &Features, targets: &[f64], standardizer: &Standardizer) -> Self {
        let rows = Rows {
            source: RowSource::nameless(features.origin.clone()),
            inputs: &features.inputs,
            targets,
            noise: features.noise.as_deref(),
            weights: None,
        };
        rows.part(&(0..targets.len()).collect::<Vec<_>>(), standardizer)
    }
}
