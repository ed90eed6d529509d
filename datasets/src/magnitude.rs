//! Numbers that are too large to compute with.

use crate::columns::Companion;
use crate::dataset::Dataset;
use crate::error::{CellError, DataError};

/// The largest magnitude of an input or a target: sums of squares of larger ones are infinite.
const LARGEST: f64 = 1e150;

impl Dataset {
    /// The data set, if sums of squares of all inputs and targets are finite numbers.
    ///
    /// # Errors
    /// [`CellError::TooLarge`] for the first number beyond 1e150.
    pub fn checked_magnitudes(self) -> Result<Self, DataError> {
        let schema = &self.schema;
        let upper = self.attributes.numbers(Companion::Upper);
        let upper = (upper.zip(schema.companion.as_ref()))
            .map(|(values, column)| (values, std::slice::from_ref(&column.name)));
        let columns = [
            Some((&self.targets[..], std::slice::from_ref(&schema.target_name))),
            upper,
            Some((self.inputs.values(), &schema.input_names[..])),
        ];
        for (values, names) in columns.into_iter().flatten() {
            let is_too_large = |value: &f64| value.is_finite() && value.abs() > LARGEST;
            if let Some(place) = values.iter().position(is_too_large) {
                return Err(DataError::Cell(CellError::TooLarge {
                    location: self.origin.location(place / names.len()),
                    name: names[place % names.len()].clone(),
                    value: values[place],
                }));
            }
        }
        Ok(self)
    }
}
