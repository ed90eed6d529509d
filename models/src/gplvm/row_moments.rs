//! Means and standard deviations of rows.

use burn::tensor::Tensor;
use burn_gp_core::{features::Standardization, ops::numbers};

/// The means and standard deviations of the numbers in rows: of latent inputs, or of outputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowMoments {
    /// The means, one vector for each row.
    pub means: Vec<Vec<f64>>,
    /// The standard deviations, one vector for each row.
    pub deviations: Vec<Vec<f64>>,
}

impl RowMoments {
    /// From means and standard deviations, [N, Q] each.
    pub(super) fn of(means: Tensor<2>, deviations: Tensor<2>) -> Self {
        Self {
            means: rows(means),
            deviations: rows(deviations),
        }
    }

    /// Outputs in the units of the data, from means and variances of standardized ones, [N, P] each.
    pub(super) fn in_units(
        scaling: &Standardization,
        means: Tensor<2>,
        variances: Tensor<2>,
    ) -> Self {
        let Self {
            mut means,
            mut deviations,
        } = Self::of(means, variances.sqrt());
        for (means, deviations) in means.iter_mut().zip(&mut deviations) {
            let units = scaling.means.iter().zip(&scaling.deviations);
            let each = means.iter_mut().zip(deviations).zip(units);
            each.for_each(|((mean, deviation), (center, unit))| {
                *mean = center + unit * *mean;
                *deviation *= unit;
            });
        }
        Self { means, deviations }
    }
}

/// The rows of a matrix.
fn rows(matrix: Tensor<2>) -> Vec<Vec<f64>> {
    let [_, columns] = matrix.dims();
    let values = numbers(matrix);
    values.chunks(columns.max(1)).map(<[f64]>::to_vec).collect()
}
