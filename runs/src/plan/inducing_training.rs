//! Separate training settings for the inducing points.

use burn_gp_models::training::{InducingTraining, Plateau};

use crate::arguments::RunOptions;

/// The training settings of the inducing points; `None` if they are trained like the other
/// parameters.
pub(super) fn inducing_training(resolved: &mut RunOptions) -> Option<InducingTraining> {
    let others = InducingTraining::default();
    let training = InducingTraining {
        frozen_steps: resolved.inducing_frozen.unwrap_or(others.frozen_steps),
        learning_rate: resolved.inducing_rate,
        beta_1: resolved.inducing_momentum.unwrap_or(others.beta_1),
        plateau: resolved.inducing_plateau.map(Plateau::new),
    };
    let training = (training != others).then_some(training);
    resolved.inducing_frozen = training.map(|training| training.frozen_steps);
    resolved.inducing_momentum = training.map(|training| training.beta_1);
    training
}
