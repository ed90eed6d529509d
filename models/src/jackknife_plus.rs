//! Jackknife+ and CV+ intervals of exact regression.

use burn::tensor::Tensor;
use burn_gp_core::{
    inference::{ConditionError, LeaveFoldsOut, WithoutFolds},
    likelihoods::Interval,
    ops::numbers,
};

use crate::{
    Trained,
    conformal::{jackknife_plus, jackknife_plus_level, score},
    data::matrix,
};

/// Numbers in memory at once: predictions without each of K folds.
const MOST_PREDICTIONS: usize = 1 << 20;

/// [Jackknife+ and CV+ intervals](crate::conformal) of exact regression with one output, in closed form.
///
/// The hyperparameters are those of the model, which all training rows determined. The guarantee holds for
/// hyperparameters that do not depend on the rows; in practice, coverage changes little (tested with a noise
/// variance that is sixteen times too small).
pub struct JackknifePlus {
    without: LeaveFoldsOut,
    /// The scores of the rows, `[N]`.
    scores: Vec<f64>,
    /// The number of the fold of each row, `[N]`.
    folds: Vec<usize>,
}

impl JackknifePlus {
    /// Leaves each row of the model's training data out, or each fold with the number of the fold of each row.
    /// `None` for models without a closed form, and for several outputs.
    ///
    /// # Errors
    ///
    /// When a value in the data that the model keeps is not finite, or a covariance matrix cannot be factored.
    ///
    /// # Panics
    ///
    /// If the number of folds differs from the number of rows, or a number below the largest has no rows.
    pub fn new(
        model: &dyn Trained,
        folds: Option<&[usize]>,
    ) -> Option<Result<Self, ConditionError>> {
        let targets = model.known_targets()?;
        if targets.dims()[1] != 1 {
            return None;
        }
        let without = model.leave_folds_out(folds)?;
        Some(without.map(|without| Self::of(without, targets, folds)))
    }

    fn of(without: LeaveFoldsOut, targets: Tensor<2>, folds: Option<&[usize]>) -> Self {
        let targets = numbers(targets);
        let means = numbers(without.targets().mean.clone());
        let deviations = numbers(without.targets().variance.clone().sqrt());
        let rows = means.iter().zip(&deviations).zip(&targets);
        let scores = rows.map(|((&mean, &deviation), &target)| score(target, mean, deviation));
        Self {
            scores: scores.collect(),
            folds: folds.map_or_else(|| (0..targets.len()).collect(), <[usize]>::to_vec),
            without,
        }
    }

    /// The number of training rows, N.
    pub fn rows(&self) -> usize {
        self.scores.len()
    }

    /// The interval of each row of row-major inputs with `columns` columns, in the units of the model's targets.
    /// Time N² per row.
    ///
    /// # Panics
    ///
    /// If the inputs cannot be divided into rows of `columns`, or the number of columns differs from the training
    /// inputs.
    #[track_caller]
    pub fn intervals(&self, inputs: &[f64], columns: usize, level: f64) -> Interval {
        let mut interval = Interval::default();
        self.for_each_row(inputs, columns, |means, deviations| {
            let (lower, upper) = jackknife_plus(&self.scores, means, deviations, level);
            interval.lower.push(lower);
            interval.upper.push(upper);
        });
        interval
    }

    /// The level above which the interval of each row contains its target. The arguments are those of
    /// [`intervals`](Self::intervals), and the targets, `[N]`, are in the units of the model's targets.
    ///
    /// # Panics
    ///
    /// Same as [`intervals`](Self::intervals), or if the numbers of rows and targets differ.
    #[track_caller]
    pub fn levels(&self, inputs: &[f64], columns: usize, targets: &[f64]) -> Vec<f64> {
        assert!(
            targets.len() * columns == inputs.len(),
            "{} targets for {} inputs in {columns} columns; expected one for each row",
            targets.len(),
            inputs.len()
        );
        let (mut levels, mut next) = (Vec::new(), targets.iter());
        self.for_each_row(inputs, columns, |means, deviations| {
            let target = next.next().copied().unwrap_or(f64::NAN);
            let level = jackknife_plus_level(&self.scores, means, deviations, target);
            levels.push(level);
        });
        levels
    }

    /// Calls `visit` for each row of inputs with the means and the standard deviations of the model without the fold
    /// of each training row, `[N]` both.
    fn for_each_row(&self, inputs: &[f64], columns: usize, mut visit: impl FnMut(&[f64], &[f64])) {
        let targets = &self.without.targets().mean;
        let (device, dtype) = (targets.device(), targets.dtype());
        let at_once = (MOST_PREDICTIONS / self.rows().max(1)).max(1);
        let of_rows =
            |values: &[f64]| -> Vec<f64> { self.folds.iter().map(|&fold| values[fold]).collect() };
        for chunk in inputs.chunks(at_once * columns) {
            let x = matrix(chunk, columns, &device, dtype);
            let WithoutFolds { mean, variance } = self.without.at(x);
            let folds = variance.dims()[1];
            let (means, deviations) = (numbers(mean), numbers(variance.sqrt()));
            for (means, deviations) in means.chunks(folds).zip(deviations.chunks(folds)) {
                visit(&of_rows(means), &of_rows(deviations));
            }
        }
    }
}
