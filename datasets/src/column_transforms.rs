//! The transformations of the columns of a data set.

use crate::dataset::Dataset;
use crate::error::TransformError;
use crate::matrix::Matrix;
use crate::names::nearest;
use crate::origin::Origin;
use crate::transform::{Transform, TransformName, TransformOfColumn};

/// The transformations of inputs and of the target, fitted to the training rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnTransforms {
    /// Those of inputs, by their positions.
    pub inputs: Vec<(usize, Transform)>,
    /// That of the target.
    pub target: Option<Transform>,
}

impl ColumnTransforms {
    /// The transformations of columns, with the powers and shares of the rows `train`.
    ///
    /// # Errors
    ///
    /// [`TransformError`] if a column has no such name or is not a number, or a transformation does not take a value.
    pub fn fit(
        data: &Dataset,
        wanted: &[TransformOfColumn],
        train: &[usize],
    ) -> Result<Self, TransformError> {
        let mut own = Self::default();
        for TransformOfColumn {
            column,
            value: transform,
        } in wanted
        {
            let twice = || TransformError::Twice {
                column: column.clone(),
            };
            if column == data.target_name() {
                if *transform == TransformName::Quantile {
                    let column = column.clone();
                    return Err(TransformError::QuantilesOfTarget { column });
                }
                if *transform == TransformName::None {
                    continue;
                }
                require(&data.targets, *transform, column, &data.origin)?;
                let values: Vec<f64> = train.iter().map(|&row| data.targets[row]).collect();
                let earlier = own.target.replace(transform.fit(&values));
                earlier.map_or(Ok(()), |_| Err(twice()))?;
                continue;
            }
            let input = number(data, column, *transform)?;
            if *transform == TransformName::None {
                continue;
            }
            require(
                &values_of(&data.inputs, input),
                *transform,
                column,
                &data.origin,
            )?;
            let known = train.iter().map(|&row| data.inputs.get(row, input));
            let known: Vec<f64> = known.filter(|value| !value.is_nan()).collect();
            if known.is_empty() {
                // Nothing is known about the column, and its values in training are all the same.
                continue;
            }
            if own.inputs.iter().any(|(other, _)| *other == input) {
                return Err(twice());
            }
            own.inputs.push((input, transform.fit(&known)));
        }
        Ok(own)
    }

    /// Whether nothing is transformed.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.target.is_none()
    }

    /// The data with transformed inputs and targets.
    pub fn apply(&self, data: &Dataset) -> Dataset {
        let mut transformed = data.clone();
        transformed.inputs = transformed_inputs(&data.inputs, &self.inputs);
        if let Some(target) = &self.target {
            let each = data.targets.iter().map(|&value| target.apply(value));
            transformed.targets = each.collect();
        }
        transformed
    }
}

/// The inputs, some of them transformed.
pub(crate) fn transformed_inputs(inputs: &Matrix, transforms: &[(usize, Transform)]) -> Matrix {
    let columns = inputs.columns();
    let mut values = inputs.values().to_vec();
    for &(column, ref transform) in transforms {
        for value in values.iter_mut().skip(column).step_by(columns) {
            *value = transform.apply(*value);
        }
    }
    Matrix::new(inputs.rows(), columns, values)
}

fn values_of(inputs: &Matrix, column: usize) -> Vec<f64> {
    (0..inputs.rows())
        .map(|row| inputs.get(row, column))
        .collect()
}

/// Fails on the first value that the transformation does not take. NaN is a missing value.
fn require(
    values: &[f64],
    transform: TransformName,
    column: &str,
    origin: &Origin,
) -> Result<(), TransformError> {
    let fails = |value: &f64| !value.is_nan() && !transform.takes(*value);
    match values.iter().position(fails) {
        None => Ok(()),
        Some(row) => Err(TransformError::Value {
            location: origin.location(row),
            column: column.to_owned(),
            value: values[row],
            transform,
        }),
    }
}

/// The position of the input that is the number in a column.
fn number(data: &Dataset, column: &str, transform: TransformName) -> Result<usize, TransformError> {
    data.schema.number_input(column).ok_or_else(|| {
        let names = data.input_names().iter().map(String::as_str);
        let names = names.chain([data.target_name()]);
        TransformError::NoColumn {
            column: column.to_owned(),
            transform,
            nearest: nearest(column, names.filter(|name| *name != column)),
        }
    })
}
