//! Values of new rows that transformations do not take.

use burn_gp_datasets::{
    Features, Location, Origin, Schema, Standardizer, TransformError, TransformName,
};

/// The first row with an input that its transformation does not take.
pub fn impossible_input(
    features: &Features,
    schema: &Schema,
    standardizer: &Standardizer,
) -> Option<(usize, TransformError)> {
    impossible_inputs(features, schema, standardizer).next()
}

/// The rows with inputs that their transformations do not take, each with the first such input.
pub fn impossible_inputs<'a>(
    features: &'a Features,
    schema: &'a Schema,
    standardizer: &'a Standardizer,
) -> impl Iterator<Item = (usize, TransformError)> + 'a {
    (0..features.inputs.rows()).filter_map(move |row| {
        let mut transforms = standardizer.input_transforms.iter();
        transforms.find_map(|(input, transform)| {
            let value = features.inputs.get(row, *input);
            let location = features.origin.location(row);
            let found = impossible(
                value,
                transform.name(),
                &schema.input_names[*input],
                location,
            );
            found.map(|error| (row, error))
        })
    })
}

/// The rows with targets that the transformation of the target does not take.
pub fn impossible_targets<'a>(
    targets: &'a [f64],
    origin: &'a Origin,
    schema: &'a Schema,
    standardizer: &'a Standardizer,
) -> impl Iterator<Item = (usize, TransformError)> + 'a {
    let transform = standardizer.target_transform.iter();
    let names = transform.map(|own| own.transform.name());
    names.flat_map(move |name| {
        targets.iter().enumerate().filter_map(move |(row, &value)| {
            let found = impossible(value, name, &schema.target_name, origin.location(row));
            found.map(|error| (row, error))
        })
    })
}

fn impossible(
    value: f64,
    transform: TransformName,
    column: &str,
    location: Location,
) -> Option<TransformError> {
    (!value.is_nan() && !transform.takes(value)).then(|| TransformError::Value {
        location,
        column: column.to_owned(),
        value,
        transform,
    })
}
