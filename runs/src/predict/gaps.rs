//! Inputs that are missing in new rows, but in no training row.

use burn_gp_datasets::{Features, Matrix};

use crate::output::ModelContext;

/// The standardized inputs of new rows followed by the standard deviations of those that are not known, `[N, 2D]`.
/// `None` if all are known. A missing number has the mean and the standard deviation of the training rows. A missing
/// category, and a code of a level, is an unknown level, which the model knows as one.
pub fn with_deviations(
    inputs: &Matrix,
    features: &Features,
    context: &ModelContext,
) -> Option<Matrix> {
    let (rows, columns) = (inputs.rows(), inputs.columns());
    let filled: Vec<bool> = filled_inputs(features, context, columns);
    let deviation = |row: usize, column: usize| {
        let is_gap = filled[column] && features.inputs.row(row)[column].is_nan();
        f64::from(u8::from(is_gap))
    };
    let mut values = Vec::with_capacity(2 * rows * columns);
    let mut is_any = false;
    for row in 0..rows {
        values.extend_from_slice(inputs.row(row));
        values.extend((0..columns).map(|column| deviation(row, column)));
        is_any |= values[values.len() - columns..].contains(&1.0);
    }
    is_any.then(|| Matrix::new(rows, 2 * columns, values))
}

/// Whether each input belongs to a column of numbers with gaps that training did not have.
fn filled_inputs(features: &Features, context: &ModelContext, columns: usize) -> Vec<bool> {
    let schema = &context.schema;
    let is_filled = |name: &str| {
        let mut names = features.filled.iter().map(|(name, _)| name);
        names.any(|own| own == name) && !context.levels.iter().any(|level| level == name)
    };
    match schema.columns.is_empty() {
        true => (schema.input_names.iter())
            .map(|name| is_filled(name))
            .collect(),
        false => {
            let each = schema.columns.iter().flat_map(|column| {
                let encoding = &column.encoding;
                std::iter::repeat_n(is_filled(&encoding.name), encoding.inputs())
            });
            each.chain(std::iter::repeat(false)).take(columns).collect()
        }
    }
}
