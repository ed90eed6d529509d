//! Units that columns have in common.

use crate::dataset::Dataset;
use crate::encoding::InputScale;
use crate::standardizer::{Standardizer, is_constant};

impl Standardizer {
    /// Gives columns that are the same quantity of several things the mean and the scale of all their values. Columns
    /// that are constant in all rows count with no variation, unless all are.
    pub fn share_units(&mut self, data: &Dataset, columns: &[usize]) {
        let scales = data.schema.input_scales();
        let is_fixed = |&column: &usize| matches!(scales[column], InputScale::Fixed(_));
        let mean_of = |of: &dyn Fn(usize) -> f64| {
            columns.iter().map(|&column| of(column)).sum::<f64>() / columns.len() as f64
        };
        let mean = mean_of(&|column| self.input_mean[column]);
        let own = |column: usize| {
            let values = data.inputs.column(column).filter(|value| !value.is_nan());
            match is_constant(values) {
                true => 0.0,
                false => self.input_scale[column],
            }
        };
        let scale = match columns.iter().all(is_fixed) {
            true => mean_of(&|column| self.input_scale[column]),
            false => {
                mean_of(&|column| own(column).hypot(self.input_mean[column] - mean).powi(2)).sqrt()
            }
        };
        for &column in columns {
            self.input_mean[column] = mean;
            self.input_scale[column] = if scale.is_normal() { scale } else { 1.0 };
        }
        if !self.input_fill.is_empty() {
            let fill = mean_of(&|column| self.input_fill[column]);
            columns
                .iter()
                .for_each(|&column| self.input_fill[column] = fill);
        }
    }
}
