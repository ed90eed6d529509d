//! Division of a data set into training, validation and test rows.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::error::DataError;

/// Row numbers (from 0) of each part, ascending; the parts are disjoint and cover all rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// Rows to fit on.
    pub train: Vec<usize>,
    /// Rows to choose by, during training; empty unless asked for.
    pub validation: Vec<usize>,
    /// Rows to report on.
    pub test: Vec<usize>,
}

/// Shares of the rows; they must sum to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fractions {
    /// Share of the training rows.
    pub train: f64,
    /// Share of the validation rows.
    pub validation: f64,
    /// Share of the test rows.
    pub test: f64,
}

impl Split {
    /// A random split into training and test rows: `round(rows · test_fraction)` rows are for
    /// testing. The same seed gives the same split on every machine.
    ///
    /// # Errors
    /// [`DataError::Fraction`] and [`DataError::EmptyPart`].
    pub fn random(rows: usize, test_fraction: f64, seed: u64) -> Result<Self, DataError> {
        require_fraction("test", test_fraction)?;
        let test = part_size("test", rows, test_fraction)?;
        require_training_rows(rows, test, "test", test_fraction)?;
        let order = shuffled(rows, seed);
        Ok(Self {
            train: sorted(&order[test..]),
            validation: Vec::new(),
            test: sorted(&order[..test]),
        })
    }

    /// A random split into three parts, such as 64/16/20: the validation and test parts are
    /// rounded to the nearest number of rows, the training part is the rest.
    ///
    /// # Errors
    /// [`DataError::Fraction`], [`DataError::FractionSum`] and [`DataError::EmptyPart`].
    pub fn random_in_three(
        rows: usize,
        fractions: Fractions,
        seed: u64,
    ) -> Result<Self, DataError> {
        require_fraction("training", fractions.train)?;
        require_fraction("validation", fractions.validation)?;
        require_fraction("test", fractions.test)?;
        let sum = fractions.train + fractions.validation + fractions.test;
        // Decimal fractions such as 0.64 + 0.16 + 0.2 are off by a few units in the last place.
        if (sum - 1.0).abs() > 1e-9 {
            return Err(DataError::FractionSum { sum });
        }
        let test = part_size("test", rows, fractions.test)?;
        let validation = part_size("validation", rows, fractions.validation)?;
        require_training_rows(rows, test + validation, "training", fractions.train)?;
        let order = shuffled(rows, seed);
        Ok(Self {
            train: sorted(&order[test + validation..]),
            validation: sorted(&order[test..test + validation]),
            test: sorted(&order[..test]),
        })
    }

    /// Moves a random share of the training rows to the validation rows.
    ///
    /// # Errors
    /// [`DataError::Fraction`] and [`DataError::EmptyPart`].
    pub fn hold_out_validation(mut self, fraction: f64, seed: u64) -> Result<Self, DataError> {
        require_fraction("validation", fraction)?;
        let rows = self.train.len();
        let held = part_size("validation", rows, fraction)?;
        require_training_rows(rows, held, "validation", fraction)?;
        let order = shuffled(rows, seed);
        let original = |positions: &[usize]| -> Vec<usize> {
            sorted(positions)
                .into_iter()
                .map(|position| self.train[position])
                .collect()
        };
        let (validation, train) = (original(&order[..held]), original(&order[held..]));
        self.validation.extend(validation);
        self.validation.sort_unstable();
        self.train = train;
        Ok(self)
    }
}

/// The row numbers in random order. ChaCha is a generator whose stream is specified.
fn shuffled(rows: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    order
}

fn sorted(rows: &[usize]) -> Vec<usize> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows
}

fn require_fraction(part: &'static str, value: f64) -> Result<(), DataError> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(DataError::Fraction { part, value })
    }
}

fn part_size(part: &'static str, rows: usize, fraction: f64) -> Result<usize, DataError> {
    let size = (rows as f64 * fraction).round() as usize;
    if size == 0 {
        return Err(DataError::EmptyPart {
            rows,
            part,
            divided: part,
            fraction,
        });
    }
    Ok(size)
}

/// Fails unless rows to train on are left; `fraction` of the part `divided` would be the reason.
fn require_training_rows(
    rows: usize,
    taken: usize,
    divided: &'static str,
    fraction: f64,
) -> Result<(), DataError> {
    if taken < rows {
        return Ok(());
    }
    Err(DataError::EmptyPart {
        rows,
        part: "training",
        divided,
        fraction,
    })
}
