//! Separate training settings for the inducing points.

use burn_gp_models::training::{InducingTraining, Plateau};

use super::{SettingError, at_least_one, positive};
use crate::arguments::RunOptions;

/// The training settings of the inducing points; `None` if they are trained like the other
/// parameters.
pub fn inducing_training(options: &RunOptions) -> Result<Option<InducingTraining>, SettingError> {
    let plateau = at_least_one("--inducing-plateau", options.inducing_plateau)?;
    let learning_rate = (options.inducing_rate)
        .map(|rate| positive("--inducing-rate", rate))
        .transpose()?;
    if let Some(value) = options.inducing_momentum
        && !(0.0..1.0).contains(&value)
    {
        return Err(SettingError::Momentum { value });
    }
    let others = InducingTraining::default();
    let training = InducingTraining {
        frozen_steps: options.inducing_frozen.unwrap_or(others.frozen_steps),
        learning_rate,
        beta_1: options.inducing_momentum.unwrap_or(others.beta_1),
        plateau: plateau.map(Plateau::new),
    };
    Ok((training != others).then_some(training))
}
