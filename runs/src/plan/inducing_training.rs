//! Separate training settings for the inducing points.

use burn_gp_models::training::{InducingTraining, Plateau};

use crate::arguments::RunOptions;
use crate::option_error::OptionError;
use crate::ranges::{at_least_one, positive, within};

/// The training settings of the inducing points; `None` if they are trained like the other
/// parameters.
pub(super) fn inducing_training(
    resolved: &mut RunOptions,
) -> Result<Option<InducingTraining>, OptionError> {
    let plateau = at_least_one("--inducing-plateau", resolved.inducing_plateau)?;
    let learning_rate = (resolved.inducing_rate)
        .map(|rate| positive("--inducing-rate", rate))
        .transpose()?;
    if let Some(value) = resolved.inducing_momentum {
        let range = "be at least 0 and below 1; 0.99 is common";
        within(
            "--inducing-momentum",
            value,
            (0.0..1.0).contains(&value),
            range,
        )?;
    }
    let others = InducingTraining::default();
    let training = InducingTraining {
        frozen_steps: resolved.inducing_frozen.unwrap_or(others.frozen_steps),
        learning_rate,
        beta_1: resolved.inducing_momentum.unwrap_or(others.beta_1),
        plateau: plateau.map(Plateau::new),
    };
    let training = (training != others).then_some(training);
    resolved.inducing_frozen = training.map(|training| training.frozen_steps);
    resolved.inducing_momentum = training.map(|training| training.beta_1);
    Ok(training)
}
