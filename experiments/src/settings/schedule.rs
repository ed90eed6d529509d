//! Learning rate schedules.

use burn_gp_models::training::Schedule;

use super::{SettingError, at_least_one, positive};
use crate::arguments::{RunOptions, ScheduleName};

/// The final learning rate of a smooth schedule, as a fraction of the initial one.
const FINAL_FRACTION: f64 = 0.01;

/// The same for a linear schedule.
const FINAL_FRACTION_OF_A_LINE: f64 = 0.1;

const DEFAULT_STAGES: usize = 3;
const DEFAULT_STAGE_FACTOR: f64 = 0.1;

/// The schedule in `options`. The default is constant with `--plateau`, and also with early
/// stopping, because then the learning rate must not depend on the unknown number of steps.
pub(super) fn schedule(options: &RunOptions, is_stopped: bool) -> Result<Schedule, SettingError> {
    let final_fraction = FINAL_FRACTION;
    let default_name = match options.plateau {
        None if !is_stopped => ScheduleName::Cosine,
        _ => ScheduleName::Constant,
    };
    let name = options.schedule.unwrap_or(default_name);
    let given = [
        ("--stages", options.stages.is_some()),
        ("--stage-factor", options.stage_factor.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) if name != ScheduleName::Stairs => {
            return Err(SettingError::WithoutStages { option });
        }
        _ => {}
    }
    Ok(match name {
        ScheduleName::Constant => Schedule::Constant,
        ScheduleName::Cosine => Schedule::Cosine { final_fraction },
        ScheduleName::Exponential => Schedule::Exponential { final_fraction },
        ScheduleName::Linear => Schedule::Linear {
            final_fraction: FINAL_FRACTION_OF_A_LINE,
        },
        ScheduleName::Stairs => {
            let factor = options.stage_factor.unwrap_or(DEFAULT_STAGE_FACTOR);
            Schedule::Stairs {
                stages: at_least_one("--stages", options.stages)?.unwrap_or(DEFAULT_STAGES),
                factor: positive("--stage-factor", factor)?,
            }
        }
    })
}

/// The name of a schedule.
pub(super) fn schedule_name(schedule: Schedule) -> ScheduleName {
    match schedule {
        Schedule::Constant => ScheduleName::Constant,
        Schedule::Cosine { .. } => ScheduleName::Cosine,
        Schedule::Exponential { .. } => ScheduleName::Exponential,
        Schedule::Linear { .. } => ScheduleName::Linear,
        Schedule::Stairs { .. } => ScheduleName::Stairs,
    }
}

/// The number of stages and their factor, for a schedule with stages.
pub(super) fn stages(schedule: Schedule) -> Option<(usize, f64)> {
    match schedule {
        Schedule::Stairs { stages, factor } => Some((stages, factor)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_those_of_stairs() {
        let mut options = RunOptions {
            stages: Some(6),
            ..RunOptions::default()
        };
        let refused = schedule(&options, false);
        let option = "--stages";
        assert_eq!(refused, Err(SettingError::WithoutStages { option }));
        options.schedule = Some(ScheduleName::Stairs);
        let stairs = schedule(&options, false).unwrap();
        assert_eq!(stages(stairs), Some((6, DEFAULT_STAGE_FACTOR)));
        options.stages = None;
        let fraction = schedule(&options, false).unwrap().fraction(99, 100);
        assert!((fraction - FINAL_FRACTION).abs() < 1e-12);
    }
}
