//! Splits of a data set into training, validation and test rows.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::equal_inputs::EqualInputs;
use crate::error::SplitError;

/// Zero-based row indices of each part, in ascending order. The parts are disjoint and cover all
/// rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// Rows for training.
    pub train: Vec<usize>,
    /// Rows for model selection during training; empty by default.
    pub validation: Vec<usize>,
    /// Rows for reported scores.
    pub test: Vec<usize>,
}

impl Split {
    /// A random split into training and test rows, with `round(N · test_fraction)` test rows. Equal
    /// seeds give equal splits on every machine.
    ///
    /// `rows` is a data set, or a number of rows that are all distinct. Rows with equal inputs stay
    /// on the same side (see [`EqualInputs`]), which can change the size of the test part.
    ///
    /// # Errors
    /// [`SplitError::Fraction`], [`SplitError::EmptyPart`] and [`SplitError::SameInputs`].
    pub fn random(
        rows: impl Into<EqualInputs>,
        test_fraction: f64,
        seed: u64,
    ) -> Result<Self, SplitError> {
        let equal = rows.into();
        let rows = equal.rows();
        require_fraction("test", test_fraction)?;
        let size = part_size("test", rows, test_fraction)?;
        require_training_rows(rows, size, "test", test_fraction)?;
        let mut order = shuffled(rows, seed);
        let test = draw("test", &mut order, &equal, size)?;
        Ok(Self {
            train: sorted(order),
            validation: Vec::new(),
            test: sorted(test),
        })
    }

    /// The latest rows for testing and all earlier ones for training, with `round(N · test_fraction)`
    /// test rows, or fewer if rows with equal times would otherwise be on both sides.
    ///
    /// # Errors
    /// [`SplitError::Fraction`], [`SplitError::EmptyPart`] and [`SplitError::SameTimes`].
    pub fn by_time(times: &[f64], test_fraction: f64) -> Result<Self, SplitError> {
        let rows = times.len();
        require_fraction("test", test_fraction)?;
        let size = part_size("test", rows, test_fraction)?;
        require_training_rows(rows, size, "test", test_fraction)?;
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        let is_later = |place: &usize| times[order[*place]] > times[order[*place - 1]];
        let later = (rows - size..rows).find(is_later);
        let earlier = || (1..rows - size).rev().find(is_later);
        let Some(first) = later.or_else(earlier) else {
            return Err(SplitError::SameTimes(rows));
        };
        let test = order.split_off(first);
        Ok(Self {
            train: sorted(order),
            validation: Vec::new(),
            test: sorted(test),
        })
    }

    /// Fold `fold` (from 0) of `folds` for testing, and all others for training. The folds are disjoint
    /// and cover all rows. Equal seeds give equal folds on every machine.
    ///
    /// Rows with equal inputs are in the same fold, as in [`random`](Self::random). Apart from that,
    /// the sizes of folds differ by at most one row.
    ///
    /// # Errors
    /// [`SplitError::TooManyFolds`].
    ///
    /// # Panics
    /// When there is no such fold.
    pub fn fold(
        rows: impl Into<EqualInputs>,
        fold: usize,
        folds: usize,
        seed: u64,
    ) -> Result<Self, SplitError> {
        assert!(fold < folds, "fold {fold} of {folds}, counted from 0");
        let equal = rows.into();
        let order = shuffled(equal.rows(), seed);
        let groups = equal.groups(&order);
        let mut first: Vec<usize> = (order.iter().copied())
            .filter(|&row| equal.first(row) == row)
            .collect();
        if first.len() < folds {
            let found = first.len();
            return Err(SplitError::TooManyFolds { folds, found });
        }
        // Large groups come first, so that single rows even out the sizes.
        first.sort_by_key(|&row| std::cmp::Reverse(groups[row].count));
        let mut sizes = vec![0; folds];
        let mut is_tested = vec![false; equal.rows()];
        for row in first {
            let smallest = (0..folds).min_by_key(|&fold| sizes[fold]).unwrap_or(0);
            sizes[smallest] += groups[row].count;
            is_tested[row] = smallest == fold;
        }
        let (test, train) = (0..equal.rows()).partition(|&row| is_tested[equal.first(row)]);
        Ok(Self {
            train,
            validation: Vec::new(),
            test,
        })
    }

    /// Moves a random fraction of the training rows to the validation rows. `rows` describes the
    /// whole data set; training rows with equal inputs stay together, as in
    /// [`random`](Self::random).
    ///
    /// # Errors
    /// [`SplitError::Fraction`], [`SplitError::EmptyPart`] and [`SplitError::SameInputs`].
    ///
    /// # Panics
    /// When a training row is not in `rows`.
    pub fn hold_out_validation(
        self,
        rows: impl Into<EqualInputs>,
        fraction: f64,
        seed: u64,
    ) -> Result<Self, SplitError> {
        let (mut split, held) = self.hold_out("validation", rows, fraction, seed)?;
        split.validation.extend(held);
        split.validation.sort_unstable();
        Ok(split)
    }

    /// Takes a random fraction of the training rows away, for a part that errors call `part`: the split without these
    /// rows, and these rows, as in [`hold_out_validation`](Self::hold_out_validation).
    ///
    /// # Errors
    /// [`SplitError::Fraction`], [`SplitError::EmptyPart`] and [`SplitError::SameInputs`].
    ///
    /// # Panics
    /// When a training row is not in `rows`.
    pub fn hold_out(
        mut self,
        part: &'static str,
        rows: impl Into<EqualInputs>,
        fraction: f64,
        seed: u64,
    ) -> Result<(Self, Vec<usize>), SplitError> {
        require_fraction(part, fraction)?;
        let count = self.train.len();
        let size = part_size(part, count, fraction)?;
        require_training_rows(count, size, part, fraction)?;
        let order = shuffled(count, seed);
        let mut order = order.into_iter().map(|place| self.train[place]).collect();
        let held = draw(part, &mut order, &rows.into(), size)?;
        self.train = sorted(order);
        Ok((self, sorted(held)))
    }
}

/// Takes `size` rows for `part` from the front of `order`. Rows with equal inputs are taken
/// together, at the position of the lowest of them. A group larger than the number of rows still
/// needed is skipped in favor of later ones. If every group is too large, the first is taken
/// nevertheless.
///
/// # Errors
/// [`SplitError::SameInputs`] when no rows would be left.
fn draw(
    part: &'static str,
    order: &mut Vec<usize>,
    equal: &EqualInputs,
    size: usize,
) -> Result<Vec<usize>, SplitError> {
    let groups = equal.groups(order);
    let group = |row: usize| groups[equal.first(row)];
    if order
        .first()
        .is_none_or(|&row| group(row).count == order.len())
    {
        let rows = order.len();
        return Err(SplitError::SameInputs { rows, part });
    }
    let mut is_drawn = vec![false; equal.rows()];
    let mut count = 0;
    for &row in order.iter().filter(|&&row| group(row).lowest == row) {
        if count + group(row).count <= size {
            count += group(row).count;
            is_drawn[equal.first(row)] = true;
        }
    }
    if count == 0 {
        is_drawn[equal.first(order[0])] = true;
    }
    let (drawn, left) = order.iter().partition(|&&row| is_drawn[equal.first(row)]);
    *order = left;
    Ok(drawn)
}

/// The row indices in random order. ChaCha is used because its stream is specified.
fn shuffled(rows: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    order
}

fn sorted(mut rows: Vec<usize>) -> Vec<usize> {
    rows.sort_unstable();
    rows
}

fn require_fraction(part: &'static str, value: f64) -> Result<(), SplitError> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(SplitError::Fraction { part, value })
    }
}

fn part_size(part: &'static str, rows: usize, fraction: f64) -> Result<usize, SplitError> {
    let size = (rows as f64 * fraction).round() as usize;
    if size == 0 {
        return Err(SplitError::EmptyPart {
            rows,
            part,
            divided: part,
            fraction,
        });
    }
    Ok(size)
}

/// Checks that training rows are left; otherwise the error names `fraction` of the part `divided`.
fn require_training_rows(
    rows: usize,
    taken: usize,
    divided: &'static str,
    fraction: f64,
) -> Result<(), SplitError> {
    if taken < rows {
        return Ok(());
    }
    Err(SplitError::EmptyPart {
        rows,
        part: "training",
        divided,
        fraction,
    })
}
