//! Numbers of successes among trials: what likelihoods of them share.

use burn::tensor::Tensor;

use super::{LikelihoodDescription, likelihood::block, poisson::is_count};
use crate::ops::log_ratio;

/// The successes and the failures of each output, `[N, P]`, of targets `[N, 2P]`: successes, then trials.
pub(super) struct Outcomes {
    pub trials: Tensor<2>,
    pub successes: Tensor<2>,
    pub failures: Tensor<2>,
}

impl Outcomes {
    pub fn of(targets: Tensor<2>) -> Self {
        let (successes, trials) = (block(targets.clone(), 0, 2), block(targets, 1, 2));
        Self {
            failures: trials.clone() - successes.clone(),
            trials,
            successes,
        }
    }

    /// The successes and the failures, at least one half: their log odds are finite.
    pub fn not_zero(&self) -> (Tensor<2>, Tensor<2>) {
        (
            self.successes.clone().clamp_min(0.5),
            self.failures.clone().clamp_min(0.5),
        )
    }
}

/// `log(1 + x)`. A device's own function may take the logarithm of the rounded sum.
pub(super) fn log_one_plus(x: Tensor<3>) -> Tensor<3> {
    log_ratio(x.clone()) * x
}

/// A description of targets that are successes and trials.
pub(super) fn description(name: &'static str) -> LikelihoodDescription {
    LikelihoodDescription::new(name)
        .with_columns(2)
        .with_targets(
            "a number of trials, 1 or more, and a number of successes among them",
            |column, value| is_count(value) && (column == 0 || value >= 1.0),
        )
        .with_pairs(|successes, trials| successes <= trials)
}
