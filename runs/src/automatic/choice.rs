//! The choice of the model from the number of rows, the likelihood and the training time.

use burn_gp_core::likelihoods::{GaussianConfig, LikelihoodName};
use burn_gp_models::{ExactConfig, SgprConfig, SvgpConfig};

use crate::arguments::ModelChoice;
use crate::preparation::PreparedData;

/// The assumed multiply-adds per second: half of what two cores reach in double precision, because training
/// shares them with other work.
const RATE: f64 = 2e10;
/// The number of evaluations of the objective in full-batch training.
const EVALUATIONS: f64 = 150.0;
/// The multiply-adds of an evaluation with its gradient for exact regression, in units of N³.
const EXACT_COST: f64 = 1.0;
/// The multiply-adds of an evaluation with its gradient for sparse regression, in units of N·M².
const SPARSE_COST: f64 = 6.0;
/// The minimum number of inducing points with which full-batch sparse regression is worth its cost.
const FEWEST_OF_ALL_ROWS: usize = 200;
/// The maximum number of inducing points of full-batch sparse regression.
const MOST_OF_ALL_ROWS: usize = 1024;
/// If the share of rows that repeat the inputs and the target of an earlier row is above this, they count as
/// copies of measurements.
const MANY_COPIES: f64 = 0.05;
/// If the share is above this, they are not copies, but the values are coarse.
const MOST_COPIES: f64 = 0.5;
/// The maximum number of inducing points if there are copies. With more, the objective has an optimum with
/// little noise, at which the model repeats the targets of such rows. The number was determined on the wine
/// data.
const MOST_WITH_COPIES: usize = 256;
/// The maximum number of distinct rows to which all hyperparameters are fitted, without their copies.
pub(super) const FEW_DISTINCT: usize = 400;
/// The number of mini-batch steps.
pub(super) const STEPS: f64 = 1000.0;
/// The multiply-adds of a mini-batch step, in units of M³.
const STEP_COST: f64 = 16.0;
/// The minimum number of inducing points on mini-batches.
const FEWEST_OF_MINI_BATCHES: usize = 64;
/// The maximum number of inducing points on mini-batches for fewer than [`MANY_ROWS`] rows.
const MOST_OF_MINI_BATCHES: usize = 256;
/// The number of rows from which [`MOST_OF_MANY_ROWS`] applies.
const MANY_ROWS: usize = 20_000;
/// The maximum number of inducing points on mini-batches for at least [`MANY_ROWS`] rows.
const MOST_OF_MANY_ROWS: usize = 512;

/// The size of the training data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of training rows, N.
    pub rows: usize,
    /// The number of distinct inputs among them, or among the rows in memory.
    pub distinct: usize,
    /// The number of rows that repeat the inputs and the target of an earlier row.
    pub copies: usize,
    /// Whether the rows are read during training.
    pub is_streamed: bool,
    /// Whether rows have weights.
    pub is_weighted: bool,
    /// Whether rows have known noise besides the trained one.
    pub has_row_noise: bool,
    /// Whether the likelihood is Gaussian.
    pub is_gaussian: bool,
}

impl Size {
    /// The size of the training rows of `data`.
    pub fn of(data: &PreparedData) -> Self {
        Self {
            rows: data.training_rows(),
            distinct: data.distinct_training_inputs(),
            copies: data.train.len() - data.distinct_training_rows().len(),
            is_streamed: data.stream.is_some(),
            is_weighted: data.train.has_weights(),
            has_row_noise: data.train.has_row_noise(),
            is_gaussian: data.likelihood.is::<GaussianConfig>(),
        }
    }

    /// Whether rows are copies of measurements, which would make a model underestimate the noise.
    pub fn has_copies(&self) -> bool {
        let share = self.copies as f64 / self.rows as f64;
        share > MANY_COPIES && (share < MOST_COPIES || self.repeats_are_copies())
    }

    /// Whether every row that repeats the inputs of an earlier row repeats its target, too. Such rows say nothing
    /// about noise: either they are copies, as in a table that has been appended to itself, or there is no noise.
    pub fn repeats_are_copies(&self) -> bool {
        self.is_gaussian && self.rows - self.copies == self.distinct
    }

    /// Whether the hyperparameters are fitted to the distinct rows alone, which are few enough.
    pub fn is_fitted_to_distinct_rows(&self) -> bool {
        let can_be = !self.is_streamed && !self.is_weighted && !self.has_row_noise;
        can_be && self.repeats_are_copies() && self.has_copies() && self.distinct <= FEW_DISTINCT
    }
}

/// A model with its number of inducing points.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The model.
    pub model: ModelChoice,
    /// The number of inducing points, if it has any.
    pub inducing: Option<usize>,
    /// The reason, as a part of a sentence.
    pub reason: String,
}

impl Choice {
    /// The model for data of this size that trains in about `minutes`.
    pub fn new(size: &Size, likelihood: LikelihoodName, minutes: f64) -> Self {
        let budget = minutes * 60.0 * RATE;
        let rows = size.rows as f64;
        if !likelihood.is::<GaussianConfig>() {
            let reason = format!("the likelihood is {}", likelihood.name());
            return Self::mini_batches(size, budget, reason);
        }
        if size.is_streamed {
            let reason = "the rows are read during training".to_owned();
            return Self::mini_batches(size, budget, reason);
        }
        if size.is_weighted {
            return Self::mini_batches(size, budget, "the rows have weights".to_owned());
        }
        if size.has_row_noise {
            return Self::mini_batches(size, budget, "the rows have known noise".to_owned());
        }
        let is_small = EVALUATIONS * EXACT_COST * rows.powi(3) <= budget;
        let has_copies = size.has_copies();
        if is_small && size.is_fitted_to_distinct_rows() {
            return Self {
                model: ModelChoice::of::<ExactConfig>(),
                inducing: None,
                reason: format!(
                    "{} rows are few enough; the hyperparameters are those of the {} distinct rows, because {} \
                     rows repeat the inputs and the target of another",
                    size.rows, size.distinct, size.copies
                ),
            };
        }
        if is_small && !has_copies {
            return Self {
                model: ModelChoice::of::<ExactConfig>(),
                inducing: None,
                reason: format!("{} rows are few enough", size.rows),
            };
        }
        let (reason, limit) = match has_copies {
            false => (
                "there are too many rows for exact regression",
                MOST_OF_ALL_ROWS,
            ),
            true => (
                "many rows are duplicates, which make exact regression underestimate the noise",
                MOST_WITH_COPIES,
            ),
        };
        let most = (budget / (EVALUATIONS * SPARSE_COST * rows)).sqrt() as usize;
        if most >= FEWEST_OF_ALL_ROWS {
            return Self {
                model: ModelChoice::of::<SgprConfig>(),
                inducing: Some(most.min(limit).min(size.distinct)),
                reason: reason.to_owned(),
            };
        }
        let reason = "there are too many rows for full-batch training".to_owned();
        Self::mini_batches(size, budget, reason)
    }

    fn mini_batches(size: &Size, budget: f64, reason: String) -> Self {
        let most = (budget / (STEPS * STEP_COST)).cbrt() as usize;
        let limit = match size.rows < MANY_ROWS {
            true => MOST_OF_MINI_BATCHES,
            false => MOST_OF_MANY_ROWS,
        };
        let most = most.clamp(FEWEST_OF_MINI_BATCHES, limit);
        Self {
            model: ModelChoice::of::<SvgpConfig>(),
            inducing: Some(most.min(size.distinct)),
            reason,
        }
    }

    /// A line for the terminal.
    pub fn line(&self) -> String {
        format!("model auto chose {}: {}\n", self.model.name(), self.reason)
    }
}

#[cfg(test)]
mod tests {
    use burn_gp_core::likelihoods::BernoulliConfig;

    use super::*;

    #[test]
    fn the_model_follows_from_rows_likelihood_and_time() {
        let size = |rows, distinct, likelihood: LikelihoodName| Size {
            rows,
            distinct,
            copies: rows - distinct,
            is_streamed: false,
            is_weighted: false,
            has_row_noise: false,
            is_gaussian: likelihood.is::<GaussianConfig>(),
        };
        let choice = |rows, distinct, likelihood, minutes| {
            let choice = Choice::new(&size(rows, distinct, likelihood), likelihood, minutes);
            (choice.model.name(), choice.inducing)
        };
        let gaussian = LikelihoodName::of::<GaussianConfig>();
        let few = |minutes| choice(500, 500, gaussian, minutes);
        assert_eq!(few(2.0), ("exact", None));
        assert_eq!(few(0.01), ("svgp", Some(90)));
        let equal = choice(550, 450, gaussian, 2.0);
        assert_eq!(equal, ("sgpr", Some(256)));
        // A table that has been appended to itself, or has more copies than distinct rows.
        assert_eq!(choice(1000, 500, gaussian, 2.0), ("sgpr", Some(256)));
        for distinct in [400, 250, 100] {
            let size = size(500, distinct, gaussian);
            assert!(size.is_fitted_to_distinct_rows(), "{distinct}");
            assert_eq!(choice(500, distinct, gaussian, 2.0), ("exact", None));
        }
        // Targets that differ at equal inputs show the noise; many of them are equal where values are coarse.
        let coarse = Size {
            copies: 300,
            ..size(500, 100, gaussian)
        };
        assert!(!coarse.has_copies() && !coarse.is_fitted_to_distinct_rows());
        assert!(!size(500, 490, gaussian).has_copies());
        let many = |minutes| choice(50_000, 50_000, gaussian, minutes).0;
        assert_eq!(choice(5000, 5000, gaussian, 2.0).0, "sgpr");
        assert_eq!(many(1.0), "svgp");
        assert_eq!(many(20.0), "sgpr");
        let labels = choice(500, 30, LikelihoodName::of::<BernoulliConfig>(), 2.0);
        assert_eq!(labels, ("svgp", Some(30)));
        let streamed = Size {
            rows: 500,
            distinct: 500,
            copies: 0,
            is_streamed: true,
            is_weighted: false,
            has_row_noise: false,
            is_gaussian: true,
        };
        let streamed = Choice::new(&streamed, gaussian, 2.0);
        assert_eq!(streamed.model.name(), "svgp");
    }
}
