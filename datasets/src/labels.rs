//! Binary class labels as 0 and 1.

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::DataError;
use crate::origin::Origin;

/// Which label of the data means which class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelCoding {
    /// The label that becomes 0.
    pub negative: f64,
    /// The label that becomes 1.
    pub positive: f64,
}

/// The codings that are understood.
const CODINGS: [LabelCoding; 3] = [
    LabelCoding {
        negative: 0.0,
        positive: 1.0,
    },
    LabelCoding {
        negative: -1.0,
        positive: 1.0,
    },
    LabelCoding {
        negative: 1.0,
        positive: 2.0,
    },
];

impl LabelCoding {
    /// The coding of a data set's target: {0, 1}, {-1, 1} or {1, 2}. Labels that are all 1 are
    /// read as {0, 1}.
    ///
    /// # Errors
    /// [`DataError::NotBinary`] names the first row that fits no coding together with the rows
    /// before it.
    pub fn of(data: &Dataset) -> Result<Self, DataError> {
        Self::detect(&data.targets, &data.origin)
    }

    fn detect(targets: &[f64], origin: &Origin) -> Result<Self, DataError> {
        let mut furthest = 0;
        for coding in CODINGS {
            match targets.iter().position(|&label| !coding.has(label)) {
                None => return Ok(coding),
                Some(row) => furthest = furthest.max(row),
            }
        }
        Err(DataError::NotBinary {
            location: origin.location(furthest),
            value: targets[furthest],
        })
    }

    /// The labels as 0 and 1, `[N]`; `origin` tells where each label came from.
    ///
    /// # Errors
    /// [`DataError::UnknownLabel`] names the first label that is not of this coding.
    pub fn encode(&self, targets: &[f64], origin: &Origin) -> Result<Vec<f64>, DataError> {
        let encoded = targets.iter().enumerate().map(|(row, &label)| {
            if !self.has(label) {
                return Err(DataError::UnknownLabel {
                    location: origin.location(row),
                    value: label,
                    negative: self.negative,
                    positive: self.positive,
                });
            }
            Ok(f64::from(u8::from(label == self.positive)))
        });
        encoded.collect()
    }

    fn has(&self, label: f64) -> bool {
        label == self.negative || label == self.positive
    }
}

/// Labels {0, 1}, {-1, 1} or {1, 2} as 0 and 1, `[N]`.
///
/// # Errors
/// [`DataError::NotBinary`] names the row (from 1) and the label that does not fit.
pub fn binary_labels(targets: &[f64]) -> Result<Vec<f64>, DataError> {
    let origin = Origin::rows("the target", targets.len());
    LabelCoding::detect(targets, &origin)?.encode(targets, &origin)
}
