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

/// The first target that the transformation does not take.
pub fn impossible_target(
    targets: &[f64],
    origin: &Origin,
    schema: &Schema,
    standardizer: &Standardizer,
) -> Option<(usize, TransformError)> {
    let own = standardizer.target_transform.as_ref()?;
    targets.iter().enumerate().find_map(|(row, &value)| {
        let found = impossible(
            value,
            own.transform.name(),
            &schema.target_name,
            origin.location(row),
        );
        found.map(|error| (row, error))
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
