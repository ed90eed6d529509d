//! Learning rate schedules.

use burn_gp_models::training::{Schedule, TrainingDefaults};

use super::EarlyStopping;
use crate::arguments::{RunOptions, ScheduleName};
use crate::option_error::OptionError;

/// The final learning rate of a linear schedule, as a fraction of the initial rate.
const FINAL_FRACTION_OF_A_LINE: f64 = 0.1;

const DEFAULT_STAGES: usize = 3;
const DEFAULT_STAGE_FACTOR: f64 = 0.1;

/// The schedule. The default is constant with `--plateau` and with early stopping, where the number of steps is
/// not yet known.
pub(super) fn schedule(
    resolved: &mut RunOptions,
    early_stopping: EarlyStopping,
) -> Result<Schedule, OptionError> {
    let final_fraction = TrainingDefaults::FINAL_FRACTION;
    let default = match resolved.plateau {
        None if !early_stopping.is_on() => ScheduleName::Cosine,
        _ => ScheduleName::Constant,
    };
    let name = *resolved.schedule.get_or_insert(default);
    let given = [
        ("--stages", resolved.stages.is_some()),
        ("--stage-factor", resolved.stage_factor.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) if name != ScheduleName::Stairs => {
            return Err(OptionError::WithoutStages(option));
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
        ScheduleName::Stairs => Schedule::Stairs {
            stages: *resolved.stages.get_or_insert(DEFAULT_STAGES),
            factor: *(resolved.stage_factor).get_or_insert(DEFAULT_STAGE_FACTOR),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_those_of_stairs() {
        let off = EarlyStopping::Off;
        let mut options = RunOptions {
            stages: Some(6),
            ..RunOptions::default()
        };
        let refused = schedule(&mut options.clone(), off);
        let option = "--stages";
        assert_eq!(refused, Err(OptionError::WithoutStages(option)));
        options.schedule = Some(ScheduleName::Stairs);
        let stairs = Schedule::Stairs {
            stages: 6,
            factor: DEFAULT_STAGE_FACTOR,
        };
        assert_eq!(schedule(&mut options, off), Ok(stairs));
        assert_eq!(options.stage_factor, Some(DEFAULT_STAGE_FACTOR));
        options.stages = None;
        let fraction = schedule(&mut options, off).unwrap().fraction(99, 100);
        assert!((fraction - TrainingDefaults::FINAL_FRACTION).abs() < 1e-12);
    }
}
