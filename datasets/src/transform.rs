//! Transformations of columns.

pub use burn_gp_transforms::{Transform, TransformName, UnknownTransform};
use serde::{Deserialize, Serialize};

use crate::column_value::{ColumnValue, OfColumn};

/// The transformation of a target, and the statistics of its values before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetTransform {
    /// The transformation.
    pub transform: Transform,
    /// The mean of the training rows, in the units of the data.
    pub data_mean: f64,
    /// The standard deviation of the training rows, in the units of the data.
    pub data_scale: f64,
}

/// The transformation of a column, `price=log`.
pub type TransformOfColumn = ColumnValue<TransformName>;

impl OfColumn for TransformName {
    const FORM: &'static str = "COLUMN=TRANSFORM, such as price=log";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transformations_of_columns() {
        let text = "a=b=yeo-johnson";
        let own: TransformOfColumn = text.parse().unwrap();
        assert_eq!(
            (own.column.as_str(), own.value),
            ("a=b", TransformName::YeoJohnson)
        );
        assert_eq!(own.to_string(), text);
        let error = |text: &str| text.parse::<TransformOfColumn>().unwrap_err().to_string();
        assert_eq!(
            error("price=sqrt"),
            "\"sqrt\" is not a transformation; choose log, box-cox, yeo-johnson, quantile or none"
        );
        assert!(error("price").contains("COLUMN=TRANSFORM"));
    }
}
