//! Learning-rate schedules.

use burn::{
    lr_scheduler::{LrScheduler, LrSchedulerRecord},
    optim::LearningRate,
};
use serde::{Deserialize, Serialize};

/// The learning rate as a fraction of its initial value. It depends only on the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schedule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// A constant learning rate.
    #[default]
    #[serde(deserialize_with = "burn_gp_core::parameter::no_fields")]
    Constant,
    /// Half a cosine from the initial value down to `final_fraction` of it.
    Cosine {
        /// The fraction at the end.
        final_fraction: f64,
    },
    /// Exponential decay from the initial value down to `final_fraction` of it.
    Exponential {
        /// The fraction at the end.
        final_fraction: f64,
    },
    /// Linear decay from the initial value down to `final_fraction` of it.
    Linear {
        /// The fraction at the end.
        final_fraction: f64,
    },
    /// Stages of equal length. Each multiplies the rate of the stage before by `factor`.
    Stairs {
        /// The number of stages.
        stages: usize,
        /// The factor.
        factor: f64,
    },
}

impl Schedule {
    /// The fraction at step `step` of `steps`. Steps are counted from zero.
    pub fn fraction(self, step: usize, steps: usize) -> f64 {
        let progress = step as f64 / steps.max(1) as f64;
        match self {
            Self::Constant => 1.0,
            Self::Cosine { final_fraction } => {
                let wave = 0.5 * (1.0 + (core::f64::consts::PI * progress).cos());
                final_fraction + (1.0 - final_fraction) * wave
            }
            Self::Exponential { final_fraction } => final_fraction.powf(progress),
            Self::Linear { final_fraction } => 1.0 - (1.0 - final_fraction) * progress,
            Self::Stairs { stages, factor } => {
                let stage = step * stages / steps.max(1);
                factor.powi(stage.min(stages.saturating_sub(1)) as i32)
            }
        }
    }
}

/// A scheduled learning rate for burn's learner. Its state is the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduledRate {
    /// The initial learning rate.
    pub first: LearningRate,
    /// The schedule.
    pub schedule: Schedule,
    /// The total number of steps.
    pub steps: usize,
    /// The next step, counted from zero.
    pub step: usize,
}

const STEP: &str = "step";

impl ScheduledRate {
    /// The learning rate of the next step.
    pub fn current(&self) -> LearningRate {
        self.first * self.schedule.fraction(self.step, self.steps)
    }

    /// The step in the record of a learner whose first scheduler is this one.
    pub(super) fn step_in(record: &LrSchedulerRecord) -> Option<usize> {
        // burn's module scheduler stores the schedulers of its parameter groups by index.
        record.record("0").scalar(STEP)
    }
}

impl LrScheduler for ScheduledRate {
    fn step(&mut self) -> LearningRate {
        let rate = self.current();
        self.step += 1;
        rate
    }

    fn to_record(&self) -> LrSchedulerRecord {
        LrSchedulerRecord::new().with_scalar(STEP, self.step)
    }

    fn load_record(&mut self, record: LrSchedulerRecord) {
        if let Some(step) = record.scalar(STEP) {
            self.step = step;
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::lr_scheduler::{LrScheduler, module_lr_scheduler::ModuleLrScheduler};

    use super::{Schedule, ScheduledRate};

    #[test]
    fn schedules_start_at_one_and_end_at_their_fraction() {
        let final_fraction = 0.01;
        assert_eq!(Schedule::Constant.fraction(70, 100), 1.0);
        for schedule in [
            Schedule::Cosine { final_fraction },
            Schedule::Exponential { final_fraction },
            Schedule::Linear { final_fraction },
        ] {
            assert_eq!(schedule.fraction(0, 100), 1.0);
            assert!((schedule.fraction(100, 100) - final_fraction).abs() < 1e-15);
            let fractions: Vec<f64> = (0..=100).map(|step| schedule.fraction(step, 100)).collect();
            assert!(fractions.is_sorted_by(|a, b| a > b));
        }
    }

    #[test]
    fn stairs_go_down_after_every_stage() {
        let stairs = Schedule::Stairs {
            stages: 3,
            factor: 0.5,
        };
        let fractions: Vec<f64> = (0..=7).map(|step| stairs.fraction(step, 7)).collect();
        assert_eq!(fractions, [1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.25]);
    }

    #[test]
    fn a_scheduled_rate_goes_on_from_its_record() {
        let new = || ScheduledRate {
            first: 0.1,
            schedule: Schedule::Cosine {
                final_fraction: 0.5,
            },
            steps: 9,
            step: 0,
        };
        let mut rate = new();
        for step in 0..4 {
            assert_eq!(
                LrScheduler::step(&mut rate),
                0.1 * rate.schedule.fraction(step, 9)
            );
        }
        let record = ModuleLrScheduler::new(rate).to_record();
        assert_eq!(ScheduledRate::step_in(&record), Some(4));
        let mut restored = ModuleLrScheduler::new(new()).load_record(record);
        assert_eq!(restored.step().base(), rate.current());
    }
}
